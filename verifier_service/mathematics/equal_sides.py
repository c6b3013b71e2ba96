"""Sides of equations and chains: whether they are equal, rounded, or contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expression_parser import parse_expression
from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Product,
    Symbol,
    difference,
    is_constant,
    variables,
    with_each_sign,
)
from verifier_service.mathematics.notation import Token, Unreadable
from verifier_service.mathematics.numeric_values import DIGITS, numeric
from verifier_service.mathematics.values import Named, Quantity, Relation, Several, Value

CHAIN_TOLERANCE = 1e-6
"""Relative difference that is allowed between the sides of `1/3 = 0.333333 = ...`."""
MAX_ROUGHNESS = 0.1
"""Largest relative difference of sides with `≈` between them."""

Constants = tuple[Expression, Expression]
"""A constant and what it is rounded to."""


def two_sides(left: Expression, right: Expression) -> Value:
    """The value of an equation: of `5 = x` that of x, of `2x ± y = 0` two lines."""
    if isinstance(right, Symbol) and not is_constant(right) and not variables(left):  # 5 = x
        return Named(right.name, Quantity(left))
    if len(both := with_each_sign(left)) > 1 and with_each_sign(right) == [right]:  # 2x ± y = 0
        return Several("list", tuple(Relation("=", one, right) for one in both))
    return Relation("=", left, right)


def constant_chain(sides: list[Expression]) -> Value:
    """The value of `1 + 1 = 4/2 = 2`; sides that are equal but for rounding leave it open."""
    if all(same(side, sides[-1], CHAIN_TOLERANCE) for side in sides[:-1]):
        return Quantity(sides[-1])
    raise Unreadable("sides that may be rounded")


def contradict(constants: Sequence[Expression]) -> bool:
    """Whether constants that are said to be equal are not, even if rounded: `x = 4 = 5`."""
    return any(
        same(one, constants[-1], CHAIN_TOLERANCE) is False
        and not (_may_be_rounded(one, constants[-1]) or _may_be_rounded(constants[-1], one))
        for one in constants[:-1]
    )


def contradicts(side: Value, last: Quantity) -> bool:
    """Whether a side of a chain has another value than the last, for all that can be known."""
    if not isinstance(side, Quantity):
        return True
    if variables(side.expression):
        return False
    if side.unit is None and last.unit is None:
        return contradict([side.expression, last.expression])
    if side.unit is None:
        return _measures_differ(replace(side, unit=last.unit), last)
    is_other = last.unit is None or side.unit.dimension != last.unit.dimension
    return is_other or _measures_differ(side, last)


def are_other_amounts(left: Value, right: Value) -> bool:
    """Whether two amounts that are said to be equal are not: 5 m and 5 km, 7 and 5 apples."""
    if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return False
    is_count = left.unit is None and right.unit is None and right.words
    if is_count and left.words in ((), right.words):
        return contradict([left.expression, right.expression])
    return _measures_differ(left, right)


def _measures_differ(left: Value, right: Value) -> bool:
    """Whether numbers with units are different sizes of one dimension: 5 m and 5 km."""
    if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return False
    if left.unit is None or right.unit is None or left.unit.dimension != right.unit.dimension:
        return False
    if left.unit.offset or right.unit.offset:
        return False
    sizes = [Product((one.expression, Number(one.unit.size))) for one in (left, right) if one.unit]
    try:
        return _are_rough(*(numeric(size, {}, 15) for size in sizes))
    except (Undefined, Unreadable):
        return False


def are_different(sides: Sequence[Expression]) -> bool:
    """Whether sides of the same variables as the last one differ from it: `x + 1 = 2x = x^2`."""
    names = variables(sides[-1])
    return bool(names) and any(
        variables(side) == names and same(side, sides[-1], CHAIN_TOLERANCE) is False
        for side in sides[:-1]
    )


def constants(left: list[Token], right: list[Token]) -> Constants | None:
    """The expressions of two sides; None where one is none."""
    try:
        return parse_expression(left), parse_expression(right)
    except Unreadable:
        return None


def are_far_apart(sides: Constants | None) -> bool:
    """Whether constants differ by more than rounding: those of `12 ≈ 13`, but not of `17/3 ≈ 6`."""
    if sides is None:
        return False
    try:
        one, value = (numeric(side, {}, 15) for side in sides)
    except (Undefined, Unreadable):
        return False
    other = sides[1]
    if all(isinstance(side, Number) and _is_counted(side) for side in sides):
        return sides[0] != other
    places = other.decimals or 0 if isinstance(other, Number) else 0
    is_beyond_places = bool(abs(one - value) >= 10.0**-places)
    return is_beyond_places and _are_rough(one, value)


def _is_counted(number: Number) -> bool:
    """Whether a whole number is written to its last place, as 13 is, but not 150."""
    return number.decimals is None and number.value.denominator == 1 and bool(number.value % 10)


def _are_rough(one: Any, other: Any) -> bool:
    return bool(abs(one - other) > MAX_ROUGHNESS * max(abs(one), abs(other)))


def differ_somewhere(left: Value, right: Value) -> bool:
    """Whether tuples have different constants in one place: `(1, 2) = (2, 1)`."""
    if not (isinstance(left, Several) and isinstance(right, Several)):
        return False
    pairs = [
        (one.expression, other.expression)
        for one, other in zip(left.items, right.items, strict=False)
        if isinstance(one, Quantity) and isinstance(other, Quantity)
    ]
    return any(
        not variables(one) and not variables(other) and contradict([one, other])
        for one, other in pairs
    )


def _may_be_rounded(decimal: Expression, other: Expression) -> bool:
    """Whether a decimal is less than a unit of its last place from a constant: 0.66 and 2/3."""
    if not isinstance(decimal, Number) or not decimal.decimals:
        return False
    try:
        gap = abs(numeric(difference(other, decimal), {}, DIGITS))
    except (Undefined, Unreadable):
        return True
    return bool(gap <= 10.0**-decimal.decimals)
