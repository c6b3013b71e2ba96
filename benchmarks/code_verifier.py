"""Programs judged per second, beside plain `subprocess.run`, which confines nothing.

The peer runs `python -I -c` once for each program and its input; for HumanEval, once for program
and tests in one process, which a program can fool. Ours judges the same in the sandbox, HumanEval
with the tests in a process apart: `run_tests` called on a `Runner`, and a `WorkerPool` of code
workers, as the service has it. They take turns. Times are from the call to the verdict, which is
checked. Run it with nothing else on the machine:

    python benchmarks/code_verifier.py

Reads `shared/data` beside the repository for HumanEval; without it the rest is measured.
"""

# The file is not called code.py because that would hide the standard library's module from scripts
# in this directory.

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks._readme_row import readme_row, spread
from benchmarks.sandbox import NUMPY, TRIVIAL
from tests.shared_data import SharedDataMissing, read_shared_data
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reasons import CodeReason
from verifier_service.code.reference_tests import read_tests
from verifier_service.code.repeated_program import Plan
from verifier_service.code.run_tests import ENTRIES, run_tests
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Verdict
from verifier_service.worker_pools import CODE_LIMITS
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.sources import CodeWorkers
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

NUM_WORKERS = (1, 4)
PLAN = Plan(
    Limits(cpu_seconds=4, wall_seconds=12),
    total_cpu_seconds=30,
    total_wall_seconds=90,
    run_all=False,
)
NUM_CASES = 10
GROUP_SIZE = 16
NUM_ROUNDS = 5
"""Rounds of each way to judge; the ratio is the median of theirs."""
PEER = "subprocess.run"
SORT = b"values = sorted(map(int, input().split()))\nprint(*values)\nprint(sum(values))"

Judge = Callable[["Problem"], Awaitable[None]]


@dataclass(frozen=True)
class Problem:
    """A program that is right, its tests, and how the peer runs both."""

    source: str
    tests: dict[str, Any]
    peer_runs: tuple[tuple[str, str, str | None], ...]
    """Source, standard input, and what it must print, if that is what shows success."""


@dataclass(frozen=True)
class Workload:
    """Problems, how often each way judges one, and the rate to reach in shares of the peer's."""

    name: str
    problems: list[Problem]
    num_peer_calls: int
    num_calls: int
    target: float
    readme: str | None = None
    """The workload in the README's words, if its table has it."""


def stdio(source: bytes, cases: list[tuple[str, str]]) -> Problem:
    """A program with what it reads and what it prints."""
    text = source.decode()
    tests = {"type": "stdio", "cases": [{"stdin": given, "stdout": out} for given, out in cases]}
    return Problem(text, tests, tuple((text, given, out) for given, out in cases))


def humaneval(row: dict[str, Any]) -> Problem:
    """A canonical solution and its `check`."""
    source = row["prompt"] + row["canonical_solution"]
    tests = {"type": "asserts", "code": row["test"], "entry_point": row["entry_point"]}
    whole = f"{source}\n{row['test']}\ncheck({row['entry_point']})\n"
    return Problem(source, tests, ((whole, "", None),))


def workloads() -> Iterator[Workload]:
    """The workloads that are measured."""
    yield Workload(
        "trivial, stdin", [stdio(TRIVIAL, [("12\n", "144")])], 200, 1200, 3, "trivial programs"
    )
    yield Workload("numpy", [stdio(NUMPY, [("12\n", "66")])], 40, 800, 25)
    try:
        rows = read_shared_data("code/humaneval.jsonl.gz")
    except SharedDataMissing as missing:
        print(f"not measured: {missing}")
    else:
        num_calls = NUM_ROUNDS * len(rows)  # all problems equally often
        problems = list(map(humaneval, rows))
        yield Workload("HumanEval", problems, num_calls, num_calls, 1.2)
        # As a trainer sends them: the completions of a problem one after the other.
        grouped = [problem for problem in problems for _ in range(GROUP_SIZE)]
        title = f"in groups of {GROUP_SIZE}"
        yield Workload(title, grouped, num_calls, num_calls, 1.2, f"HumanEval programs {title},")
    cases = [
        (" ".join(map(str, range(n, 0, -1))), " ".join(map(str, range(1, n + 1))))
        for n in range(100, 100 + NUM_CASES)
    ]
    sorting = [(given, f"{out}\n{sum(map(int, out.split()))}") for given, out in cases]
    yield Workload(f"{NUM_CASES} cases, stdin", [stdio(SORT, sorting)], 40, 160, 3)


