"""One call of `POST /v1/score`, from its headers to the last byte of its answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from verifier_service.engine.request_body import read_request
from verifier_service.engine.response import (
    MAX_ANSWER_BYTES,
    NDJSON,
    PIECE_BYTES,
    Answer,
    answer_request,
)
from verifier_service.engine.scheduler import QueueFull, Scheduler
from verifier_service.http.drain import Drain
from verifier_service.http.error_handlers import refused
from verifier_service.http.errors import ApiError, answer_too_large
from verifier_service.http.intake import (
    Body,
    admit,
    content_encoding,
    disconnected,
    queue_full,
    receive,
)
from verifier_service.http.metrics import Metrics
from verifier_service.large_requests.launcher import RequestProcesses, request_failed
from verifier_service.large_requests.messages import Job, RequestLimits
from verifier_service.profiles import Verifiers, profiles_to_json
from verifier_service.schemas import ScoreRequest
from verifier_service.settings import Settings
from verifier_service.verifiers.regex import QuickPatterns, SlowPattern
from verifier_service.workers.pool import WorkerPool

SMALL_VERDICTS = 1024
"""What this process deduplicates and encodes itself, in milliseconds."""
PROCESS_GRACE_SECONDS = 30.0
"""After the deadline, to put an answer together."""

T = TypeVar("T")


@dataclass(frozen=True)
class Service:
    """What calls share, as long as the application lives."""

    settings: Settings
    profiles: Mapping[str, Verifiers]
    scheduler: Scheduler
    processes: RequestProcesses
    pools: Mapping[str, WorkerPool]
    metrics: Metrics
    drain: Drain

    @property
    def limits(self) -> RequestLimits:
        """What a request may ask for."""
        settings = self.settings
        return RequestLimits(
            settings.enabled,
            settings.max_body_bytes,
            settings.max_completions,
            settings.max_deadline_seconds,
        )


async def answer_score_call(request: Request, service: Service) -> Response:
    """The answer to a call.

    Raises:
        ApiError: the request is refused.
    """
    with ExitStack() as stack:
        call = _Call(request, service, stack)
        try:
            await call.receive()
            if call.stream:
                return await call.streamed(stack)
            return await call.whole(stack)
        except QueueFull as error:
            raise queue_full(error) from error
        except ClientDisconnect:
            service.metrics.rejected("disconnected")
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody is there to read it


class _Call:
    def __init__(self, request: Request, service: Service, stack: ExitStack) -> None:
        self._request = request
        self._service = service
        self._started = time.monotonic()
        self._reservation = stack.enter_context(service.scheduler.reservation())
        self._body = Body()
        stack.callback(self._body.close)
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._num_unsent_bytes = 0
        """Of lines."""
        self.stream = NDJSON in request.headers.get("accept", "")

    async def receive(self) -> None:
        """Take in the body. Raises ApiError, QueueFull, ClientDisconnect."""
        max_bytes = self._service.settings.max_body_bytes
        self._encoding = content_encoding(self._request)
        admit(self._request, self._service.scheduler, self._reservation, max_bytes)
        await receive(self._request, self._body, self._reservation)

    async def whole(self, resources: ExitStack) -> Response:
        """The answer when every group has been judged. The resources of a large one are its own."""
        found = await self._unless_given_up(self._score())
        self._count(found)
        pieces = list(found.pieces)
        if len(pieces) == 1:  # it is handed over at once
            return Response(pieces[0], media_type="application/json")
        return _LargeAnswer(pieces, resources.pop_all())

    async def streamed(self, resources: ExitStack) -> Response:
        """An answer that gives each group as it is done; it is accepted when the first is.

        The resources are its own then.
        """
        scoring = asyncio.create_task(self._score())
        try:
            first = await self._unless_given_up(self._next_line(scoring))
        except BaseException:
            scoring.cancel()
            await asyncio.wait([scoring])
            raise
        lines = self._rest(first, scoring)
        return _StreamedAnswer(lines, scoring, resources.pop_all())

    async def _rest(
        self, first: bytes | None, scoring: asyncio.Task[Answer]
    ) -> AsyncIterator[bytes]:
        """Raises ApiError: what is left is refused, and the answer breaks off."""
        line = first
        while line is not None:
            for start in range(0, len(line), PIECE_BYTES):  # the server takes a piece whole
                yield line[start : start + PIECE_BYTES]
            self._num_unsent_bytes -= len(line)
            self._reservation.shrink(num_bytes=len(line))
            try:
                line = await self._next_line(scoring)
            except (ApiError, QueueFull) as error:  # the status is sent: only the log can tell it
                known = queue_full(error) if isinstance(error, QueueFull) else error
                refused(known, self._request.scope, self._service.metrics)
                raise known from None
        self._count(scoring.result())

    async def _next_line(self, scoring: asyncio.Task[Answer]) -> bytes | None:
        """The next line, or None after the last. Raises what ended the scoring."""
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
        """What work returns. Raises ClientDisconnect, or ApiError when the service ends."""
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
            raise self._service.drain.refusal()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _score(self) -> Answer:
        found = await self._answer()
        if self.stream:
            self._add_line(0, found.last_line)
        return found

    async def _answer(self) -> Answer:
        request = self._small_request()
        if request is None:
            return await self._answer_in_process()
        return await self._answer_here(request)

    def _small_request(self) -> ScoreRequest | None:
        """The request if this process can read and answer it in milliseconds. Raises ApiError."""
        if not self._body.is_small or self._encoding != "identity":
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

    async def _answer_in_process(self) -> Answer:
        settings, scheduler = self._service.settings, self._service.scheduler
        job = Job(
            self._body.num_bytes,
            self._encoding,
            self.stream,
            self._started,
            self._service.limits,
            profiles_to_json(self._service.profiles),
            scheduler.worker_counts,
        )
        limit = settings.max_deadline_seconds + PROCESS_GRACE_SECONDS
        try:
            async with asyncio.timeout(limit - (time.monotonic() - self._started)):
                return await self._service.processes.answer(
                    job, self._body.file(), self._reservation, self._add_line
                )
        except TimeoutError as error:
            raise request_failed(f"there was no answer within {limit:g} seconds") from error

    async def _answer_here(self, request: ScoreRequest) -> Answer:
        self._reservation.grow(completions=request.num_completions)
        found = await answer_request(
            request,
            self._service.scheduler,
            started=self._started,
            max_deadline_seconds=self._service.settings.max_deadline_seconds,
            on_line=self._add_line if self.stream else None,
        )
        if self.stream:
            return found
        pieces = list(found.pieces)
        self._reservation.grow_by_answer(num_bytes=sum(map(len, pieces)))
        return replace(found, pieces=pieces)

    def _add_line(self, _index: int, line: bytes) -> None:
        """Raises ApiError and QueueFull: the client does not read what there is."""
        if self._num_unsent_bytes + len(line) > MAX_ANSWER_BYTES:
            raise answer_too_large(MAX_ANSWER_BYTES)
        self._reservation.grow_by_answer(num_bytes=len(line))
        self._num_unsent_bytes += len(line)
        self._lines.put_nowait(line)

    def _count(self, found: Answer) -> None:
        self._service.metrics.given(found.counts)
        self._request.scope["state"]["num_completions"] = found.num_completions


class _LargeAnswer(StreamingResponse):
    """An answer in pieces, with what is held until they have been sent or the client is gone."""

    def __init__(self, pieces: list[bytes], resources: ExitStack) -> None:
        headers = {"Content-Length": str(sum(map(len, pieces)))}
        super().__init__(_each(pieces), media_type="application/json", headers=headers)
        self._resources = resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._resources:
            await super().__call__(scope, receive, send)


class _StreamedAnswer(StreamingResponse):
    """Lines, with what has to end when they do or when the client is gone."""

    def __init__(
        self, lines: AsyncIterator[bytes], scoring: asyncio.Task[Answer], resources: ExitStack
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
    """The pieces, whose memory is given back as they are sent."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()
