"""Many executions, hostile ones too, and processes killed at random: nothing is lost or left.

The quick ones run in seconds; SOAK_EXECUTIONS sets the length of the slow ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import os
import random
import signal
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import pytest

from tests.processes import tree
from tests.sandbox.conftest import ENTRIES
from tests.sandbox.conftest import LIMITS as PATIENT
from verifier_service.sandbox import zygote_handle
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    Execution,
    ExitReason,
    Layer,
    Limits,
    Program,
)
from verifier_service.sandbox.runner import Runner

LONG = int(os.environ.get("SOAK_EXECUTIONS", "1000"))
LEFT_OUT = {"everything": frozenset[Layer](), "common": frozenset(Layer) - COMMON_LAYERS}
"""Layers to leave out: none, or all that are not permitted everywhere."""
LIMITS = dataclasses.replace(PATIENT, memory_bytes=64 * 2**20, output_bytes=2**16, file_bytes=2**20)
"""A program that is expected to meet one of these meets no other, on a busy machine either."""
HASTY = dataclasses.replace(LIMITS, cpu_seconds=0.3)
"""Limits of a program that never ends, or that may fail in any way."""
SQUARE = Program(payload=b"print(int(input()) ** 2)", stdin=b"12\n")
ANSWER = Program(payload=b"def solve(n): return n * n", entry="answer")
ASK = Program(payload=b"3\n4\n", entry="ask")

Check = Callable[[Execution], bool]


def soak(*, quick: int, slow: int) -> pytest.MarkDecorator:
    """Run a test with few executions, or with many and in each set of layers."""
    return pytest.mark.parametrize(
        ("layers", "num_executions"),
        [
            pytest.param("everything", quick, marks=pytest.mark.quick, id="quick"),
            pytest.param("everything", slow, marks=pytest.mark.slow, id="everything"),
            pytest.param("common", slow, marks=pytest.mark.slow, id="common"),
        ],
    )


def reason(expected: ExitReason) -> Check:
    return lambda execution: execution.reason is expected


def fails(execution: Execution) -> bool:
    return not execution.succeeded


HOSTILE: list[tuple[str, Limits, Check]] = [
    ("while True: pass", HASTY, reason(ExitReason.CPU_LIMIT)),
    ("while True: print('x' * 999)", LIMITS, reason(ExitReason.OUTPUT_LIMIT)),
    ("x = []\nwhile True: x.append(bytearray(2**20))", HASTY, fails),
    ("import ctypes; ctypes.string_at(0)", LIMITS, reason(ExitReason.SIGNALED)),
    ("import os; os.fork()", HASTY, fails),
    ("f = open('x', 'w')\nwhile True: f.write('x' * 9999)", HASTY, fails),
    ("for n in range(9999): open(str(n), 'w')", HASTY, fails),
    ("import os\nwhile True: os.mkdir('d'); os.chdir('d')", HASTY, fails),
    ("import os; os._exit(3)", HASTY, fails),
    ("(" * 9999, LIMITS, reason(ExitReason.COMPILE_ERROR)),
]


def is_right(execution: Execution) -> bool:
    return execution.succeeded and execution.stdout == b"144\n"


def family(besides: Collection[int]) -> dict[int, int]:
    """The zygotes of this process and their children: resident kilobytes for each pid.

    Args:
        besides: those of other sandboxes, which are left out.
    """
    found = {}
    for pid in set(tree(os.getpid())) - set(besides):
        process = Path(f"/proc/{pid}")
        with contextlib.suppress(OSError):
            if b"sandbox.zygote" in (process / "cmdline").read_bytes():
                pages = int((process / "statm").read_text().split()[1])
                found[pid] = pages * os.sysconf("SC_PAGE_SIZE") // 1024
    return found


async def repeat(num_times: int, work: Callable[[], Awaitable[None]]) -> None:
    """Do some work a number of times, four at a time."""
    left = iter(range(num_times))

    async def some() -> None:
        for _ in left:
            await work()

    await asyncio.gather(*(some() for _ in range(4)))


@soak(quick=150, slow=LONG)
def test_nothing_is_left_after_many_executions(
    layers: str, num_executions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chance = random.Random(0)
    wrong: list[tuple[str, Execution]] = []
    others = family([])
    monkeypatch.setattr(zygote_handle, "RENEWAL_FACTOR", math.inf)

    async def executions() -> None:
        async with Runner(2, unsafe_without=LEFT_OUT[layers]) as runner:

            async def one() -> None:
                if chance.random() < 0.9:
                    execution = await runner.run(SQUARE, LIMITS)
                    if not is_right(execution):
                        wrong.append(("benign", execution))
                    return
                source, limits, check = chance.choice(HOSTILE)
                execution = await runner.run(Program(payload=source.encode()), limits)
                if not check(execution):
                    wrong.append((source, execution))

            await repeat(100, one)
            descriptors, before = len(os.listdir("/proc/self/fd")), family(others)
            await repeat(num_executions, one)
            after = family(others)
            assert len(os.listdir("/proc/self/fd")) == descriptors
            assert after.keys() == before.keys()
            for pid in after:
                assert after[pid] < before[pid] + 2048

    for path in tmp_path, *tmp_path.parents[:2]:
        with contextlib.suppress(PermissionError):
            path.chmod(0o711)
    ipc_before = Path("/proc/sysvipc/shm").read_text()
    asyncio.run(executions())
    assert wrong == []
    assert family(others) == {}
    assert os.listdir(tmp_path) == []
    assert Path("/proc/sysvipc/shm").read_text() == ipc_before
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


@soak(quick=80, slow=max(LONG // 4, 200))
def test_kills_at_random_change_no_result(
    layers: str, num_executions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chance = random.Random(0)
    wrong: list[object] = []
    others = family([])
    kills: list[int] = []
    num_done = 0

    async def executions() -> None:
        runner = Runner(4, entries=ENTRIES, unsafe_without=LEFT_OUT[layers])
        async with runner:

            async def one() -> None:
                nonlocal num_done
                if chance.random() < 0.5:
                    execution = await runner.run(SQUARE, PATIENT)
                    if not is_right(execution):
                        wrong.append(execution)
                else:
                    pair = await runner.run_pair(ANSWER, ASK, PATIENT, PATIENT)
                    if pair.judge.result != b"9\n16\n":
                        wrong.append(pair)
                num_done += 1

            async def kill() -> None:
                # Once in a few executions, however long they take: one that is killed again and
                # again would be held to have done it itself.
                while True:
                    due = num_done + chance.randrange(1, 8)
                    while num_done < due:  # noqa: ASYNC110  a wait for other tasks' progress
                        await asyncio.sleep(0.01)
                    if pids := list(family(others)):
                        kills.append(chance.choice(pids))
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(kills[-1], signal.SIGKILL)

            killer = asyncio.create_task(kill())
            await repeat(num_executions, one)
            killer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await killer

    asyncio.run(executions())
    assert wrong == []
    assert len(kills) > 1
    assert family(others) == {}
    assert os.listdir(tmp_path) == []
