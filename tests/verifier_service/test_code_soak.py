"""Programs in a row through code workers, and processes killed meanwhile: every verdict is right.

The processes that are counted and killed are descendants of this test's own. The long forms are
marked slow; SOAK_EXECUTIONS makes them longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes import children, name_in_list, until_async
from verifier_service.completion import Completion
from verifier_service.verdict import Verdict
from verifier_service.worker_pools import CODE_LIMITS
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.server_process import WorkerStartError
from verifier_service.workers.sources import CodeWorkers, ForkedWorker, ForkServer
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

LONG = int(os.environ.get("SOAK_EXECUTIONS", "1000"))
NUM_BLOCKS = 10
NUM_WORKERS = 4
NUM_WARM_UP = 100
MAX_GROWTH_BYTES = 4 * 2**20
QUICK = {"type": "code", "cpu_seconds": 0.3, "memory_bytes": 64 * 2**20, "output_bytes": 2**16}
PATIENT = {"type": "code", "cpu_seconds": 5.0}

SQUARES = {"type": "stdio", "cases": [{"stdin": "12\n", "stdout": "144"}]}
CALLS = {
    "type": "function",
    "entry_point": "square",
    "cases": [{"args": [n], "returns": n * n} for n in range(3)],
}
ASSERTS = {"type": "asserts", "code": "assert square(3) == 9\nassert square(-2) == 4"}

RIGHT_SCRIPT = "print(int(input()) ** 2)"
RIGHT_FUNCTION = "def square(n): return n * n"
WRONG_FUNCTION = "def square(n): return n + n"


@dataclass(frozen=True)
class Case:
    """A program, its tests, and the reasons that are right."""

    source: str
    tests: dict[str, Any]
    reasons: frozenset[str]


def case(source: str, tests: dict[str, Any], *reasons: str) -> Case:
    return Case(source, tests, frozenset(reasons))


BENIGN = [
    case(RIGHT_SCRIPT, SQUARES, "passed"),
    case("print(145)", SQUARES, "wrong_answer"),
    case(RIGHT_FUNCTION, CALLS, "passed"),
    case(RIGHT_FUNCTION, ASSERTS, "passed"),
    case(WRONG_FUNCTION, ASSERTS, "wrong_answer"),
]
HOSTILE = [
    case("while True: pass", SQUARES, "time_limit_exceeded"),
    case("def square(n):\n    while True: pass", ASSERTS, "time_limit_exceeded"),
    case("while True: print('x' * 999)", SQUARES, "output_limit_exceeded"),
    case(
        "x = []\nwhile True: x.append(bytearray(2**20))",
        SQUARES,
        *("runtime_error", "memory_limit_exceeded"),
    ),
    case("import ctypes; ctypes.string_at(0)", CALLS, "runtime_error"),
    case("import os\nos.fork()", SQUARES, "runtime_error", "sandbox_violation"),
    case("import os\nos._exit(0)", ASSERTS, "runtime_error"),
    case("import os\nos._exit(0)", SQUARES, "wrong_answer"),
    case(
        "import threading, time\n"
        "while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        SQUARES,
        *("runtime_error", "time_limit_exceeded", "memory_limit_exceeded"),
    ),
]


OTHERS: set[int] = set()
"""Children of this process that a test found when it began: services of other tests."""


def descendants(pid: int) -> Iterator[int]:
    """All processes below one, without `OTHERS` and what is below them."""
    for child in children(pid):
        if child not in OTHERS:
            yield child
            yield from descendants(child)


@dataclass(frozen=True)
class Left:
    """Processes, descriptors and files while nothing runs."""

    processes: Counter[str]
    num_descriptors: dict[int, int]
    resident_bytes: dict[int, int]
    mounts: list[str]
    objects: str

    @classmethod
    def now(cls, directory: Path) -> Left:
        pids = [os.getpid(), *descendants(os.getpid())]
        pages = {pid: Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in pids}
        return cls(
            processes=Counter(Path(f"/proc/{pid}/comm").read_text() for pid in pids),
            num_descriptors={pid: len(os.listdir(f"/proc/{pid}/fd")) for pid in pids},
            resident_bytes={pid: int(n) * os.sysconf("SC_PAGE_SIZE") for pid, n in pages.items()},
            mounts=[
                mount
                for mount in Path("/proc/self/mounts").read_text().splitlines()
                if str(directory) in mount
            ],
            objects="".join(
                Path(f"/proc/sysvipc/{kind}").read_text() for kind in ("shm", "sem", "msg")
            ),
        )


async def judge(pool: WorkerPool, chosen: Case, limits: dict[str, Any]) -> Verdict:
    part = TaskPart.of({"tests": chosen.tests}, [Completion(f"```python\n{chosen.source}\n```\n")])
    verdicts: list[TaskResult] = []
    await pool.judge(EncodedTask.of(Task.of(limits, [part]), "code"), verdicts)
    (verdict,) = verdicts
    assert isinstance(verdict, Verdict)
    return verdict


async def repeat(num_times: int, work: Callable[[], Awaitable[None]]) -> float:
    """Do something so often, NUM_WORKERS at a time; the rate per second."""
    left = iter(range(num_times))
    start = time.perf_counter()

    async def some() -> None:
        for _ in left:
            await work()

    await asyncio.gather(*(some() for _ in range(NUM_WORKERS)))
    return num_times / (time.perf_counter() - start)


def cpu_seconds() -> float:
    """CPU time of this process and its descendants, those that are gone included."""
    ticks = 0
    for pid in [os.getpid(), *descendants(os.getpid())]:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The directory in which the workers get theirs, which other users can pass through."""
    OTHERS.clear()
    OTHERS.update(children(os.getpid()))
    for path in tmp_path, *tmp_path.parents[:2]:
        with contextlib.suppress(PermissionError):
            path.chmod(0o711)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_many_programs_leave_nothing_behind(
    temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(0)
    wrong: list[tuple[Case, Verdict]] = []

    async def soak() -> None:
        async with WorkerPool(NUM_WORKERS, CODE_LIMITS, CodeWorkers) as pool:

            async def one() -> None:
                chosen = chance.choice(HOSTILE if chance.random() < 0.1 else BENIGN)
                verdict = await judge(pool, chosen, QUICK)
                if verdict.reason not in chosen.reasons:
                    wrong.append((chosen, verdict))

            await repeat(NUM_WARM_UP, one)
            before = Left.now(temporary)
            for _ in range(NUM_BLOCKS):
                start = cpu_seconds()
                rate = await repeat(LONG // NUM_BLOCKS, one)
                used = (cpu_seconds() - start) / (LONG // NUM_BLOCKS)
                with capsys.disabled():
                    print(f"{rate:.0f} programs/s, {1000 * used:.2f} ms of CPU each")  # noqa: T201
            after = Left.now(temporary)
            assert after.processes == before.processes
            assert after.num_descriptors == before.num_descriptors
            assert (after.mounts, after.objects) == (before.mounts, before.objects)
            for pid, size in after.resident_bytes.items():
                assert size < before.resident_bytes[pid] + MAX_GROWTH_BYTES
        await until_async(lambda: not list(descendants(os.getpid())))

    asyncio.run(soak())
    assert wrong == []
    assert os.listdir(temporary) == []


def test_a_worker_that_does_not_start_leaves_no_directory(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have begun, and its zygote have made a directory, before its pidfd can be opened."""

    def fork_with(self: ForkServer, shared: int, order: bytes) -> ForkedWorker:
        (directory,) = temporary.iterdir()
        (directory / "verifier-sandbox").mkdir()
        raise WorkerStartError("no pidfd")

    monkeypatch.setattr(ForkServer, "fork_with", fork_with)
    workers = CodeWorkers()
    with pytest.raises(WorkerStartError, match="no pidfd"):
        workers.start_worker()
    assert list(temporary.iterdir()) == []
    workers.close()


@pytest.mark.slow
def test_kills_at_random_change_no_verdict(temporary: Path) -> None:
    chance = random.Random(0)
    wrong: list[tuple[Case, Verdict]] = []
    killed: Counter[str] = Counter()
    num_done = 0

    async def soak() -> None:
        async with WorkerPool(NUM_WORKERS, CODE_LIMITS, CodeWorkers) as pool:

            async def one() -> None:
                nonlocal num_done
                chosen = chance.choice(BENIGN)
                verdict = await judge(pool, chosen, PATIENT)
                if verdict.reason not in chosen.reasons:
                    wrong.append((chosen, verdict))
                num_done += 1

            async def kill() -> None:
                # Once in a few verdicts, however long they take: one whose worker is killed again
                # and again has failed.
                while True:
                    due = num_done + chance.randrange(2, 12)
                    while num_done < due:  # noqa: ASYNC110  a wait for other tasks' progress
                        await asyncio.sleep(0.01)
                    kind = chance.choice(["worker", "zygote"])
                    if pids := [pid for pid in descendants(os.getpid()) if what(pid) == kind]:
                        victim = chance.choice(pids)
                        killed[kind] += 1
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(victim, signal.SIGKILL)

            killer = asyncio.create_task(kill())
            await repeat(LONG // 5, one)
            killer.cancel()
        await until_async(lambda: not list(descendants(os.getpid())))

    asyncio.run(soak())
    assert wrong == []
    assert killed["worker"]
    assert killed["zygote"]
    assert os.listdir(temporary) == []


def workers() -> list[int]:
    return [pid for pid in descendants(os.getpid()) if what(pid) == "worker"]


def what(pid: int) -> str:
    """Whether a process is a code worker, or a zygote or its child."""
    names = {"code_worker": "worker", "": "gone"}
    return names.get(name_in_list(pid), "zygote")


@pytest.mark.slow
def test_a_worker_that_is_killed_leaves_no_directory(temporary: Path) -> None:
    async def use() -> list[str]:
        async with WorkerPool(1, CODE_LIMITS, CodeWorkers) as pool:
            for _ in range(2):
                assert (await judge(pool, BENIGN[0], PATIENT)).reason == "passed"
                # A list of children may lack one for a moment.
                await until_async(lambda: bool(workers()))
                for worker in workers():
                    os.kill(worker, signal.SIGKILL)
            return os.listdir(temporary)

    assert len(asyncio.run(use())) <= 2
    assert os.listdir(temporary) == []
