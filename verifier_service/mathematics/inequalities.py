"""Whether inequalities and ranges in one variable hold for the same numbers: `|x| ≤ 3`, `x^2 ≤ 9`.

Read here are quotients of polynomials and absolute values of them. Whether such an inequality holds
can change only at a zero of a numerator or a denominator, or where an absolute value changes sign.
These points are found to 80 digits. Both sides are then tried at every one, and exactly at a
rational number on each side of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import mpmath

from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    difference,
    variables,
    walk,
)
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.numeric_values import numeric
from verifier_service.mathematics.values import Ranges, Relation

MAX_DEGREE = 12
"""Largest degree of a numerator or denominator."""
MAX_COEFFICIENT_BITS = 2_000
"""Most bits of the numerator or denominator of a coefficient."""
MAX_ABSOLUTE_VALUES = 2
"""Most absolute values of one inequality; each doubles the number of polynomials."""
PRECISION = 80
"""Digits of a point at which an inequality may begin or cease to hold."""
_ZERO = mpmath.mpf(10) ** -30

_Polynomial = tuple[Fraction, ...]
"""Coefficients, that of the constant first; empty for zero."""
_Quotient = tuple[_Polynomial, _Polynomial]
_Signs = Mapping[Expression, int]
"""The sign of what stands in each absolute value."""


def same_solutions(left: Relation | Ranges, right: Relation | Ranges) -> bool | None:
    """Whether two inequalities, or an inequality and ranges, hold for the same numbers.

    Returns:
        None where one has no or several variables, or is not made of polynomials.
    """
    names = [_variables(one) for one in (left, right)]
    if len(names[0] | names[1]) != 1 or not any(isinstance(one, Relation) for one in (left, right)):
        return None
    try:
        critical = _without_repeats([*_critical_points(left), *_critical_points(right)])
        return all(
            _holds(left, number) == _holds(right, number)
            for number in (*critical, *_between(critical))
        )
    except (Unreadable, Undefined, mpmath.libmp.NoConvergence):
        return None


def _variables(side: Relation | Ranges) -> frozenset[str]:
    """The variables of an inequality, or the one that ranges name; empty where they name none."""
    if isinstance(side, Ranges):
        return frozenset({side.variable} if side.variable else ())
    return frozenset(variables(side.left) | variables(side.right))


# Polynomials


def _degree_bounded(polynomial: Sequence[Fraction]) -> _Polynomial:
    """A polynomial without leading zeros. Raises Unreadable where it is too large."""
    found = list(polynomial)
    while found and not found[-1]:
        found.pop()
    bits = [max(one.numerator.bit_length(), one.denominator.bit_length()) for one in found]
    if len(found) > MAX_DEGREE + 1 or max(bits, default=0) > MAX_COEFFICIENT_BITS:
        raise Unreadable("too large a polynomial")
    return tuple(found)


def _plus(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    length = max(len(one), len(other))
    padded = [(*side, *[Fraction(0)] * (length - len(side))) for side in (one, other)]
    return _degree_bounded([a + b for a, b in zip(*padded, strict=True)])


def _times(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    found = [Fraction(0)] * max(len(one) + len(other) - 1, 0)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] += a * b
    return _degree_bounded(found)


def _remainder(one: Sequence[Fraction], other: _Polynomial) -> _Polynomial:
    rest = list(one)
    while len(rest) >= len(other):
        factor = rest[-1] / other[-1]
        for index in range(len(other)):
            rest[len(rest) - len(other) + index] -= factor * other[index]
        rest.pop()
    return _degree_bounded(rest)


def _derivative(polynomial: _Polynomial) -> _Polynomial:
    return tuple(index * one for index, one in enumerate(polynomial))[1:]


def _without_repeated_roots(polynomial: _Polynomial) -> _Polynomial:
    """The polynomial divided by its greatest common divisor with its derivative."""
    divisor, rest = polynomial, _derivative(polynomial)
    while rest:
        divisor, rest = rest, _remainder(divisor, rest)
    quotient: list[Fraction] = []
    dividend = list(polynomial)
    while len(dividend) >= len(divisor):
        factor = dividend.pop() / divisor[-1]
        quotient.append(factor)
        for index in range(len(divisor) - 1):
            dividend[len(dividend) - len(divisor) + 1 + index] -= factor * divisor[index]
    return tuple(reversed(quotient))


_CONSTANT_ONE: _Polynomial = (Fraction(1),)


def _quotient(expression: Expression, signs: _Signs) -> _Quotient:
    """Numerator and denominator of an expression. Raises Unreadable for any other expression."""
    match expression:
        case Number(value, _):
            return _degree_bounded([value]), _CONSTANT_ONE
        case Symbol():
            return (Fraction(0), Fraction(1)), _CONSTANT_ONE
        case Sum(terms):
            total: _Quotient = ((), _CONSTANT_ONE)
            for above, below in (_quotient(term, signs) for term in terms):
                numerator = _plus(_times(total[0], below), _times(above, total[1]))
                total = numerator, _times(total[1], below)
            return total
        case Product(factors):
            return _product([_quotient(factor, signs) for factor in factors])
        case Power(base, Number(exponent, _)) if exponent.denominator == 1:
            above, below = _quotient(base, signs)
            if abs(exponent) > MAX_DEGREE or (exponent < 0 and not above):
                raise Unreadable("too large a power")
            pair = (above, below) if exponent > 0 else (below, above)
            return _product([pair] * abs(int(exponent)))
        case Call("abs", (inside,)) if expression in signs:
            above, below = _quotient(inside, signs)
            return tuple(signs[expression] * one for one in above), below
    raise Unreadable("no quotient of polynomials")


def _product(quotients: Sequence[_Quotient]) -> _Quotient:
    above, below = _CONSTANT_ONE, _CONSTANT_ONE
    for numerator, denominator in quotients:
        above, below = _times(above, numerator), _times(below, denominator)
    return above, below


# Points at which an inequality may begin or cease to hold


def _critical_points(side: Relation | Ranges) -> list[Any]:
    """Real numbers in mpmath's type, in any order. Raises Unreadable, Undefined."""
    if isinstance(side, Ranges):
        return [_value(end) for piece in side.pieces for end in (piece.low, piece.high) if end]
    return [root for one in _critical_polynomials(side) for root in _roots(one)]


