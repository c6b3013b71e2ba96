"""The HTTP server; it ends without losing a call that it has accepted."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import logging.config
import os
import resource
import socket
import tempfile
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

import verifier_service
from verifier_service.app import create_app
from verifier_service.http.connection import ConnectionLimits, Guard, guarded
from verifier_service.http.drain import Drain
from verifier_service.http.hosts_and_origins import is_loopback
from verifier_service.http.metrics import Metrics
from verifier_service.http.traces import start_traces
from verifier_service.logs import LISTENING, log_config
from verifier_service.settings import Settings, unknown_variables
from verifier_service.verifiers import PLUGINS

log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 75
"""Time that an idle connection stays open; longer than a trainer's pause between requests, so that
it can use its connections again."""
CLOSE_SECONDS = 5
"""Time that connections get to close, once calls have ended."""
BACKLOG = 2048
"""Most connections that wait to be accepted; uvicorn's default."""
UNKNOWN = "%s: no setting of the service, ignored"
NO_KEYS = "anyone who can reach %s may ask: there are no API keys"
MAX_OPEN_FILES = 2**16
"""The soft limit on open files: more would be of no use, and loops over all of them slow."""


class CannotServe(Exception):
    """The service does not start; the message says what to change."""


def unknown_or_refused(model: type[Settings]) -> list[str]:
    """Variables of the environment that have the prefix of settings and resemble none.

    Args:
        model: the settings.

    Raises:
        CannotServe: a variable is a misspelt setting.
    """
    unknown = unknown_variables(os.environ, model)
    for variable, near in unknown.items():
        if near is not None:
            raise CannotServe(f"{variable} is no setting of the service: did you mean {near}?")
    return list(unknown)


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; a second signal ends the service at once.

    Raises:
        CannotServe: the address is not available, a variable of the environment is misspelt, or
            the machine lacks /proc or a temporary directory.
    """
    unknown = unknown_or_refused(Settings)
    _check_machine()
    listeners = listen(settings.host, settings.port)
    drain = Drain()
    metrics = Metrics()
    logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
    log.info("verifier-service %s", verifier_service.__version__)
    app = create_app(settings, drain=drain, metrics=metrics, traces=start_traces(os.environ))
    config = http_config(app, settings, metrics)
    if unknown:
        log.warning(UNKNOWN, ", ".join(unknown))
    for name, plugin in PLUGINS.items():
        log.info("verifier %s comes from the package %s", name, plugin.package)
    if not settings.api_keys and not is_loopback(settings.host):
        log.warning(NO_KEYS, settings.host)
    gc.collect()
    gc.freeze()  # or each collection would look at every imported object, and hold up all calls
    _DrainingServer(config, drain, settings.drain_seconds).run(listeners)


def _check_machine() -> None:
    """Raise CannotServe where workers could not start on this machine, whatever they are asked."""
    if not os.path.exists("/proc/self/stat"):
        raise CannotServe("/proc is not mounted: workers are watched by it")
    try:
        tempfile.gettempdir()
    except FileNotFoundError as error:
        why = f"{error.strerror}: set TMPDIR to a directory that can be written"
        raise CannotServe(why) from error


def http_config(app: ASGIApp, settings: Settings, metrics: Metrics) -> uvicorn.Config:
    """How the service speaks HTTP: bounds on connections, and nothing but the application's words.

    Args:
        app: answers.
        settings: of connections.
        metrics: count them.
    """
    max_connections = min(settings.max_connections, _allow_connections())
    if max_connections < settings.max_connections:
        log.warning(
            "at most %d connections, not %d: the hard limit on open files is too low",
            max_connections,
            settings.max_connections,
        )
    return uvicorn.Config(
        app,
        http=guarded(Guard(ConnectionLimits(max_connections), metrics)),
        ws="none",
        log_config=None,  # it is in force already
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )


def _allow_connections() -> int:
    """Raise the soft limit on open files, often 1,024, as far as the hard one permits.

    Return the most connections for which there are files then: the calls on them need others.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    found, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_OPEN_FILES if found == resource.RLIM_INFINITY else max(1, found // 2)


def listen(
    host: str,
    port: int,
    *,
    shared: bool = False,
    setting: str = "--port / VERIFIER_PORT",
) -> list[socket.socket]:
    """A listener for each address of the host; its clients wait until the service has started.

    It is called before anything is started, so that a wrong address costs nothing.

    Args:
        host: name or address; empty: all of this machine.
        port: 0: a free one.
        shared: whether other processes of this user may listen there too; the system spreads
            connections among them.
        setting: names the port in an error.

    Raises:
        CannotServe: the address is not available.
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
            listener = socket.create_server(
                address, family=family, backlog=BACKLOG, reuse_port=shared
            )
            # Connections inherit the option. asyncio sets it only on sockets that name TCP, which
            # these do not. Without it, delayed acknowledgements cost every response 40 ms.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listeners.append(listener)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotServe(
                    f"port {port} is in use: choose another with {setting}"
                ) from error
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise CannotServe(f"{host}, port {port}: {error.strerror}") from error
    if not listeners:
        raise CannotServe(_not_ours(host))
    return listeners


def _not_ours(host: str) -> str:
    return f"{host!r} is no address of this machine: choose another with --host / VERIFIER_HOST"


class _DrainingServer(uvicorn.Server):
    """Drains before it ends; until then it keeps listening, to refuse new calls."""

    def __init__(self, config: uvicorn.Config, drain: Drain, drain_seconds: float) -> None:
        super().__init__(config)
        self._drain = drain
        self._drain_seconds = drain_seconds
        self._draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and log the addresses."""
        await super().startup(sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            log.info(LISTENING, f"[{host}]" if ":" in host else host, port)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start to drain at the first signal; end at the second."""
        if self._draining is not None or not self.started:
            super().handle_exit(sig, frame)
            return
        loop = asyncio.get_running_loop()
        self._draining = loop.create_task(self._drain_and_exit(sig))

    async def _drain_and_exit(self, sig: int) -> None:
        await self._drain.run(self._drain_seconds)
        super().handle_exit(sig, None)
