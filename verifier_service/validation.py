"""Errors of pydantic in the words of the data's author.

Locations name the keys of the data, without the classes of our models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from verifier_service.errors import InvalidRequest
from verifier_service.strict_json import Location
from verifier_service.verifier import Verifier

MAX_DETAILS = 10
MAX_NAME_CHARACTERS = 100
"""Longest part of a name that is compared with others."""
MAX_EXCERPT_CHARACTERS = 200
FORM_NAMES = {
    "str": "a text",
    "list[ChatMessage]": "a list of messages",
    "list[ContentPart]": "a list of parts",
    "CompletionObject": "{text, num_tokens, truncated}",
    "FileBytes": "{base64}",
    "dict[str,any]": "an object",
    "bool": "true or false",
}
"""Pydantic's names for the forms of a value that may have several, in the data author's words."""
NO_SUCH_FIELD = "there is no such field"
Fields = Mapping[tuple[str | None, ...], Sequence[str]]
"""The fields that objects of a request have, by location with None in the place of an index."""
NO_FIELDS: Fields = {}
NO_VERIFIERS: Mapping[str, type[Verifier]] = {}


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or nothing where none is near.

    >>> did_you_mean("acuracy", ["accuracy", "format"])
    "; did you mean 'accuracy'?"
    >>> did_you_mean("maths", ["code"])
    ''
    """
    by_lower = {one.lower(): one for one in names}
    found = get_close_matches(name[:MAX_NAME_CHARACTERS].lower(), by_lower, n=1)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def invalid_request(
    errors: Sequence[Any],
    verifiers: Mapping[str, type[Verifier]] = NO_VERIFIERS,
    fields: Fields = NO_FIELDS,
) -> InvalidRequest:
    """The error that names the wrong fields of a request.

    Args:
        errors: as pydantic lists them.
        verifiers: verifier classes by type, where the request may have verifiers.
        fields: names for a message about a field that there is not.
    """
    read, left = errors[: 3 * MAX_DETAILS], errors[3 * MAX_DETAILS :]
    problems = [
        {
            "field": _field(problem["loc"]) or "body",
            "message": _with_fields(problem, fields)[: 5 * MAX_EXCERPT_CHARACTERS],
            "type": problem["type"],
        }
        for problem in readable_errors(read, verifiers)
    ]
    first = f"{problems[0]['field']}: {problems[0]['message']}"
    num_more = len(problems) - 1 + len(left)
    more = f" (and {num_more} more)" if num_more else ""
    message = first[: 5 * MAX_EXCERPT_CHARACTERS] + more
    return InvalidRequest(message, details=problems[:MAX_DETAILS])


def _with_fields(problem: dict[str, Any], fields: Fields) -> str:
    """The message of a problem; of an unknown field with the names of those that there are."""
    message, location = str(problem["msg"]), problem["loc"]
    place = tuple(None if isinstance(part, int) else part for part in location[:-1])
    names = fields.get(place)
    if message != NO_SUCH_FIELD or names is None:
        return message
    return _with_known(message, did_you_mean(str(location[-1]), names), ", ".join(names))


def _with_known(message: str, nearest: str, known: str) -> str:
    """A message with the nearest name, if any, before all known ones, whose end may be cut off."""
    return f"{message}{nearest} There are {known}" if nearest else f"{message}; there are {known}"


def first_problem(
    error: ValidationError, *prefix: str, verifiers: Mapping[str, type[Verifier]] = NO_VERIFIERS
) -> str:
    """The location and the message of the first error, without the value found there.

    Args:
        error: of pydantic.
        prefix: keys that lead to the validated value.
        verifiers: verifier classes by type, where the value may have verifiers.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(list[int]).validate_python([1, "secret"])
    ... except ValidationError as error:
    ...     print(first_problem(error, "tests"))
    tests.1: Input should be a valid integer, unable to parse string as an integer
    """
    problem = readable_errors(error.errors(include_input=False, include_url=False), verifiers)[0]
    location = ".".join(map(str, (*prefix, *problem["loc"])))
    return f"{location}: {problem['msg']}" if location else str(problem["msg"])


