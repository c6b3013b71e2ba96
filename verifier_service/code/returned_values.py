"""Whether a value that a function returned equals the expected one, which is a value of JSON."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from verifier_service.code import value_codec


def is_same(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether a result equals a value of JSON, which has no tuples and may round its floats."""
    if isinstance(expected, list):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(expected)
            and all(is_same(a, b, tolerance) for a, b in zip(found, expected, strict=True))
        )
    if isinstance(expected, dict):
        return isinstance(found, dict) and _has_same_items(found, expected, tolerance)
    numbers = (int, float)
    if tolerance and isinstance(found, numbers) and isinstance(expected, numbers):
        return found == expected or _is_close(found, expected, tolerance)
    return bool(found == expected)


def _is_close(found: float, expected: float, tolerance: float) -> bool:
    # Every number lies within a share of infinity of an infinity.
    return math.isfinite(expected) and abs(found - expected) <= tolerance * max(1.0, abs(expected))


def _has_same_items(found: dict[Any, Any], expected: dict[str, Any], tolerance: float) -> bool:
    """Whether a dict equals an object of JSON, whose keys are text.

    Each key is turned into text once, and by the judge alone: an object of the program could be
    another text at each question.
    """
    try:
        for key in found:
            value_codec.encode(key, _refuse_key)
    except value_codec.NotPlain:
        return False
    items = {str(key): value for key, value in found.items()}
    return (
        len(items) == len(found)
        and items.keys() == expected.keys()
        and all(is_same(value, expected[key], tolerance) for key, value in items.items())
    )


def _refuse_key(key: Any) -> NoReturn:
    raise value_codec.NotPlain(type(key).__name__)
