"""The HTTP server, which ends without losing what it has accepted."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import logging
import os
import resource
import socket
from types import FrameType

import uvicorn

from verifier_service.app import create_app
from verifier_service.http.drain import Drain
from verifier_service.logs import log_config
from verifier_service.settings import Settings, unknown_variables

log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 75
"""Longer than a trainer's pause between requests, so that it can use its connections again."""
CLOSE_SECONDS = 5
"""For connections to close, once calls have ended."""
BACKLOG = 2048
"""Connections that wait to be accepted, as in uvicorn."""
MAX_OPEN_FILES = 2**16
"""What the soft limit is raised to: more would be of no use, and a loop over all of them slow."""


class CannotServe(Exception):
    """The service does not start; the message says what to change."""


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; a second one ends at once.

    Raises:
        CannotServe: the address cannot be had, or a variable of the environment is misspelt.
    """
    unknown = unknown_variables(os.environ)
    for variable, near in unknown.items():
        if near is not None:
            raise CannotServe(f"{variable} is no setting of the service: did you mean {near}?")
    listeners = listen(settings.host, settings.port)
    _allow_connections()
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        log_config=log_config(settings.log_level, settings.log_format),
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    if unknown:
        log.warning("%s: no setting of the service, ignored", ", ".join(unknown))
    if not settings.all_api_key_hashes and not _is_loopback(settings.host):
        log.warning("anyone who can reach %s may ask: there are no API keys", settings.host)
    gc.collect()
    gc.freeze()  # what is there now stays; looking through it again would hold up the event loop
    _Server(config, app.state.drain, settings.drain_seconds).run(listeners)


def _allow_connections() -> None:
    """Raise the soft limit on open files, often 1,024, as far as the hard one permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def listen(host: str, port: int) -> list[socket.socket]:
    """A listener for each address of the host; clients wait until they are answered.

    Before anything is started, so that it costs nothing to find that the address cannot be had.

    Raises:
        CannotServe: it cannot.
    """
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (socket.gaierror, UnicodeError) as error:
        raise CannotServe(_not_ours(host)) from error
    listeners = []
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            listener = socket.create_server(address, family=family, backlog=BACKLOG)
            # Of its connections too. asyncio does it for sockets that name TCP, which these do
            # not; without it a client's delayed acknowledgement costs every answer 40 ms.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listeners.append(listener)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotServe(
                    f"port {port} is in use: choose another with --port / VERIFIER_PORT"
                ) from error
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise CannotServe(f"{host}, port {port}: {error.strerror}") from error
    if not listeners:
        raise CannotServe(_not_ours(host))
    return listeners


def _not_ours(host: str) -> str:
    return f"{host!r} is no address of this machine: choose another with --host / VERIFIER_HOST"


class _Server(uvicorn.Server):
    """Drains before it ends; in the meantime it listens on, to refuse what comes."""

    def __init__(self, config: uvicorn.Config, drain: Drain, drain_seconds: float) -> None:
        super().__init__(config)
        self._drain = drain
        self._drain_seconds = drain_seconds
        self._draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say where."""
        await super().startup(sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            log.info(
                "running on http://%s:%d (CTRL+C ends it)",
                f"[{host}]" if ":" in host else host,
                port,
            )

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
