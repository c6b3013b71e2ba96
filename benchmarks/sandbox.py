"""Executions per second: the sandbox against plain `subprocess.run`, which confines nothing.

Both run the same programs, in one invocation of this script, one after the other. Times are from
the call to the answer, and the ratio is that of the rates. Run it with nothing else on the machine:

    python benchmarks/sandbox.py
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, Limits, Program
from verifier_service.sandbox.runner import Runner

TRIVIAL = b"print(int(input()) ** 2)"
NUMPY = b"import numpy\nprint(numpy.arange(int(input())).sum())"
STDIN, NUM_WORKERS = b"12\n", (1, 4)
Call = Callable[[], Awaitable[None]]


async def measure(call: Call, num_workers: int, num_calls: int) -> tuple[float, float, float]:
    """Calls per second, and the median and 99th percentile of their milliseconds."""
    milliseconds: list[float] = []

    async def work() -> None:
        for _ in range(num_calls // num_workers):
            start = time.perf_counter()
            await call()
            milliseconds.append(1000 * (time.perf_counter() - start))

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(num_workers)))
    rate = len(milliseconds) / (time.perf_counter() - start)
    percentiles = statistics.quantiles(milliseconds, n=100)
    return rate, percentiles[49], percentiles[98]


async def plain(source: bytes) -> None:
    """The peer."""
    command = [sys.executable, "-I", "-c", source.decode()]
    result = await asyncio.to_thread(
        subprocess.run, command, input=STDIN, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr


async def ours(runner: Runner, source: bytes, limits: Limits) -> None:
    """One execution in the sandbox."""
    execution = await runner.run(Program(payload=source, stdin=STDIN), limits)
    assert execution.succeeded, execution


async def main() -> None:
    """Print the table."""
    print(f"{'program':8} {'with':32} workers   1/s  median ms  p99 ms  ratio")
    limits, scratch = Limits(), Limits(file_bytes=2**20)
    async with Runner(4) as all_layers, Runner(4, unsafe_without=frozenset(Layer)) as bare:
        common = Runner(4, unsafe_without=frozenset(Layer) - COMMON_LAYERS)
        async with common:
            for name, source, num_plain in (("trivial", TRIVIAL, 400), ("numpy", NUMPY, 40)):
                calls: dict[str, tuple[Call, int]] = {
                    "subprocess.run": (lambda s=source: plain(s), num_plain),  # type: ignore[misc]
                }
                for label, runner, chosen in (
                    ("fork server, no layers", bare, limits),
                    ("Landlock and seccomp", common, limits),
                    ("every layer", all_layers, limits),
                    ("every layer, scratch", all_layers, scratch),
                ):
                    calls[label] = (
                        lambda r=runner, s=source, c=chosen: ours(r, s, c),  # type: ignore[misc]
                        2000,
                    )
                plain_rates: dict[int, float] = {}
                for label, (call, num_calls) in calls.items():
                    await asyncio.gather(*(call() for _ in range(8)))
                    for num_workers in NUM_WORKERS:
                        rate, median, worst = await measure(call, num_workers, num_calls)
                        ratio = rate / plain_rates.setdefault(num_workers, rate)
                        row = f"{num_workers:7} {rate:5.0f} {median:10.2f} {worst:7.2f}"
                        print(f"{name:8} {label:32} {row} {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
