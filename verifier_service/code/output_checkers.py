"""Whether what a program printed is what it should have."""

from __future__ import annotations

import math
from typing import Literal

Checker = Literal["exact", "tokens", "float"]


def accepts(checker: Checker, printed: str, expected: str, tolerance: float) -> bool:
    """Compare output with what is expected.

    Args:
        checker: `exact` but for white space at the ends of lines and of the text; `tokens` between
            white space; `float`: tokens, of which numbers may differ by the tolerance.
        printed: by the program.
        expected: from the tests.
        tolerance: absolute or relative.

    >>> accepts("exact", "1 2 \\n", "1 2", 0)
    True
    >>> accepts("float", "0.3333333", "0.33333333", 1e-6)
    True
    """
    if checker == "exact":
        return _lines(printed) == _lines(expected)
    found, wanted = printed.split(), expected.split()
    if checker == "tokens" or len(found) != len(wanted):
        return found == wanted
    return all(
        one == other or _close(one, other, tolerance)
        for one, other in zip(found, wanted, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _close(one: str, other: str, tolerance: float) -> bool:
    try:
        left, right = float(one), float(other)
    except ValueError:
        return False
    if not (math.isfinite(left) and math.isfinite(right)):
        return False
    return abs(left - right) <= tolerance * max(1.0, abs(right))
