"""The intake of bodies: the one door through which the body of every call comes.

    CloseUnread -> CallContext (keys) -> BodyDoor -> routes

The door is a layer around the routes, so no route can take a body in by another way. It counts each
body in `Admission`, as it was declared and as it arrives, and gives it a time to arrive. Routes get
an `Intake`. A body of more than MAX_HELD_BYTES is in a file for a process of its own, and no route
gets its bytes in the API process.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine, Mapping
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verifier_service.engine.admission import Admission, Reservation
from verifier_service.engine.body_limit import MAX_HELD_BYTES, BodyLimit, check_declared
from verifier_service.engine.request_body import CONTENT_ENCODINGS
from verifier_service.errors import BodyTooLarge, Draining, RequestError, RequestFailed, TryLater
from verifier_service.http.drain import Drain
from verifier_service.http.error_handlers import refused
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.service import Service, service_of

SMALL_BODY_BYTES = 2**15
"""Largest body that the API process reads whatever is in it, and takes in while the
queue is full."""
MAX_PARTS = 256
UNWATCHED_SECONDS = 0.1
"""Time in which a client that hangs up is not noticed, nor that the service ends."""
_METHODS_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")

T = TypeVar("T")


@dataclass(frozen=True)
class Intake:
    """The body of a call, and the call's share of the pending work."""

    body: Body
    reservation: Reservation
    found_full: bool
    """Whether the queue was full when the call came."""
    started: float
    """Arrival of the call, by `time.monotonic`."""
    replay: Replay


def intake_of(request: Request) -> Intake:
    """The intake of a call, whose `receive` no longer has the body then."""
    intake = request.scope["state"]["intake"]
    assert isinstance(intake, Intake)
    intake.replay.skip()
    return intake


class BodyDoor:
    """Middleware that takes the whole body in before the call goes on, or refuses it.

    Args:
        app: the next layer.
        max_bytes: largest body of a call.
        seconds: longest time that a body may take to arrive.
        try_later_statuses: statuses by path for clients that retry another status than 503.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_bytes: int,
        seconds: float,
        try_later_statuses: Mapping[str, HTTPStatus],
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._try_later_statuses = try_later_statuses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on with its body, which is held until the response is sent."""
        if scope["type"] != "http" or (
            scope["method"] in _METHODS_WITHOUT_BODY and not declares_body(scope)
        ):
            await self._app(scope, receive, send)
            return
        service = service_of(Request(scope))
        started, found_full = time.monotonic(), service.admission.is_full
        with service.admission.reservation() as reservation, closing(Body()) as body:
            try:
                headers = dict(scope["headers"])
                length = headers.get(b"content-length", b"").decode("latin-1")
                declared = check_declared(length, self._max_bytes)
                is_chunked = b"transfer-encoding" in headers
                _reserve(declared, service.admission, reservation, is_chunked=is_chunked)
                body.expect(declared)
                await self._receive(receive, body, reservation)
            except (RequestError, ClientDisconnect) as error:
                await self._refusal(error, scope, service)(scope, receive, send)
                return
            replay = Replay(body, receive)
            scope["state"]["intake"] = Intake(body, reservation, found_full, started, replay)
            try:
                await self._app(scope, replay, send)
            finally:  # it refers to the call: in a cycle, the call would be left to the collector
                del scope["state"]["intake"]

    async def _receive(self, receive: Receive, body: Body, reservation: Reservation) -> None:
        """Receive the body.

        Raises:
            ApiError: the body takes longer than it may.
            BodyTooLarge: it exceeds the limit.
            QueueFull: the queue has no room for a body whose size was not declared.
            ClientDisconnect: the client is gone.
        """
        limit = BodyLimit(self._max_bytes)
        try:
            async with asyncio.timeout(self._seconds):
                is_more = True
                while is_more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    part = message.get("body", b"")
                    limit.add(len(part))
                    body.add(part)
                    if body.num_bytes > reservation.num_bytes:
                        reservation.grow(num_bytes=body.num_bytes - reservation.num_bytes)
                    is_more = message.get("more_body", False)
        except TimeoutError as error:
            raise ApiError(
                HTTPStatus.REQUEST_TIMEOUT,
                "body_too_slow",
                f"the body was not there after {self._seconds:g} seconds",
            ) from error

    def _refusal(
        self, error: RequestError | ClientDisconnect, scope: Scope, service: Service
    ) -> Response:
        if isinstance(error, ClientDisconnect):
            return given_up(service)
        status = None
        if isinstance(error, TryLater):
            status = self._try_later_statuses.get(scope["path"])
        return refused(error, scope, service.metrics, status=status)


def given_up(service: Service) -> Response:
    """The response to a call whose client is gone; nobody is there to read it."""
    service.metrics.count_refusal("disconnected")
    return Response(status_code=HTTPStatus.BAD_REQUEST)


def declares_body(scope: Scope) -> bool:
    """Whether the headers of a call announce a body."""
    return any(
        (name == b"content-length" and value != b"0") or name == b"transfer-encoding"
        for name, value in scope["headers"]
    )


def _reserve(
    declared: int, admission: Admission, reservation: Reservation, *, is_chunked: bool
) -> None:
    """Reserve the bytes that a body declares. Raises QueueFull.

    A small body is taken in although the queue is full, so that its route can say so in the words
    of its protocol. It counts towards the bound of responses.
    """
    if declared <= SMALL_BODY_BYTES and not is_chunked:
        reservation.grow_by_response(num_bytes=declared)
    else:
        admission.check_not_full()
        reservation.grow(num_bytes=declared)


