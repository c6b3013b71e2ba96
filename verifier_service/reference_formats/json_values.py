"""Values of columns, which data sets ship as JSON or as texts of it."""

from __future__ import annotations

import ast
import math
from typing import Any

from verifier_service import strict_json

MAX_LITERAL_CHARACTERS = 100_000
"""Longest text that is read as a Python literal."""
MAX_NUMBER_BITS = 10_000
"""Largest whole number. Python writes none of more than 4,300 digits in base 10, so a message about
one would fail; literals, TOML and YAML have such numbers in base 16."""


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
        tree = ast.parse(text.strip(), mode="eval")
        found = ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return found if _is_json(found) and not _has_key_twice(tree) else None


def _has_key_twice(tree: ast.Expression) -> bool:
    """Whether an object of a literal names a key twice, of which Python takes the last value.

    JSON with a key twice would else be read as a literal, because `strict_json` refuses it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len(set(keys)) < len(keys):
                return True
    return False


def _is_json(value: Any) -> bool:
    """Whether a literal is made of what JSON has; sets, bytes and infinity are not."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_json, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= MAX_NUMBER_BITS
    return value is None or isinstance(value, str)


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