async def run_plainly(problem: Problem) -> None:
    """The peer."""
    for source, stdin, stdout in problem.peer_runs:
        result = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-I", "-c", source],
            input=stdin.encode(),
            capture_output=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        assert stdout is None or result.stdout.decode().strip() == stdout, result.stdout


def with_runner(runner: Runner) -> Judge:
    """Judge in the sandbox, called directly."""

    async def judge(problem: Problem) -> None:
        found = await run_tests(
            runner, LANGUAGES["python"], problem.source, read_tests({"tests": problem.tests}), PLAN
        )
        assert found.reason == CodeReason.PASSED, found

    return judge


def with_pool(pool: WorkerPool) -> Judge:
    """Judge as the service does: in worker processes, each with a sandbox."""

    async def judge(problem: Problem) -> None:
        completion = Completion(f"```python\n{problem.source}\n```\n")
        part = TaskPart.of({"tests": problem.tests}, [completion])
        verdicts: list[TaskResult] = []
        task = EncodedTask.of(Task.of({"type": "code"}, [part]), "code")
        await pool.judge(task, verdicts)
        assert isinstance(verdicts[0], Verdict)
        assert verdicts[0].score == 1.0, verdicts

    return judge


async def main() -> None:
    """Print the table."""
    print(f"{len(os.sched_getaffinity(0))} cores")
    print(f"{'program':16} {'with':15} workers   1/s  median ms  p99 ms  ratio  target")
    async with contextlib.AsyncExitStack() as stack:
        ways: dict[tuple[str, int], Judge] = {}
        for num_workers in NUM_WORKERS:
            runner = Runner(num_workers, entries=ENTRIES, expects_pairs=True)
            pool = WorkerPool(num_workers, CODE_LIMITS, CodeWorkers)
            ways[PEER, num_workers] = run_plainly
            ways["runner", num_workers] = with_runner(await stack.enter_async_context(runner))
            ways["worker pool", num_workers] = with_pool(await stack.enter_async_context(pool))
        for workload in workloads():
            await measure_workload(workload, ways)


async def measure_workload(workload: Workload, ways: dict[tuple[str, int], Judge]) -> None:
    """Print a line for each way to judge the workload; the ways take turns."""
    problems = {key: itertools.cycle(workload.problems) for key in ways}
    rates: dict[tuple[str, int], list[float]] = {key: [] for key in ways}
    milliseconds: dict[tuple[str, int], list[float]] = {key: [] for key in ways}
    for (_, num_workers), judge in ways.items():
        await asyncio.gather(*(judge(workload.problems[0]) for _ in range(2 * num_workers)))
    for _ in range(NUM_ROUNDS):
        for key, judge in ways.items():
            is_peer = key[0] == PEER
            num_calls = (workload.num_peer_calls if is_peer else workload.num_calls) // NUM_ROUNDS
            found = await times(judge, problems[key], key[1], num_calls)
            rates[key].append(found[0])
            milliseconds[key] += found[1]
    for way, num_workers in ways:
        rate = statistics.median(rates[way, num_workers])
        percentiles = statistics.quantiles(milliseconds[way, num_workers], n=100)
        row = f"{num_workers:7} {rate:5.0f} {percentiles[49]:10.2f} {percentiles[98]:7.2f}"
        if way != PEER:
            ratio = statistics.median(
                one / peer
                for one, peer in zip(rates[way, num_workers], rates[PEER, num_workers], strict=True)
            )
            row += f" {ratio:6.2f} {workload.target:7}"
        print(f"{workload.name:16} {way:15} {row}", flush=True)
    if workload.readme is not None:
        ours, theirs = (rates[way, max(NUM_WORKERS)] for way in ("worker pool", PEER))
        ratio = statistics.median(one / peer for one, peer in zip(ours, theirs, strict=True))
        readme_row(
            f"{workload.readme} a second, {max(NUM_WORKERS)} workers",
            f"`{PEER}`, no sandbox {spread(theirs)}",
            f"{spread(ours)} ({ratio:.2f} x)",
        )


async def times(
    judge: Judge, problems: Iterator[Problem], num_workers: int, num_calls: int
) -> tuple[float, list[float]]:
    """Calls per second, and the milliseconds of each."""
    milliseconds: list[float] = []

    async def work() -> None:
        for problem in itertools.islice(problems, num_calls // num_workers):
            start = time.perf_counter()
            await judge(problem)
            milliseconds.append(1000 * (time.perf_counter() - start))

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(num_workers)))
    return len(milliseconds) / (time.perf_counter() - start), milliseconds


if __name__ == "__main__":
    asyncio.run(main())
