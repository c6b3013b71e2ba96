"""Arbitrary constants and integers: their names, and the value of one that is added.

An answer may choose the name of the `C` of `x^2 + C`, and add any number to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Power,
    Sum,
    Symbol,
    difference,
    has_symbol,
    substitute,
    variables,
)
from verifier_service.mathematics.periodic import INTEGER_NAMES

_MAX_PARAMETERS = 3
"""Largest number of names that are tried in each order."""
# The name of an arbitrary constant: `C`, `c_1`.
_CONSTANT_NAME = re.compile(r"[A-DcKk](?:_\w)?")


def with_same_parameters(left: Expression, right: Expression) -> Iterator[Expression]:
    """The right side with its arbitrary integers or constants named as on the left side."""
    only_left = sorted(variables(left) - variables(right))
    only_right = sorted(variables(right) - variables(left))
    if not 0 < len(only_left) == len(only_right) <= _MAX_PARAMETERS:
        return
    names = {*only_left, *only_right}
    are_integers = (
        len(only_left) == 1
        and names <= INTEGER_NAMES
        and has_symbol(left, "pi")
        and has_symbol(right, "pi")
    )
    shared = variables(left) & variables(right)
    are_constants = all(map(_CONSTANT_NAME.fullmatch, names)) and not all(
        map(_CONSTANT_NAME.fullmatch, shared)
    )
    if are_integers or are_constants:
        for order in permutations(only_left):
            yield substitute(
                right, {old: Symbol(new) for old, new in zip(only_right, order, strict=True)}
            )


def differ_by_a_constant(left: Expression, right: Expression) -> bool:
    """Whether two antiderivatives, each with a constant added, differ by a number alone.

    `\\sin^2 x + C` and `-\\cos^2 x + C` are the same functions. Both need such a constant, and one
    variable beside it.
    """
    functions = [_without_added_constant(one) for one in (left, right)]
    if functions[0] is None or functions[1] is None:
        return False
    names = variables(functions[0])
    if len(names) != 1 or names != variables(functions[1]) or not names <= _INTEGRATED:
        return False
    gap = difference(functions[0], functions[1])
    (name,) = names
    return all(
        same(gap, substitute(gap, {name: Sum((Symbol(name), step))}), 0.0) for step in _STEPS
    )


_STEPS = (Number(Fraction(1)), Power(Number(Fraction(2)), Number(Fraction(1, 2))))
"""Steps of a variable; a continuous function with both as periods is a constant."""
_ADDED = frozenset({"C", "K"})
_INTEGRATED = frozenset({"x", "y", "t", "u", "s", "theta"})
"""Variables of integration: `a + K` is a sum of two letters."""


def _without_added_constant(expression: Expression) -> Expression | None:
    """The other terms of a sum with an arbitrary constant; None for any other expression."""
    if not isinstance(expression, Sum):
        return None
    others = [
        one for one in _terms(expression) if not (isinstance(one, Symbol) and one.name in _ADDED)
    ]
    function = Sum(tuple(others))
    is_sum = len(others) == len(_terms(expression)) - 1 > 0
    return function if is_sum and not _ADDED & variables(function) else None


def _terms(expression: Expression) -> list[Expression]:
    if isinstance(expression, Sum):
        return [one for term in expression.terms for one in _terms(term)]
    return [expression]
