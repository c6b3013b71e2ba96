"""The application: routes, errors, limits, and what lives as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import verifier_service
from verifier_service.compat import ROUTERS
from verifier_service.engine.request_body import body_too_large
from verifier_service.engine.scheduler import Bounds, Scheduler
from verifier_service.http.call_context import CallContext
from verifier_service.http.drain import Drain
from verifier_service.http.error_handlers import install_error_handlers
from verifier_service.http.metrics import Metrics
from verifier_service.http.routes import router
from verifier_service.http.score_call import Service
from verifier_service.large_requests.launcher import RequestProcesses
from verifier_service.profiles import read_profiles
from verifier_service.schemas import ScoreRequest
from verifier_service.settings import EngineSettings, Settings
from verifier_service.verifiers import VERIFIERS
from verifier_service.workers.pool import ItemLimits, WorkerPool
from verifier_service.workers.sources import CodeWorkers

CODE_LIMITS = ItemLimits(cpu_seconds=600.0, memory_bytes=2 * 2**30, stuck_seconds=3600.0)
"""Of a code worker itself, which only compares output; programs have limits of their own."""


def create_app(settings: Settings) -> FastAPI:
    """The application; its worker processes start and end with its lifespan."""
    metrics = Metrics()
    profiles = read_profiles(settings.profiles, settings.enabled)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            pools = await start_pools(settings, stack)
            scheduler = Scheduler(
                pools,
                bounds=Bounds(settings.max_pending_completions, settings.max_pending_bytes),
                max_cached_verdicts=settings.max_cached_verdicts,
                metrics=metrics,
            )
            processes = await stack.enter_async_context(
                RequestProcesses(scheduler, max_body_bytes=settings.max_body_bytes)
            )
            metrics.watch(scheduler, pools, processes)
            app.state.service = Service(
                settings, profiles, scheduler, processes, pools, metrics, app.state.drain
            )
            yield

    app = FastAPI(
        title="verifier service",
        version=verifier_service.__version__,
        description="Judges groups of model completions: a verdict with an outcome, a score and a "
        "reason for each completion and verifier.",
        lifespan=lifespan,
    )
    app.state.drain = Drain()
    app.include_router(router)
    for protocol in settings.compat:
        app.include_router(ROUTERS[protocol])
    install_error_handlers(app)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(
        CallContext,
        key_hashes=settings.all_api_key_hashes,
        drain=app.state.drain,
        metrics=metrics,
    )
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


async def start_pools(settings: EngineSettings, stack: AsyncExitStack) -> dict[str, WorkerPool]:
    """The worker pools that the enabled verifiers need, by kind; they end with the stack."""
    limits = ItemLimits(settings.item_cpu_seconds, settings.item_memory_bytes)
    kinds = {VERIFIERS[name].workers for name in settings.enabled}
    pools = {}
    if "text" in kinds:
        pools["text"] = await stack.enter_async_context(WorkerPool(settings.workers, limits))
    if "code" in kinds:
        code = WorkerPool(
            settings.code_workers, CODE_LIMITS, lambda: CodeWorkers(settings.unsafe_code_without)
        )
        pools["code"] = await stack.enter_async_context(code)
    return pools


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document with the request schema, which it does not see since we parse it."""
    if app.openapi_schema is None:
        schema = FastAPI.openapi(app)
        request = ScoreRequest.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas = schema["components"]["schemas"]
        schemas |= request.pop("$defs", {})
        schemas["ScoreRequest"] = request
    assert app.openapi_schema is not None
    return app.openapi_schema


class BodyLimit:
    """Refuses a body over the limit while it arrives, before it is held in memory."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting its body."""
        received = 0

        async def limited_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise body_too_large(self._max_bytes)
            return message

        await self._app(scope, limited_receive, send)
