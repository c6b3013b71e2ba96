"""The application of Ray Serve: `import_path: verifier_service.fleet.application:application`."""

from __future__ import annotations

import asyncio
import gc
import logging.config
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import httpx
from ray import serve
from starlette.types import ASGIApp

from verifier_service.app import create_app
from verifier_service.engine.scheduler import CountedPool
from verifier_service.fleet.direct_server import listen_directly
from verifier_service.fleet.judge import JudgeReplica
from verifier_service.fleet.judge_connections import MAX_AGE_SECONDS
from verifier_service.fleet.pool import PLACES_PER_TASK, FleetPool
from verifier_service.fleet.request_id import OneRequestId
from verifier_service.fleet.settings import FleetSettings
from verifier_service.http.drain import Drain
from verifier_service.http.metrics import Metrics
from verifier_service.http.traces import start_traces
from verifier_service.logs import log_config
from verifier_service.sandbox.layers import hide_process
from verifier_service.server import CLOSE_SECONDS
from verifier_service.settings import EngineSettings

GATEWAY = "gateway"
"""Name of the deployment that answers calls; those of the judges have the names of their kinds."""
UPSCALE_SECONDS = 5.0
"""Time of more tasks than workers after which Ray Serve starts judges."""
DOWNSCALE_SECONDS = 300.0
"""Time of fewer tasks after which it ends judges."""
MAX_CALLS = 4096
"""Most calls of a gateway under way; its own bounds on pending work are met long before."""


class Gateway:
    """Holds requests and their tests, which no other process of its user may read.

    Args:
        settings: of its log.
        judges: the deployments that it needs to be there.
    """

    def __init__(self, settings: FleetSettings, judges: list[Any]) -> None:
        hide_process()
        logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
        self.judges = judges

    async def answer(
        self, method: str, path: str, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """The application's status, headers and body for a call that comes through a handle.

        Args:
            method: of HTTP.
            path: with the query, quoted.
            headers: as they came.
            body: whole.
        """
        # Ray Serve keeps the application that `ingress` builds in this attribute.
        transport = httpx.ASGITransport(self._asgi_app, raise_app_exceptions=False)  # type: ignore[attr-defined]
        request = httpx.Request(method, f"http://localhost{path}", headers=headers, content=body)
        response = await transport.handle_async_request(request)
        return response.status_code, response.headers.raw, await response.aread()


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

    def build() -> ASGIApp:
        drain, metrics = Drain(), Metrics()
        app = create_app(
            settings, drain, metrics, start_traces(os.environ), start=start_fleet_pools
        )
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
    return gateway.bind(settings, [_judges(settings, kind, judge) for kind in settings.kinds])


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
