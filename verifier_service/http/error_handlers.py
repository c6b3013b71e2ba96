"""One error body for every answer that is not 200."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Scope

from verifier_service.http.errors import MAX_EXCERPT_CHARACTERS, ApiError, invalid_request
from verifier_service.http.metrics import Metrics
from verifier_service.schemas import ErrorBody, ErrorResponse


def install_error_handlers(app: FastAPI) -> None:
    """Give every error of the app the same body."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)


def refused(error: ApiError, scope: Scope, metrics: Metrics) -> JSONResponse:
    """The answer to a call that is refused: counted, and named in the call's line of the log."""
    metrics.rejected(error.kind)
    scope["state"]["error"] = error.kind
    return _response(error)


def bug() -> JSONResponse:
    """The answer to a call that met a bug."""
    return _response(
        ApiError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal_error",
            "the service has a bug; its log has the traceback",
        )
    )


def _response(error: ApiError) -> JSONResponse:
    body = ErrorResponse(
        error=ErrorBody(type=error.kind, message=error.message, details=error.details)
    )
    return JSONResponse(
        body.model_dump(exclude_none=True), status_code=error.status, headers=error.headers
    )


async def _api_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    return _refused(error, request)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    path = request.url.path[:MAX_EXCERPT_CHARACTERS]
    message = {
        HTTPStatus.NOT_FOUND: f"there is no {path}; see /docs",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{path} does not take {request.method}",
    }.get(status, str(error.detail))
    kind = status.name.lower()
    headers = dict(error.headers) if error.headers else None
    return _refused(ApiError(status, kind, message, headers=headers), request)


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _refused(invalid_request(error.errors()), request)


def _refused(error: ApiError, request: Request) -> JSONResponse:
    return refused(error, request.scope, request.app.state.service.metrics)