class Replay:
    """`receive` for the routes: the body, then what comes after it."""

    def __init__(self, body: Body, receive: Receive) -> None:
        self._body: Body | None = body
        self._receive = receive

    def skip(self) -> None:
        """Leave the body out: its route has it."""
        self._body = None

    async def __call__(self) -> Message:
        """The next message. Raises BodyTooLarge if a route that takes small ones asks for it."""
        body, self._body = self._body, None
        if body is None:
            return await self._receive()
        if not body.is_held:
            raise BodyTooLarge(f"this route takes bodies of at most {MAX_HELD_BYTES} bytes")
        return {"type": "http.request", "body": body.content, "more_body": False}


class Body:
    """The bytes of a body: held here, or in a file if they are more than MAX_HELD_BYTES.

    The process of a large request inherits the file, which is in memory too.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._parts: list[bytes] = []
        self._file: int | None = None

    @property
    def is_small(self) -> bool:
        """Whether the API process may read the body whatever is in it."""
        return self.num_bytes <= SMALL_BODY_BYTES

    @property
    def is_held(self) -> bool:
        """Whether `content` has the body."""
        return self._file is None

    @property
    def content(self) -> bytes:
        """The bytes of a body that is held."""
        assert self.is_held
        return b"".join(self._parts)

    def expect(self, num_bytes: int) -> None:
        """Prepare for a body of so many bytes. Raises RequestFailed."""
        if num_bytes > MAX_HELD_BYTES:
            self.file()

    def file(self) -> int:
        """The descriptor of a file with the body; `close` closes it. Raises RequestFailed."""
        if self._file is None:
            try:
                self._file = os.memfd_create("body")
            except OSError as error:
                raise RequestFailed(f"no file for the body: {error}") from error
            _write_all(self._file, b"".join(self._parts))
            self._parts.clear()
        return self._file

    def add(self, part: bytes) -> None:
        """Append the next bytes. Raises RequestFailed."""
        self.num_bytes += len(part)
        if self._file is None and self.num_bytes > MAX_HELD_BYTES:
            self.file()
        if self._file is None:
            self._parts.append(part)
            if len(self._parts) > MAX_PARTS:  # each takes memory of its own
                self._parts[:] = [b"".join(self._parts)]
        else:
            _write_all(self._file, part)

    def forget(self) -> None:
        """Release the bytes of a body that is held, which its route has read."""
        self._parts.clear()

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            os.close(self._file)


def _write_all(file: int, part: bytes) -> None:
    view = memoryview(part)
    while view:
        view = view[os.write(file, view) :]


def content_encoding(request: Request) -> str:
    """The compression of the body, one of CONTENT_ENCODINGS.

    Raises:
        ApiError: the body is not declared as JSON, or has another compression.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            f"Content-Type must be application/json, found {content_type[:100]!r}",
        )
    encoding = request.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if encoding not in CONTENT_ENCODINGS:
        known = ", ".join(CONTENT_ENCODINGS)
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_content_encoding",
            f"Content-Encoding must be one of {known}, found {encoding[:100]!r}",
            headers={"Accept-Encoding": known},
        )
    return encoding


async def unless_given_up(work: Coroutine[None, None, T], request: Request, drain: Drain) -> T:
    """The result of the work. Raises ClientDisconnect, or Draining when the service ends.

    The work runs in the task of the call. Most work ends soon, and only longer work is watched.
    """
    watch = _Watch(request, drain)
    try:
        return await work
    except asyncio.CancelledError:
        watch.raise_found()
        raise
    finally:
        await watch.end()


class _Watch:
    """Cancels the task of a call whose client is gone, or that the ending service gives up."""

    def __init__(self, request: Request, drain: Drain) -> None:
        self._request = request
        self._drain = drain
        task = asyncio.current_task()
        assert task is not None
        self._call = task
        self._num_cancelled = task.cancelling()
        self._found: Exception | None = None
        self._has_ended = False
        self._watching: asyncio.Task[Exception] | None = None
        loop = asyncio.get_running_loop()
        self._start = loop.call_later(UNWATCHED_SECONDS, self._begin)

    def _begin(self) -> None:
        self._watching = asyncio.create_task(_given_up(self._request, self._drain))
        self._watching.add_done_callback(self._cancel_call)

    def _cancel_call(self, watching: asyncio.Task[Exception]) -> None:
        # The work may have ended in the turn of the event loop in which the client hung up.
        if not watching.cancelled() and not self._has_ended:
            error = watching.exception()
            self._found = watching.result() if error is None else _as_exception(error)
            self._call.cancel()

    def raise_found(self) -> None:
        """Raise the reason why this watch cancelled the call, unless somebody else did too."""
        if self._found is not None and self._call.uncancel() <= self._num_cancelled:
            raise self._found

    async def end(self) -> None:
        """End the watch, whose tasks have ended then."""
        self._has_ended = True
        self._start.cancel()
        if self._watching is not None:
            await _cancelled(self._watching)


def _as_exception(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


async def _given_up(request: Request, drain: Drain) -> Exception:
    """The error of a call when its client is gone, or the service ends."""
    gone = asyncio.create_task(_disconnected(request))
    stopped = asyncio.create_task(drain.wait_stopped())
    try:
        await asyncio.wait([gone, stopped], return_when=asyncio.FIRST_COMPLETED)
        if not gone.done():
            return Draining()
        gone.result()
        return ClientDisconnect()
    finally:
        await _cancelled(gone, stopped)


async def _cancelled(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    """Wait until the client is gone; the body must have been received."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
