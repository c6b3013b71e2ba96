"""How far a fleet goes: judges that wait instead of computing, behind gateways on this machine.

A judge sleeps 1, 20 or 200 ms for each completion, so that hundreds of them fit on one machine and
the gateways are what is measured. Each call has completions of 1 kB, 8 unless told otherwise, and
each judge two calls at hand. Without Ray, gateways are processes of their own, and judges live in
them. With `--ray` actors hold up to 16 judges each: one for each would need 200 MB and 5 s of CPU
to start. What a gateway costs is measured there too: the CPU of its process and all below it,
beside the API process of a single service and all below that but its workers, in turns.

    python benchmarks/fleet_simulation.py [--judges 64] [--wait-ms 20] [--call-completions 64]

The single service has one worker, which judges by `format`. With `--ray` run it in .venv-fleet,
which `make test-fleet` makes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._closed_loop import Load, ask
from benchmarks._waiting import ENABLED
from tests.processes import fork_servers, pid_in, tree
from trainer_client.service_process import running_service

CALL_COMPLETIONS = 8
CALL_SIZES = (CALL_COMPLETIONS, 512)
NUM_CALLS = 2
"""Calls under way where the cost of a completion is measured."""
CALLS_PER_JUDGE = 2
LEAST_SECONDS = 4.0
LEAST_TASKS = 5
"""Tasks that each judge does in the time of a measurement, at least."""
TICKS = os.sysconf("SC_CLK_TCK")
HEAD = (
    f"{'gateways':>8} {'judges':>6} {'wait':>6} {'calls':>6} {'completions/s':>14} "
    f"{'of judges':>9} {'gateway us':>10} {'beside us':>9} {'p50 ms':>8} {'p99 ms':>8}"
)


@dataclass(frozen=True)
class Fleet:
    """A running fleet."""

    urls: list[str]
    gateways: list[int]
    """Processes of the gateways; what is below them counts as theirs."""
    beside: list[int]
    """Processes that other parts of the way to a judge take, such as Ray Serve's proxy."""
    judges: list[int] = field(default_factory=list)
    """Processes below a gateway that judge: they do not count as its own."""


