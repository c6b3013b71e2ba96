"""Fleets on a Ray of this machine, whose judges wait."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import ray
from ray import serve

from benchmarks._closed_loop import ask
from benchmarks._waiting import ENABLED, WaitingPool
from benchmarks.fleet_simulation import (
    CALL_COMPLETIONS,
    HEAD,
    Fleet,
    measure,
    row,
)
from tests.processes import tree
from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.judge import JudgeReplica
from verifier_service.fleet.references import FetchedReferences
from verifier_service.fleet.settings import FleetSettings

NUM_CPUS = 1000
"""Cores that Ray believes in: judges that wait need none."""
NUM_LARGE_CALLS = 2
START_TRIES = 6
"""Ray gives a start up where its agent takes more than half a minute, as on a busy machine."""
PATIENCE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_health_check_failure_threshold": "60",
    "RAY_prestart_worker_first_driver": "0",
}
"""Variables of Ray: a busy machine is slow, not dead, and no process starts for a core unasked."""


class WaitingJudge(JudgeReplica):
    """A judge of the fleet whose workers wait."""

    wait_seconds = 0.0

    async def __init__(  # type: ignore[misc]  # Ray Serve awaits it
        self, settings: FleetSettings, kind: str
    ) -> None:
        self._stack = AsyncExitStack()
        self._references = FetchedReferences()
        self._pool = WaitingPool(settings.workers, self.wait_seconds)  # type: ignore[assignment]


def ray_tables(num_judges: list[int], waits_ms: list[float], single: dict[int, float]) -> None:
    """Print what a gateway costs beside the single service, and the table of judges that wait.

    Args:
        num_judges: sizes of fleets.
        waits_ms: times of judges for a completion.
        single: CPU seconds of the single service's API process, by the size of calls.
    """
    start_ray()
    try:
        with waiting_fleet(1, 0.0) as fleet:
            for size, cost in single.items():
                found = measure(fleet, 1, 0.0, call_completions=size, num_calls=NUM_LARGE_CALLS)
                print(
                    f"gateway on Ray, calls of {size}: {found.gateway_seconds * 1e6:.0f} us for a "
                    f"completion, {found.gateway_seconds / cost:.2f} x the single service; Ray "
                    f"Serve's proxy {found.beside_seconds * 1e6:.0f} us"
                )
        print(HEAD)
        for wait_ms in waits_ms:
            rates = {}
            for number in num_judges:
                with waiting_fleet(number, wait_ms / 1000) as fleet:
                    measured = measure(fleet, number, wait_ms / 1000)
                print(row(1, number, wait_ms, measured), flush=True)
                rates[number] = measured.load.rate
            if {1, 64} <= rates.keys():
                print(f"{'':8} 64 judges have {rates[64] / rates[1]:.1f} x the completions of one")
    finally:
        serve.shutdown()
        ray.shutdown()


def start_ray() -> None:
    """Start a Ray of this process. Raises the last error of several tries."""
    os.environ.update(PATIENCE | dict(os.environ))
    for number in reversed(range(START_TRIES)):
        try:
            ray.init("local", num_cpus=NUM_CPUS, include_dashboard=False, log_to_driver=False)
            return
        except Exception:  # Ray raises no narrower one
            ray.shutdown()
            if not number:
                raise


@contextmanager
def waiting_fleet(num_judges: int, seconds: float) -> Iterator[Fleet]:
    """A gateway with so many judges, each an actor, that wait so long for each completion."""
    judge = type("Judge", (WaitingJudge,), {"wait_seconds": seconds})
    settings = FleetSettings(
        enabled=ENABLED, judges=num_judges, max_judges=num_judges, max_cached_verdicts=0
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(fleet_of(settings, judge), name="simulation", route_prefix="/")
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(ask([url], 1, CALL_COMPLETIONS, 2.0 + 2 * CALL_COMPLETIONS * seconds))
        yield Fleet([url], actors("ServeReplica:simulation:gateway"), actors("ProxyActor"))
    finally:
        serve.shutdown()


def actors(name: str) -> list[int]:
    """The processes of the actors with a name, which Ray has started below this one."""
    title = f"ray::{name}".encode()
    return [pid for pid in tree(os.getpid()) if _command(pid).startswith(title)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
