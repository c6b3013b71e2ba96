"""One call of `POST /v1/score`, from its headers to the last byte of its response."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import ExitStack
from dataclasses import replace
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from verifier_service.engine.body_limit import check_declared
from verifier_service.engine.request_body import read_request
from verifier_service.engine.response import EncodedResponse, respond
from verifier_service.engine.response_json import PIECE_BYTES, check_size
from verifier_service.errors import Draining, RequestError, RequestFailed
from verifier_service.http.error_handlers import refused
from verifier_service.http.intake import Body, content_encoding, disconnected, receive_body
from verifier_service.http.service import Service
from verifier_service.large_requests.messages import LargeRequest
from verifier_service.profiles import profiles_to_json
from verifier_service.schemas import ScoreRequest
from verifier_service.verifiers.regex import QuickPatterns, SlowPattern

NDJSON = "application/x-ndjson"
SMALL_VERDICTS = 1024
"""Most verdicts of a request that the API process handles itself: encoding them takes
milliseconds."""
PROCESS_GRACE_SECONDS = 30.0
"""Time after the deadline in which the process of a request may encode the response."""

T = TypeVar("T")


async def respond_to_score_call(request: Request, service: Service) -> Response:
    """The response to a call.

    Raises:
        RequestError: the request is refused, or cannot be finished.
    """
    try:
        return await _ScoreCall(request, service).response()
    except ClientDisconnect:
        service.metrics.count_refusal("disconnected")
        return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody is there to read it


class _ScoreCall:
    """A call and its resources: its share of the pending work, and its body."""

    def __init__(self, request: Request, service: Service) -> None:
        self._request = request
        self._service = service
        self._started = time.monotonic()
        self._is_streamed = NDJSON in request.headers.get("accept", "")
        self._resources = ExitStack()
        self._reservation = self._resources.enter_context(service.admission.reservation())
        self._body = Body()
        self._resources.callback(self._body.close)
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._num_unsent_bytes = 0
        """Bytes of the lines that the client has not read."""

    async def response(self) -> Response:
        """Receive the body and have it scored. Raises RequestError, ClientDisconnect.

        A response that is sent piece by piece takes the resources over.
        """
        with self._resources:
            encoding = await self._receive()
            if self._is_streamed:
                return await self._streamed_response(encoding)
            return await self._whole_response(encoding)

    async def _receive(self) -> str:
        """Receive the body and return its encoding. Raises RequestError, ClientDisconnect."""
        encoding = content_encoding(self._request)
        declared = self._request.headers.get("content-length", "")
        num_bytes = check_declared(declared, self._service.limits.max_body_bytes)
        self._service.admission.check_not_full()
        self._reservation.grow(num_bytes=num_bytes)
        await receive_body(self._request, self._body, self._reservation)
        return encoding

    async def _whole_response(self, encoding: str) -> Response:
        """The response when every group has been judged."""
        found = await self._unless_given_up(self._score(encoding))
        self._report(found)
        pieces = list(found.pieces)
        if len(pieces) == 1:  # the server takes it whole, so nothing is held for it
            return Response(pieces[0], media_type="application/json")
        return _LargeResponse(pieces, self._resources.pop_all())

    async def _streamed_response(self, encoding: str) -> Response:
        """A response that sends each group as it is done.

        It begins with the first line: until then, the request can still be refused.
        """
        scoring = asyncio.create_task(self._score(encoding))
        try:
            first = await self._unless_given_up(self._next_line(scoring))
        except BaseException:
            scoring.cancel()
            await asyncio.wait([scoring])
            raise
        lines = self._pieces_of_lines(first, scoring)
        return _StreamedResponse(lines, scoring, self._resources.pop_all())

    async def _pieces_of_lines(
        self, first: bytes | None, scoring: asyncio.Task[EncodedResponse]
    ) -> AsyncIterator[bytes]:
        """The lines in pieces. Raises RequestError if the rest is refused."""
        line = first
        while line is not None:
            for start in range(0, len(line), PIECE_BYTES):  # the server copies a piece whole
                yield line[start : start + PIECE_BYTES]
            self._num_unsent_bytes -= len(line)
            self._reservation.shrink(num_bytes=len(line))
            try:
                line = await self._next_line(scoring)
            except RequestError as error:
                # The status is sent, so only the log and the metrics can tell of the refusal.
                refused(error, self._request.scope, self._service.metrics)
                raise
        self._report(scoring.result())

    async def _next_line(self, scoring: asyncio.Task[EncodedResponse]) -> bytes | None:
        """The next line; None after the last. Raises the error that ended the scoring."""
        if self._lines.empty():
            line = asyncio.create_task(self._lines.get())
            try:
                await asyncio.wait([line, scoring], return_when=asyncio.FIRST_COMPLETED)
            finally:
                line.cancel()
            if line.done() and not line.cancelled():
                return line.result()
        if not self._lines.empty():
            return self._lines.get_nowait()
        scoring.result()
        return None

    async def _unless_given_up(self, work: Coroutine[None, None, T]) -> T:
        """The result of the work. Raises ClientDisconnect, or Draining when the service ends."""
        working = asyncio.ensure_future(work)
        gone = asyncio.create_task(disconnected(self._request))
        stopped = asyncio.create_task(self._service.drain.wait_stopped())
        waiting: list[asyncio.Task[object]] = [working, gone, stopped]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            if gone.done():
                raise ClientDisconnect
            raise Draining
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _score(self, encoding: str) -> EncodedResponse:
        request = self._small_request(encoding)
        if request is None:
            found = await self._score_in_process(encoding)
        else:
            found = await self._score_here(request)
        if self._is_streamed:
            self._add_line(0, found.last_line)
        return found

    def _small_request(self, encoding: str) -> ScoreRequest | None:
        """The request if the API process can handle it in milliseconds. Raises RequestError."""
        if not self._body.is_small or encoding != "identity":
            return None
        try:
            request = read_request(
                self._body.content,
                self._service.limits,
                lambda: self._service.profiles,
                quick_patterns=QuickPatterns(),
            )
        except SlowPattern:
            return None
        is_small = request.num_completions * len(request.verifiers) <= SMALL_VERDICTS
        return request if is_small else None

    async def _score_in_process(self, encoding: str) -> EncodedResponse:
        limits = self._service.limits
        large = LargeRequest(
            num_bytes=self._body.num_bytes,
            content_encoding=encoding,
            stream=self._is_streamed,
            started=self._started,
            limits=limits,
            profiles=profiles_to_json(self._service.profiles),
            num_workers=self._service.scheduler.worker_counts,
        )
        limit = limits.max_deadline_seconds + PROCESS_GRACE_SECONDS
        try:
            async with asyncio.timeout(limit - (time.monotonic() - self._started)):
                return await self._service.processes.respond(
                    large, self._body.file(), self._reservation, self._add_line
                )
        except TimeoutError as error:
            raise RequestFailed(f"there was no answer within {limit:g} seconds") from error

    async def _score_here(self, request: ScoreRequest) -> EncodedResponse:
        self._reservation.grow(completions=request.num_completions)
        found = await respond(
            request,
            self._service.scheduler,
            started=self._started,
            max_deadline_seconds=self._service.limits.max_deadline_seconds,
            on_line=self._add_line if self._is_streamed else None,
        )
        if self._is_streamed:
            return found
        pieces = list(found.pieces)
        self._reservation.grow_by_response(num_bytes=sum(map(len, pieces)))
        return replace(found, pieces=pieces)

    def _add_line(self, _index: int, line: bytes) -> None:
        """Raise ResponseTooLarge or QueueFull if the client does not read the earlier lines."""
        check_size(self._num_unsent_bytes + len(line))
        self._reservation.grow_by_response(num_bytes=len(line))
        self._num_unsent_bytes += len(line)
        self._lines.put_nowait(line)

    def _report(self, found: EncodedResponse) -> None:
        self._service.metrics.count_verdicts(found.counts)
        self._request.scope["state"]["num_completions"] = found.num_completions


class _LargeResponse(StreamingResponse):
    """A response in pieces; it holds resources until they are sent or the client is gone."""

    def __init__(self, pieces: list[bytes], resources: ExitStack) -> None:
        headers = {"Content-Length": str(sum(map(len, pieces)))}
        super().__init__(_each(pieces), media_type="application/json", headers=headers)
        self._resources = resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._resources:
            await super().__call__(scope, receive, send)


class _StreamedResponse(StreamingResponse):
    """NDJSON; the scoring and the resources end with the last line or when the client is gone."""

    def __init__(
        self,
        lines: AsyncIterator[bytes],
        scoring: asyncio.Task[EncodedResponse],
        resources: ExitStack,
    ) -> None:
        super().__init__(lines, media_type=NDJSON)
        self._scoring = scoring
        self._resources = resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._resources:
            try:
                await super().__call__(scope, receive, send)
            finally:
                self._scoring.cancel()
                await asyncio.gather(self._scoring, return_exceptions=True)


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    """The pieces; the memory of each is free again when it is sent."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()
