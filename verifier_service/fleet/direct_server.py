"""The HTTP server of a gateway that listens itself, as the single service does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from fastapi import FastAPI

from verifier_service.http.drain import Drain
from verifier_service.http.hosts_and_origins import is_loopback
from verifier_service.http.metrics import Metrics
from verifier_service.server import NO_KEYS, http_config, listen
from verifier_service.settings import Settings

log = logging.getLogger(__name__)


class _QuietServer(uvicorn.Server):
    """A server that leaves signals to Ray."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def listen_directly(
    app: FastAPI, settings: Settings, port: int, *, drain: Drain, metrics: Metrics
) -> None:
    """Have the application listen at a port as long as it runs.

    Several gateways of one machine share the port. When the application ends, calls under way are
    finished within `drain_seconds`.

    Args:
        app: its lifespan is extended.
        settings: of host and connections.
        port: to listen at.
        drain: of the application.
        metrics: of the application.
    """
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with inner(app):
            config = http_config(app, settings, metrics)
            config.lifespan = "off"  # it is under way
            server = _QuietServer(config)
            if not settings.api_keys and not is_loopback(settings.host):
                log.warning(NO_KEYS, settings.host)
            listeners = listen(settings.host, port, shared=True)
            serving = asyncio.create_task(server.serve(listeners))
            try:
                yield
                await drain.run(settings.drain_seconds)
            finally:
                server.should_exit = True
                await serving

    app.router.lifespan_context = lifespan
