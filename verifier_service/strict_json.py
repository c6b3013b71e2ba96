"""JSON that every reader understands alike.

RFC 8259 leaves open what a key twice in an object means, and Python's `json` takes `NaN`,
`Infinity` and numbers that no float holds (`1e999`). Two readers of such a text may see different
values, so none of these is taken from outside.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_SHOWN_CHARACTERS = 200

Location = tuple[int | str, ...]
"""Keys and indices that lead to a value."""


class FlawedJson(ValueError):
    """A text is JSON to some readers only, or to none.

    Args:
        location: keys and indices that lead to the flaw.
        problem: the flaw.
    """

    def __init__(self, location: Location, problem: str) -> None:
        place = ".".join(map(str, location))[:MAX_SHOWN_CHARACTERS]
        super().__init__(f"{place}: {problem}" if place else problem)
        self.location = location
        self.problem = problem


@dataclass(frozen=True, eq=False)
class _Flaw:
    """The place of a flaw in a parsed value, instead of the value."""

    problem: str
    key: tuple[str, ...] = ()
    """The key that occurs twice, if that is the flaw."""


def loads(text: str | bytes, *, parse_int: Callable[[str], Any] = int) -> Any:
    """The value of a JSON text.

    Args:
        text: JSON, in UTF-8 if it is bytes.
        parse_int: is called with the digits of each whole number.

    Raises:
        FlawedJson: the text has a flaw as above.
        ValueError: it is no JSON at all.
        RecursionError: it is nested without end.

    >>> loads('{"a": [1, {"b": 1, "b": 2}]}')
    Traceback (most recent call last):
    verifier_service.strict_json.FlawedJson: a.1.b: the object has this key twice
    """
    given = text.decode() if isinstance(text, bytes) else text
    if not given.startswith("\ufeff"):
        try:
            return _flawless_decoder(parse_int).decode(given)
        except _Flawed:
            pass
    return _loads_with_flaws(given, parse_int)


def _loads_with_flaws(text: str, parse_int: Callable[[str], Any]) -> Any:
    """The value of a JSON text, or the place of its first flaw."""
    flaws: list[_Flaw] = []

    def flawed(problem: str, *key: str) -> _Flaw:
        flaws.append(_Flaw(problem, key))
        return flaws[-1]

    def read_object(pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        return flawed("the object has this key twice", _first_twice(pairs))

    def read_float(digits: str) -> Any:
        found = float(digits)
        shown = digits[:20]
        return (
            flawed(f"{shown} is too large for a number; the largest is 1.8e308")
            if math.isinf(found)
            else found
        )

    value = json.loads(
        text,
        object_pairs_hook=read_object,
        parse_constant=lambda name: flawed(f"{name} is no JSON number"),
        parse_float=read_float,
        parse_int=parse_int,
    )
    if flaws:
        raise _located(value)
    return value


def check(text: str | bytes) -> None:
    """Check a JSON text without the memory of its values afterwards.

    Raises:
        FlawedJson: it has a flaw as above, is no JSON at all, or nested without end.
    """
    try:
        loads(text, parse_int=len)  # `int` refuses numbers of thousands of digits
    except FlawedJson:
        raise
    except RecursionError as error:
        raise FlawedJson((), "nested too deeply") from error
    except ValueError as error:
        raise FlawedJson((), f"not JSON: {error}"[:MAX_SHOWN_CHARACTERS]) from error


class _Flawed(Exception):
    """A text has a flaw, whose place is not known yet."""


def _flawless_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Flawed
    return found


def _flawless_float(digits: str) -> float:
    found = float(digits)
    if math.isinf(found):
        raise _Flawed
    return found


def _no_constant(_name: str) -> Any:
    raise _Flawed


@lru_cache
def _flawless_decoder(parse_int: Callable[[str], Any]) -> json.JSONDecoder:
    """A decoder that is kept: `json.loads` makes one for each text, which takes as long as it."""
    return json.JSONDecoder(
        object_pairs_hook=_flawless_object,
        parse_constant=_no_constant,
        parse_float=_flawless_float,
        parse_int=parse_int,
    )


def _first_twice(pairs: list[tuple[str, Any]]) -> str:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("no key occurs twice")


def _located(value: Any) -> FlawedJson:
    """The error for the first flaw in a value that has one."""
    left: list[tuple[Location, Any]] = [((), value)]
    while left:
        location, found = left.pop()
        if isinstance(found, _Flaw):
            return FlawedJson(location + found.key, found.problem)
        inside = (
            list(found.items())
            if isinstance(found, dict)
            else list(enumerate(found))
            if isinstance(found, list)
            else []
        )
        left += [
            ((*location, key), one)
            for key, one in reversed(inside)
            if isinstance(one, dict | list | _Flaw)
        ]
    raise AssertionError("no flaw is left in the value")
