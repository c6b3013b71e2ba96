"""A client's connection: uvicorn's over h11, with strict framing and bounds on time and number.

Plain requests, which are nearly all, are answered without h11: see `plain_exchange`.

uvicorn closes a connection that is idle after a response. It waits forever for the first request,
for the rest of a head, for the rest of a body that nobody reads, and for a client that does not
read. It also bounds the calls, not the connections. What it lacks stands here.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import unquote

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from verifier_service.current_call import new_request_id
from verifier_service.http.error_statuses import RETRY_AFTER_SECONDS
from verifier_service.http.metrics import Metrics
from verifier_service.http.plain_exchange import PlainExchange, PlainHead, plain_head
from verifier_service.http.request_head import HeadFault
from verifier_service.http.strict_connection import StrictConnection

access_log = logging.getLogger("verifier_service.access")

LINGER_SECONDS = 2.0
"""Longest time between a refusal and the end of its connection. Closing at once would reset the
connection, and a client that is still sending might lose the response."""
MAX_LINGERING = 256
"""Most connections that are refused in words at a time; more are closed without a word."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits on the connections of a server."""

    max_connections: int
    head_seconds: float = 30.0
    """Longest time from the first byte of a request, or from the start of a connection, until its
    head is there; also for the rest of a body after the response."""
    reading_seconds: float = 600.0
    """Longest time in which a client may read nothing of its response."""


@dataclass
class Guard:
    """The connections of a server, together."""

    limits: ConnectionLimits
    metrics: Metrics
    num_lingering: int = field(default=0, init=False)

    def count(self, kind: str, message: str, request_id: str) -> None:
        """Count a refusal, and log it as a call is logged."""
        self.metrics.count_refusal(kind)
        fields = {"request_id": request_id, "error": kind, "message": message}
        line = "request_id=%s error=%s: %s"
        access_log.info(line, request_id, kind, message, extra={"fields": fields})


def guarded(guard: Guard) -> type[asyncio.Protocol]:
    """The class of connections for uvicorn's setting `http`, which calls it and nothing else."""
    return cast("type[asyncio.Protocol]", partial(GuardedConnection, guard=guard))


