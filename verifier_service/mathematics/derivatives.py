r"""Derivatives: `dy/dx`, `\frac{dy}{dx}` and `\frac{d^2 y}{dx^2}` as letters with primes."""

from __future__ import annotations

import re

_D = r"(?:\\(?:mathrm|text|operatorname)\s?\{\s?d\s?\}|d)\s{0,3}"
# The second derivative: `\frac{d^2 y}{dx^2}`, `d^2y/dx^2`.
_SECOND = re.compile(
    rf"\\[dt]?frac\s?\{{\s?{_D}\^\s?\{{?2\}}?\s?([a-zA-Z])\s?\}}"
    rf"\s?\{{\s?{_D}([a-zA-Z])\s?\^\s?\{{?2\}}?\s?\}}"
    rf"|(?<![\w\\^])d\^\{{?2\}}?\s?([a-zA-Z])\s?/\s?d([a-zA-Z])\s?\^\{{?2\}}?(?!\w)"
)
# The first derivative: `\frac{dy}{dx}`, `dP/dt`, `(dy)/(dx)`.
_FIRST = re.compile(
    rf"\\[dt]?frac\s?\{{\s?{_D}([a-zA-Z])\s?\}}\s?\{{\s?{_D}([a-zA-Z])\s?\}}"
    r"|(?<![\w\\^/])\(?d([a-zA-Z])\)?\s?/\s?\(?d([a-zA-Z])\)?(?![\w^])"
)


# The derivative of a function by the letter of its argument: `\\frac{d}{dx} f(x) =`.
_OF_FUNCTION = re.compile(
    rf"\\[dt]?frac\s?\{{\s?{_D}\}}\s?\{{\s?{_D}([a-zA-Z])\s?\}}\s{{0,3}}([a-zA-Z])\s?\(\s?\1\s?\)(?=\s{{0,3}}=)"
)


def with_primes(text: str) -> str:
    r"""The text with primes for its derivatives.

    >>> with_primes("dy/dx = 2x"), with_primes(r"\frac{dP}{dt} = kP")
    ("y' = 2x", "P' = kP")
    """
    if "d" not in text or ("/" not in text and "frac" not in text):
        return text
    text = _OF_FUNCTION.sub(r"\2'(\1)", text)
    text = _SECOND.sub(lambda one: f"{one[1] or one[3]}''", text)
    return _FIRST.sub(lambda one: f"{one[1] or one[3]}'", text)


def variables_of_derivatives(text: str) -> frozenset[str]:
    """The letters by which a text takes derivatives: x of `dy/dx`."""
    if "d" not in text or ("/" not in text and "frac" not in text):
        return frozenset()
    found = [*_SECOND.finditer(text), *_FIRST.finditer(text)]
    return frozenset(one[2] or one[4] for one in found)
