"""Values of expressions: exact rationals, or complex numbers of many digits.

Two expressions are the same if they are equal wherever both are defined. Rational ones are
evaluated exactly at several rational points, which follow from both (a polynomial identity that
fails, fails at almost every point: Schwartz 1980, Zippel 1979). Others are evaluated with mpmath at
two precisions; a difference that is zero shrinks with the precision, one that is not stays.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from verifier_service.mathematics.expressions import (
    MAX_EXACT_BITS,
    MAX_FACTORIAL,
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    has_decimals,
    has_symbol,
    negative,
    variables,
    walk,
)
from verifier_service.mathematics.notation import Unreadable

DIGITS = 50
MORE_DIGITS = 80
MAX_EXPONENT_BITS = 4_000_000
"""Of a floating-point value; its functions would take seconds beyond."""
_POINT_DENOMINATOR = 97
_BOXES = (
    # Smallest and largest numerator, sign (0 for either): roots and logarithms are real at positive
    # points, absolute values and powers of 1 show at negative and at small ones.
    (98, 600, 1), (1, 97, 1), (1, 600, 1),
    (300, 2000, -1), (1, 97, -1),
    (98, 600, -1), (1, 600, 0), (98, 600, 0),
)  # fmt: skip


class NotExact(Exception):
    """The value is not a rational number, or too large a one."""


class Undefined(Exception):
    """The expression has no finite value there."""


def exact(expression: Expression, point: Mapping[str, Fraction]) -> Fraction:
    """The value of a rational expression.

    Raises:
        NotExact: it has roots, functions or constants, or grows beyond MAX_EXACT_BITS.
        Undefined: a division by zero.
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
        case Call("factorial", (inside,)):
            value = exact(inside, point)
            if value.denominator != 1 or not 0 <= value <= MAX_FACTORIAL:
                raise NotExact
            return Fraction(math.factorial(int(value)))
        case Call("binom", (above, below)):
            n, k = exact(above, point), exact(below, point)
            if n.denominator != 1 or k.denominator != 1 or not 0 <= k <= n <= MAX_FACTORIAL:
                raise NotExact
            return Fraction(math.comb(int(n), int(k)))
        case Call("abs", (inside,)):
            return abs(exact(inside, point))
        case Call("floor", (inside,)):
            return Fraction(math.floor(exact(inside, point)))
        case Call("ceil", (inside,)):
            return Fraction(math.ceil(exact(inside, point)))
        case Call("max", arguments):
            return max(exact(one, point) for one in arguments)
        case Call("min", arguments):
            return min(exact(one, point) for one in arguments)
        case Call(("gcd" | "lcm") as name, arguments):
            values = [exact(one, point) for one in arguments]
            if any(value.denominator != 1 for value in values):
                raise NotExact
            function = math.gcd if name == "gcd" else math.lcm
            return Fraction(function(*(int(value) for value in values)))
    raise NotExact


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
    """Square and cube roots of perfect powers; the rest is not exact."""
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


