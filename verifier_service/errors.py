"""Errors that become an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

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


def unknown_profile(name: str, profiles: Iterable[str]) -> ApiError:
    """422, naming those that there are."""
    return ApiError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "unknown_profile",
        f"no profile {name[:100]!r}; there are {sorted(profiles)}",
    )


def not_enabled(verifiers: Iterable[str], enabled: Iterable[str]) -> ApiError:
    """422, naming the verifiers that VERIFIER_ENABLED leaves out and those that it has."""
    return ApiError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "verifier_not_enabled",
        f"not enabled here: {sorted(verifiers)}; enabled are {sorted(enabled)}",
    )


def too_many_completions(num_completions: int, max_completions: int) -> ApiError:
    """413."""
    return ApiError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too_many_completions",
        f"the request has {num_completions} completions; at most {max_completions} are taken at "
        "once",
    )


def first_problem(error: ValidationError, *prefix: str) -> str:
    """The first thing that is wrong, and where, without what was found there.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(list[int]).validate_python([1, "secret"])
    ... except ValidationError as error:
    ...     print(first_problem(error, "tests"))
    tests.1: Input should be a valid integer, unable to parse string as an integer
    """
    problem = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, (*prefix, *problem["loc"])))
    return f"{place}: {problem['msg']}" if place else problem["msg"]


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
