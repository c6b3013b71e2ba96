"""The application: routes, errors, limits, and what lives as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import verifier_service
from verifier_service.compat import ROUTERS
from verifier_service.errors import ApiError, install_error_handlers
from verifier_service.profiles import read_profiles
from verifier_service.routes import router
from verifier_service.scheduler import Scheduler
from verifier_service.schemas import ScoreRequest
from verifier_service.settings import Settings
from verifier_service.worker_pool import ItemLimits, WorkerPool
from verifier_service.worker_sources import CodeWorkers

CODE_LIMITS = ItemLimits(cpu_seconds=600.0, memory_bytes=2 * 2**30, stuck_seconds=3600.0)
"""Of a code worker itself, which only compares output; programs have limits of their own."""


def create_app(settings: Settings) -> FastAPI:
    """The application; its worker processes start and end with its lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        limits = ItemLimits(settings.item_cpu_seconds, settings.item_memory_bytes)
        async with AsyncExitStack() as stack:
            pools = {"text": await stack.enter_async_context(WorkerPool(settings.workers, limits))}
            if "code" in settings.enabled:
                code = WorkerPool(
                    settings.code_workers,
                    CODE_LIMITS,
                    lambda: CodeWorkers(settings.unsafe_code_without),
                )
                pools["code"] = await stack.enter_async_context(code)
            app.state.pools = pools
            app.state.scheduler = Scheduler(
                pools,
                max_pending_completions=settings.max_pending_completions,
                max_settled_verdicts=settings.max_cached_verdicts,
            )
            yield

    app = FastAPI(
        title="verifier service",
        version=verifier_service.__version__,
        description="Judges groups of model completions: a verdict with an outcome, a score and a "
        "reason for each completion and verifier.",
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.profiles = read_profiles(settings.profiles, settings.enabled)
    app.include_router(router)
    for protocol in settings.compat:
        app.include_router(ROUTERS[protocol])
    install_error_handlers(app)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


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
                raise ApiError(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    "body_too_large",
                    f"the body is larger than {self._max_bytes} bytes",
                )
            return message

        await self._app(scope, limited_receive, send)
