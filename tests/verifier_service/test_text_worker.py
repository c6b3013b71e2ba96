"""The workers that parse text are confined too."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.processes import children, fork_servers, until
from verifier_service.completion import Completion
from verifier_service.verdict import Outcome, Verdict
from verifier_service.workers.limits import ItemLimits
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

LIMITS = ItemLimits(cpu_seconds=5.0, memory_bytes=2**30)


def workers() -> list[dict[str, str]]:
    """The status of each worker of this process's pools."""
    found = []
    for server in fork_servers(os.getpid(), "verifier_service.workers.text_worker"):
        for worker in children(server):
            lines = Path(f"/proc/{worker}/status").read_text().splitlines()
            fields = (line.partition(":") for line in lines)
            found.append({name: value.strip() for name, _, value in fields})
    return found


def filters() -> list[str]:
    return [worker["Seccomp"] for worker in workers()]


@pytest.mark.slow
def test_a_worker_has_a_filter_and_no_capability() -> None:
    async def inspect() -> tuple[list[Verdict], list[dict[str, str]]]:
        async with WorkerPool(2, LIMITS) as pool:
            verdicts: list[TaskResult] = []
            text = r"The answer is \boxed{\frac{1}{2} + \sin(0)}"
            task = Task.of(
                {"type": "accuracy"}, [TaskPart.of({"answer": "0.5"}, [Completion(text)])]
            )
            await pool.judge(EncodedTask.of(task, "text"), verdicts)
            # The other worker may be on its way yet; the filter is the last that it gets.
            await asyncio.to_thread(until, lambda: filters() == ["2", "2"])
            return [verdict for verdict in verdicts if isinstance(verdict, Verdict)], workers()

    verdicts, found = asyncio.run(inspect())
    assert [(v.outcome, v.score) for v in verdicts] == [(Outcome.SCORED, 1.0)]
    assert len(found) == 2
    for worker in found:
        assert worker["NoNewPrivs"] == "1"
        assert int(worker["CapEff"], 16) == int(worker["CapPrm"], 16) == 0


@pytest.mark.slow
def test_an_error_of_a_verifier_is_logged_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    """A worker may not write into a file, which the log may be; its parent says it."""
    task = Task.of({"type": "accuracy", "no_option": 1}, [TaskPart.of({}, [Completion("x")])])

    async def judge() -> list[TaskResult]:
        async with WorkerPool(1, LIMITS) as pool:
            verdicts: list[TaskResult] = []
            await pool.judge(EncodedTask.of(task, "text"), verdicts)
            return verdicts

    (verdict,) = asyncio.run(judge())
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.FAILED
    died = [line for line in caplog.messages if "died" in line]
    assert died
    assert all("died: ValidationError at " in line for line in died)
    assert all("text_worker.py:" in line for line in died)
