"""Taking in a body: refused while it is only declared, where that tells enough, and bounded."""

from __future__ import annotations

import asyncio
import os
from http import HTTPStatus

from starlette.requests import Request

from verifier_service.engine.request_body import CONTENT_ENCODINGS, body_too_large
from verifier_service.engine.scheduler import QueueFull, Reservation, Scheduler
from verifier_service.http.errors import ApiError, try_again

SMALL_BODY_BYTES = 2**15
"""What this process reads itself: larger bodies would hold up other requests."""
RECEIVE_SECONDS = 60.0


class Body:
    """The bytes of a request, in memory where they are few, else in a file in memory."""

    def __init__(self) -> None:
        self.num_bytes = 0
        self._small = bytearray()
        self._file: int | None = None

    @property
    def is_small(self) -> bool:
        """Whether it may be read here."""
        return self._file is None

    @property
    def content(self) -> bytes:
        """Of a small body."""
        return bytes(self._small)

    def file(self) -> int:
        """The descriptor of a file that has the body; closed by `close`. Raises ApiError."""
        if self._file is None:
            try:
                self._file = os.memfd_create("body")
            except OSError as error:
                raise try_again("request_failed", f"no file for the body: {error}") from error
            _write(self._file, self._small)
            self._small.clear()
        return self._file

    def add(self, part: bytes) -> None:
        """The next bytes. Raises ApiError."""
        self.num_bytes += len(part)
        if self._file is None and self.num_bytes > SMALL_BODY_BYTES:
            self.file()
        if self._file is None:
            self._small += part
        else:
            _write(self._file, part)

    def close(self) -> None:
        """Give back its memory."""
        if self._file is not None:
            os.close(self._file)


def _write(file: int, part: bytes | bytearray) -> None:
    view = memoryview(part)
    while view:
        view = view[os.write(file, view) :]


def content_encoding(request: Request) -> str:
    """How the body is compressed.

    Raises:
        ApiError: the body is not JSON, or compressed in another way than we know.
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


def admit(request: Request, scheduler: Scheduler, reservation: Reservation, max_bytes: int) -> None:
    """Decide by what is declared, before anything of the body is read.

    Raises:
        ApiError: the body is too large.
        QueueFull: there is no room.
    """
    declared = request.headers.get("content-length", "")
    num_bytes = int(declared) if declared.isdecimal() and len(declared) < 20 else 0
    if num_bytes > max_bytes:
        raise body_too_large(max_bytes)
    if scheduler.is_full:
        raise QueueFull(scheduler.state)
    reservation.grow(num_bytes=num_bytes)


async def receive(request: Request, body: Body, reservation: Reservation) -> None:
    """Take in the body, whose size is bounded where it arrives.

    Raises:
        ApiError: it is too large, or comes too slowly.
        QueueFull: there is no room for a body whose size was not declared.
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
    """Wait until the client is gone; its body must have been received."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def queue_full(error: QueueFull) -> ApiError:
    """503 with the state of the queue."""
    return try_again("queue_full", str(error), details=error.state)
