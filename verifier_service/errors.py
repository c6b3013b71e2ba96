"""One error body for every answer that is not 200."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from verifier_service.schemas import ErrorBody, ErrorResponse

MAX_DETAILS = 10
MAX_EXCERPT_CHARACTERS = 200


class ApiError(Exception):
    """An error with its place in the API: status, type, message and, where it helps, details."""

    def __init__(
        self,
        status: HTTPStatus,
        kind: str,
        message: str,
        *,
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.details = details
        self.headers = headers


def install_error_handlers(app: FastAPI) -> None:
    """Give every error of the app the same body."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(Exception, _bug)


def error_response(error: ApiError) -> JSONResponse:
    """The answer that an error becomes."""
    body = ErrorResponse(
        error=ErrorBody(type=error.kind, message=error.message, details=error.details)
    )
    return JSONResponse(
        body.model_dump(exclude_none=True), status_code=error.status, headers=error.headers
    )


async def _api_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    return error_response(error)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    message = {
        HTTPStatus.NOT_FOUND: f"there is no {request.url.path}; see /docs",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.url.path} does not take {request.method}",
    }.get(status, str(error.detail))
    kind = status.name.lower()
    headers = dict(error.headers) if error.headers else None
    return error_response(ApiError(status, kind, message, headers=headers))


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [
        {"field": _field(problem["loc"]), "message": problem["msg"], "type": problem["type"]}
        for problem in error.errors()
    ]
    first = f"{problems[0]['field']}: {problems[0]['message']}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    body = ErrorBody(
        type="invalid_request",
        message=(first[: 5 * MAX_EXCERPT_CHARACTERS] + more),
        details=problems[:MAX_DETAILS],
    )
    return JSONResponse(
        ErrorResponse(error=body).model_dump(), status_code=HTTPStatus.UNPROCESSABLE_ENTITY
    )


async def _bug(request: Request, error: Exception) -> JSONResponse:
    return error_response(
        ApiError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal_error",
            "the service has a bug; its log has the traceback",
        )
    )


def _field(location: tuple[int | str, ...]) -> str:
    """`verifiers.0.mode`, as a client would write it."""
    return ".".join(str(part) for part in location)[:MAX_EXCERPT_CHARACTERS] or "body"