class GuardedConnection(H11Protocol):
    """A connection that ends when its client is malformed, too slow, or one too many."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        guard: Guard,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = StrictConnection()
        self._guard = guard
        self._is_refused = False
        self._owing: asyncio.TimerHandle | None = None
        """Ends the connection when the client does not send what it owes."""
        self._ending: asyncio.TimerHandle | None = None
        """Ends the connection when the client does not read, or does not close its side."""
        self._plain: PlainExchange | None = None
        """The plain request that is being answered, if one is."""
        self._early = b""
        """Bytes of later requests, which wait for its response."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse the connection that is one too many."""
        super().connection_made(transport)
        self._guard.metrics.connections.inc()
        if len(self.connections) > self._guard.limits.max_connections:
            most = self._guard.limits.max_connections
            self._refuse(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too_many_connections",
                f"{most} connections are open, which is the most (--max-connections / "
                "VERIFIER_MAX_CONNECTIONS); try again later",
            )
        else:
            self._watch_owing(owes=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._guard.metrics.connections.dec()
        self._watch_owing(owes=False)
        if self._ending is not None:
            self._ending.cancel()
        if self._is_refused:
            self._guard.num_lingering -= 1
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take the next bytes; those after a refusal are dropped."""
        if self._is_refused:
            return
        if self._plain is not None:
            self._go_on(self._plain, data)
        elif (head := self._plain_head(data)) is not None:
            self._begin_plain(head, data[head.end :])
        else:
            super().data_received(data)

    def _plain_head(self, data: bytes) -> PlainHead | None:
        """The head of a plain request that begins here; None if h11 reads what comes."""
        is_start = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        return plain_head(data) if is_start else None

    def _begin_plain(self, head: PlainHead, rest: bytes) -> None:
        """Have the application answer a plain request, as uvicorn does for those of h11."""
        self._unset_keepalive_if_required()
        self._watch_owing(owes=False)
        raw_path, _, query = head.target.partition(b"?")
        self.headers = head.headers
        self.scope = {
            "type": "http",
            "asgi": {"version": self.config.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme or "http",
            "method": "POST",
            "root_path": self.root_path,
            "path": self.root_path + unquote(raw_path.decode("ascii")),
            "raw_path": self.root_path.encode("ascii") + raw_path,
            "query_string": query,
            "headers": head.headers,
            "state": self.app_state.copy(),
        }
        self.cycle = self._plain = PlainExchange(
            scope=self.scope,
            conn=self.conn,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            on_response=self.on_response_complete,
        )
        self._plain.num_left = head.num_body_bytes
        self._go_on(self._plain, rest)
        task = self.loop.create_task(self._plain.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _go_on(self, plain: PlainExchange, data: bytes) -> None:
        """Take bytes of a plain request's body; those after its end wait for the response."""
        self._early += plain.add(data)
        if plain.response_complete:
            self._end_plain(plain)
        elif self._early:
            self.flow.pause_reading()

    def _end_plain(self, plain: PlainExchange) -> None:
        """Expect the rest of a body that nobody read; go on with what came after its end."""
        self._watch_owing(owes=plain.more_body)
        if plain.more_body:
            return
        self._plain = None
        early, self._early = self._early, b""
        if early:
            self.data_received(early)

    def handle_events(self) -> None:
        """Read what has arrived, and expect the rest of what has begun."""
        super().handle_events()
        if not self._is_refused:
            self._expect_rest()

    def on_response_complete(self) -> None:
        """Expect the rest of a body that nobody reads, and that the client reads the response."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._end_after(self._guard.limits.reading_seconds, self._end_unread)
        elif self._plain is not None:
            self._end_plain(self._plain)
        elif self.conn.their_state is h11.SEND_BODY and not self._is_refused:
            self._watch_owing(owes=True)

    def send_400_response(self, msg: str) -> None:
        """Refuse what the framing or h11 cannot read; uvicorn calls this."""
        assert isinstance(self.conn, StrictConnection)
        fault = self.conn.fault or HeadFault(HTTPStatus.BAD_REQUEST, "this is not HTTP/1.1")
        self._refuse(fault.status, "malformed_request", fault.message)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if its client does not read the rest of a response."""
        super().timeout_keep_alive_handler()
        self._end_after(LINGER_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._end_after(self._guard.limits.reading_seconds, self._end_unread)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        if self._ending is not None and not self.transport.is_closing():
            self._ending.cancel()
            self._ending = None

    def _expect_rest(self) -> None:
        """Give the client limited time for a head that has begun, or a body that nobody reads."""
        state = self.conn.their_state
        has_begun = state is h11.IDLE and bool(self.conn.trailing_data[0])
        is_unread = state is h11.SEND_BODY and self.cycle.response_complete
        self._watch_owing(owes=has_begun or is_unread)

    def _watch_owing(self, *, owes: bool) -> None:
        if not owes and self._owing is not None:
            self._owing.cancel()
            self._owing = None
        elif owes and self._owing is None:
            self._owing = self.loop.call_later(self._guard.limits.head_seconds, self._end_owing)

    def _end_owing(self) -> None:
        """End a connection whose client has not sent what it owes."""
        self._owing = None
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._refuse(
                HTTPStatus.REQUEST_TIMEOUT,
                "head_too_slow",
                "the request line and the headers were not there after "
                f"{self._guard.limits.head_seconds:g} seconds",
            )
        elif self._plain is not None or self.conn.their_state is h11.SEND_BODY:
            # the response is sent
            message = "the rest of a body did not arrive in time"
            self._guard.count("rest_too_slow", message, self._call_id())
            self.transport.abort()
        else:
            self.transport.close()

    def _refuse(self, status: HTTPStatus, kind: str, message: str) -> None:
        """Send an error, unless a response is under way, and end the connection."""
        has_begun = self.cycle is not None and not self.cycle.response_complete
        call_id = self._call_id() if has_begun else new_request_id()
        self._guard.count(kind, message, call_id)
        self._watch_owing(owes=False)
        self._is_refused = True
        self._guard.num_lingering += 1
        self.connections.discard(self)  # it makes room for another
        if has_begun:  # the call ends as if the client had hung up
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self._guard.num_lingering > MAX_LINGERING or (has_begun and self.cycle.response_started):
            self.transport.abort()
            return
        self.transport.write(_response(status, kind, message, call_id))
        self.transport.write_eof()
        self._end_after(LINGER_SECONDS, self.transport.abort)

    def _end_unread(self) -> None:
        """End a connection whose client does not read."""
        message = "a client did not read its response"
        self._guard.count("reader_too_slow", message, self._call_id())
        self.transport.abort()

    def _call_id(self) -> str:
        """The id of the call that this connection had last."""
        state = self.cycle.scope.get("state", {}) if self.cycle is not None else {}
        return str(state.get("request_id") or new_request_id())

    def _end_after(self, seconds: float, end: Callable[[], None]) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = self.loop.call_later(seconds, end)


def _response(status: HTTPStatus, kind: str, message: str, request_id: str) -> bytes:
    """A whole response with an error, as the application words it."""
    error = {"type": kind, "message": message, "request_id": request_id}
    body = json.dumps({"error": error}).encode()
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "X-Request-Id": request_id,
        "Connection": "close",
    }
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{a}: {b}" for a, b in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body
