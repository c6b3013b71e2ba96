"""Values of columns, which data sets ship as JSON or as texts of it."""

from __future__ import annotations

import ast
from typing import Any

from verifier_service import strict_json

MAX_LITERAL_CHARACTERS = 100_000
"""Longest text that is read as a Python literal."""


def json_value(value: Any) -> Any:
    """The value that a text holds in JSON or as a Python literal; else the value itself.

    Only lists and objects are read from texts: the text `12` stays one.

    >>> json_value('{"inputs": ["1"]}'), json_value("{'a': None}"), json_value("12")
    ({'inputs': ['1']}, {'a': None}, '12')
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        found = strict_json.loads(value)
    except (ValueError, RecursionError):
        found = _literal(value)
    return found if isinstance(found, list | dict) else value


def _literal(text: str) -> Any:
    """The Python literal that a text is; None for another text."""
    if len(text) > MAX_LITERAL_CHARACTERS:
        return None
    try:
        found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return found if _is_json(found) else None


def _is_json(value: Any) -> bool:
    """Whether a literal is made of what JSON has; sets, bytes and complex numbers are not."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_json, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float)


def is_answer(value: Any) -> bool:
    """Whether a value can be an answer: a text, a number, a truth value, or a list of these."""
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(one, str | int | float) and not is_blank(one) for one in value
        )
    return isinstance(value, str | int | float) and not is_blank(value)


def is_blank(value: Any) -> bool:
    """Whether a text has nothing but white space."""
    return isinstance(value, str) and not value.strip()


def texts_of(value: Any) -> list[str] | None:
    """A list of texts; None for anything else, and for an empty list."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return value
    return None
