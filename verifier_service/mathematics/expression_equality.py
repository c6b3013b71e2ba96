"""Whether two expressions are the same.

Two expressions are the same if they are equal wherever both are defined. Rational expressions are
evaluated exactly, at several rational points that follow from both expressions. A polynomial
identity that fails, fails at almost every point (Schwartz 1980, Zippel 1979). Other expressions are
evaluated with mpmath at two precisions: a difference of zero shrinks with the precision, any other
difference stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from verifier_service.mathematics.comparison_points import further_points, points
from verifier_service.mathematics.decimals import largest_gap
from verifier_service.mathematics.exact_values import NotExact, Undefined, exact
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    has_decimals,
    has_symbol,
    negative,
    variables,
    walk,
)
from verifier_service.mathematics.magnitude import differ_in_size
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.numeric_values import DIGITS, numeric

MORE_DIGITS = 80
"""Precision at which a small difference of two values is computed again."""
LEAST_LOST_DIGITS = 20
"""Distance from 1, in decimal digits, from which parts can hide in the digits of others."""
MAX_LOST_DIGITS = 20_000
"""Most digits that are computed to see the smallest part; beyond them values count as different."""


def same(left: Expression, right: Expression, tolerance: float) -> bool | None:
    """Whether two expressions are equal wherever both are defined; None if that stays open.

    Args:
        left: an expression.
        right: another; the result does not depend on their order.
        tolerance: a relative difference that is allowed where a number has a decimal point; 0 for
            none. Last places bound it further: see `decimals.largest_gap`.
    """
    if left == right:
        return True
    if isinstance(left, Number) and isinstance(right, Number):
        if left.value == right.value:
            return True
        if not tolerance or not (left.decimals or right.decimals):
            return False
        return _are_close(left, right, (left.value, right.value), {}, tolerance)
    ends = (_infinite(left), _infinite(right))
    if any(ends):
        return ends[0] == ends[1]
    if _divides_by_zero(left) != _divides_by_zero(right):
        return False
    names = sorted(variables(left) | variables(right))
    approximate = tolerance if has_decimals(left) or has_decimals(right) else 0.0
    try:
        return _same_exactly(left, right, names, approximate)
    except NotExact:
        pass
    try:
        return _same_numerically(left, right, names, approximate)
    except (Unreadable, RecursionError):
        point = next(iter(points(names, left, right))) if names else {}
        return False if differ_in_size(left, right, point) else None


def _divides_by_zero(expression: Expression) -> bool:
    """Whether a denominator is the number 0, so that there is no value: `(5 - 5)/0`."""
    return any(
        isinstance(part, Power)
        and isinstance(part.exponent, Number)
        and part.exponent.value < 0
        and not variables(part.base)
        and _is_zero(part.base)
        for part in walk(expression)
    )


def _is_zero(constant: Expression) -> bool:
    try:
        return exact(constant, {}) == 0
    except (NotExact, Undefined):
        return False


def _infinite(expression: Expression) -> int:
    """1 and -1 for the infinities, 0 for anything else."""
    if expression == Symbol("infty"):
        return 1
    return -1 if expression == negative(Symbol("infty")) else 0


def _same_exactly(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> bool | None:
    num_compared = 0
    for point in points(names, left, right) if names else [{}]:
        one, other = _exact_if_defined(left, point), _exact_if_defined(right, point)
        if one is None or other is None:
            continue
        if one != other and not _are_close(left, right, (one, other), point, tolerance):
            return False
        num_compared += 1
    return True if num_compared >= (3 if names else 1) else None


def _exact_if_defined(expression: Expression, point: Mapping[str, Fraction]) -> Fraction | None:
    try:
        return exact(expression, point)
    except Undefined:
        return None


def _are_close(
    left: Expression,
    right: Expression,
    values: tuple[Fraction, Fraction],
    point: Mapping[str, Fraction],
    tolerance: float,
) -> bool:
    """Whether two expressions with these values at a point are equal, of which one may be rounded.

    38 is not 38.0000021, nor 123456789 123456700.0, but 1000/3 is 333.33333.
    """
    gap, size = abs(values[0] - values[1]), max(map(abs, values))
    if not tolerance or gap > Fraction(repr(tolerance)) * size:
        return False
    return bool(
        gap
        <= largest_gap(
            left, right, size, tolerance, lambda one: exact(one, point), is_constant=not point
        )
    )


def _same_numerically(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> bool | None:
    """Compare values at several points. Real values decide; complex ones if none is real."""
    if not names:
        try:
            return _same_at(left, right, {}, tolerance)[0]
        except Undefined:
            return None
    is_complex = has_symbol(left, "i") or has_symbol(right, "i")
    num_equal = num_different = num_decisive = 0
    first = points(names, left, right)
    for is_equal, is_real in _comparisons(left, right, first, tolerance, is_complex=is_complex):
        if is_real or is_complex:
            if not is_equal:
                return False
            num_decisive += 1
        elif is_equal:
            num_equal += 1
        else:
            num_different += 1
    if num_decisive < 2 and not is_complex:
        further = _equal_where_real(left, right, names, tolerance)
        if not all(further):
            return False
        if _agree_beyond_reals(left, right, first, tolerance):
            num_decisive += len(further)
    if num_decisive >= 2:
        return None if _num_nested_powers(left) != _num_nested_powers(right) else True
    if num_different:
        return None if num_decisive else False
    return True if num_equal + num_decisive >= 2 else None


def _equal_where_real(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> list[bool]:
    """Whether values are equal at each of the further points at which both are real."""
    further = further_points(names, left, right)
    found = _comparisons(left, right, further, tolerance, is_complex=False)
    return [is_equal for is_equal, is_real in found if is_real]


def _agree_beyond_reals(
    left: Expression, right: Expression, at: Iterable[dict[str, Fraction]], tolerance: float
) -> bool:
    """Whether complex values agree too, at points where `x^{100}` and `e^{-x}` are not tiny.

    Near 0 the first is lost among 50 digits, and far from it the second.
    """
    found = _comparisons(left, right, at, tolerance, is_complex=True)
    verdicts = [is_equal for is_equal, _ in found]
    return len(verdicts) >= 2 and all(verdicts)


def _num_nested_powers(expression: Expression) -> int:
    """How many powers of powers have letters everywhere: `(a^b)^c`, which a^(bc) need not be.

    They are equal where the base is positive, as at all points with real values.
    """
    return sum(
        isinstance(part, Power)
        and isinstance(part.base, Power)
        and all(map(variables, (part.exponent, part.base.exponent, part.base.base)))
        for part in walk(expression)
    )


def _comparisons(
    left: Expression,
    right: Expression,
    at: Iterable[dict[str, Fraction]],
    tolerance: float,
    *,
    is_complex: bool,
) -> Iterator[tuple[bool, bool]]:
    """Whether values are equal, and whether both are real, at each point that defines both."""
    for point in at:
        try:
            if not is_complex and any(leaves_the_reals(one, point) for one in (left, right)):
                continue
            yield _same_at(left, right, point, tolerance)
        except Undefined:
            continue


def leaves_the_reals(expression: Expression, point: Mapping[str, Fraction]) -> bool:
    """Whether the value at a point takes a root or logarithm of a negative number."""
    for part in walk(expression):
        inside = None
        if isinstance(part, Power) and not (
            isinstance(part.exponent, Number) and part.exponent.value.denominator % 2
        ):
            inside = part.base
        elif isinstance(part, Call) and part.name in ("log", "ln"):
            inside = part.arguments[0]
        if inside is not None and variables(inside):
            value = numeric(inside, point, 15)
            if value.imag or value.real < 0:
                return True
    return False


def _same_at(
    left: Expression, right: Expression, point: Mapping[str, Fraction], tolerance: float
) -> tuple[bool, bool]:
    """Whether the values at a point are equal, and whether both are real."""
    one, other = numeric(left, point, DIGITS), numeric(right, point, DIGITS)
    with mpmath.workdps(DIGITS):
        is_real = all(abs(mpmath.im(value)) <= abs(value) * 1e-40 for value in (one, other))
        gap, size = abs(one - other), max(abs(one), abs(other))
        if gap and gap <= tolerance * size:
            largest = largest_gap(
                left,
                right,
                size,
                tolerance,
                lambda part: numeric(part, point, DIGITS),
                is_constant=not point,
            )
            if gap <= largest:
                return True, is_real
        least = mpmath.mpf(10) ** (-DIGITS // 2)
        if gap > size * least and gap > least:  # below that, both may be zero: sin(pi)
            return False, is_real
    return _agree_further(left, right, point, gap), is_real


def _agree_further(
    left: Expression, right: Expression, point: Mapping[str, Fraction], gap: Any
) -> bool:
    """Whether a small difference shrinks with the precision, down to the smallest parts written.

    Without their size `\\sqrt2 + 10^{-90}` would be `\\sqrt2` to any fixed number of digits.
    """
    extra = _num_lost_digits(left) + _num_lost_digits(right)
    if not extra and not gap:
        return True
    if extra > MAX_LOST_DIGITS:
        return False
    digits = MORE_DIGITS + extra
    with mpmath.workdps(digits):
        more = abs(numeric(left, point, digits) - numeric(right, point, digits))
        gap = max(gap, mpmath.mpf(10) ** -DIGITS) if extra else gap
        return bool(more < gap * mpmath.mpf(10) ** (-(digits - DIGITS) // 2))


def _num_lost_digits(expression: Expression) -> int:
    """How many digits constants far from 1 can hide from others: twice those of `10^{-90}`.

    Twice, because half of them are left to rounding. An argument of a function counts twice that:
    functions square a small one, and the cosine of 10^-45 is 10^-90 below 1.
    """
    lost = 0
    for part in walk(expression):
        inside: tuple[Expression, ...] = ()
        times = 4 if isinstance(part, Call) else 2
        if isinstance(part, Sum | Product):
            inside = part.terms if isinstance(part, Sum) else part.factors
        elif isinstance(part, Call):
            inside = part.arguments
        elif isinstance(part, Power):
            inside = (part.exponent,)
        lost += sum(times * _num_digits_from_one(one) for one in inside)
    return lost


def _num_digits_from_one(one: Expression) -> int:
    """The distance of a constant from 1 in decimal digits; 0 where it is near, or no constant."""
    if (isinstance(one, Number | Symbol) and not _is_extreme(one)) or variables(one):
        return 0
    try:
        value = numeric(one, {}, 15)
    except (Undefined, Unreadable):
        return 0
    size = abs(mpmath.mag(value)) * math.log10(2) if value else 0
    return int(size) if size > LEAST_LOST_DIGITS else 0


def _is_extreme(one: Number | Symbol) -> bool:
    """Whether a number is written with more digits than the first precision has."""
    if isinstance(one, Symbol):
        return False
    bits = max(one.value.numerator.bit_length(), one.value.denominator.bit_length())
    return bits > LEAST_LOST_DIGITS * 3
