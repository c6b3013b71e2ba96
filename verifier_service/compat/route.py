"""Routes of other protocols: their bodies are parsed strictly, and large ones in other processes.

A body of few values is handled in the API process, in milliseconds. Any other has a process of its
own (`call_process`), which calls the same route.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any

import pydantic_core
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Scope

from verifier_service.compat.judging import Judging, TooMuchHere
from verifier_service.current_call import request_id
from verifier_service.engine.body_limit import MAX_HELD_BYTES
from verifier_service.engine.request_body import check_json
from verifier_service.engine.response import EncodedResponse
from verifier_service.errors import (
    BodyTooLarge,
    InvalidRequest,
    RequestError,
    RequestFailed,
    TryLater,
)
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.intake import (
    Intake,
    given_up,
    intake_of,
    unless_given_up,
)
from verifier_service.http.line_stream import NDJSON, LineStream, wants_lines
from verifier_service.http.score_call import (
    PROCESS_GRACE_SECONDS,
    SMALL_VERDICTS,
    response_in_pieces,
)
from verifier_service.http.service import Service, service_of
from verifier_service.large_requests.messages import CallRefused, LargeCall
from verifier_service.profiles import profiles_to_json
from verifier_service.validation import MAX_NAME_CHARACTERS, did_you_mean, invalid_request

MAX_VALUES = 2**13
"""Most values in the JSON of a body that the API process handles; each takes microseconds."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRoute(APIRoute):
    """A route that refuses lone surrogates, endless nesting and ambiguous JSON.

    FastAPI's own parser lets lone surrogates through, which then fail wherever text is encoded. It
    also turns every error while the body is read into a 400.
    """

    try_later_status: HTTPStatus | None = None
    """Status for clients that retry another one than 503."""
    has_lines = False
    """Whether the response is NDJSON where a client asks for that."""
    is_only_here = False
    """Whether no other process can handle a call, so that a large one is refused."""

    def get_route_handler(self) -> Handler:
        """The handler of `APIRoute`, which gets a request with a strict parser."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_call(request: Request) -> Response:
            if "judging" in request.scope["state"]:  # a process of the call's own
                content = request.scope["state"]["content"]
                return await _handle(handle, request.scope, content, max_values=None)
            try:
                _check_not_compressed(request)
                _check_parameters(request, {field.alias for field in self.dependant.query_params})
                if self.is_only_here:
                    return await _handle_only_here(handle, request)
                return await _handle_in_service(handle, request, has_lines=self.has_lines)
            except RequestValidationError as wrong:
                return self.refusal(invalid_request(wrong.errors()), request)
            except RequestError as error:
                return self.refusal(error, request)

        return handle_call

    def refusal(self, error: RequestError, request: Request) -> Response:
        """The response to a refused call, if the protocol has one of its own. Raises the error."""
        if isinstance(error, TryLater) and self.try_later_status is not None:
            raise ApiError(self.try_later_status, error.kind, error.message)
        raise error


def _check_not_compressed(request: Request) -> None:
    """Raise ApiError for a compressed body, which would read as broken JSON."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_content_encoding",
            f"this route takes no compressed bodies, found Content-Encoding {encoding[:100]!r}",
            headers={"Accept-Encoding": "identity"},
        )


def _check_parameters(request: Request, known: set[str]) -> None:
    """Raise InvalidRequest for a misspelt or repeated parameter, such as `?profil=code`.

    Another profile than the one meant would judge. Other parameters may be a proxy's.
    """
    for name in known:
        if len(request.query_params.getlist(name)) > 1:
            raise InvalidRequest(f"query.{name}: found more than once, expected one value")
    for name in request.query_params.keys() - known:
        if nearest := did_you_mean(name, known, likeness=0.8):
            raise InvalidRequest(f"query.{name[:MAX_NAME_CHARACTERS]}: no parameter{nearest}")


async def _handle_in_service(handle: Handler, request: Request, *, has_lines: bool) -> Response:
    """Handle a call here or in a process. Raises RequestError, RequestValidationError."""
    service, intake = service_of(request), intake_of(request)
    judging = _judging(service, intake)
    try:
        if intake.body.is_held:
            request.scope["state"]["judging"] = judging
            here = _handle(handle, request.scope, intake.body.content, max_values=MAX_VALUES)
            with suppress(TooMuchHere):
                return await unless_given_up(here, request, service.drain)
        work = _call_in_process(request, service, intake, judging.started)
        found = await unless_given_up(work, request, service.drain)
    except ClientDisconnect:
        return given_up(service)
    response = response_in_pieces(list(found.pieces), found.status)
    if has_lines and wants_lines(request):
        response.headers["content-type"] = NDJSON
    return response


