"""One call of `POST /v1/score`, from its headers to the last byte of its response."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from http import HTTPStatus

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from verifier_service.current_call import request_id
from verifier_service.engine.light_body import read_light_request
from verifier_service.engine.request_body import read_request
from verifier_service.engine.response import EncodedResponse, respond
from verifier_service.errors import RequestFailed
from verifier_service.http.intake import content_encoding, given_up, intake_of, unless_given_up
from verifier_service.http.line_stream import LineStream, wants_lines
from verifier_service.http.service import Service
from verifier_service.large_requests.messages import LargeRequest
from verifier_service.profiles import profiles_to_json
from verifier_service.schemas import ScoreRequest
from verifier_service.verifiers.regex import QuickPatterns, SlowPattern

JSON_MEDIA_TYPE = "application/json"
SMALL_VERDICTS = 1024
"""Most verdicts of a request that the API process handles itself: encoding them takes
milliseconds."""
PROCESS_GRACE_SECONDS = 30.0
"""Time after the deadline in which the process of a request may encode the response."""


async def respond_to_score_call(request: Request, service: Service) -> Response:
    """The response to a call.

    Raises:
        RequestError: the request is refused, or cannot be finished.
    """
    try:
        return await _ScoreCall(request, service).response()
    except ClientDisconnect:
        return given_up(service)


class _ScoreCall:
    """A call, whose body has arrived."""

    def __init__(self, request: Request, service: Service) -> None:
        self._request = request
        self._service = service
        intake = intake_of(request)
        self._started = intake.started
        self._found_full = intake.found_full
        self._reservation = intake.reservation
        self._body = intake.body
        self._is_streamed = wants_lines(request)
        self._lines = LineStream(request, service, intake.reservation)

    async def response(self) -> Response:
        """Have the body scored. Raises RequestError, ClientDisconnect."""
        encoding = content_encoding(self._request)
        if self._found_full:
            raise self._service.admission.queue_full()
        if self._is_streamed:
            return await self._streamed_response(encoding)
        return await self._whole_response(encoding)

    async def _whole_response(self, encoding: str) -> Response:
        """The response when every group has been judged."""
        found = await unless_given_up(self._score(encoding), self._request, self._service.drain)
        self._report(found)
        pieces = list(found.pieces)
        return response_in_pieces(pieces)

    async def _streamed_response(self, encoding: str) -> Response:
        """A response that sends each group as it is done."""
        response = self._lines.response(self._score(encoding), on_sent=self._report)
        return await unless_given_up(response, self._request, self._service.drain)

    async def _score(self, encoding: str) -> EncodedResponse:
        request = self._small_request(encoding)
        if request is None:
            found = await self._score_in_process(encoding)
        else:
            found = await self._score_here(request)
        if self._is_streamed:
            self._lines.add(found.last_line)
        return found

    def _small_request(self, encoding: str) -> ScoreRequest | None:
        """The request if the API process can handle it in milliseconds. Raises RequestError."""
        if not self._body.is_held or encoding != "identity":
            return None
        read = read_request if self._body.is_small else read_light_request
        try:
            request = read(
                self._body.content,
                self._service.limits,
                lambda: self._service.profiles,
                quick_patterns=QuickPatterns(),
            )
        except SlowPattern:
            return None
        if request is None or request.num_verdicts > SMALL_VERDICTS:
            return None
        self._body.forget()
        return request

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
            max_questions=self._service.scheduler.max_questions,
            request_id=request_id(),
            stored_texts=self._service.scheduler.stored_texts,
        )
        limit = limits.max_deadline_seconds + PROCESS_GRACE_SECONDS
        try:
            async with asyncio.timeout(limit - (time.monotonic() - self._started)):
                return await self._service.processes.respond(
                    large, self._body.file(), self._reservation, self._add_line
                )
        except TimeoutError as error:
            raise RequestFailed(f"there was no response within {limit:g} seconds") from error

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
        self._lines.add(line)

    def _report(self, found: EncodedResponse) -> None:
        self._service.metrics.count_verdicts(found.counts)
        self._request.scope["state"]["num_completions"] = found.num_completions


def response_in_pieces(pieces: list[bytes], status: int = HTTPStatus.OK) -> Response:
    """A response in JSON; the memory of each piece is free again when it is sent."""
    if len(pieces) == 1:
        return Response(pieces[0], status, media_type=JSON_MEDIA_TYPE)
    headers = {"Content-Length": str(sum(map(len, pieces)))}
    return StreamingResponse(_each(pieces), status, headers, media_type=JSON_MEDIA_TYPE)


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    """The pieces; the memory of each is free again when it is sent."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()
