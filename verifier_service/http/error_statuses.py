"""The HTTP status and headers of each error."""

from __future__ import annotations

from http import HTTPStatus

from verifier_service.errors import (
    BodyTooLarge,
    BrokenCompression,
    InvalidRequest,
    KeyLimitReached,
    RequestError,
    ResponseTooLarge,
    TooManyCompletions,
    TryLater,
    UnknownProfile,
    VerifierNotEnabled,
)

STATUSES: dict[type[RequestError], HTTPStatus] = {
    BrokenCompression: HTTPStatus.BAD_REQUEST,
    BodyTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    TooManyCompletions: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ResponseTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    InvalidRequest: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnknownProfile: HTTPStatus.UNPROCESSABLE_ENTITY,
    VerifierNotEnabled: HTTPStatus.UNPROCESSABLE_ENTITY,
    KeyLimitReached: HTTPStatus.TOO_MANY_REQUESTS,
    TryLater: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The status of an error by its class, or by the nearest class that it derives from."""
RETRY_AFTER_SECONDS = 1


class ApiError(RequestError):
    """An error that only HTTP knows, such as a missing API key; it brings its own status."""

    def __init__(
        self,
        status: HTTPStatus,
        kind: str,
        message: str,
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers


def status_of(error: RequestError) -> HTTPStatus:
    """The status of the response to a request with this error."""
    if isinstance(error, ApiError):
        return error.status
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def headers_of(error: RequestError) -> dict[str, str] | None:
    """The headers of the response to a request with this error; None if it needs none."""
    if isinstance(error, ApiError):
        return error.headers
    if isinstance(error, KeyLimitReached):
        return {"Retry-After": str(error.retry_after_seconds)}
    if isinstance(error, TryLater):
        return {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return None
