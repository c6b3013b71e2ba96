"""`verifier-service serve` that writes down how long the steps of its event loop take.

Run as `python -m benchmarks._timed_service REPORT --port 0 ...`: at its end REPORT has
the longest steps: seconds of CPU time of the loop's thread, wall seconds, and what ran.
"""

from __future__ import annotations

import asyncio.events
import heapq
import json
import signal
import sys
import time
from pathlib import Path

from verifier_service.cli import run

NUM_STEPS = 20

_steps: list[tuple[float, float, str]] = []
_run_handle = asyncio.events.Handle._run


def _timed(handle: asyncio.events.Handle) -> None:
    start, wall = time.thread_time(), time.perf_counter()
    _run_handle(handle)
    seconds = time.thread_time() - start
    if len(_steps) < NUM_STEPS or seconds > _steps[0][0]:
        step = (seconds, time.perf_counter() - wall, repr(handle)[:500])
        (heapq.heappush if len(_steps) < NUM_STEPS else heapq.heapreplace)(_steps, step)


if __name__ == "__main__":
    asyncio.events.Handle._run = _timed  # type: ignore[assignment,method-assign]
    report = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the server raises it again when it has ended
    try:
        run(["serve", *sys.argv[2:]])
    finally:
        report.write_text(json.dumps(sorted(_steps, reverse=True)))
