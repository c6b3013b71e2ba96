"""Many executions, hostile ones too, and processes killed at random: nothing is lost or left.

The short forms run in seconds; the long ones are marked slow. SOAK_EXECUTIONS makes them longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.sandbox.conftest import DEPLOYMENTS, ENTRIES
from verifier_service.sandbox.execution import Execution, ExitReason, Limits, Program
from verifier_service.sandbox.runner import Runner

LONG = int(os.environ.get("SOAK_EXECUTIONS", "4000"))
LIMITS = Limits(
    cpu_seconds=0.3,
    wall_seconds=5,
    memory_bytes=64 * 2**20,
    output_bytes=2**16,
    file_bytes=2**20,
)
SQUARE = Program(payload=b"print(int(input()) ** 2)", stdin=b"12\n")
ANSWER = Program(payload=b"def solve(n): return n * n", entry="answer")
ASK = Program(payload=b"3\n4\n", entry="ask")
PATIENT = Limits(cpu_seconds=5, wall_seconds=30)

Check = Callable[[Execution], bool]


def reason(expected: ExitReason) -> Check:
    return lambda execution: execution.reason is expected


def fails(execution: Execution) -> bool:
    return not execution.succeeded


HOSTILE: list[tuple[str, Check]] = [
    ("while True: pass", reason(ExitReason.CPU_LIMIT)),
    ("while True: print('x' * 999)", reason(ExitReason.OUTPUT_LIMIT)),
    ("x = []\nwhile True: x.append(bytearray(2**20))", fails),
    ("import ctypes; ctypes.string_at(0)", reason(ExitReason.SIGNALED)),
    ("import os; os.fork()", fails),
    ("f = open('x', 'w')\nwhile True: f.write('x' * 9999)", fails),
    ("for n in range(9999): open(str(n), 'w')", fails),
    ("import os\nwhile True: os.mkdir('d'); os.chdir('d')", fails),
    ("import os; os._exit(3)", fails),
    ("(" * 9999, reason(ExitReason.COMPILE_ERROR)),
]


def is_right(execution: Execution) -> bool:
    return execution.succeeded and execution.stdout == b"144\n"


def family(directory: str) -> dict[int, int]:
    """The zygotes of a runner and their children: resident kilobytes for each pid."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if directory.encode() in (process / "cmdline").read_bytes():
                pages = int((process / "statm").read_text().split()[1])
                found[int(process.name)] = pages * os.sysconf("SC_PAGE_SIZE") // 1024
    return found


async def repeat(num_times: int, work: Callable[[], Awaitable[None]]) -> None:
    """Do something so often, four at a time."""
    left = iter(range(num_times))

    async def some() -> None:
        for _ in left:
            await work()

    await asyncio.gather(*(some() for _ in range(4)))


@pytest.mark.parametrize("deployment", sorted(DEPLOYMENTS))
@pytest.mark.parametrize("num_executions", [300, pytest.param(LONG, marks=pytest.mark.slow)])
def test_nothing_is_left_after_many_executions(
    deployment: str, num_executions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chance = random.Random(0)
    wrong: list[tuple[str, Execution]] = []

    async def soak() -> None:
        async with Runner(2, unsafe_without=DEPLOYMENTS[deployment]) as runner:

            async def one() -> None:
                if chance.random() < 0.9:
                    execution = await runner.run(SQUARE, LIMITS)
                    if not is_right(execution):
                        wrong.append(("benign", execution))
                    return
                source, check = chance.choice(HOSTILE)
                execution = await runner.run(Program(payload=source.encode()), LIMITS)
                if not check(execution):
                    wrong.append((source, execution))

            await repeat(100, one)
            descriptors, before = len(os.listdir("/proc/self/fd")), family(str(tmp_path))
            await repeat(num_executions, one)
            after = family(str(tmp_path))
            assert len(os.listdir("/proc/self/fd")) == descriptors
            assert after.keys() == before.keys()
            for pid in after:
                assert after[pid] < before[pid] + 2048

    for path in tmp_path, *tmp_path.parents[:2]:
        with contextlib.suppress(PermissionError):
            path.chmod(0o711)
    ipc_before = Path("/proc/sysvipc/shm").read_text()
    asyncio.run(soak())
    assert wrong == []
    assert family(str(tmp_path)) == {}
    assert os.listdir(tmp_path) == []
    assert Path("/proc/sysvipc/shm").read_text() == ipc_before
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


@pytest.mark.parametrize("deployment", sorted(DEPLOYMENTS))
@pytest.mark.parametrize("num_executions", [200, pytest.param(LONG // 4, marks=pytest.mark.slow)])
def test_kills_at_random_change_no_result(
    deployment: str, num_executions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chance = random.Random(0)
    wrong: list[object] = []
    kills: list[int] = []
    num_done = 0

    async def soak() -> None:
        runner = Runner(4, entries=ENTRIES, unsafe_without=DEPLOYMENTS[deployment])
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
                    if pids := list(family(str(tmp_path))):
                        kills.append(chance.choice(pids))
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(kills[-1], signal.SIGKILL)

            killer = asyncio.create_task(kill())
            await repeat(num_executions, one)
            killer.cancel()

    asyncio.run(soak())
    assert wrong == []
    assert len(kills) > 1
    assert family(str(tmp_path)) == {}
    assert os.listdir(tmp_path) == []
