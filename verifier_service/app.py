"""The application: its routes, errors and middleware, and the service that it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

import verifier_service
from verifier_service.compat.routers import ROUTERS, TRY_LATER_STATUSES
from verifier_service.engine.admission import Admission
from verifier_service.engine.scheduler import CountedPool, Scheduler
from verifier_service.executions import routes as executions
from verifier_service.http import page
from verifier_service.http import routes as http
from verifier_service.http.api_keys import KeyRing
from verifier_service.http.call_context import CallContext
from verifier_service.http.drain import Drain
from verifier_service.http.error_handlers import install_error_handlers
from verifier_service.http.intake import BodyDoor
from verifier_service.http.metrics import Metrics
from verifier_service.http.promised_errors import with_own_validation_errors
from verifier_service.http.request_id import REQUEST_ID_HEADER
from verifier_service.http.service import Service, install_service
from verifier_service.http.traces import Traces
from verifier_service.http.unread_body import CloseUnread
from verifier_service.large_requests.byte_budget import ByteBudget
from verifier_service.large_requests.launcher import RequestProcesses
from verifier_service.model_judge.start import start_models
from verifier_service.profiles import Verifiers, read_profiles
from verifier_service.proofs.lean_start import start_lean
from verifier_service.schemas import ScoreRequest
from verifier_service.sessions import e2b, openenv
from verifier_service.sessions import routes as sessions
from verifier_service.sessions.open_sessions import OpenSessions
from verifier_service.settings import EngineSettings, Settings
from verifier_service.usable_resources import usable_memory_bytes
from verifier_service.verdict_store.store import VerdictStore
from verifier_service.worker_pools import start_pools

REQUEST_MODULE = "verifier_service.large_requests.request_process"
CALL_MODULE = "verifier_service.call_process"

StartPools = Callable[[EngineSettings, AsyncExitStack], Awaitable[Mapping[str, CountedPool]]]
"""Starts the pools by the kind of workers; they end with the stack."""


def create_app(
    settings: Settings,
    *,
    drain: Drain | None = None,
    metrics: Metrics | None = None,
    traces: Traces | None = None,
    start: StartPools = start_pools,
    replica: str | None = None,
) -> FastAPI:
    """The application; its worker processes start and end with its lifespan.

    Args:
        settings: of the service.
        drain: refuses calls while the server ends; None if nothing drains the application.
        metrics: of the server too; None: metrics of the application alone.
        traces: get a span of each call; they end with the application.
        start: starts the worker pools.
        replica: name of this process in those of its sessions; None: a name by chance.
    """
    drain = drain or Drain()
    metrics = metrics or Metrics()
    profiles = read_profiles(settings.profiles, settings.enabled)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with _started_service(settings, profiles, metrics, drain, start) as service:
            install_service(app, service)
            async with OpenSessions(
                settings.max_sessions,
                drain,
                max_bytes=settings.max_sessions_bytes or usable_memory_bytes() // 2,
                unsafe_without=settings.unsafe_code_without,
                replica=replica,
            ) as app.state.sessions:
                app.state.episodes = openenv.Episodes(app.state.sessions)
                yield
        if traces is not None:
            await traces.close()

    app = FastAPI(
        title="verifier service",
        version=verifier_service.__version__,
        description="Judges groups of model completions: a verdict with an outcome, a score and a "
        "reason for each completion and verifier.",
        lifespan=lifespan,
        docs_url=None,  # its scripts come from elsewhere; `http.page` has a reference of its own
        redoc_url=None,
    )
    own = (page, http, executions, sessions, openenv, e2b)
    for router in (*(one.router for one in own), *(ROUTERS[name] for name in settings.compat)):
        app.include_router(router)
    install_error_handlers(app)
    _add_layers(app, settings, drain, metrics, traces)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


def _add_layers(
    app: FastAPI, settings: Settings, drain: Drain, metrics: Metrics, traces: Traces | None
) -> None:
    """Surround the routes with what every call passes through, the innermost layer first."""
    app.add_middleware(http.ShortWay)
    app.add_middleware(
        BodyDoor,
        max_bytes=settings.max_body_bytes,
        seconds=settings.body_seconds,
        try_later_statuses=TRY_LATER_STATUSES,
    )
    app.add_middleware(
        CallContext,
        keys=KeyRing(settings.api_keys),
        sites=settings.sites,
        drain=drain,
        metrics=metrics,
        try_later_statuses=TRY_LATER_STATUSES,
        traces=traces,
    )
    app.add_middleware(CloseUnread)
    if settings.allowed_origins:  # the outermost layer: refusals can be read by those pages too
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Content-Encoding", REQUEST_ID_HEADER],
            expose_headers=[REQUEST_ID_HEADER, "Retry-After"],
        )


@asynccontextmanager
async def _started_service(
    settings: Settings,
    profiles: Mapping[str, Verifiers],
    metrics: Metrics,
    drain: Drain,
    start: StartPools,
) -> AsyncIterator[Service]:
    """The service with its processes, which end with the context."""
    async with AsyncExitStack() as stack:
        pools = await start(settings, stack)
        admission = Admission(settings.pending_bounds)
        models = await start_models(settings, stack)
        options = settings.store_options
        store = None
        if options is not None:
            store = await stack.enter_async_context(VerdictStore(options).running())
        scheduler = Scheduler(
            pools,
            max_cached_verdicts=settings.max_cached_verdicts,
            on_judged=metrics.count_judged,
            model=models,
            recorder=store,
            lean=await start_lean(settings, stack),
        )
        bodies = ByteBudget(settings.max_body_bytes)
        processes, call_processes = (
            RequestProcesses(
                module, scheduler, max_body_bytes=settings.max_body_bytes, bodies=bodies
            )
            for module in (REQUEST_MODULE, CALL_MODULE)
        )
        await stack.enter_async_context(processes)
        if pools:  # a host of sessions judges nothing
            await processes.start()
        await stack.enter_async_context(call_processes)
        metrics.watch(admission, scheduler.cache, pools, (processes, call_processes))
        metrics.watch_models(models)
        if store is not None:
            metrics.watch_store(store)
        yield Service(
            limits=settings.request_limits,
            profiles=profiles,
            admission=admission,
            scheduler=scheduler,
            processes=processes,
            call_processes=call_processes,
            pools=pools,
            metrics=metrics,
            drain=drain,
            has_lean_server=bool(settings.lean_url),
        )


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document with the schema of a request, which our own parser hides from FastAPI."""
    if app.openapi_schema is None:
        schema = with_own_validation_errors(FastAPI.openapi(app))
        request = ScoreRequest.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas = schema["components"]["schemas"]
        schemas |= request.pop("$defs", {})
        schemas["ScoreRequest"] = request
    assert app.openapi_schema is not None
    return app.openapi_schema
