"""Zygotes are replaced after much use: nothing is lost meanwhile, and nothing is left of them."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.processes import children, tree, until, until_async
from tests.sandbox.conftest import ENTRIES, LIMITS
from verifier_service.sandbox import execution_handle, zygote_handle
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, Program
from verifier_service.sandbox.runner import Runner

PR_SET_CHILD_SUBREAPER = 36
ADDRESS = Program(payload=b"print(id(len))")
"""Prints where a function lies that every interpreter has: the same in all children of a zygote."""
SLEEP = Program(payload=b"import time; time.sleep(3600)")
ROOT = Path(__file__).parents[2]
TRY_USER = """
import sys
from pathlib import Path
from verifier_service.sandbox import layers
layers.become_user = lambda user: None  # which needs privileges
layers.can_become_user(0, Path(sys.argv[1]))
"""
LEFT_OUT = [frozenset[Layer](), frozenset(Layer) - COMMON_LAYERS]
IDS = ["every layer", "common layers"]


@contextlib.asynccontextmanager
async def started(runner: Runner, factor: float) -> AsyncIterator[Runner]:
    """A runner whose zygotes are replaced after so many times the CPU time of their start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zygote_handle, "RENEWAL_FACTOR", factor)
        async with runner:
            yield runner


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Have this process adopt the orphans below it, as the first process of a container does."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def has_ended_or_holds_signals(pid: int) -> bool:
    """Whether a child of this process, not collected, is dead or keeps a signal waiting."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":\t", 1) for line in lines)
    held = int(fields["SigBlk"], 16) & int(fields["ShdPnd"], 16)
    return held != 0 or fields["State"].startswith("Z")


async def addresses(runner: Runner, num_executions: int) -> list[int]:
    return [int((await runner.run(ADDRESS, LIMITS)).stdout) for _ in range(num_executions)]


def test_executions_of_a_worn_zygote_and_of_the_next_have_other_addresses() -> None:
    async def of_both() -> tuple[set[int], set[int]]:
        async with started(Runner(1), math.inf) as runner:
            one = set(await addresses(runner, 5))
        found: set[int] = set()
        async with started(Runner(1), 0) as runner:

            async def more() -> None:
                while len(found) < 3:
                    found.update(await addresses(runner, 1))

            await asyncio.wait_for(more(), 120)
        return one, found

    one, several = asyncio.run(of_both())
    assert len(one) == 1
    assert len(several) == 3


@pytest.mark.parametrize("without", LEFT_OUT, ids=IDS)
def test_executions_and_pairs_go_on_while_zygotes_are_replaced(without: frozenset[Layer]) -> None:
    program = Program(payload=b"def solve(n): return n * n", entry="answer")
    judge = Program(payload=b"3\n4\n", entry="ask")

    async def go_on() -> int:
        runner = Runner(2, entries=ENTRIES, unsafe_without=without)
        async with started(runner, 0):

            async def both() -> int:
                pair = await runner.run_pair(program, judge, LIMITS, LIMITS)
                assert pair.judge.result == b"9\n16\n"
                (address,) = await addresses(runner, 1)
                return address

            found: set[int] = set()
            while len(found) < 4:
                found |= set(await asyncio.gather(*(both() for _ in range(4))))
            return len(found)

    assert asyncio.run(asyncio.wait_for(go_on(), 120)) >= 4


@pytest.mark.parametrize("without", LEFT_OUT, ids=IDS)
def test_no_zombie_of_a_zygote_is_left_to_the_process_that_adopts_orphans(
    without: frozenset[Layer], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (execution_handle, zygote_handle):
        monkeypatch.setattr(module, "GRACE_SECONDS", 600.0)  # a killed zygote may leave its child

    async def use() -> None:
        async with started(Runner(1, unsafe_without=without), 0) as runner:
            found: set[int] = set()
            while len(found) < 3:
                found |= set(await addresses(runner, 1))
            given_up = asyncio.create_task(runner.run(SLEEP, LIMITS))
            await until_async(is_running)
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)

    async def close_while_it_starts() -> None:
        """Close it as soon as it may have a process in a namespace, and before it can fork."""
        runner = Runner(1, unsafe_without=without)
        opening = asyncio.create_task(runner.__aenter__())
        await until_async(lambda: has_forked() or opening.done())
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await runner.__aexit__(None, None, None)  # where it has started after all

    def has_forked() -> bool:
        new = set(children(os.getpid())) - before
        return any(children(zygote) for zygote in new)

    def is_running() -> bool:
        """Whether a zygote has a child, which is confined: it leads a session of its own."""
        zygotes = set(children(os.getpid())) - before
        sessions = set()
        for pid in (pid for zygote in zygotes for pid in tree(zygote)):
            with contextlib.suppress(ProcessLookupError):
                sessions.add(os.getsid(pid))
        return len(sessions) > len(zygotes)

    with adopting_orphans():
        before = set(children(os.getpid()))
        asyncio.run(use())
        asyncio.run(close_while_it_starts())
        assert set(children(os.getpid())) - before == set()


def test_a_zygote_that_is_given_up_collects_the_child_that_tries_its_user(tmp_path: Path) -> None:
    needed = tmp_path / "needed"
    os.mkfifo(needed)  # whoever opens it to read waits for a writer
    with adopting_orphans():
        before = set(children(os.getpid()))
        with subprocess.Popen([sys.executable, "-c", TRY_USER, needed], cwd=ROOT) as trying:
            until(lambda: children(trying.pid) != [])
            trying.terminate()
            until(lambda: has_ended_or_holds_signals(trying.pid))
            gate = os.open(needed, os.O_RDWR)
        os.close(gate)
        assert trying.returncode == -signal.SIGTERM
        assert set(children(os.getpid())) == before


def test_a_zygote_that_cannot_be_replaced_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def go_on() -> list[int]:
        async with started(Runner(1), 0) as runner:
            monkeypatch.setattr("sys.executable", "/bin/false")
            found = []
            while "a worn zygote was not replaced" not in caplog.text:
                found += await addresses(runner, 1)
            return found + await addresses(runner, 2)

    assert len(set(asyncio.run(asyncio.wait_for(go_on(), 120)))) == 1


def test_the_number_of_a_process_does_not_tell_how_many_were_before_it() -> None:
    async def numbers() -> set[bytes]:
        async with started(Runner(1), math.inf) as runner:
            if Layer.NAMESPACES not in runner.layers or runner.problems:
                pytest.skip(f"not possible here: {runner.problems}")
            program = Program(payload=b"import os; print(os.getpid())")
            return {(await runner.run(program, LIMITS)).stdout for _ in range(4)}

    assert asyncio.run(numbers()) == {b"2\n"}


def test_a_zygote_that_does_not_end_by_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stopped() -> None:
        async with started(Runner(1), math.inf) as runner:
            (zygote,) = runner._zygotes
            monkeypatch.setattr(zygote_handle, "GRACE_SECONDS", 0.1)
            signal.pidfd_send_signal(zygote._pidfd, signal.SIGSTOP)

    before = set(children(os.getpid()))
    asyncio.run(stopped())
    assert set(children(os.getpid())) == before


def test_an_end_that_a_cancelled_caller_began_is_not_begun_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    removed: list[object] = []
    begun, may_go_on = threading.Event(), threading.Event()
    remove = zygote_handle._remove

    def remove_slowly(directory: Path) -> None:
        removed.append(directory)
        begun.set()
        may_go_on.wait()
        remove(directory)

    async def end_twice() -> None:
        async with started(Runner(1), math.inf) as runner:
            monkeypatch.setattr(zygote_handle, "_remove", remove_slowly)
            (zygote,) = runner._zygotes
            first = asyncio.create_task(zygote.close())
            await until_async(begun.is_set)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert first.cancelled()
            second = asyncio.create_task(zygote.close())
            may_go_on.set()
            await second

    asyncio.run(end_twice())
    assert len(removed) == 1


def test_a_zygote_that_hangs_leaves_no_zombie() -> None:
    async def hung() -> None:
        async with started(Runner(1), math.inf) as runner:
            (zygote,) = runner._zygotes
            signal.pidfd_send_signal(zygote._pidfd, signal.SIGSTOP)
            zygote.die("it hangs")

    with adopting_orphans():
        before = set(children(os.getpid()))
        asyncio.run(hung())
        assert set(children(os.getpid())) == before
