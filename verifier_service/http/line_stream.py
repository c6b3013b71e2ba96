"""A response in lines (NDJSON), each of which is sent as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from verifier_service.engine.admission import Reservation
from verifier_service.engine.response_json import PIECE_BYTES, check_size
from verifier_service.errors import Draining, RequestError
from verifier_service.http.drain import Drain
from verifier_service.http.error_handlers import refused
from verifier_service.http.service import Service

NDJSON = "application/x-ndjson"

T = TypeVar("T")


def wants_lines(request: Request) -> bool:
    """Whether a client asks for a response in NDJSON."""
    return NDJSON in request.headers.get("accept", "").lower()


class LineStream:
    """The lines of one call, which its work adds and its client reads.

    Args:
        request: the call.
        service: gives the call up at its end, and counts a refusal behind the first line.
        reservation: of the call; counts the lines that the client has not read.
    """

    def __init__(self, request: Request, service: Service, reservation: Reservation) -> None:
        self._request = request
        self._service = service
        self._reservation = reservation
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._num_unsent_bytes = 0
        """Bytes of the lines that the client has not read."""

    def add(self, line: bytes) -> None:
        """Send a line, which ends with a line break, when the earlier ones are sent.

        Raises:
            ResponseTooLarge, QueueFull: the client does not read the earlier lines.
        """
        check_size(self._num_unsent_bytes + len(line))
        self._reservation.grow_by_response(num_bytes=len(line))
        self._num_unsent_bytes += len(line)
        self._lines.put_nowait(line)

    async def response(
        self, work: Coroutine[Any, Any, T], *, on_sent: Callable[[T], None]
    ) -> Response:
        """The response, which begins with the first line: until then the call can be refused.

        Args:
            work: adds the lines. It ends when the client is gone or the call is given up.
            on_sent: is called with the result of the work when the last line is sent.

        Raises:
            RequestError: the work is refused before its first line.
        """
        making = asyncio.create_task(work)
        try:
            first = await self._next(making)
        except BaseException:
            making.cancel()
            await asyncio.wait([making])
            raise
        pieces = self._pieces(first, making, on_sent)
        return _StreamedResponse(pieces, making, self._service.drain)

    async def _pieces(
        self, first: bytes | None, making: asyncio.Task[T], on_sent: Callable[[T], None]
    ) -> AsyncIterator[bytes]:
        """The lines in pieces. Raises RequestError if the rest is refused."""
        line = first
        while line is not None:
            for start in range(0, len(line), PIECE_BYTES):  # the server copies a piece whole
                yield line[start : start + PIECE_BYTES]
            self._num_unsent_bytes -= len(line)
            self._reservation.shrink(num_bytes=len(line))
            try:
                line = await self._next(making)
            except RequestError as error:
                # The status is sent, so only the log and the metrics can tell of the refusal.
                refused(error, self._request.scope, self._service.metrics)
                raise
        on_sent(making.result())

    async def _next(self, making: asyncio.Task[T]) -> bytes | None:
        """The next line; None after the last.

        Raises the error that ended the work, and Draining if the ending service cancelled it.
        """
        if self._lines.empty():
            line = asyncio.create_task(self._lines.get())
            try:
                await asyncio.wait([line, making], return_when=asyncio.FIRST_COMPLETED)
            finally:
                line.cancel()
            if line.done() and not line.cancelled():
                return line.result()
        if not self._lines.empty():
            return self._lines.get_nowait()
        if making.cancelled():
            raise Draining
        making.result()
        return None


class _StreamedResponse(StreamingResponse):
    """NDJSON.

    The work ends with the last line, when the client is gone, or when the ending service gives the
    call up.
    """

    def __init__(
        self, pieces: AsyncIterator[bytes], making: asyncio.Task[Any], drain: Drain
    ) -> None:
        super().__init__(pieces, media_type=NDJSON)
        self._making = making
        self._drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        giving_up = asyncio.create_task(self._give_up_when_stopped())
        try:
            await super().__call__(scope, receive, send)
        finally:
            giving_up.cancel()
            self._making.cancel()
            await asyncio.gather(self._making, giving_up, return_exceptions=True)

    async def _give_up_when_stopped(self) -> None:
        await self._drain.wait_stopped()
        self._making.cancel()
