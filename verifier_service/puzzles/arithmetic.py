"""Arithmetic expressions on whole numbers, valued exactly and never evaluated as a program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

MAX_EXPRESSION_CHARACTERS = 500
MAX_DIGITS = 30
MAX_DEPTH = 60
"""Most brackets and signs inside each other."""
# A number, or a sign of an expression: `12`, `+`, `(`. White space is skipped.
_TOKEN = re.compile(r"[ \t\n]*(?:([0-9]+)|([-+*/()]))")
# What people write for the signs: `3 × 4 ÷ 2 − 1`.
_SIGNS = str.maketrans(
    {
        "×": "*",
        "·": "*",
        "⋅": "*",
        "∗": "*",
        "∕": "/",
        "÷": "/",
        "−": "-",
        "–": "-",
        "[": "(",
        "]": ")",
    }
)
_LATEX = {r"\times": "*", r"\cdot": "*", r"\div": "/"}
_LATEX |= dict.fromkeys((r"\left", r"\right", r"\(", r"\)", r"\[", r"\]", r"\,"), "")


class BadExpression(ValueError):
    """The text is no arithmetic expression, divides by 0, or is over the bounds."""


@dataclass(frozen=True)
class Arithmetic:
    """An expression that was read."""

    value: Fraction
    numbers: tuple[int, ...]
    """The numbers in it, in the order of writing."""


def read_arithmetic(text: str) -> Arithmetic:
    """The value of an expression of whole numbers, `+ - * /` and brackets.

    >>> read_arithmetic("(8 - 2) * 9 / 3")
    Arithmetic(value=Fraction(18, 1), numbers=(8, 2, 9, 3))

    Raises:
        BadExpression: it is none.
    """
    for name, sign in _LATEX.items():
        text = text.replace(name, sign)
    return _Reader(_tokens(text.translate(_SIGNS))).read()


def _tokens(text: str) -> list[str]:
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise BadExpression(f"longer than {MAX_EXPRESSION_CHARACTERS} characters")
    tokens, position, end = [], 0, len(text.rstrip(" \t\n"))
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise BadExpression("a sign that is no arithmetic")
        number = match[1] or ""
        if len(number) > MAX_DIGITS:
            raise BadExpression(f"a number of more than {MAX_DIGITS} digits")
        tokens.append(number or match[2])
        position = match.end()
    return tokens


class _Reader:
    """A reader of tokens by recursive descent: sums of products of signed factors."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens[::-1]
        self._numbers: list[int] = []
        self._depth = 0

    def read(self) -> Arithmetic:
        value = self._sum()
        if self._tokens:
            raise BadExpression("something after its end")
        return Arithmetic(value, tuple(self._numbers))

    def _next(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    def _sum(self) -> Fraction:
        value = self._product()
        while self._next() in ("+", "-"):
            sign = self._tokens.pop()
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while self._next() in ("*", "/"):
            sign = self._tokens.pop()
            other = self._factor()
            if sign == "/" and other == 0:
                raise BadExpression("a division by 0")
            value = value * other if sign == "*" else value / other
        return value

    def _factor(self) -> Fraction:
        token = self._tokens.pop() if self._tokens else ""
        match token:
            case "(":
                value = self._deeper(self._sum)
                if not self._tokens or self._tokens.pop() != ")":
                    raise BadExpression("a bracket that never closes")
                return value
            case "-":
                return -self._deeper(self._factor)
            case _ if token.isdigit():
                self._numbers.append(int(token))
                return Fraction(int(token))
        raise BadExpression("a number is missing")

    def _deeper(self, read: Callable[[], Fraction]) -> Fraction:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadExpression(f"more than {MAX_DEPTH} brackets inside each other")
        value = read()
        self._depth -= 1
        return value
