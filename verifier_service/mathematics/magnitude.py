"""Sizes of constants that are too large for any numeric type, such as power towers.

A size is a level index (Clenshaw and Olver, "Beyond floating point", 1984): how often the logarithm
is taken of a number until the result is below 1, plus that result. Towers of any height have an
index that fits into a float. Only numbers that clearly differ in size are told apart here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
)
from verifier_service.mathematics.notation import Unreadable

LARGEST_LOGARITHM = 690.0
"""Logarithm of the largest number that is kept as a float."""
LEAST_DIFFERENCE = 0.01
"""Difference of two indices above which the numbers differ. A factor of 2 changes the index of a
number above exp(690) by less than 0.0001, and no more after any number of powers."""
LEAST_SHARE = 1e-3
"""Share of the largest term that a sum of floats keeps: less is lost to rounding."""
LEAST_LOGARITHM = 1e-6
"""Logarithm of the number closest to 1 that is told from 1."""
_CONSTANTS = {"pi": math.pi, "e": math.e}


@dataclass(frozen=True)
class _Size:
    """A real number: `sign * exp(...exp(inner))` with `height` exponentials.

    `inner` is the number's absolute value where `height` is 0, else above LARGEST_LOGARITHM.
    """

    sign: int
    height: int
    inner: float

    @property
    def is_zero(self) -> bool:
        return self.height == 0 and self.inner == 0


def differ_in_size(left: Expression, right: Expression, point: Mapping[str, Fraction]) -> bool:
    """Whether two expressions are known to differ at a point, by size alone; not known is False.

    >>> tower = Power(Number(Fraction(9)), Power(Number(Fraction(9)), Number(Fraction(9**9))))
    >>> differ_in_size(tower, Number(Fraction(5)), {})
    True
    >>> differ_in_size(tower, tower, {})
    False
    """
    try:
        one, other = _size(left, point), _size(right, point)
    except (Unreadable, OverflowError, ZeroDivisionError, RecursionError):
        return False
    if one.height == 0 and other.height == 0:
        return False  # other means compare them more exactly
    return one.sign != other.sign or abs(_index(one) - _index(other)) > LEAST_DIFFERENCE


def _index(size: _Size) -> float:
    height, inner = size.height, size.inner
    while inner >= 1:
        height, inner = height + 1, math.log(inner)
    return height + inner


def _size(expression: Expression, point: Mapping[str, Fraction]) -> _Size:
    """The size of an expression at a point. Raises Unreadable where it is not known."""
    match expression:
        case Number(value, _):
            return _size_of_fraction(value)
        case Symbol(name) if name in _CONSTANTS:
            return _Size(1, 0, _CONSTANTS[name])
        case Symbol(name) if name in point:
            return _size_of_fraction(point[name])
        case Sum(terms):
            return _sum([_size(term, point) for term in terms])
        case Product(factors):
            return _product([_size(factor, point) for factor in factors])
        case Power(base, exponent):
            return _power(_size(base, point), _size(exponent, point))
        case Call("factorial", (argument,)):
            return _factorial(_size(argument, point))
    raise Unreadable("of unknown size")


def _size_of_fraction(value: Fraction) -> _Size:
    if value == 0:
        return _Size(1, 0, 0.0)
    sign = 1 if value > 0 else -1
    numerator, denominator = abs(value.numerator), value.denominator
    return _exponential(sign, _real(math.log(numerator) - math.log(denominator)))


def _real(value: float) -> _Size:
    return _Size(1 if value >= 0 else -1, 0, abs(value))


def _exponential(sign: int, logarithm: _Size) -> _Size:
    """The number with a sign and a logarithm. Raises Unreadable where it is too close to 0."""
    if logarithm.height:
        if logarithm.sign < 0:
            raise Unreadable("too close to 0")
        return _Size(sign, logarithm.height + 1, logarithm.inner)
    value = logarithm.sign * logarithm.inner
    if value < -LARGEST_LOGARITHM:
        raise Unreadable("too close to 0")
    if value > LARGEST_LOGARITHM:
        return _Size(sign, 1, value)
    return _Size(sign, 0, math.exp(value))


def _logarithm(size: _Size) -> _Size:
    """The logarithm of the absolute value."""
    if size.is_zero:
        raise Unreadable("0 has no logarithm")
    if size.height:
        return _Size(1, size.height - 1, size.inner)
    return _real(math.log(size.inner))


def _sum(terms: Sequence[_Size]) -> _Size:
    """A sum. Raises Unreadable where terms may cancel."""
    large = [term for term in terms if term.height]
    if not large:
        return _sum_of_floats([term.sign * term.inner for term in terms])
    largest = max(large, key=_index)
    for term in large:
        if term.sign != largest.sign and _index(largest) - _index(term) <= LEAST_DIFFERENCE:
            raise Unreadable("large terms may cancel")
    return largest


def _sum_of_floats(terms: Sequence[float]) -> _Size:
    total = math.fsum(terms)
    if abs(total) < LEAST_SHARE * max(map(abs, terms)):
        raise Unreadable("terms may cancel")
    if total == 0:
        return _real(total)
    return _exponential(1 if total > 0 else -1, _real(math.log(abs(total))))


def _product(factors: Sequence[_Size]) -> _Size:
    if any(factor.is_zero for factor in factors):
        return _Size(1, 0, 0.0)
    sign = math.prod(factor.sign for factor in factors)
    return _exponential(sign, _sum([_logarithm(factor) for factor in factors]))


def _power(base: _Size, exponent: _Size) -> _Size:
    """A power. Raises Unreadable where the base is negative, 0, or 1 but for rounding."""
    if base.sign < 0 or base.is_zero:
        raise Unreadable("the sign of the power is not known")
    logarithm = _logarithm(base)
    if logarithm.height == 0 and logarithm.inner < LEAST_LOGARITHM:
        raise Unreadable("too close to 1")
    return _exponential(1, _product([exponent, logarithm]))


def _factorial(number: _Size) -> _Size:
    """The gamma function, for large numbers by Stirling. Raises Unreadable below 0."""
    if number.sign < 0:
        raise Unreadable("the factorial of a negative number")
    if number.height == 0:
        return _exponential(1, _real(math.lgamma(number.inner + 1)))
    return _exponential(1, _product([number, _sum([_logarithm(number), _real(-1.0)])]))
