"""Errors of pydantic in the words of the data's author.

Locations name the keys of the data, without the classes of our models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
_NEAREST, _MISSING = "; did you mean ", "; here are missing: "
FieldPlace = tuple[str | None, ...]
"""A location with None instead of each index."""


@dataclass(frozen=True)
class KnownNames:
    """Names and values that messages about some data offer instead of wrong ones."""

    verifiers: Mapping[str, type[Verifier]] = field(default_factory=dict)
    """Verifier classes by type, where the data may have verifiers."""
    profiles: Collection[str] = ()
    fields: Mapping[FieldPlace, Collection[str]] = field(default_factory=dict)
    """Names of the fields of an object by its place."""
    examples: Mapping[FieldPlace, str] = field(default_factory=dict)
    """Right values in JSON by place."""


NOTHING_KNOWN = KnownNames()


def did_you_mean(name: str, names: Iterable[str], *, likeness: float = 0.6) -> str:
    """The end of a message about an unknown name: the nearest one, or nothing where none is near.

    From 0 to 1, `likeness` is how much the nearest name has to resemble it, see `difflib`.

    >>> did_you_mean("acuracy", ["accuracy", "format"])
    "; did you mean 'accuracy'?"
    >>> did_you_mean("maths", ["code"])
    ''
    """
    by_lower = {one.lower(): one for one in names}
    found = get_close_matches(name[:MAX_NAME_CHARACTERS].lower(), by_lower, n=1, cutoff=likeness)
    return f"{_NEAREST}{by_lower[found[0]]!r}?" if found else ""


def invalid_request(errors: Sequence[Any], known: KnownNames = NOTHING_KNOWN) -> InvalidRequest:
    """The error that names the wrong fields of a request. `errors` are as pydantic lists them."""
    read, left = errors[: 3 * MAX_DETAILS], errors[3 * MAX_DETAILS :]
    problems = [
        {
            "field": _field(problem["loc"]) or "body",
            "message": problem["msg"][: 5 * MAX_EXCERPT_CHARACTERS],
            "type": problem["type"],
        }
        for problem in readable_errors(read, known)
    ]
    first = f"{problems[0]['field']}: {problems[0]['message']}"
    num_more = len(problems) - 1 + len(left)
    plural = "" if num_more == 1 else "s"
    more = f" (and {num_more} more error{plural})" if num_more else ""
    message = first[: 5 * MAX_EXCERPT_CHARACTERS] + more
    return InvalidRequest(message, details=problems[:MAX_DETAILS])


def _with_known(message: str, nearest: str, names: str) -> str:
    """A message with the nearest name, if any, before all known ones, whose end may be cut off."""
    return f"{message}{nearest} There are {names}" if nearest else f"{message}; there are {names}"


def first_problem(error: ValidationError, *prefix: str, known: KnownNames = NOTHING_KNOWN) -> str:
    """The location and the message of the first error, without the value found there.

    Args:
        error: of pydantic.
        prefix: keys that lead to the validated value.
        known: names that the message may offer.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(list[int]).validate_python([1, "secret"])
    ... except ValidationError as error:
    ...     print(first_problem(error, "tests"))
    tests.1: Input should be a valid integer, unable to parse string as an integer
    """
    problem = readable_errors(error.errors(include_input=False, include_url=False), known)[0]
    location = ".".join(map(str, (*prefix, *problem["loc"])))
    return f"{location}: {problem['msg']}" if location else str(problem["msg"])


def readable_errors(
    errors: Sequence[Any], known: KnownNames = NOTHING_KNOWN
) -> list[dict[str, Any]]:
    """The `loc`, `msg` and `type` of each error; a value that fits none of its forms has one error.

    Misspelt fields come first: another error may only say that the field meant is missing.

    Args:
        errors: as pydantic lists them.
        known: names that the messages may offer.
    """
    by_location: dict[Location, list[Any]] = {}
    words = []
    for problem in errors:
        start = _form_index(problem)
        if start is None:
            words.append([_in_plain_words(problem, problem["loc"], known)])
            continue
        location = problem["loc"][:start]
        if location not in by_location:
            by_location[location] = []
            words.append(by_location[location])
        by_location[location].append(problem)
    for location, problems in by_location.items():
        problems[:] = _of_one_value(problems, location, known)
    found = [one for problems in words for one in problems]
    for one in found:
        if one["msg"] == NO_SUCH_FIELD:
            one["msg"] += _instead(one["loc"], found, known)
    return sorted(found, key=lambda one: not _names_another(one))


def _names_another(problem: dict[str, Any]) -> bool:
    """Whether an error is about an unknown field, and says which one may be meant."""
    is_unknown = problem["type"] == "extra_forbidden"
    return is_unknown and any(sign in problem["msg"] for sign in (_NEAREST, _MISSING))


def _instead(location: Location, found: Sequence[dict[str, Any]], known: KnownNames) -> str:
    """The end of a message about an unknown field: those that its object has, or lacks."""
    place, name = _place(location[:-1]), str(location[-1])
    if place in known.fields:
        inner = _inner_field(place, name, known)
        nearest = f"{_NEAREST}{inner!r}?" if inner else did_you_mean(name, known.fields[place])
        return _with_known("", nearest, ", ".join(known.fields[place]))
    lacking = [
        str(one["loc"][-1])
        for one in found
        if one["type"] == "missing" and one["loc"][:-1] == location[:-1]
    ]
    return f"{_MISSING}{', '.join(lacking)}" if lacking else ""


def _inner_field(place: FieldPlace, name: str, known: KnownNames) -> str | None:
    """The way from an object to an inner one that has a field: `reference.answer`."""
    for inner, names in known.fields.items():
        if inner[: len(place)] == place != inner and name in names:
            return ".".join(part or "0" for part in (*inner[len(place) :], name))
    return None


def _place(location: Location) -> FieldPlace:
    return tuple(None if isinstance(part, int) else part for part in location)


def _form_index(problem: Any) -> int | None:
    """The index in a location of the name of a form; None if the value has one form only."""
    location = problem["loc"][:-1] if problem["type"] == "extra_forbidden" else problem["loc"]
    return next((index for index, part in enumerate(location) if part in FORM_NAMES), None)


def _of_one_value(
    problems: list[Any], location: Location, known: KnownNames
) -> list[dict[str, Any]]:
    """The errors within the form that a value has; one error if it has none of its forms."""
    within = len(location) + 1
    inside = []
    for problem in problems:
        if len(problem["loc"]) > within or not problem["type"].endswith("_type"):
            inside.append(_in_plain_words(problem, location + problem["loc"][within:], known))
            if problem["type"] == "extra_forbidden":
                fields = FORM_NAMES[problem["loc"][len(location)]].strip("{}")
                inside[-1]["msg"] += f"; there are {fields}"
    if inside:
        return sorted(inside, key=lambda problem: problem["type"] != "extra_forbidden")
    *forms, last = dict.fromkeys(FORM_NAMES[problem["loc"][len(location)]] for problem in problems)
    expected = f"{', '.join(forms)} or {last}" if forms else last
    none_of_them = {**problems[0], "msg": f"expected {expected}"}
    return [_in_plain_words(none_of_them, location, known)]


def _in_plain_words(problem: Any, location: Location, known: KnownNames) -> dict[str, Any]:
    kind, context = problem["type"], problem.get("ctx", {})
    index = _verifier_index(location, known.verifiers)
    message = problem["msg"].removeprefix("Value error, ")
    if kind == "union_tag_invalid":
        message = _of_unknown_type(location, context, known)
    elif kind == "union_tag_not_found":
        message = f"it has no {context['discriminator']}"
    elif kind.endswith("_type"):
        message += _such_as(location, known)
    elif kind == "extra_forbidden" and index is not None:
        verifier = str(location[index])
        names = ", ".join(known.verifiers[verifier].field_names())
        message = f"no option of {verifier}, which has {names}"
        message += did_you_mean(str(location[-1]), known.verifiers[verifier].field_names())
    elif kind == "extra_forbidden":
        message = NO_SUCH_FIELD
    if index is not None:
        location = location[:index] + location[index + 1 :]
    return {"loc": location, "msg": message, "type": kind}


def _of_unknown_type(location: Location, context: Mapping[str, Any], known: KnownNames) -> str:
    name, tag = context["discriminator"].strip("'"), str(context["tag"])
    message = f"no {name} {tag[:MAX_EXCERPT_CHARACTERS]!r}"
    if location[-2:-1] == ("verifiers",) and tag in known.profiles:
        return f'{message}: {tag!r} is a profile; send "profile": "{tag}" instead of verifiers'
    types = str(context["expected_tags"])
    nearest = did_you_mean(tag, [one.strip("' ") for one in types.split(",")])
    return _with_known(message, nearest, types)


def _such_as(location: Location, known: KnownNames) -> str:
    """The end of a message about a value of a wrong type: a right one, where one is known."""
    if location[-2:-1] == ("verifiers",):
        return ' such as {"type": "accuracy"}'
    example = known.examples.get(_place(location))
    return f" such as {example}" if example else ""


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