def readable_errors(
    errors: Sequence[Any], verifiers: Mapping[str, type[Verifier]] = NO_VERIFIERS
) -> list[dict[str, Any]]:
    """The `loc`, `msg` and `type` of each error; a value that fits none of its forms has one error.

    Args:
        errors: as pydantic lists them.
        verifiers: verifier classes by type, where the data may have verifiers.
    """
    by_location: dict[Location, list[Any]] = {}
    words = []
    for problem in errors:
        start = _form_index(problem)
        if start is None:
            words.append([_in_plain_words(problem, problem["loc"], verifiers)])
            continue
        location = problem["loc"][:start]
        if location not in by_location:
            by_location[location] = []
            words.append(by_location[location])
        by_location[location].append(problem)
    for location, problems in by_location.items():
        problems[:] = _of_one_value(problems, location, verifiers)
    return [one for problems in words for one in problems]


def _form_index(problem: Any) -> int | None:
    """The index in a location of the name of a form; None if the value has one form only."""
    location = problem["loc"][:-1] if problem["type"] == "extra_forbidden" else problem["loc"]
    return next((index for index, part in enumerate(location) if part in FORM_NAMES), None)


def _of_one_value(
    problems: list[Any], location: Location, verifiers: Mapping[str, type[Verifier]]
) -> list[dict[str, Any]]:
    """The errors within the form that a value has; one error if it has none of its forms."""
    within = len(location) + 1
    inside = []
    for problem in problems:
        if len(problem["loc"]) > within or not problem["type"].endswith("_type"):
            inside.append(_in_plain_words(problem, location + problem["loc"][within:], verifiers))
            if problem["type"] == "extra_forbidden":
                fields = FORM_NAMES[problem["loc"][len(location)]].strip("{}")
                inside[-1]["msg"] += f"; there are {fields}"
    if inside:
        return sorted(inside, key=lambda problem: problem["type"] != "extra_forbidden")
    *forms, last = dict.fromkeys(FORM_NAMES[problem["loc"][len(location)]] for problem in problems)
    expected = f"{', '.join(forms)} or {last}" if forms else last
    none_of_them = {**problems[0], "msg": f"expected {expected}"}
    return [_in_plain_words(none_of_them, location, verifiers)]


def _in_plain_words(
    problem: Any, location: Location, verifiers: Mapping[str, type[Verifier]]
) -> dict[str, Any]:
    kind, context = problem["type"], problem.get("ctx", {})
    index = _verifier_index(location, verifiers)
    message = problem["msg"].removeprefix("Value error, ")
    if kind == "union_tag_invalid":
        name, tag = context["discriminator"].strip("'"), str(context["tag"])
        known = str(context["expected_tags"])
        message = f"no {name} {tag[:MAX_EXCERPT_CHARACTERS]!r}"
        nearest = did_you_mean(tag, [one.strip("' ") for one in known.split(",")])
        message = _with_known(message, nearest, known)
    elif kind == "union_tag_not_found":
        message = f"it has no {context['discriminator']}"
    elif kind.endswith("_type") and location[-2:-1] == ("verifiers",):
        message += ' such as {"type": "accuracy"}'
    elif kind == "extra_forbidden" and index is not None:
        verifier = str(location[index])
        names = ", ".join(verifiers[verifier].field_names())
        message = f"no option of {verifier}, which has {names}"
        message += did_you_mean(str(location[-1]), verifiers[verifier].field_names())
    elif kind == "extra_forbidden":
        message = NO_SUCH_FIELD
    if index is not None:
        location = location[:index] + location[index + 1 :]
    return {"loc": location, "msg": message, "type": kind}


def _verifier_index(location: Location, verifiers: Mapping[str, type[Verifier]]) -> int | None:
    """The index in a location of a verifier's type, which pydantic puts after its list index."""
    if location[:1] == ("groups",) and "verifiers" not in location[2:3]:
        return None
    for index, part in enumerate(location[1:], 1):
        if part in verifiers and isinstance(location[index - 1], int):
            return index
    return None


def _field(location: Location) -> str:
    """A location as a client would write it: `verifiers.0.mode`."""
    return ".".join(str(part) for part in location)[:MAX_EXCERPT_CHARACTERS]
