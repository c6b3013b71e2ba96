"""The HTTP server, which ends without losing what it has accepted."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
from types import FrameType

import uvicorn

from verifier_service.app import create_app
from verifier_service.drain import Drain
from verifier_service.logs import log_config
from verifier_service.settings import Settings

log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 75
"""Longer than a trainer's pause between requests, so that it can use its connections again."""
CLOSE_SECONDS = 5
"""For connections to close, once calls have ended."""


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; a second one ends at once."""
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=log_config(settings.log_level, settings.log_format),
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    if not settings.all_api_key_hashes and not _is_loopback(settings.host):
        log.warning("anyone who can reach %s may ask: there are no API keys", settings.host)
    gc.collect()
    gc.freeze()  # what is there now stays; looking through it again would hold up the event loop
    _Server(config, app.state.drain, settings.drain_seconds).run()


class _Server(uvicorn.Server):
    """Drains before it ends; in the meantime it listens on, to refuse what comes."""

    def __init__(self, config: uvicorn.Config, drain: Drain, drain_seconds: float) -> None:
        super().__init__(config)
        self._drain = drain
        self._drain_seconds = drain_seconds
        self._draining: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start to drain, at the first signal."""
        if self._draining is not None or not self.started:
            super().handle_exit(sig, frame)
            return
        loop = asyncio.get_running_loop()
        self._draining = loop.create_task(self._drain_and_exit(sig))

    async def _drain_and_exit(self, sig: int) -> None:
        await self._drain.run(self._drain_seconds)
        super().handle_exit(sig, None)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
