"""Programs judged per second, beside plain `subprocess.run`, which confines nothing.

The peer runs `python -I -c` once for each program and its input; for HumanEval, once for program
and tests in one process, which a program can fool. Ours judges the same in the sandbox, HumanEval
with the tests in a process apart: `grade` called on a `Runner`, and a `WorkerPool` of code workers,
as the service has it. Times are from the call to the verdict; each is checked. Run it with nothing
else on the machine:

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
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.sandbox import NUMPY, TRIVIAL, measure
from tests.shared_data import SharedDataMissing, read_shared_data
from verifier_service.app import CODE_LIMITS
from verifier_service.code.grading import ENTRIES, Plan, Result, grade
from verifier_service.code.problem import read_tests
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Completion, Part, Question, Task, Verdict
from verifier_service.worker_pool import CodeWorkers, WorkerPool

NUM_WORKERS = (1, 4)
PLAN = Plan(Limits(cpu_seconds=4, wall_seconds=12), total_cpu_seconds=30, run_all=False)
NUM_CASES = 10
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
    """What is measured."""
    yield Workload("trivial, stdin", [stdio(TRIVIAL, [("12\n", "144")])], 400, 2000, 3)
    yield Workload("numpy", [stdio(NUMPY, [("12\n", "66")])], 40, 1200, 25)
    try:
        rows = read_shared_data("code/humaneval.jsonl.gz")
    except SharedDataMissing as missing:
        print(f"not measured: {missing}")
    else:
        num_calls = 3 * len(rows)  # all problems equally often
        yield Workload("HumanEval", list(map(humaneval, rows)), num_calls, num_calls, 1.2)
    cases = [
        (" ".join(map(str, range(n, 0, -1))), " ".join(map(str, range(1, n + 1))))
        for n in range(100, 100 + NUM_CASES)
    ]
    sorting = [(given, f"{out}\n{sum(map(int, out.split()))}") for given, out in cases]
    yield Workload(f"{NUM_CASES} cases, stdin", [stdio(SORT, sorting)], 80, 400, 3)


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
        found = await grade(runner, problem.source, read_tests({"tests": problem.tests}), PLAN)
        assert found.result is Result.PASSED, found

    return judge


def with_pool(pool: WorkerPool) -> Judge:
    """Judge as the service does: in worker processes, each with a sandbox."""

    async def judge(problem: Problem) -> None:
        completion = Completion(f"```python\n{problem.source}\n```\n")
        part = Part({"tests": problem.tests}, [completion])
        verdicts: list[Verdict | Question] = []
        await pool.judge(Task({"type": "code"}, [part]), verdicts)
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
            ways["subprocess.run", num_workers] = run_plainly
            ways["runner", num_workers] = with_runner(await stack.enter_async_context(runner))
            ways["worker pool", num_workers] = with_pool(await stack.enter_async_context(pool))
        for workload in workloads():
            await measure_workload(workload, ways)


async def measure_workload(workload: Workload, ways: dict[tuple[str, int], Judge]) -> None:
    """Print a line for each way to judge the workload."""
    peer_rates: dict[int, float] = {}
    for (way, num_workers), judge in ways.items():
        problems = itertools.cycle(workload.problems)

        async def call(judge: Judge = judge, problems: Iterator[Problem] = problems) -> None:
            await judge(next(problems))

        is_peer = way == "subprocess.run"
        await asyncio.gather(*(judge(workload.problems[0]) for _ in range(2 * num_workers)))
        num_calls = workload.num_peer_calls if is_peer else workload.num_calls
        rate, median, worst = await measure(call, num_workers, num_calls)
        if is_peer:
            peer_rates[num_workers] = rate
        row = f"{num_workers:7} {rate:5.0f} {median:10.2f} {worst:7.2f}"
        ratio = "" if is_peer else f" {rate / peer_rates[num_workers]:6.2f} {workload.target:7}"
        print(f"{workload.name:16} {way:15} {row}{ratio}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
