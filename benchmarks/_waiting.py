"""Judges whose verifier waits instead of computing, and a gateway process with some of them.

Run as `python -m benchmarks._waiting NUM_JUDGES SECONDS`, it serves without Ray on a free port and
prints `running on URL`.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack

import uvicorn

from verifier_service.app import create_app
from verifier_service.engine.scheduler import CountedPool
from verifier_service.http.connection import ConnectionLimits, Guard, guarded
from verifier_service.http.drain import Drain
from verifier_service.http.metrics import Metrics
from verifier_service.server import listen
from verifier_service.settings import EngineSettings, Settings
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.format import FormatReason
from verifier_service.workers.tasks import EncodedTask, TaskResult

ENABLED = ("format",)
MAX_CONNECTIONS = 4096


class WaitingPool:
    """Judges that wait; each takes one task at a time.

    Args:
        size: number of judges.
        seconds: time that each completion takes.
    """

    problem = None

    def __init__(self, size: int, seconds: float) -> None:
        self.size = self.num_running = size
        self.restarts: Counter[str] = Counter()
        self._seconds = seconds
        self._free = asyncio.Semaphore(size)
        self._num_under_way = 0

    @property
    def num_busy(self) -> int:
        """Number of judges at a task."""
        return min(self._num_under_way, self.size)

    @property
    def num_waiting(self) -> int:
        """Number of tasks that wait for a judge."""
        return self._num_under_way - self.num_busy

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append a verdict for each completion, all of them after the time that they take."""
        self._num_under_way += 1
        try:
            async with self._free:
                await asyncio.sleep(self._seconds * task.num_completions)
        finally:
            self._num_under_way -= 1
        verdicts += [Verdict(Outcome.SCORED, 1.0, FormatReason.MATCHED, 0.0)] * task.num_completions


def serve_waiting(num_judges: int, seconds: float) -> None:
    """Serve one gateway with so many judges until SIGTERM."""

    async def start(_: EngineSettings, __: AsyncExitStack) -> Mapping[str, CountedPool]:
        return {"text": WaitingPool(num_judges, seconds)}

    settings = Settings(enabled=ENABLED, max_cached_verdicts=0, max_sessions=0)
    metrics = Metrics()
    app = create_app(settings, drain=Drain(), metrics=metrics, start=start)
    guard = Guard(ConnectionLimits(MAX_CONNECTIONS), metrics)
    config = uvicorn.Config(app, http=guarded(guard), log_config=None, access_log=False)
    [listener] = listen("127.0.0.1", 0)
    sys.stdout.write(f"running on http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    serve_waiting(int(sys.argv[1]), float(sys.argv[2]))