async def _handle_only_here(handle: Handler, request: Request) -> Response:
    """Handle a call here. Raises RequestError, RequestValidationError."""
    service, body = service_of(request), intake_of(request).body
    if not body.is_held:
        raise BodyTooLarge(f"this route takes bodies of at most {MAX_HELD_BYTES} bytes")
    work = _handle(handle, request.scope, body.content, max_values=MAX_VALUES)
    try:
        return await unless_given_up(work, request, service.drain)
    except TooMuchHere as error:
        raise BodyTooLarge(f"this route takes at most {MAX_VALUES} values") from error
    except ClientDisconnect:
        return given_up(service)


def _judging(service: Service, intake: Intake) -> Judging:
    """The judging of a call that the API process handles."""

    @asynccontextmanager
    async def room(num_completions: int) -> AsyncIterator[None]:
        intake.reservation.grow()  # small bodies are taken in although there is no room
        with service.admission.reservation() as reservation:
            reservation.grow(completions=num_completions)
            yield

    return Judging(
        limits=service.limits,
        profiles=service.profiles,
        engine=service.scheduler,
        room=room,
        started=time.monotonic(),
        hold=lambda num_bytes: intake.reservation.grow_by_response(num_bytes=num_bytes),
        max_verdicts=SMALL_VERDICTS,
        lines=lambda request: LineStream(request, service, intake.reservation),
    )


async def _call_in_process(
    request: Request, service: Service, intake: Intake, started: float
) -> EncodedResponse:
    """Have a process handle a call. Raises RequestError."""
    call = LargeCall(
        num_bytes=intake.body.num_bytes,
        path=request.scope["route"].path,
        query_string=request.scope["query_string"],
        content_type=request.headers.get("content-type", ""),
        accept=request.headers.get("accept", ""),
        started=started,
        limits=service.limits,
        profiles=profiles_to_json(service.profiles),
        num_workers=service.scheduler.worker_counts,
        max_questions=service.scheduler.max_questions,
        request_id=request_id(),
        stored_texts=service.scheduler.stored_texts,
    )
    limit = service.limits.max_deadline_seconds + PROCESS_GRACE_SECONDS
    try:
        async with asyncio.timeout(limit):
            return await service.call_processes.respond(
                call, intake.body.file(), intake.reservation, _no_lines
            )
    except CallRefused as error:
        raise ApiError(HTTPStatus(error.status), error.kind, error.message) from error
    except TimeoutError as error:
        raise RequestFailed(f"there was no response within {limit:g} seconds") from error


def _no_lines(_index: int, _line: bytes) -> None:
    raise AssertionError("a call has no response in lines")


async def _handle(
    handle: Handler, scope: Scope, content: bytes, *, max_values: int | None
) -> Response:
    """The response of FastAPI's handler. Raises TooMuchHere, RequestError."""
    request = _StrictRequest(scope, content, max_values=max_values)
    try:
        return await handle(request)
    except HTTPException:
        if request.error is not None:
            raise request.error from None
        raise


class _StrictRequest(Request):
    """A request whose body has been read."""

    def __init__(self, scope: Scope, body: bytes, *, max_values: int | None) -> None:
        super().__init__(scope)
        self._body = body
        self._max_values = max_values
        self.error: RequestError | TooMuchHere | MemoryError | None = None
        """The error of `json`, which FastAPI turns into a 400."""

    async def json(self) -> Any:
        """The body as JSON. Raises JSONDecodeError, RequestError, TooMuchHere."""
        try:
            try:
                found = pydantic_core.from_json(self._body)
            except ValueError as error:
                raise json.JSONDecodeError(str(error), "", 0) from error
            if self._max_values is not None and _has_more_values(found, self._max_values):
                raise TooMuchHere
            check_json(self._body)
        except (RequestError, TooMuchHere, MemoryError) as error:
            self.error = error
            raise
        return found


def _has_more_values(value: Any, bound: int) -> bool:
    """Whether JSON has more values than the bound; looks at no more than these."""
    left, num_values = [value], 1
    while left:
        inside = left.pop()
        if isinstance(inside, dict | list):
            num_values += len(inside)
            if num_values > bound:
                return True
            left += inside.values() if isinstance(inside, dict) else inside
    return False
