"""Expressions of numbers and variables, as trees.

`expression_parser` makes these trees of tokens, `evaluation` finds their values. Nothing in this
package builds or runs source code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written."""

    value: Fraction
    decimals: int | None = None
    """Digits after the point; None where it was written without one, negative for `1.5e6`."""
    is_reduced: bool = field(default=True, compare=False, repr=False)
    """False for a fraction whose numbers could be cancelled, such as 2/4."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, or one of the constants e, i, pi, infty."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of its terms."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of its factors."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """A base to an exponent; a division is an exponent of -1."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments; `± x` and `∓ x` are functions of x."""

    name: str
    arguments: tuple[Expression, ...]


Expression = Number | Symbol | Sum | Product | Power | Call

MINUS_ONE = Number(Fraction(-1))
CONSTANTS = frozenset({"e", "i", "pi", "infty"})
"""Symbols that are numbers, and no variables."""


def negative(expression: Expression) -> Expression:
    """Minus the expression."""
    if isinstance(expression, Number):
        return Number(-expression.value, expression.decimals, expression.is_reduced)
    return Product((MINUS_ONE, expression))


def difference(left: Expression, right: Expression) -> Expression:
    """Left minus right."""
    return Sum((left, negative(right)))


def quotient(numerator: Expression, denominator: Expression) -> Expression:
    """Numerator over denominator; two whole numbers become one `Number`, 1/2.

    Large factorials are cancelled: they are too large to be computed.
    """
    if (
        isinstance(numerator, Number)
        and isinstance(denominator, Number)
        and numerator.decimals is None
        and denominator.decimals is None
        and denominator.value
    ):
        value = numerator.value / denominator.value
        return Number(value, None, _is_reduced(numerator, denominator, value))
    if (numbers := _numbers_between(numerator, denominator)) is not None:
        return Product((Number(Fraction(1)), *numbers))
    return Product((numerator, Power(denominator, MINUS_ONE)))


LEAST_CANCELLED = 3_000
"""Least number whose factorial is cancelled in a quotient; smaller ones can be computed."""
_MAX_BETWEEN = 50


def _numbers_between(numerator: Expression, denominator: Expression) -> list[Number] | None:
    """The factors that a quotient of large factorials leaves: 9999 of `9999!/9998!`; else None."""
    last, first = _number_of_factorial(numerator), _number_of_factorial(denominator)
    if last is None or first is None:
        return None
    if first < LEAST_CANCELLED or not 0 <= last - first <= _MAX_BETWEEN:
        return None
    return [Number(Fraction(one)) for one in range(first + 1, last + 1)]


def _number_of_factorial(expression: Expression) -> int | None:
    """The whole number of which an expression is the factorial; None for any other expression."""
    match expression:
        case Call("factorial", (Number(value, None),)) if value.denominator == 1:
            return int(value)
    return None


def _is_reduced(numerator: Number, denominator: Number, value: Fraction) -> bool:
    """Whether two whole numbers, over each other, are the fraction itself."""
    if numerator.value.denominator > 1 or not (numerator.is_reduced and denominator.is_reduced):
        return False
    return 1 < value.denominator == abs(denominator.value)


def is_constant(symbol: Symbol) -> bool:
    """Whether a symbol is a number, such as pi, and not a variable."""
    return symbol.name in CONSTANTS


def variables(expression: Expression) -> frozenset[str]:
    """Names of the variables in an expression."""
    names: set[str] = set()
    for part in walk(expression):
        if isinstance(part, Symbol) and part.name not in CONSTANTS:
            names.add(part.name)
    return frozenset(names)


def walk(expression: Expression) -> list[Expression]:
    """The expression and every expression in it, at any depth."""
    found = [expression]
    for part in found:
        match part:
            case Sum(terms):
                found.extend(terms)
            case Product(factors):
                found.extend(factors)
            case Power(base, exponent):
                found += (base, exponent)
            case Call(_, arguments):
                found.extend(arguments)
    return found


def has_decimals(expression: Expression) -> bool:
    """Whether an expression holds a number that was written with a decimal point."""
    return any(isinstance(part, Number) and part.decimals for part in walk(expression))


def has_symbol(expression: Expression, name: str) -> bool:
    """Whether an expression holds the variable or constant of this name."""
    return any(isinstance(part, Symbol) and part.name == name for part in walk(expression))


def substitute(expression: Expression, replacements: Mapping[str, Expression]) -> Expression:
    """The expression with variables, by their names, replaced."""
    if isinstance(expression, Symbol):
        return replacements.get(expression.name, expression)
    return with_parts(expression, lambda part: substitute(part, replacements))


def with_parts(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each of its direct parts changed."""
    match expression:
        case Sum(terms):
            return Sum(tuple(change(term) for term in terms))
        case Product(factors):
            return Product(tuple(change(factor) for factor in factors))
        case Power(base, exponent):
            return Power(change(base), change(exponent))
        case Call(name, arguments):
            return Call(name, tuple(change(one) for one in arguments))
    return expression


def with_each_sign(expression: Expression) -> list[Expression]:
    """Both expressions that one with `±` stands for: `2 ± 1` is 2 + 1 and 2 - 1.

    Several signs change together: the first expression takes all upper signs, the second all lower
    ones. An expression without `±` and `∓` is returned alone.
    """
    if not any(isinstance(part, Call) and part.name in "±∓" for part in walk(expression)):
        return [expression]
    return [_with_sign(expression, 1), _with_sign(expression, -1)]


def _with_sign(expression: Expression, sign: int) -> Expression:
    changed = with_parts(expression, lambda part: _with_sign(part, sign))
    match changed:
        case Call("±", (inside,)):
            return inside if sign == 1 else negative(inside)
        case Call("∓", (inside,)):
            return inside if sign == -1 else negative(inside)
    return changed
