"""Errors that become an answer."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

MAX_DETAILS = 10
MAX_EXCERPT_CHARACTERS = 200
RETRY_AFTER_SECONDS = 1


class ApiError(Exception):
    """An error with its place in the API: status, type, message and, where it helps, details."""

    def __init__(
        self,
        status: HTTPStatus,
        kind: str,
        message: str,
        *,
        details: dict[str, Any] | list[dict[str, Any]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.details = details
        self.headers = headers


def try_again(
    kind: str, message: str, *, details: dict[str, Any] | list[dict[str, Any]] | None = None
) -> ApiError:
    """503, which says when to come back."""
    return ApiError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        kind,
        f"{message}; try again later",
        details=details,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def invalid_request(found: Sequence[Any]) -> ApiError:
    """422, naming the fields.

    Args:
        found: errors as pydantic lists them.
    """
    problems = [
        {
            "field": _field(problem["loc"]),
            "message": problem["msg"][: 5 * MAX_EXCERPT_CHARACTERS],
            "type": problem["type"],
        }
        for problem in found[:MAX_DETAILS]
    ]
    first = f"{problems[0]['field']}: {problems[0]['message']}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    message = first[: 5 * MAX_EXCERPT_CHARACTERS] + more
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", message, details=problems)


def _field(location: tuple[int | str, ...]) -> str:
    """`verifiers.0.mode`, as a client would write it."""
    return ".".join(str(part) for part in location)[:MAX_EXCERPT_CHARACTERS] or "body"