@dataclass(frozen=True)
class Measured:
    """A fleet under load."""

    load: Load
    gateway_seconds: float
    """CPU seconds of all gateways for a completion, the warm-up included."""
    beside_seconds: float


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, nargs="+")
    parser.add_argument("--gateways", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--wait-ms", type=float, nargs="+", default=[1, 20, 200])
    parser.add_argument("--call-completions", type=int, default=CALL_COMPLETIONS)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--without-costs", action="store_true", help="the table alone")
    arguments = parser.parse_args()
    num_cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    print(f"{num_cores} cores, load {load:.1f} before; clients on the same machine")
    if arguments.ray:
        from benchmarks._ray_fleet import ray_tables  # noqa: PLC0415  needs Ray

        ray_tables(
            arguments.judges or [1, 4, 16, 64],
            arguments.wait_ms,
            call_completions=arguments.call_completions,
            with_costs=not arguments.without_costs,
        )
        return
    if not arguments.without_costs:
        with single_service() as single:
            for size in CALL_SIZES:
                cost = measure(single, 1, 0.0, call_completions=size, num_calls=NUM_CALLS)
                print(f"single service, calls of {size}: {cost.gateway_seconds * 1e6:.0f} us each")
    print(HEAD)
    for num_gateways in arguments.gateways:
        for wait_ms in arguments.wait_ms:
            rates = {}
            for num_judges in arguments.judges or [1, 4, 16, 64, 256]:
                if num_judges < num_gateways:
                    continue
                with gateways(num_gateways, num_judges, wait_ms / 1000) as fleet:
                    measured = measure(
                        fleet,
                        num_judges,
                        wait_ms / 1000,
                        call_completions=arguments.call_completions,
                    )
                print(row(num_gateways, num_judges, wait_ms, measured), flush=True)
                rates[num_judges] = measured.load.rate
            if {1, 64} <= rates.keys():
                print(f"{'':8} 64 judges have {rates[64] / rates[1]:.1f} x the completions of one")


@contextmanager
def single_service() -> Iterator[Fleet]:
    """A service without Ray, whose API process is counted as a gateway is."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "service.log"
        flags = ("--workers", "1", "--enabled", ",".join(ENABLED), "--max-cached-verdicts", "0")
        with running_service(log, *flags) as url:
            asyncio.run(ask([url], 2, CALL_COMPLETIONS, 1.0))
            process = pid_in(log)
            yield Fleet([url], [process], [], fork_servers(process, "text_worker"))


def measure(
    fleet: Fleet,
    num_judges: int,
    wait_seconds: float,
    *,
    call_completions: int = CALL_COMPLETIONS,
    num_calls: int | None = None,
) -> Measured:
    """Ask a fleet until each judge has had enough tasks.

    Args:
        fleet: is warm.
        num_judges: of all gateways.
        wait_seconds: of each completion.
        call_completions: completions of each call.
        num_calls: calls under way; None: two for each judge.
    """
    seconds = max(LEAST_SECONDS, LEAST_TASKS * call_completions * wait_seconds)
    gateways, beside = _own_seconds(fleet), cpu_seconds(fleet.beside)
    calls = CALLS_PER_JUDGE * num_judges if num_calls is None else num_calls
    load = asyncio.run(ask(fleet.urls, calls, call_completions, seconds))
    return Measured(
        load,
        (_own_seconds(fleet) - gateways) / load.all_completions,
        (cpu_seconds(fleet.beside) - beside) / load.all_completions,
    )


def _own_seconds(fleet: Fleet) -> float:
    return cpu_seconds(fleet.gateways) - cpu_seconds(fleet.judges)


def row(num_gateways: int, num_judges: int, wait_ms: float, measured: Measured) -> str:
    """A line of the table."""
    load = measured.load
    possible = num_judges / (wait_ms / 1000)
    return (
        f"{num_gateways:8} {num_judges:6} {wait_ms:6g} {CALLS_PER_JUDGE * num_judges:6} "
        f"{load.rate:14.0f} {load.rate / possible:9.0%} {measured.gateway_seconds * 1e6:10.0f} "
        f"{measured.beside_seconds * 1e6:9.0f} "
        f"{load.percentile(0.5) * 1e3:8.0f} {load.percentile(0.99) * 1e3:8.0f}"
    )


@contextmanager
def gateways(number: int, num_judges: int, wait_seconds: float) -> Iterator[Fleet]:
    """Gateways without Ray, each with its share of the judges."""
    processes = []
    try:
        for _ in range(number):
            command = [sys.executable, "-m", "benchmarks._waiting"]
            share = [str(num_judges // number), str(wait_seconds)]
            processes.append(
                subprocess.Popen([*command, *share], stdout=subprocess.PIPE, text=True)
            )
        urls = [_url(process) for process in processes]
        for url in urls:
            asyncio.run(ask([url], 1, CALL_COMPLETIONS, 10 * CALL_COMPLETIONS * wait_seconds))
        yield Fleet(urls, [process.pid for process in processes], [])
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            with contextlib.closing(process.stdout):  # type: ignore[type-var]
                process.wait()


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("running on "):
            return line.removeprefix("running on ").strip()
    raise RuntimeError(f"a gateway ended with status {process.wait()}")


def cpu_seconds(processes: list[int]) -> float:
    """CPU seconds of processes and all below them, those that have ended included."""
    pids = {pid for process in processes for pid in tree(process)}
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in pids]
    ticks = [int(field) for stat in stats for field in stat.rpartition(")")[2].split()[11:15]]
    return sum(ticks) / TICKS


if __name__ == "__main__":
    main()
