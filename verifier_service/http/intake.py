"""The intake of a body: refused by its headers if possible, else held as it arrives."""

from __future__ import annotations

import asyncio
import os
from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verifier_service.engine.admission import Reservation
from verifier_service.engine.body_limit import BodyLimit
from verifier_service.engine.request_body import CONTENT_ENCODINGS
from verifier_service.errors import RequestFailed
from verifier_service.http.errors import ApiError

SMALL_BODY_BYTES = 2**15
"""Largest body that the API process reads itself: a larger one would hold up other requests."""
RECEIVE_SECONDS = 60.0
"""Longest time that a body may take to arrive."""


class LimitArrivingBody:
    """Middleware that refuses a body over the limit while it arrives, not when it is in memory.

    Args:
        app: the next layer.
        max_bytes: largest body of a call.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, and count its body."""
        limit = BodyLimit(self._max_bytes)

        async def limited_receive() -> Message:
            message = await receive()
            limit.add(len(message.get("body", b"")))
            return message

        await self._app(scope, limited_receive, send)


class Body:
    """The bytes of a body: a small one in memory, a large one in a file in memory.

    The process of a large request inherits the file.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._small = bytearray()
        self._file: int | None = None

    @property
    def is_small(self) -> bool:
        """Whether the API process may read the body."""
        return self._file is None

    @property
    def content(self) -> bytes:
        """The bytes of a small body."""
        return bytes(self._small)

    def file(self) -> int:
        """The descriptor of a file with the body; `close` closes it. Raises RequestFailed."""
        if self._file is None:
            try:
                self._file = os.memfd_create("body")
            except OSError as error:
                raise RequestFailed(f"no file for the body: {error}") from error
            _write_all(self._file, self._small)
            self._small.clear()
        return self._file

    def add(self, part: bytes) -> None:
        """Append the next bytes. Raises RequestFailed."""
        self.num_bytes += len(part)
        if self._file is None and self.num_bytes > SMALL_BODY_BYTES:
            self.file()
        if self._file is None:
            self._small += part
        else:
            _write_all(self._file, part)

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            os.close(self._file)


def _write_all(file: int, part: bytes | bytearray) -> None:
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


async def receive_body(request: Request, body: Body, reservation: Reservation) -> None:
    """Receive the body, whose size `LimitArrivingBody` bounds.

    Raises:
        ApiError: the body takes longer than RECEIVE_SECONDS.
        BodyTooLarge: it exceeds the limit.
        QueueFull: the queue has no room for a body whose size was not declared.
        ClientDisconnect: the client is gone.
    """
    try:
        async with asyncio.timeout(RECEIVE_SECONDS):
            async for part in request.stream():
                body.add(part)
                if body.num_bytes > reservation.num_bytes:
                    reservation.grow(num_bytes=body.num_bytes - reservation.num_bytes)
    except TimeoutError as error:
        raise ApiError(
            HTTPStatus.REQUEST_TIMEOUT,
            "body_too_slow",
            f"the body was not there after {RECEIVE_SECONDS:.0f} seconds",
        ) from error


async def disconnected(request: Request) -> None:
    """Wait until the client is gone; the body must have been received."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
