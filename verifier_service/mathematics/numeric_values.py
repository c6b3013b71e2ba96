"""Numeric values of expressions: real and complex numbers of many digits, by mpmath."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath

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
)
from verifier_service.mathematics.notation import Unreadable

DIGITS = 50
"""Precision of numeric values, in decimal digits."""
MAX_EXPONENT_BITS = 4_000_000
"""Largest binary exponent of a numeric value; functions of larger values would take seconds."""
MAX_ANGLE_BITS = 10_000
"""Largest binary exponent of an angle; its remainder by pi needs as many digits."""
MAX_NUMERIC_FACTORIAL = 1e6
"""Largest argument of a factorial or binomial that is computed numerically."""


def numeric(expression: Expression, point: Mapping[str, Any], digits: int) -> Any:
    """The value as an mpmath number, complex where no real number is the value.

    Args:
        expression: any expression.
        point: a value for each variable, by its name.
        digits: the precision, in decimal digits.

    Raises:
        Undefined: at a pole, at infinity, or outside the domain of a function.
        Unreadable: the value is too large, or the function unknown.
    """
    with mpmath.workdps(digits):
        try:
            return _finite(_numeric(expression, point))
        except (ZeroDivisionError, ValueError, mpmath.libmp.ComplexResult) as error:
            raise Undefined from error
        except (OverflowError, TypeError, NotImplementedError, mpmath.libmp.NoConvergence) as error:
            raise Unreadable(f"cannot be evaluated: {error}") from error


def _finite(value: Any) -> Any:
    if not mpmath.isfinite(value):
        raise Undefined
    for part in (mpmath.re(value), mpmath.im(value)):
        if part and abs(mpmath.mag(part)) > MAX_EXPONENT_BITS:
            raise Unreadable("too large to evaluate")
    return value


def _numeric(expression: Expression, point: Mapping[str, Any]) -> Any:
    match expression:
        case Number(value, _):
            return mpmath.mpf(value.numerator) / value.denominator
        case Symbol("pi"):
            return +mpmath.pi
        case Symbol("e"):
            return +mpmath.e
        case Symbol("i"):
            return mpmath.mpc(0, 1)
        case Symbol(name):
            if name not in point:
                raise Undefined  # infinity
            value = point[name]
            return mpmath.mpf(value.numerator) / value.denominator
        case Sum(terms):
            return _finite(mpmath.fsum(_numeric(term, point) for term in terms))
        case Product(factors):
            result = mpmath.mpf(1)
            for factor in factors:
                result = _finite(result * _numeric(factor, point))
            return result
        case Power(base, exponent):
            return _numeric_power(base, exponent, point)
        case Call(name, arguments):
            return _finite(_numeric_call(name, [_numeric(one, point) for one in arguments]))
    raise Unreadable("cannot be evaluated")


def _numeric_power(base: Expression, exponent: Expression, point: Mapping[str, Any]) -> Any:
    left, right = _numeric(base, point), _numeric(exponent, point)
    if left == 0:
        if mpmath.re(right) <= 0:
            raise Undefined
        return left
    size = abs(mpmath.mag(left)) + 1
    if abs(right) * size > MAX_EXPONENT_BITS and abs(mpmath.log(abs(left))) * abs(right) > (
        MAX_EXPONENT_BITS
    ):
        raise Unreadable("too large a power")
    if isinstance(left, mpmath.mpf) and left < 0 and not isinstance(right, mpmath.mpc):
        root = _real_root(left, exponent)
        if root is not None:
            return root
    return _finite(mpmath.power(left, right))


def _real_root(base: Any, exponent: Expression) -> Any:
    """The real value of a negative number to a fraction of odd denominator: (-8)^(1/3) is -2."""
    try:
        fraction = exact(exponent, {})
    except (NotExact, Undefined):
        return None
    if fraction.denominator == 1 or fraction.denominator % 2 == 0:
        return None
    if has_decimals(exponent):
        return None
    size = mpmath.power(-base, mpmath.mpf(fraction.numerator) / fraction.denominator)
    return -size if fraction.numerator % 2 else size


def _numeric_call(name: str, values: Sequence[Any]) -> Any:
    first = values[0]
    if name in _OF_ANGLES and mpmath.mag(first) > MAX_ANGLE_BITS:
        raise Unreadable("too large an angle")
    if name in _EXPONENTIAL and abs(first) > MAX_EXPONENT_BITS:
        raise Unreadable("too large a power")
    if len(values) == 1 and name in _FUNCTIONS:
        return _FUNCTIONS[name](first)
    if name in _FUNCTIONS_OF_SEVERAL:
        return _FUNCTIONS_OF_SEVERAL[name](values)
    raise Unreadable(name)


def _logarithm(values: Sequence[Any]) -> Any:
    """The logarithm of the first value, to the base of the second if there are two."""
    if len(values) > 2:
        raise Unreadable("a logarithm of several numbers")
    if values[0] == 0:
        raise Undefined
    return mpmath.log(*values)


def _factorial(values: Sequence[Any]) -> Any:
    if abs(values[0]) > MAX_NUMERIC_FACTORIAL:
        raise Unreadable("too large a factorial")
    return mpmath.factorial(values[0])


def _binomial(values: Sequence[Any]) -> Any:
    if max(abs(value) for value in values) > MAX_NUMERIC_FACTORIAL:
        raise Unreadable("too large a binomial")
    return mpmath.binomial(*values)


def _real(values: Sequence[Any]) -> Sequence[Any]:
    if any(isinstance(value, mpmath.mpc) for value in values):
        raise Unreadable("an order of complex numbers")
    return values


_OF_ANGLES = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "cosec"})
_EXPONENTIAL = frozenset({"exp", "sinh", "cosh"})
_FUNCTIONS: dict[str, Any] = {
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "cot": mpmath.cot,
    "sec": mpmath.sec,
    "csc": mpmath.csc,
    "cosec": mpmath.csc,
    "arcsin": mpmath.asin,
    "arccos": mpmath.acos,
    "arctan": mpmath.atan,
    "arccot": mpmath.acot,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "coth": mpmath.coth,
    "arcsinh": mpmath.asinh,
    "arccosh": mpmath.acosh,
    "arctanh": mpmath.atanh,
    "arccoth": mpmath.acoth,
    "ln": mpmath.log,
    "abs": abs,
    "floor": mpmath.floor,
    "ceil": mpmath.ceil,
}
_FUNCTIONS_OF_SEVERAL: dict[str, Callable[[Sequence[Any]], Any]] = {
    "log": _logarithm,
    "factorial": _factorial,
    "binom": _binomial,
    "max": lambda values: max(_real(values)),
    "min": lambda values: min(_real(values)),
}
