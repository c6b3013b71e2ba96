"""The precision of decimals: how far a value may lie from one that is written as a decimal.

A decimal stands for the numbers that round to it, so it is as precise as its last place. A relative
tolerance bounds this: see `tolerance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Power,
    Product,
    has_decimals,
    walk,
    with_parts,
)
from verifier_service.mathematics.tolerance import DECIMAL_TOLERANCE

MAX_EXACT_GAP = Fraction(1, 10**6)
"""Largest difference of a constant without decimals from a short decimal that it equals."""
FLOAT_ERROR = Fraction(1, 10**12)
"""Relative difference of two decimals that says nothing: programs compute in floats."""
PRECISE_DIGITS = 6
"""Significant digits from which a decimal inside an expression counts as rounded, not as exact."""
MAX_DECIMALS = 50
"""Most decimals of an expression whose precision is followed; with more it counts as exact."""

_Evaluate = Callable[[Expression], Any]


def half_unit(decimal: Number) -> Fraction:
    """Half a unit of the last place of a decimal.

    >>> half_unit(Number(Fraction(5, 4), 2))
    Fraction(1, 200)
    """
    return Fraction(10) ** -(decimal.decimals or 0) / 2


def significant_digits(decimal: Number) -> int:
    """The digits of a decimal from its first one that is not 0.

    >>> significant_digits(Number(Fraction(12, 10_000), 5))  # 0.00120
    3
    """
    digits = abs(decimal.value) * Fraction(10) ** (decimal.decimals or 0)
    return len(str(int(digits))) if digits >= 1 else 0


def plain_decimal(expression: Expression) -> Number | None:
    """The decimal that an expression is, perhaps times a power of ten; None for any other."""
    match expression:
        case Number(_, decimals) if decimals:
            return expression
        case Product(factors):
            others = [one for one in factors if not _is_power_of_ten(one)]
            return plain_decimal(others[0]) if len(others) == 1 else None
    return None


def _is_power_of_ten(expression: Expression) -> bool:
    match expression:
        case Power(base, Number(exponent, None)):
            return exponent.denominator == 1 and _is_power_of_ten(base)
        case Number(value, None) if min(value.numerator, value.denominator) == 1:
            whole = max(value.numerator, value.denominator)
            num_zeros = round(math.log10(whole))  # not by digits: Python refuses to write thousands
            return bool(whole == 10**num_zeros)
    return False


def largest_gap(
    left: Expression,
    right: Expression,
    size: Any,
    tolerance: float,
    evaluate: _Evaluate,
    *,
    is_constant: bool,
) -> Any:
    """The largest difference of two values, at one point, that leaves them equal.

    At most the tolerance times the size. Up to the default tolerance, the last places count too.
    Two decimals must agree to half a unit of the last place of the coarser one. A constant without
    decimals is met within MAX_EXACT_GAP, or by a decimal that it rounds to. A tolerance above the
    default is asked for, and holds alone.

    Args:
        left: an expression.
        right: another.
        size: the larger absolute value of the two.
        tolerance: relative; 0 for none.
        evaluate: the value of an expression at the point.
        is_constant: whether neither side has variables.
    """
    relative = Fraction(repr(tolerance)) * size if isinstance(size, Fraction) else tolerance * size
    if not relative or tolerance > DECIMAL_TOLERANCE:
        return relative
    sides = [side for side in (left, right) if has_decimals(side)]
    gaps = [_precision(side, evaluate) for side in sides]
    if len(sides) == 2:
        gaps.append(size / FLOAT_ERROR.denominator)
    elif is_constant:
        if isinstance(size, Fraction):  # a large integer is not what `9.33 * 10^157` rounds to
            gaps = [gap for gap in gaps if gap < 1]
        gaps.append(MAX_EXACT_GAP if isinstance(size, Fraction) else float(MAX_EXACT_GAP))
    else:  # coefficients that are cut off, not rounded, are a whole unit away
        gaps = [2 * gap for gap in gaps]
    return min(relative, max(gaps, default=relative))


def _precision(expression: Expression, evaluate: _Evaluate) -> Any:
    """The change of the value when each rounded decimal changes by half its last place."""
    decimals = {part for part in walk(expression) if isinstance(part, Number) and part.decimals}
    if plain_decimal(expression) is None:
        decimals = {one for one in decimals if significant_digits(one) >= PRECISE_DIGITS}
    if not decimals or len(decimals) > MAX_DECIMALS:
        return 0
    value = evaluate(expression)
    return sum(abs(evaluate(_raised(expression, one)) - value) for one in decimals)


def _raised(expression: Expression, decimal: Number) -> Expression:
    """The expression with half a unit of its last place added to one of its decimals."""
    if expression == decimal:
        return Number(decimal.value + half_unit(decimal), decimal.decimals)
    return with_parts(expression, lambda part: _raised(part, decimal))