def _value(end: Expression) -> Any:
    value = numeric(end, {}, PRECISION)
    if mpmath.im(value):
        raise Unreadable("an end that is not real")
    return mpmath.re(value)


def _critical_polynomials(relation: Relation) -> Iterator[_Polynomial]:
    gap = difference(relation.left, relation.right)
    for signs in _sign_choices(gap):
        yield from _quotient(gap, signs)
        for inside in signs:
            yield from _quotient(_argument(inside), signs)


def _argument(absolute_value: Expression) -> Expression:
    assert isinstance(absolute_value, Call)
    return absolute_value.arguments[0]


def _sign_choices(gap: Expression) -> list[_Signs]:
    """Every choice of signs for what stands in the absolute values. Raises Unreadable."""
    found = list(
        dict.fromkeys(one for one in walk(gap) if isinstance(one, Call) and one.name == "abs")
    )
    if len(found) > MAX_ABSOLUTE_VALUES:
        raise Unreadable("too many absolute values")
    return [dict(zip(found, signs, strict=True)) for signs in product((1, -1), repeat=len(found))]


@lru_cache(maxsize=256)
def _roots(polynomial: _Polynomial) -> tuple[Any, ...]:
    """The real roots, each once. Raises NoConvergence."""
    if len(polynomial) < 2:
        return ()
    simple = _without_repeated_roots(polynomial)
    with mpmath.workdps(PRECISION):
        coefficients = [mpmath.mpf(one.numerator) / one.denominator for one in reversed(simple)]
        roots = mpmath.polyroots(coefficients, maxsteps=200, extraprec=400)
        return tuple(root.real for root in roots if abs(mpmath.im(root)) < _ZERO)


def _without_repeats(numbers: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for number in sorted(numbers):
        if not found or not _are_equal(found[-1], number):
            found.append(number)
    return found


def _are_equal(one: Any, other: Any) -> bool:
    return bool(abs(one - other) <= _ZERO * max(1, abs(one)))


def _between(critical: Sequence[Any]) -> list[Fraction]:
    """A rational number before, between and behind critical points."""
    if not critical:
        return [Fraction(0)]
    exact = [_as_fraction(number) for number in critical]
    middle = [(one + other) / 2 for one, other in pairwise(exact)]
    return [exact[0] - 1, *middle, exact[-1] + 1]


def _as_fraction(number: Any) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    size: Fraction = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -size if sign else size


# Whether an inequality holds


def _holds(side: Relation | Ranges, number: Any) -> bool:
    """Whether a number, a fraction or one of mpmath's, is a solution. Raises Unreadable."""
    with mpmath.workdps(PRECISION):
        if isinstance(side, Ranges):
            return any(
                (piece.low is None or _is_below(_value(piece.low), number, piece.low_closed))
                and (piece.high is None or _is_below(number, _value(piece.high), piece.high_closed))
                for piece in side.pieces
            )
        gap = difference(side.left, side.right)
        signs: dict[Expression, int] = {}
        for inside in _innermost_first(gap):
            above, below = _quotient(_argument(inside), signs)
            signs[inside] = _sign(above, number) * _sign(below, number) or 1
        above, below = _quotient(gap, signs)
        sign = _sign(above, number) * _sign(below, number)
        if not _sign(below, number):
            return False  # a division by zero
        return {"<": sign < 0, "<=": sign <= 0, "!=": sign != 0, "=": sign == 0}[side.sign]


def _innermost_first(gap: Expression) -> list[Expression]:
    return list(reversed(list(_sign_choices(gap)[0])))


def _is_below(one: Any, other: Any, is_closed: bool) -> bool:
    one, other = (_as_mpf(side) for side in (one, other))
    return is_closed if _are_equal(one, other) else bool(one < other)


def _as_mpf(number: Any) -> Any:
    if isinstance(number, Fraction):
        return mpmath.mpf(number.numerator) / number.denominator
    return number


def _sign(polynomial: _Polynomial, number: Any) -> int:
    """The sign of a polynomial at a number: exact at a fraction, else 0 where it is very small."""
    if isinstance(number, Fraction):
        exact = Fraction(0)
        for coefficient in reversed(polynomial):
            exact = exact * number + coefficient
        return (exact > 0) - (exact < 0)
    value, size = mpmath.mpf(0), mpmath.mpf(0)
    for coefficient in reversed(polynomial):
        value = value * number + _as_mpf(coefficient)
        size = size * abs(number) + abs(_as_mpf(coefficient))
    return 0 if abs(value) <= _ZERO * size else (1 if value > 0 else -1)
