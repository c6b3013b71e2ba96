"""Fleets on a Ray of this machine, whose judges wait."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import ray
from ray import serve
from ray.util import get_node_ip_address

from benchmarks._closed_loop import ask
from benchmarks._patient_ray import be_patient, free_port
from benchmarks._waiting import ENABLED, WaitingPool
from benchmarks.fleet_simulation import (
    CALL_COMPLETIONS,
    CALL_SIZES,
    HEAD,
    NUM_CALLS,
    Fleet,
    Measured,
    measure,
    row,
    single_service,
)
from tests.processes import tree
from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.judge import JudgeReplica
from verifier_service.fleet.settings import FleetSettings
from verifier_service.fleet.task_server import TaskServer

NUM_CPUS = 1000
"""Cores that Ray believes in: judges that wait need none."""
JUDGES_PER_ACTOR = 16
NUM_ROUNDS = 3


class WaitingJudge(JudgeReplica):
    """A judge of the fleet whose workers wait."""

    wait_seconds = 0.0

    async def __init__(  # type: ignore[misc]  # Ray Serve awaits it
        self, settings: FleetSettings, kind: str
    ) -> None:
        self._stack = AsyncExitStack()
        self._pool = WaitingPool(settings.workers, self.wait_seconds)  # type: ignore[assignment]
        self._server = await self._stack.enter_async_context(
            TaskServer(self._pool, kind, get_node_ip_address())
        )


def ray_tables(
    num_judges: list[int], waits_ms: list[float], *, call_completions: int, with_costs: bool
) -> None:
    """Print what a gateway costs beside the single service, and the table of judges that wait.

    Args:
        num_judges: sizes of fleets.
        waits_ms: times of judges for a completion.
        call_completions: completions of each call of the table.
        with_costs: whether to print the costs.
    """
    start_ray()
    try:
        if with_costs:
            with single_service() as single, waiting_fleet(1, 0.0) as fleet:
                _print_costs(single, fleet)
        print(HEAD)
        for wait_ms in waits_ms:
            rates = {}
            for number in num_judges:
                with waiting_fleet(number, wait_ms / 1000) as fleet:
                    fleet = replace(fleet, urls=fleet.urls[:1])
                    measured = measure(
                        fleet, number, wait_ms / 1000, call_completions=call_completions
                    )
                print(row(1, number, wait_ms, measured), flush=True)
                rates[number] = measured.load.rate
            if {1, 64} <= rates.keys():
                print(f"{'':8} 64 judges have {rates[64] / rates[1]:.1f} x the completions of one")
    finally:
        serve.shutdown()
        ray.shutdown()


def _print_costs(single: Fleet, fleet: Fleet) -> None:
    """Ask a service, a gateway directly, and one through the proxy, in turns."""
    proxied = replace(fleet, urls=fleet.urls[1:])
    ways = {"single": single, "gateway": replace(fleet, urls=fleet.urls[:1]), "proxied": proxied}
    for size in CALL_SIZES:
        found: dict[str, list[Measured]] = {name: [] for name in ways}
        for _ in range(NUM_ROUNDS):
            for name, way in ways.items():
                one = measure(way, 1, 0.0, call_completions=size, num_calls=NUM_CALLS)
                found[name].append(one)
        costs = {name: median(one.gateway_seconds for one in all) for name, all in found.items()}
        beside = median(one.beside_seconds for one in found["proxied"])
        print(f"load {os.getloadavg()[0]:.1f}, calls of {size}, CPU of a completion:")
        print(f"  single service, API process {costs['single'] * 1e6:6.0f} us")
        for name, title in (
            ("gateway", "gateway, asked directly"),
            ("proxied", "gateway, proxied"),
        ):
            times = costs[name] / costs["single"]
            print(f"  {title:27} {costs[name] * 1e6:6.0f} us, {times:.2f} x")
        print(f"  Ray Serve's proxy, beside   {beside * 1e6:6.0f} us", flush=True)


def start_ray() -> None:
    """Start a Ray of this process."""
    be_patient()
    ray.init("local", num_cpus=NUM_CPUS, include_dashboard=False, log_to_driver=False)


@contextmanager
def waiting_fleet(num_judges: int, seconds: float) -> Iterator[Fleet]:
    """A gateway with so many judges, in actors, that wait so long for each completion.

    The first URL is the gateway's own, the second that of Ray Serve's proxy.
    """
    judge = type("Judge", (WaitingJudge,), {"wait_seconds": seconds})
    port, direct_port = free_port(), free_port()
    num_actors = -(-num_judges // JUDGES_PER_ACTOR)
    settings = FleetSettings(
        enabled=ENABLED,
        workers=num_judges // num_actors,
        judges=num_actors,
        max_judges=num_actors,
        max_cached_verdicts=0,
        direct_port=direct_port,
    )
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(fleet_of(settings, judge), name="simulation", route_prefix="/")
    try:
        urls = [f"http://127.0.0.1:{one}" for one in (direct_port, port)]
        asyncio.run(ask(urls, 2, CALL_COMPLETIONS, 2.0 + 2 * CALL_COMPLETIONS * seconds))
        yield Fleet(urls, actors("ServeReplica:simulation:gateway"), actors("ProxyActor"))
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
