"""Numbers that an author says again: rounded, `5/3 (about 1.67)`, or in percent, `0.14 (14%)`."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expression_parser import parse_expression
from verifier_service.mathematics.expressions import Expression, Number, variables
from verifier_service.mathematics.notation import Token, Unreadable
from verifier_service.mathematics.numeric_values import numeric
from verifier_service.mathematics.values import Named, Quantity, Value

MAX_CHARACTERS = 300
"""Longest text in which words for a rounding are read."""
MAX_ROUNDING = 0.05
"""Largest relative difference of a value and a rounding that may stand for it."""
# An exact value, words or a sign for a rounding, and a decimal at the end: `$\sqrt2$ (approximately
# 1.41)`, `5/3, or about 1.67`, `\frac{5}{3} ($\approx 1.67$)`.
_ROUNDED = re.compile(
    r"(?P<exact>[^()]*[\d)}!%πe]|.*[\d)}!%πe])\$?,?\s*[(\[]?\s*(?:(?:or|which\s+is|that\s+is|i\.e\.,?)\s+)?"
    r"\$?(?:approximately|approx\.?|about|roughly|\\approx|≈|≃)\s*\$?"
    r"(?P<rounded>[-−]?\d[\d,]*\.\d+)\$?\s*[)\]]?\.?\s*",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = ("approx", "about", "roughly", "≈", "≃")


def with_rounding_sign(text: str) -> str:
    r"""A text with the sign `\approx` before the decimal to which its answer is rounded.

    >>> with_rounding_sign("$5/3$ (about 1.67)"), with_rounding_sign("about 5")
    ('5/3 \\approx 1.67', 'about 5')
    """
    if len(text) > MAX_CHARACTERS or not any(mark in text for mark in _MARKS):
        return text
    match = _ROUNDED.fullmatch(text.strip())
    if match is None:
        return text
    exact = match["exact"]
    exact = exact.replace("$", "") if exact.count("$") < 2 else exact.strip().removeprefix("$")
    return text if "$" in exact else rf"{exact} \approx {match['rounded']}"


# A number beside itself in percent: `0.143 (approximately 14.3%)`, `0.2272 or 22.72%`, `1/4 (25%)`,
# `14.3% (0.143)`.
_ROUGHLY = r"(?:(?:approximately|about|roughly|approx\.?)\s|[≈~]\s?)?"
_SAME = rf"(?:(?:or|i\.e\.,?|that\sis,?|which\sis)\s)?{_ROUGHLY}"
_NUMBER = r"[-−]?(?:\d{0,9}\.\d{1,12}|\d{1,9}/\d{1,9})"
_PERCENT = r"[-−]?\d{1,4}(?:\.\d{1,9})?(?=\s?\\?%)"
_BETWEEN = r"(?:\s?\(|,?\s(?=or\s|i\.e\.|that\sis|which\sis))"
_IN_PERCENT_TOO = re.compile(
    rf"{_ROUGHLY}(?:(?P<value>{_NUMBER}){_BETWEEN}{_SAME}"
    rf"(?P<percent>{_PERCENT})\s?\\?%\)?"
    rf"|(?P<percent_first>{_PERCENT})\s?\\?%{_BETWEEN}{_SAME}(?P<value_behind>{_NUMBER})\)?)"
)


def without_percentage(text: str) -> str | None:
    r"""The number of a text that states it in percent too, without that; None for all others.

    >>> without_percentage("0.143 (approximately 14.3%)"), without_percentage(r"25\% (1/4)")
    ('0.143', '1/4')
    >>> without_percentage("0.143 or 15%"), without_percentage("0.14, 14%")
    (None, None)
    """
    match = _IN_PERCENT_TOO.fullmatch(text) if "%" in text else None
    if match is None:
        return None
    value = match["value"] or match["value_behind"]
    percent = match["percent"] or match["percent_first"]
    one, other = _exact(value), _exact(percent)
    if one is None or other is None:
        return None
    error = abs(100 * one - other)
    is_same = error <= _half_place(percent) or (
        "/" not in value and error <= 100 * _half_place(value)
    )
    if not is_same:
        return None
    return value  # in either order the same: equality with a percentage is not transitive


def _half_place(decimal: str) -> Fraction:
    """Half of the last place of a decimal, which it may be rounded by; 0 for one of one digit."""
    has_digits = len(decimal.lstrip("-−.0").replace(".", "")) > 1
    return Fraction(1, 2 * 10 ** len(decimal.partition(".")[2])) if has_digits else Fraction(0)


def _exact(number: str) -> Fraction | None:
    try:
        return Fraction(number.replace("−", "-"))
    except ZeroDivisionError:
        return None


def are_constant(tokens: list[Token]) -> bool:
    """Whether tokens are a number or an expression without variables: `\\sqrt{5} / 2`."""
    try:
        return not variables(parse_expression(tokens))
    except Unreadable:
        return False


def rounding_of(exact: Expression, rounded: Expression) -> Number | None:
    """The decimal that a constant is rounded to, or cut off at; None where it is none."""
    if not isinstance(rounded, Number) or not rounded.decimals:
        return None
    try:
        value = numeric(exact, {}, 15)
    except (Undefined, Unreadable):
        return None
    decimal, unit = numeric(rounded, {}, 15), 10.0**-rounded.decimals
    error = abs(value - decimal)
    is_near = error <= 0.5001 * unit or (error < unit and abs(decimal) < abs(value))
    return rounded if is_near and error <= MAX_ROUNDING * abs(value) else None


def with_rounding(value: Value, rounding: Number | None) -> Value:
    """A value with what it is rounded to; one that is no quantity as it is."""
    if isinstance(value, Named):
        return replace(value, value=with_rounding(value.value, rounding))
    return replace(value, rounding=rounding) if isinstance(value, Quantity) else value


def is_rounded(value: Value) -> bool:
    """Whether a value has a rounding beside it."""
    if isinstance(value, Named):
        return is_rounded(value.value)
    return isinstance(value, Quantity) and value.rounding is not None
