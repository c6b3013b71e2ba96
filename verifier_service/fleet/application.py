"""The application of Ray Serve: `import_path: verifier_service.fleet.application:application`."""

from __future__ import annotations

import asyncio
import gc
import logging.config
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from ray import serve
from ray.exceptions import ActorUnavailableError, RayActorError
from starlette.types import ASGIApp

from verifier_service.app import create_app
from verifier_service.code.plain_run import MAX_SECONDS
from verifier_service.engine.scheduler import CountedPool
from verifier_service.fleet.asgi_call import Headers, WholeResponse, asgi_response
from verifier_service.fleet.direct_server import listen_directly
from verifier_service.fleet.judge import JudgeReplica
from verifier_service.fleet.judge_connections import MAX_AGE_SECONDS
from verifier_service.fleet.pool import LOST, PATIENCE_SECONDS, PLACES_PER_TASK, FleetPool
from verifier_service.fleet.proxy_headers import OneRequestId
from verifier_service.fleet.session_host import SessionHost
from verifier_service.fleet.session_relay import (
    Host,
    HostLost,
    HostUnavailable,
    relay_sessions,
)
from verifier_service.fleet.settings import FleetSettings
from verifier_service.http.drain import Drain
from verifier_service.http.metrics import Metrics
from verifier_service.http.traces import start_traces
from verifier_service.logs import log_config
from verifier_service.sandbox.layers import hide_process
from verifier_service.sandbox.session_execution import CALL_OVERLOAD_SHARE
from verifier_service.server import CLOSE_SECONDS
from verifier_service.settings import EngineSettings

GATEWAY = "gateway"
"""Name of the deployment that answers calls; those of the judges have the names of their kinds."""
SESSIONS = "sessions"
"""Name of the deployment of a session host, before its number."""
UPSCALE_SECONDS = 5.0
"""Time of more tasks than workers after which Ray Serve starts judges."""
DOWNSCALE_SECONDS = 300.0
"""Time of fewer tasks after which it ends judges."""
LONGEST_CALL_SECONDS = CALL_OVERLOAD_SHARE * MAX_SECONDS + PATIENCE_SECONDS
"""Longest time of a call to a session host: a call of a session ends earlier by its own limits."""
MAX_CALLS = 4096
"""Most calls of a gateway under way; its own bounds on pending work are met long before."""


class Gateway:
    """Holds requests and their tests, which no other process of its user may read.

    Args:
        settings: of its log.
        needed: the deployments that it needs to be there.
    """

    def __init__(self, settings: FleetSettings, needed: list[Any]) -> None:
        hide_process()
        logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
        self.needed = needed

    async def answer(self, method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        """The response to a call that comes through a handle; see `asgi_response`."""
        # Ray Serve keeps the application that `ingress` builds in this attribute.
        app = self._asgi_app  # type: ignore[attr-defined]
        return await asgi_response(app, method, path, headers, body)


def application(args: dict[str, Any]) -> Any:
    """The fleet that Ray Serve runs.

    Args:
        args: settings by name, which win over `VERIFIER_...` variables.

    Raises:
        ValidationError: a setting is wrong; the message names it.
    """
    return fleet_of(FleetSettings(**args))


def fleet_of(settings: FleetSettings, judge: type[JudgeReplica] = JudgeReplica) -> Any:
    """The application of Ray Serve for these settings.

    Args:
        settings: of gateways and judges.
        judge: class of the judges; another one than the default simulates them.
    """
    hosts = [f"{SESSIONS}{number}" for number in range(settings.num_session_hosts)]

    def build() -> ASGIApp:
        drain, metrics = Drain(), Metrics()
        app = create_app(
            settings.of_gateways,
            drain=drain,
            metrics=metrics,
            traces=start_traces(os.environ),
            start=start_fleet_pools,
        )
        if hosts:
            relay_sessions(app, [_host(name) for name in hosts])
        if settings.direct_port is not None:
            listen_directly(app, settings, settings.direct_port, drain=drain, metrics=metrics)
        return OneRequestId(app)

    gateway = serve.deployment(serve.ingress(build)(Gateway)).options(
        name=GATEWAY,
        num_replicas=settings.gateways,
        max_ongoing_requests=MAX_CALLS,
        graceful_shutdown_timeout_s=settings.drain_seconds + CLOSE_SECONDS,
        ray_actor_options={"num_cpus": 0},
    )
    needed = [_judges(settings, kind, judge) for kind in settings.kinds]
    needed += [_session_host(settings, name, number) for number, name in enumerate(hosts)]
    return gateway.bind(settings, needed)


def _session_host(settings: FleetSettings, name: str, number: int) -> Any:
    deployment = serve.deployment(SessionHost).options(
        name=name,
        num_replicas=1,
        max_ongoing_requests=MAX_CALLS,
        graceful_shutdown_timeout_s=settings.drain_seconds,
        ray_actor_options={"num_cpus": 0},
    )
    return deployment.bind(settings, number)


def _host(name: str) -> Host:
    """The session host of a deployment of this application; called in a gateway."""

    async def answer(method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        handle = serve.get_deployment_handle(name)
        try:
            async with asyncio.timeout(LONGEST_CALL_SECONDS):
                found: WholeResponse = await handle.answer.remote(method, path, headers, body)
        except LOST as error:
            has_ended = isinstance(error, RayActorError) and not isinstance(
                error, ActorUnavailableError
            )
            raise (HostLost if has_ended else HostUnavailable)(type(error).__name__) from error
        except TimeoutError as error:
            raise HostUnavailable(f"no response within {LONGEST_CALL_SECONDS:g} seconds") from error
        return found

    return answer


def _judges(settings: FleetSettings, kind: str, judge: type[JudgeReplica]) -> Any:
    num_workers = settings.num_workers(kind)
    deployment = serve.deployment(judge).options(
        name=kind,
        max_ongoing_requests=PLACES_PER_TASK * settings.num_tasks(kind),
        graceful_shutdown_timeout_s=settings.drain_seconds,
        ray_actor_options={"num_cpus": num_workers},
        autoscaling_config={
            "min_replicas": settings.judges,
            "max_replicas": settings.max_judges,
            "target_ongoing_requests": num_workers,
            "upscale_delay_s": UPSCALE_SECONDS,
            "downscale_delay_s": DOWNSCALE_SECONDS,
        },
    )
    return deployment.bind(settings, kind)


async def start_fleet_pools(
    settings: EngineSettings, stack: AsyncExitStack
) -> Mapping[str, CountedPool]:
    """The pools of a gateway, by the kind of workers; they end with the stack."""
    assert isinstance(settings, FleetSettings)
    pools = {
        kind: FleetPool(
            kind,
            num_workers=settings.num_workers(kind),
            num_tasks=settings.num_tasks(kind),
            max_age_seconds=min(MAX_AGE_SECONDS, settings.drain_seconds / 2),
        )
        for kind in settings.kinds
    }
    await asyncio.gather(*map(stack.enter_async_context, pools.values()))
    gc.collect()
    gc.freeze()  # or each collection would look at every imported object, and hold up all calls
    return pools
