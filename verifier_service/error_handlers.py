"""One error body for every answer that is not 200."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from verifier_service.errors import MAX_EXCERPT_CHARACTERS, ApiError, invalid_request
from verifier_service.schemas import ErrorBody, ErrorResponse


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
    request.app.state.service.metrics.rejected(error.kind)
    request.scope["state"]["error"] = error.kind
    return error_response(error)


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
    return error_response(ApiError(status, kind, message, headers=headers))


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return error_response(invalid_request(error.errors()))


async def _bug(request: Request, error: Exception) -> JSONResponse:
    return error_response(
        ApiError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal_error",
            "the service has a bug; its log has the traceback",
        )
    )