def numeric(expression: Expression, point: Mapping[str, Any], digits: int) -> Any:
    """The value as an mpmath number of that many digits, complex where it has to be.

    Raises:
        Undefined: a pole, infinity or an argument outside a function's domain.
        Unreadable: it cannot be evaluated within reason.
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
    if name in ("sin", "cos", "tan", "cot", "sec", "csc", "cosec") and mpmath.mag(first) > 10_000:
        raise Unreadable("too large an angle")
    if name in ("exp", "sinh", "cosh") and abs(first) > MAX_EXPONENT_BITS:
        raise Unreadable("too large a power")
    function = _FUNCTIONS.get(name)
    if function is not None and len(values) == 1:
        return function(first)
    if name == "log" and len(values) in (1, 2):
        if first == 0:
            raise Undefined
        return mpmath.log(*values)
    if name == "factorial":
        if abs(first) > 1e6:
            raise Unreadable("too large a factorial")
        return mpmath.factorial(first)
    if name == "binom":
        if max(abs(value) for value in values) > 1e6:
            raise Unreadable("too large a binomial")
        return mpmath.binomial(*values)
    if name in ("max", "min") and not any(isinstance(value, mpmath.mpc) for value in values):
        return max(values) if name == "max" else min(values)
    raise Unreadable(name)


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
    "ln": mpmath.log,
    "abs": abs,
    "floor": mpmath.floor,
    "ceil": mpmath.ceil,
}


def points(names: Sequence[str], left: Expression, right: Expression) -> list[dict[str, Fraction]]:
    """Where two expressions of these variables are compared.

    The points follow from the expressions themselves, in either order, so that nobody can write an
    expression that differs from another everywhere but there.
    """
    seed = "\0".join(sorted((repr(left), repr(right)))).encode()
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
    return found


def same(left: Expression, right: Expression, tolerance: float) -> bool | None:
    """Whether two expressions are equal wherever both are defined; None if that cannot be told.

    Args:
        left: an expression.
        right: another; the answer does not depend on their order.
        tolerance: relative, used where a number was written with a decimal point; 0 for never.
    """
    if left == right:
        return True
    if isinstance(left, Number) and isinstance(right, Number):
        approximate = tolerance if left.decimals or right.decimals else 0.0
        return left.value == right.value or close(left.value, right.value, approximate)
    ends = (_infinite(left), _infinite(right))
    if any(ends):
        return ends[0] == ends[1]
    names = sorted(variables(left) | variables(right))
    approximate = tolerance if has_decimals(left) or has_decimals(right) else 0.0
    try:
        return _same_exactly(left, right, names, approximate)
    except NotExact:
        pass
    try:
        return _same_numerically(left, right, names, approximate)
    except (Unreadable, RecursionError):
        return None


def _infinite(expression: Expression) -> int:
    """1 and -1 for the infinities, 0 for anything else."""
    if expression == Symbol("infty"):
        return 1
    return -1 if expression == negative(Symbol("infty")) else 0


def _same_exactly(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> bool | None:
    num_compared = 0
    for point in points(names, left, right):
        values: list[Fraction | None] = []
        for expression in (left, right):
            try:
                values.append(exact(expression, point))
            except Undefined:
                values.append(None)
        one, other = values
        if one is None or other is None:
            if not names:
                return None
            continue
        num_compared += 1
        if one != other and not close(one, other, tolerance):
            return False
        if not names:
            return True
    return True if num_compared >= 3 else None


def close(one: Fraction, other: Fraction, tolerance: float) -> bool:
    """Whether two rationals agree within a relative tolerance."""
    return bool(tolerance) and abs(one - other) <= Fraction(repr(tolerance)) * max(
        abs(one), abs(other)
    )


def _same_numerically(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> bool | None:
    is_complex = has_symbol(left, "i") or has_symbol(right, "i")
    is_partial = bool(names) and not is_complex
    num_equal = num_real = num_different = 0
    for point in points(names, left, right):
        try:
            if is_partial and any(_leaves_the_reals(one, point) for one in (left, right)):
                continue
            verdict, is_real = _same_at(left, right, point, tolerance)
        except Undefined:
            if not names:
                return None
            continue
        if is_real or is_complex or not names:
            if not verdict:
                return False
            num_real += 1
        elif verdict:
            num_equal += 1
        else:
            num_different += 1
        if not names:
            return True
    if num_real >= 2:
        return True
    if num_different:
        return False if num_real == 0 else None
    return True if num_equal + num_real >= 2 else None


def _leaves_the_reals(expression: Expression, point: Mapping[str, Fraction]) -> bool:
    """Whether a root or logarithm of a negative number is on the way to the value there."""
    for part in walk(expression):
        inside = None
        if isinstance(part, Power) and not (
            isinstance(part.exponent, Number) and part.exponent.value.denominator % 2
        ):
            inside = part.base
        elif isinstance(part, Call) and part.name in ("log", "ln"):
            inside = part.arguments[0]
        if inside is not None and variables(inside):
            value = numeric(inside, point, 15)
            if value.imag or value.real < 0:
                return True
    return False


def _same_at(
    left: Expression, right: Expression, point: Mapping[str, Fraction], tolerance: float
) -> tuple[bool, bool]:
    """Whether the values at a point are equal, and whether both are real."""
    one, other = numeric(left, point, DIGITS), numeric(right, point, DIGITS)
    with mpmath.workdps(DIGITS):
        is_real = all(abs(mpmath.im(value)) <= abs(value) * 1e-40 for value in (one, other))
        gap, size = abs(one - other), max(abs(one), abs(other))
        if gap <= tolerance * size:
            return True, is_real
        if gap > size * mpmath.mpf(10) ** (-DIGITS // 2):
            return False, is_real
    with mpmath.workdps(MORE_DIGITS):
        more = abs(numeric(left, point, MORE_DIGITS) - numeric(right, point, MORE_DIGITS))
        return bool(more < gap * mpmath.mpf(10) ** (-(MORE_DIGITS - DIGITS) // 2)), is_real
