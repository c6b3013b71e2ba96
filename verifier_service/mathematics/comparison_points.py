"""Points at which two expressions are compared, which follow from the expressions themselves."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

from verifier_service.mathematics.exact_values import NotExact, Undefined, exact
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    variables,
    walk,
)

_POINT_DENOMINATOR = 97
_BOXES = (
    # Smallest and largest numerator, and the sign (0 for either). Roots and logarithms are real at
    # positive points; mistakes in absolute values and powers of 1 show at negative and small ones.
    (98, 600, 1), (1, 97, 1), (1, 600, 1),
    (300, 2000, -1), (1, 97, -1),
    (98, 600, -1), (1, 600, 0), (98, 600, 0),
)  # fmt: skip
_BENDING = frozenset({"abs", "max", "min", "floor", "ceil"})
_SCALES = (10**3, 10**6)
"""Sizes of points at which functions that may bend are compared too."""
MAX_SCALE_BITS = 400
"""Most bits of such a size."""
_NARROW_AND_WIDE = tuple(Fraction(2) ** power for power in (-2, -4, -6, -9, 4, 7, 10))
"""Sizes of further points for two expressions that are real at few of the others."""


def points(names: Sequence[str], left: Expression, right: Expression) -> list[dict[str, Fraction]]:
    """Points at which two expressions of these variables are compared.

    The points follow from the expressions themselves, in either order. Fixed points would let an
    answer be written that agrees with another at these points and nowhere else.
    """
    seed = "\0".join(sorted((_written(left), _written(right)))).encode()
    source = random.Random(hashlib.blake2b(seed).digest())
    found = []
    for low, high, sign in _BOXES:
        point = {}
        for name in names:
            numerator = source.randrange(low, high)
            numerator += numerator % _POINT_DENOMINATOR == 0
            chosen = sign or source.choice((1, -1))
            point[name] = Fraction(chosen * numerator, _POINT_DENOMINATOR)
        found.append(point)
    if names and (_may_bend(left) or _may_bend(right)):
        found += _wide_points(names, source, _largest_constant(left, right))
    return found


def further_points(
    names: Sequence[str], left: Expression, right: Expression
) -> Iterator[dict[str, Fraction]]:
    """More points, near 0 and far from it, for domains such as those of `\\sqrt{1-9x^2}`.

    They follow from the expressions, as the first ones do.
    """
    seed = "\1".join(sorted((_written(left), _written(right)))).encode()
    source = random.Random(hashlib.blake2b(seed).digest())
    for scale in _NARROW_AND_WIDE:
        for sign in (1, -1):
            yield {
                name: sign * scale * Fraction(source.randrange(98, 194), _POINT_DENOMINATOR)
                for name in names
            }


def _may_bend(expression: Expression) -> bool:
    """Whether an expression of variables can be one function here and another one elsewhere.

    `|x - 10|` is 10 - x up to 10, and so is the square root of its square.
    """
    return any(
        (isinstance(part, Call) and part.name in _BENDING) or _is_root_of_sum(part)
        for part in walk(expression)
        if variables(part)
    )


def _is_root_of_sum(part: Expression) -> bool:
    """Whether a part is an even root of a power of a sum: of `(x - 10)^2`."""
    if not isinstance(part, Power) or not isinstance(part.exponent, Number):
        return False
    return part.exponent.value.denominator % 2 == 0 and any(
        isinstance(one, Power)
        and isinstance(one.base, Sum)
        and isinstance(one.exponent, Number)
        and one.exponent.value.numerator % 2 == 0
        for one in walk(part.base)
    )


def _largest_constant(left: Expression, right: Expression) -> int:
    """A whole number above the size of every constant part of two expressions, and its inverse."""
    largest = Fraction(1)
    for part in (*walk(left), *walk(right)):
        if variables(part):
            continue
        try:
            size = abs(exact(part, {}))
        except (NotExact, Undefined):
            continue
        if size:
            largest = max(largest, size, 1 / size)
    return min(math.ceil(largest), 1 << MAX_SCALE_BITS)


def _wide_points(
    names: Sequence[str], source: random.Random, largest: int
) -> list[dict[str, Fraction]]:
    """Points of either sign, far beyond and far below every constant of two expressions."""
    found = []
    for scale in (
        *(Fraction(one) for one in _SCALES),
        Fraction(4 * largest),
        Fraction(1, 4 * largest),
    ):
        for sign in (1, -1):
            size = {name: scale * Fraction(source.randrange(98, 400), 97) for name in names}
            found.append({name: sign * one for name, one in size.items()})
    return found


def _written(expression: Expression) -> str:
    """Every part of an expression, in hexadecimal: Python refuses to write long decimals."""
    parts = []
    for part in walk(expression):
        match part:
            case Number(value, decimals):
                parts.append(f"{value.numerator:x}/{value.denominator:x}.{decimals}")
            case Symbol(name):
                parts.append(name)
            case Sum(terms):
                parts.append(f"+{len(terms)}")
            case Product(factors):
                parts.append(f"*{len(factors)}")
            case Power():
                parts.append("^")
            case Call(name, arguments):
                parts.append(f"{name} {len(arguments)}")
    return ",".join(parts)
