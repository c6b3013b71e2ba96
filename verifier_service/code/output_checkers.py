"""Checkers: whether a program printed the expected output."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Literal

# A decimal number in ASCII, for example -1.5e-3 or .5; Python's float also takes 1_0 and ٣.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

CheckerName = Literal["exact", "tokens", "float", "decimals"]


def accepts(checker: CheckerName, printed: str, expected: str, tolerance: float) -> bool:
    """Whether a checker accepts the output of a program.

    Args:
        checker: `exact` ignores white space at the ends of lines and of the text. `tokens` compares
            the words between white space. So does `float`, and decimal numbers in ASCII, such as
            -1.5e-3, may differ a little. `decimals` is `exact`, but numbers with a decimal point
            may differ a little, and 2.0 is 2: lines with such differences are compared by words.
        printed: output of the program.
        expected: output that the tests expect.
        tolerance: difference of numbers for `float` and `decimals`: absolute below 1, relative
            above.

    >>> accepts("exact", "1 2 \\n", "1 2", 0)
    True
    >>> accepts("float", "0.3333333", "0.33333333", 1e-6)
    True
    """
    if checker in ("exact", "decimals") and _num_breaks(printed) != _num_breaks(expected):
        return False  # before a flood of short lines becomes a list
    if checker == "exact":
        return _lines(printed) == _lines(expected)
    if checker == "decimals":
        return _has_lines(_lines(printed), _lines(expected), tolerance)
    found, wanted = printed.split(), expected.split()
    if checker == "tokens" or len(found) != len(wanted):
        return found == wanted
    return all(
        one == other or _close(one, other, tolerance)
        for one, other in zip(found, wanted, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _num_breaks(text: str) -> int:
    return text.rstrip().count("\n")


def _has_lines(printed: list[str], expected: list[str], tolerance: float) -> bool:
    """Whether lines are equal, but for numbers of which one has a decimal point."""
    return len(printed) == len(expected) and all(
        line == wanted or _has_numbers(line.split(), wanted.split(), tolerance)
        for line, wanted in zip(printed, expected, strict=True)
    )


def _has_numbers(printed: list[str], expected: list[str], tolerance: float) -> bool:
    """Whether words differ, and only by numbers that are close or have a point and are equal."""
    if printed == expected or len(printed) != len(expected):
        return False
    return all(
        one == other
        or ("." in other and _close(one, other, tolerance))
        or ("." in one and _equal(one, other))
        for one, other in zip(printed, expected, strict=True)
    )


def _equal(one: str, other: str) -> bool:
    """Whether two words are the same number; floats would round long ones."""
    if not (_DECIMAL.fullmatch(one) and _DECIMAL.fullmatch(other)):
        return False
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:  # an exponent of twenty digits, which no expected output has
        return False


def _close(one: str, other: str, tolerance: float) -> bool:
    if not (_DECIMAL.fullmatch(one) and _DECIMAL.fullmatch(other)):
        return False
    left, right = float(one), float(other)
    if not (math.isfinite(left) and math.isfinite(right)):
        return False
    return abs(left - right) <= tolerance * max(1.0, abs(right))
