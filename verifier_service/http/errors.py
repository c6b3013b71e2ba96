"""Errors that become an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from verifier_service.verifiers import VERIFIERS

MAX_DETAILS = 10
MAX_EXCERPT_CHARACTERS = 200
RETRY_AFTER_SECONDS = 1
FORMS = {
    "str": "a text",
    "list[ChatMessage]": "a list of messages",
    "list[ContentPart]": "a list of parts",
    "CompletionObject": "{text, num_tokens, truncated}",
    "dict[str,any]": "an object",
    "bool": "true or false",
}
"""What pydantic calls the forms that a value may have, which it puts into the place of an error."""


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


def answer_too_large(max_bytes: int) -> ApiError:
    """413: the same request would never be answered."""
    return ApiError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "answer_too_large",
        f"the answer would be larger than {max_bytes} bytes: ask for fewer completions, or with "
        "fewer verifiers, at once",
    )


def invalid_request(found: Sequence[Any]) -> ApiError:
    """422, naming the fields.

    Args:
        found: errors as pydantic lists them.
    """
    read, left = found[: 3 * MAX_DETAILS], found[3 * MAX_DETAILS :]
    problems = [
        {
            "field": _field(problem["loc"]) or "body",
            "message": problem["msg"][: 5 * MAX_EXCERPT_CHARACTERS],
            "type": problem["type"],
        }
        for problem in readable(read)
    ]
    first = f"{problems[0]['field']}: {problems[0]['message']}"
    num_more = len(problems) - 1 + len(left)
    more = f" (and {num_more} more)" if num_more else ""
    message = first[: 5 * MAX_EXCERPT_CHARACTERS] + more
    details = problems[:MAX_DETAILS]
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", message, details=details)


def first_problem(error: ValidationError, *prefix: str) -> str:
    """The first thing that is wrong, and where, without what was found there.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(list[int]).validate_python([1, "secret"])
    ... except ValidationError as error:
    ...     print(first_problem(error, "tests"))
    tests.1: Input should be a valid integer, unable to parse string as an integer
    """
    problem = readable(error.errors(include_input=False, include_url=False))[0]
    place = ".".join(map(str, (*prefix, *problem["loc"])))
    return f"{place}: {problem['msg']}" if place else str(problem["msg"])


def readable(found: Sequence[Any]) -> list[dict[str, Any]]:
    """Errors of pydantic in the words of those who wrote the data: `loc`, `msg` and `type` of each.

    Places hold no names of our classes, and a value that fits none of several forms is one error.
    """
    by_place: dict[tuple[int | str, ...], list[Any]] = {}
    words = []
    for problem in found:
        start = _form_index(problem)
        if start is None:
            words.append([_in_plain_words(problem, problem["loc"])])
            continue
        place = problem["loc"][:start]
        if place not in by_place:
            by_place[place] = []
            words.append(by_place[place])
        by_place[place].append(problem)
    for place, problems in by_place.items():
        problems[:] = _of_one_value(problems, place)
    return [one for problems in words for one in problems]


def _form_index(problem: Any) -> int | None:
    """Where in its place the name of a form stands, if its value may have several."""
    location = problem["loc"][:-1] if problem["type"] == "extra_forbidden" else problem["loc"]
    return next((index for index, part in enumerate(location) if part in FORMS), None)


def _of_one_value(problems: list[Any], place: tuple[int | str, ...]) -> list[dict[str, Any]]:
    """What is wrong with a value in the form that it has; or that it has none of them."""
    within = len(place) + 1
    inside = []
    for problem in problems:
        if len(problem["loc"]) > within or not problem["type"].endswith("_type"):
            inside.append(_in_plain_words(problem, place + problem["loc"][within:]))
            if problem["type"] == "extra_forbidden":
                fields = FORMS[problem["loc"][len(place)]].strip("{}")
                inside[-1]["msg"] += f"; there are {fields}"
    if inside:
        return sorted(inside, key=lambda problem: problem["type"] != "extra_forbidden")
    *forms, last = dict.fromkeys(FORMS[problem["loc"][len(place)]] for problem in problems)
    expected = f"{', '.join(forms)} or {last}" if forms else last
    none_of_them = {**problems[0], "msg": f"expected {expected}"}
    return [_in_plain_words(none_of_them, place)]


def _in_plain_words(problem: Any, location: tuple[int | str, ...]) -> dict[str, Any]:
    kind, context = problem["type"], problem.get("ctx", {})
    index = _verifier_index(location)
    message = problem["msg"].removeprefix("Value error, ")
    if kind == "union_tag_invalid":
        name, tag = context["discriminator"].strip("'"), str(context["tag"])
        message = f"no {name} {tag[:MAX_EXCERPT_CHARACTERS]!r}; there are "
        message += str(context["expected_tags"])
    elif kind == "union_tag_not_found":
        message = f"it has no {context['discriminator']}"
    elif kind == "extra_forbidden" and index is not None:
        verifier = str(location[index])
        names = ", ".join(VERIFIERS[verifier].field_names())
        message = f"no option of {verifier}, which has {names}"
    elif kind == "extra_forbidden":
        message = "there is no such field"
    if index is not None:
        location = location[:index] + location[index + 1 :]
    return {"loc": location, "msg": message, "type": kind}


def _verifier_index(location: tuple[int | str, ...]) -> int | None:
    """Where in a place the type of a verifier stands: pydantic puts it after its index."""
    if location[:1] == ("groups",):
        return None
    for index, part in enumerate(location[1:], 1):
        if part in VERIFIERS and isinstance(location[index - 1], int):
            return index
    return None


def _field(location: tuple[int | str, ...]) -> str:
    """`verifiers.0.mode`, as a client would write it."""
    return ".".join(str(part) for part in location)[:MAX_EXCERPT_CHARACTERS]
