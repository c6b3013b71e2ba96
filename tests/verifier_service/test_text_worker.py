"""The workers that parse text are confined too."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from verifier_service.verdict import Completion, EncodedTask, Outcome, Part, Question, Task, Verdict
from verifier_service.workers.pool import ItemLimits, WorkerPool

LIMITS = ItemLimits(cpu_seconds=5.0, memory_bytes=2**30)


def workers() -> list[dict[str, str]]:
    """The status of each process that a fork server of this process started."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"verifier_service.workers.text_worker" in (process / "cmdline").read_bytes():
                lines = (process / "status").read_text().splitlines()
                fields = (line.partition(":") for line in lines)
                found[process.name] = {name: value.strip() for name, _, value in fields}
    own = str(os.getpid())
    return [status for status in found.values() if found.get(status["PPid"], {}).get("PPid") == own]


def test_a_worker_has_a_filter_and_no_capability() -> None:
    async def inspect() -> tuple[list[Verdict], list[dict[str, str]]]:
        async with WorkerPool(2, LIMITS) as pool:
            verdicts: list[Verdict | Question] = []
            text = r"The answer is \boxed{\frac{1}{2} + \sin(0)}"
            task = Task({"type": "accuracy"}, [Part({"answer": "0.5"}, [Completion(text)])])
            await pool.judge(EncodedTask.of(task, "text"), verdicts)
            return [verdict for verdict in verdicts if isinstance(verdict, Verdict)], workers()

    verdicts, found = asyncio.run(inspect())
    assert [(v.outcome, v.score) for v in verdicts] == [(Outcome.SCORED, 1.0)]
    assert len(found) == 2
    for worker in found:
        assert worker["Seccomp"] == "2"
        assert worker["NoNewPrivs"] == "1"
        assert int(worker["CapEff"], 16) == int(worker["CapPrm"], 16) == 0
