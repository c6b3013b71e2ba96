r"""Whether families of values over the integers are the same: `\pi/2 + k\pi`, `-\pi/2 + n\pi`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Product,
    Sum,
    Symbol,
    difference,
    has_symbol,
    negative,
    quotient,
    substitute,
    variables,
)
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.numeric_values import DIGITS, numeric

INTEGER_NAMES = frozenset("k n m l j N K M".split())
"""Names that stand for an arbitrary integer beside pi."""
_NAMES = {False: INTEGER_NAMES, True: INTEGER_NAMES | frozenset("a b c p q r s t".split())}
"""Names of an integer, by whether the answer says that it is one."""
MAX_PERIODS = 1000
"""Most periods by which the beginnings of two families may differ."""


def same_family(left: Expression, right: Expression, *, are_declared: bool = False) -> bool:
    """Whether two expressions have the same values over all integers, as far as that is known.

    Both must be linear in one integer, whose name says nothing, and hold pi or declare it.
    """
    families = [_linear(one, is_declared=are_declared) for one in (left, right)]
    if families[0] is None or families[1] is None:
        return False
    (start, period), (other_start, other_period) = families[0], families[1]
    if not same(period, other_period, 0.0) and not same(period, negative(other_period), 0.0):
        return False
    gap = difference(start, other_start)
    try:
        periods = numeric(quotient(gap, period), {}, DIGITS)
    except (Undefined, Unreadable):
        return False
    if abs(periods) > MAX_PERIODS:
        return False
    whole = Number(Fraction(round(float(periods.real))))
    return same(gap, Product((whole, period)), 0.0) is True


def _linear(expression: Expression, *, is_declared: bool) -> tuple[Expression, Expression] | None:
    """The value at 0 and the difference of neighbours; None for any other expression."""
    names = sorted(variables(expression))
    is_integer = is_declared or has_symbol(expression, "pi")
    if len(names) != 1 or names[0] not in _NAMES[is_declared] or not is_integer:
        return None
    (name,) = names
    values = [substitute(expression, _point(name, value)) for value in (0, 1)]
    period = difference(values[1], values[0])
    line = Sum((values[0], Product((Symbol(name), period))))
    return (values[0], period) if same(expression, line, 0.0) else None


def _point(name: str, value: int) -> Mapping[str, Expression]:
    return {name: Number(Fraction(value))}
