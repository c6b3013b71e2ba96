"""Exact values of expressions: rational numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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

MAX_EXACT_BITS = 20_000
"""Most bits of the numerator or denominator of an exact value."""
MAX_FACTORIAL = 3_000
"""Largest whole number whose factorial or binomials are computed exactly."""


class NotExact(Exception):
    """The value is not a rational number, or too large a one."""


class Undefined(Exception):
    """The expression has no finite value at the point."""


def exact(expression: Expression, point: Mapping[str, Fraction]) -> Fraction:
    """The value of a rational expression.

    Args:
        expression: any expression.
        point: a value for each variable, by its name.

    Raises:
        NotExact: it has roots, functions or constants, or grows beyond MAX_EXACT_BITS.
        Undefined: a division by zero.

    >>> exact(Power(Symbol("x"), Number(Fraction(2))), {"x": Fraction(1, 3)})
    Fraction(1, 9)
    """
    match expression:
        case Number(value, _):
            return value
        case Symbol(name):
            if name not in point:
                raise NotExact
            return point[name]
        case Sum(terms):
            return _bounded(sum((exact(term, point) for term in terms), Fraction(0)))
        case Product(factors):
            product = Fraction(1)
            for factor in factors:
                product = _bounded(product * exact(factor, point))
            return product
        case Power(base, exponent):
            return _exact_power(exact(base, point), exact(exponent, point))
        case Call(name, arguments):
            return _exact_function(name, len(arguments))([exact(one, point) for one in arguments])
    raise NotExact


_ExactFunction = Callable[[Sequence[Fraction]], Fraction]


def _exact_function(name: str, num_arguments: int) -> _ExactFunction:
    """A function of rationals with a rational value. Raises NotExact for any other function."""
    function, expected_arguments = _EXACT_FUNCTIONS.get(name, (None, None))
    if function is None or expected_arguments not in (None, num_arguments):
        raise NotExact
    return function


def _exact_factorial(arguments: Sequence[Fraction]) -> Fraction:
    (value,) = arguments
    if value.denominator != 1 or not 0 <= value <= MAX_FACTORIAL:
        raise NotExact
    return Fraction(math.factorial(int(value)))


def _exact_binomial(arguments: Sequence[Fraction]) -> Fraction:
    n, k = arguments
    if n.denominator != 1 or k.denominator != 1 or not 0 <= k <= n <= MAX_FACTORIAL:
        raise NotExact
    return Fraction(math.comb(int(n), int(k)))


def _whole(values: Sequence[Fraction]) -> list[int]:
    if any(value.denominator != 1 for value in values):
        raise NotExact
    return [int(value) for value in values]


_EXACT_FUNCTIONS: dict[str, tuple[_ExactFunction, int | None]] = {
    # name: the function and how many arguments it takes, None for any number of them
    "factorial": (_exact_factorial, 1),
    "binom": (_exact_binomial, 2),
    "abs": (lambda values: abs(values[0]), 1),
    "floor": (lambda values: Fraction(math.floor(values[0])), 1),
    "ceil": (lambda values: Fraction(math.ceil(values[0])), 1),
    "max": (max, None),
    "min": (min, None),
    "gcd": (lambda values: Fraction(math.gcd(*_whole(values))), None),
    "lcm": (lambda values: Fraction(math.lcm(*_whole(values))), None),
}


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_EXACT_BITS:
        raise NotExact
    return value


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        return _exact_root(base, exponent)
    if base == 0 and exponent <= 0:
        raise Undefined
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits > 1 and abs(exponent) * bits > MAX_EXACT_BITS:
        raise NotExact
    if bits == 1:  # 1 or -1
        return Fraction(1) if base == 1 or exponent.numerator % 2 == 0 else Fraction(-1)
    return base ** int(exponent)


def _exact_root(base: Fraction, exponent: Fraction) -> Fraction:
    """A root of a perfect power, of degree 10 at most. Raises NotExact for any other root."""
    degree = exponent.denominator
    if base < 0 or degree > 10:
        raise NotExact
    roots = [_integer_root(part, degree) for part in (base.numerator, base.denominator)]
    return _exact_power(Fraction(*roots), Fraction(exponent.numerator))


def _integer_root(value: int, degree: int) -> int:
    if value.bit_length() > 1000:
        raise NotExact
    root = math.isqrt(value) if degree == 2 else round(value ** (1 / degree))
    if root**degree != value:
        raise NotExact
    return root
