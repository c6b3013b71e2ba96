"""Arbitrary constants and integers: their names, and the value of one that is added.

An answer may choose the name of the `C` of `x^2 + C`, and add any number to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations

from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    difference,
    has_symbol,
    substitute,
    variables,
    walk,
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
    if not only_left and not only_right:
        yield from _with_exchanged_constants(left, right)
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
    if are_integers or (are_constants and not _has_angle(left, names)):
        for order in permutations(only_left):
            yield substitute(
                right, {old: Symbol(new) for old, new in zip(only_right, order, strict=True)}
            )


_OF_ANGLES = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def _has_angle(expression: Expression, names: set[str]) -> bool:
    """Whether a function of angles has one of some names for its angle: the `C` of `\\cos C`."""
    return any(
        isinstance(part, Call)
        and part.name in _OF_ANGLES
        and any(isinstance(one, Symbol) and one.name in names for one in part.arguments)
        for part in walk(expression)
    )


# The name of one of several arbitrary constants: `C_1`, `c_2`. Spring constants are `k_1`, heat
# capacities `c_p`.
_NUMBERED_CONSTANT = re.compile(r"[Cc]_\d")


def _with_exchanged_constants(left: Expression, right: Expression) -> Iterator[Expression]:
    """The right side with its numbered constants in another order: `C_2 e^x + C_1`.

    They must multiply functions of one variable: capacitances stand in a quotient, `C_1/(C_1+C_2)`.
    No function may be a multiple of another: constants in `C_1 x - C_2 x` are given.
    """
    names = sorted(filter(_NUMBERED_CONSTANT.fullmatch, variables(right)))
    others = variables(right) - set(names)
    if not 1 < len(names) <= _MAX_PARAMETERS or len(others) != 1 or not others <= _INTEGRATED:
        return
    if not _have_own_functions(right, names, *others):
        return
    if all(_only_multiplies(one, frozenset(names)) for one in (left, right)):
        for order in permutations(names):
            yield substitute(
                right, {old: Symbol(new) for old, new in zip(names, order, strict=True)}
            )


def _have_own_functions(expression: Expression, names: list[str], variable: str) -> bool:
    """Whether the functions that constants multiply are no multiples of one another."""
    zero, one = Number(Fraction(0)), Number(Fraction(1))
    values = [
        [
            substitute(
                expression,
                {**dict.fromkeys(names, zero), name: one, variable: Number(Fraction(point))},
            )
            for point in (2, 3)
        ]
        for name in names
    ]
    return all(
        same(Product((first[0], second[1])), Product((first[1], second[0])), 0.0) is False
        for first, second in combinations(values, 2)
    )


def _only_multiplies(expression: Expression, names: frozenset[str]) -> bool:
    """Whether symbols stand in sums and products alone, in no power and in no function."""
    if not names & variables(expression):
        return True
    if isinstance(expression, Sum):
        return all(_only_multiplies(one, names) for one in expression.terms)
    if isinstance(expression, Product):
        with_names = [one for one in expression.factors if names & variables(one)]
        return len(with_names) == 1 and _only_multiplies(with_names[0], names)
    return isinstance(expression, Symbol)


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
    expression = _multiplied_out(expression)
    if not isinstance(expression, Sum):
        return None
    others = [
        one for one in _terms(expression) if not (isinstance(one, Symbol) and one.name in _ADDED)
    ]
    function = Sum(tuple(others))
    is_sum = len(others) == len(_terms(expression)) - 1 > 0
    return function if is_sum and not _ADDED & variables(function) else None


def _multiplied_out(expression: Expression) -> Expression:
    """A sum whose constant a number multiplies, with its other terms multiplied: `(x^3 + C)/3`.

    The constant itself stays, since any multiple of it is as arbitrary.
    """
    if not isinstance(expression, Product):
        return expression
    sums = [one for one in expression.factors if isinstance(one, Sum)]
    numbers = tuple(one for one in expression.factors if not variables(one))
    if len(sums) != 1 or len(numbers) != len(expression.factors) - 1:
        return expression
    return Sum(
        tuple(
            one if isinstance(one, Symbol) and one.name in _ADDED else Product((*numbers, one))
            for one in _terms(sums[0])
        )
    )


def _terms(expression: Expression) -> list[Expression]:
    if isinstance(expression, Sum):
        return [one for term in expression.terms for one in _terms(term)]
    return [expression]
