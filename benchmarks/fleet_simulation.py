"""How far a fleet goes: judges that wait instead of computing, behind gateways on this machine.

A judge sleeps 1, 20 or 200 ms for each completion, so that hundreds of them fit on one machine and
the gateways are what is measured. Each call has 8 completions of 1 kB, and each judge two calls at
hand. Without Ray, gateways are processes of their own, and judges live in them; what Ray adds is
measured with `--ray`, for few judges, as each is an actor that starts for seconds.

    python benchmarks/fleet_simulation.py [--judges 64] [--wait-ms 20]

The control is the single service in the same run: one worker, judging by `format`. With `--ray` run
it in .venv-fleet, which `make test-fleet` makes.
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
from dataclasses import dataclass
from pathlib import Path

from benchmarks._closed_loop import Load, ask
from benchmarks._waiting import ENABLED
from tests.processes import fork_servers, pid_in, tree
from trainer_client.service_process import running_service

CALL_COMPLETIONS = 8
LARGE_CALL_COMPLETIONS = 512
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
    parser.add_argument("--ray", action="store_true")
    arguments = parser.parse_args()
    num_cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    print(f"{num_cores} cores, load {load:.1f} before; clients on the same machine")
    cost = single_costs()
    if arguments.ray:
        from benchmarks._ray_fleet import ray_tables  # noqa: PLC0415  needs Ray

        ray_tables(arguments.judges or [1, 4, 16, 64], arguments.wait_ms, cost)
        return
    print(HEAD)
    for num_gateways in arguments.gateways:
        for wait_ms in arguments.wait_ms:
            rates = {}
            for num_judges in arguments.judges or [1, 4, 16, 64, 256]:
                if num_judges < num_gateways:
                    continue
                with gateways(num_gateways, num_judges, wait_ms / 1000) as fleet:
                    measured = measure(fleet, num_judges, wait_ms / 1000)
                print(row(num_gateways, num_judges, wait_ms, measured), flush=True)
                rates[num_judges] = measured.load.rate
            if {1, 64} <= rates.keys():
                print(f"{'':8} 64 judges have {rates[64] / rates[1]:.1f} x the completions of one")


def single_costs() -> dict[int, float]:
    """CPU seconds of the single service's API process for a completion, by the calls' size."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "service.log"
        flags = ("--workers", "1", "--enabled", ",".join(ENABLED), "--max-cached-verdicts", "0")
        with running_service(log, *flags) as url:
            asyncio.run(ask([url], 2, CALL_COMPLETIONS, 1.0))
            process = pid_in(log)
            workers = fork_servers(process, "text_worker")
            for size in (CALL_COMPLETIONS, LARGE_CALL_COMPLETIONS):
                before, spent = cpu_seconds([process]), cpu_seconds(workers)
                load = asyncio.run(ask([url], 2, size, LEAST_SECONDS))
                own = cpu_seconds([process]) - before - (cpu_seconds(workers) - spent)
                found[size] = own / load.all_completions
                print(
                    f"single service, calls of {size}: {load.rate:.0f} completions/s, "
                    f"{found[size] * 1e6:.0f} us of the API process for each"
                )
    return found


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
    gateways, beside = cpu_seconds(fleet.gateways), cpu_seconds(fleet.beside)
    calls = CALLS_PER_JUDGE * num_judges if num_calls is None else num_calls
    load = asyncio.run(ask(fleet.urls, calls, call_completions, seconds))
    return Measured(
        load,
        (cpu_seconds(fleet.gateways) - gateways) / load.all_completions,
        (cpu_seconds(fleet.beside) - beside) / load.all_completions,
    )


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
