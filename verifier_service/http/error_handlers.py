"""Every response with an error has the same body; its status is in `http.error_statuses`."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Scope

from verifier_service.errors import RequestError
from verifier_service.http.error_statuses import ApiError, headers_of, status_of
from verifier_service.http.metrics import Metrics
from verifier_service.http.service import service_of
from verifier_service.schemas import ErrorBody, ErrorResponse
from verifier_service.validation import MAX_EXCERPT_CHARACTERS, invalid_request

FLAT_ERRORS_PATH = "/compat/e2b/"
"""Paths whose clients cannot read an error without `code` and `message` at its top level."""


def install_error_handlers(app: FastAPI) -> None:
    """Give every error of the app the same body."""
    app.add_exception_handler(RequestError, _handle_request_error)
    app.add_exception_handler(HTTPException, _handle_http_exception)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)


def refused(
    error: RequestError, scope: Scope, metrics: Metrics, *, status: HTTPStatus | None = None
) -> JSONResponse:
    """The response to a refused call: counted, and named in the call's line of the log.

    Args:
        error: why the call is refused.
        scope: of the call.
        metrics: counts the refusal.
        status: for clients that retry another status than the error's own; None for that.
    """
    metrics.count_refusal(error.kind)
    scope["state"]["error"] = error.kind
    return error_response(
        error,
        scope["state"].get("request_id"),
        status=status,
        is_flat=scope["path"].startswith(FLAT_ERRORS_PATH),
    )


def internal_error(request_id: str) -> JSONResponse:
    """The response to a call that met a bug of the service."""
    return error_response(
        ApiError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal_error",
            "the service has a bug; its log has the traceback",
        ),
        request_id,
    )


def error_response(
    error: RequestError,
    request_id: str | None,
    *,
    status: HTTPStatus | None = None,
    is_flat: bool = False,
) -> JSONResponse:
    """The response of an error, which nothing counts; None: the call has no id.

    A flat one has E2B's `code` and `message` beside the error.
    """
    status = status or status_of(error)
    body = ErrorResponse(
        error=ErrorBody(
            type=error.kind,
            message=error.message,
            details=error.details,
            request_id=request_id,
        )
    )
    flat = {"code": int(status), "message": error.message} if is_flat else {}
    return JSONResponse(
        body.model_dump(exclude_none=True) | flat,
        status_code=status,
        headers=headers_of(error),
    )


async def _handle_request_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestError)
    return _refused_call(error, request)


async def _handle_http_exception(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    path = request.url.path[:MAX_EXCERPT_CHARACTERS]
    message = {
        HTTPStatus.NOT_FOUND: f"there is no {path}; see /docs",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{path} does not take {request.method}",
    }.get(status, str(error.detail))
    kind = status.name.lower()
    headers = dict(error.headers) if error.headers else None
    return _refused_call(ApiError(status, kind, message, headers=headers), request)


async def _handle_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _refused_call(invalid_request(error.errors()), request)


def _refused_call(error: RequestError, request: Request) -> JSONResponse:
    return refused(error, request.scope, service_of(request).metrics)
