"""Values of expressions: exact rationals, or complex numbers of many digits.

Two expressions are the same if they are equal wherever both are defined. Rational expressions are
evaluated exactly, at several rational points that follow from both expressions. A polynomial
identity that fails, fails at almost every point (Schwartz 1980, Zippel 1979). Other expressions are
evaluated with mpmath at two precisions: a difference of zero shrinks with the precision, any other
difference stays.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from verifier_service.mathematics.decimals import largest_gap
from verifier_service.mathematics.expressions import (
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
from verifier_service.mathematics.magnitude import differ_in_size
from verifier_service.mathematics.notation import Unreadable

MAX_EXACT_BITS = 20_000
"""Most bits of the numerator or denominator of an exact value."""
MAX_FACTORIAL = 3_000
"""Largest whole number whose factorial or binomials are computed exactly."""
DIGITS = 50
"""Precision of numeric values, in decimal digits."""
MORE_DIGITS = 80
"""Precision at which a small difference of two values is computed again."""
LEAST_LOST_DIGITS = 20
"""Distance from 1, in decimal digits, from which parts can hide in the digits of others."""
MAX_LOST_DIGITS = 20_000
"""Most digits that are computed to see the smallest part; beyond them values count as different."""
MAX_EXPONENT_BITS = 4_000_000
"""Largest binary exponent of a numeric value; functions of larger values would take seconds."""
MAX_ANGLE_BITS = 10_000
"""Largest binary exponent of an angle; its remainder by pi needs as many digits."""
MAX_NUMERIC_FACTORIAL = 1e6
"""Largest argument of a factorial or binomial that is computed numerically."""
_POINT_DENOMINATOR = 97
_BOXES = (
    # Smallest and largest numerator, and the sign (0 for either). Roots and logarithms are real at
    # positive points; mistakes in absolute values and powers of 1 show at negative and small ones.
    (98, 600, 1), (1, 97, 1), (1, 600, 1),
    (300, 2000, -1), (1, 97, -1),
    (98, 600, -1), (1, 600, 0), (98, 600, 0),
)  # fmt: skip


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


_BENDING = frozenset({"abs", "max", "min", "floor", "ceil"})
_SCALES = (10**3, 10**6)
"""Sizes of points at which functions that may bend are compared too."""
MAX_SCALE_BITS = 400
"""Most bits of such a size."""


_NARROW_AND_WIDE = tuple(Fraction(2) ** power for power in (-2, -4, -6, -9, 4, 7, 10))
"""Sizes of further points for two expressions that are real at few of the others."""


def _further_points(
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


def same(left: Expression, right: Expression, tolerance: float) -> bool | None:
    """Whether two expressions are equal wherever both are defined; None if that stays open.

    Args:
        left: an expression.
        right: another; the result does not depend on their order.
        tolerance: a relative difference that is allowed where a number has a decimal point; 0 for
            none. Last places bound it further: see `decimals.largest_gap`.
    """
    if left == right:
        return True
    if isinstance(left, Number) and isinstance(right, Number):
        if left.value == right.value:
            return True
        if not tolerance or not (left.decimals or right.decimals):
            return False
        return _are_close(left, right, (left.value, right.value), {}, tolerance)
    ends = (_infinite(left), _infinite(right))
    if any(ends):
        return ends[0] == ends[1]
    if _divides_by_zero(left) != _divides_by_zero(right):
        return False
    names = sorted(variables(left) | variables(right))
    approximate = tolerance if has_decimals(left) or has_decimals(right) else 0.0
    try:
        return _same_exactly(left, right, names, approximate)
    except NotExact:
        pass
    try:
        return _same_numerically(left, right, names, approximate)
    except (Unreadable, RecursionError):
        point = next(iter(points(names, left, right))) if names else {}
        return False if differ_in_size(left, right, point) else None


def _divides_by_zero(expression: Expression) -> bool:
    """Whether a denominator is the number 0, so that there is no value: `(5 - 5)/0`."""
    return any(
        isinstance(part, Power)
        and isinstance(part.exponent, Number)
        and part.exponent.value < 0
        and not variables(part.base)
        and _is_zero(part.base)
        for part in walk(expression)
    )


def _is_zero(constant: Expression) -> bool:
    try:
        return exact(constant, {}) == 0
    except (NotExact, Undefined):
        return False


def _infinite(expression: Expression) -> int:
    """1 and -1 for the infinities, 0 for anything else."""
    if expression == Symbol("infty"):
        return 1
    return -1 if expression == negative(Symbol("infty")) else 0


def _same_exactly(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> bool | None:
    num_compared = 0
    for point in points(names, left, right) if names else [{}]:
        one, other = _exact_if_defined(left, point), _exact_if_defined(right, point)
        if one is None or other is None:
            continue
        if one != other and not _are_close(left, right, (one, other), point, tolerance):
            return False
        num_compared += 1
    return True if num_compared >= (3 if names else 1) else None


def _exact_if_defined(expression: Expression, point: Mapping[str, Fraction]) -> Fraction | None:
    try:
        return exact(expression, point)
    except Undefined:
        return None


def _are_close(
    left: Expression,
    right: Expression,
    values: tuple[Fraction, Fraction],
    point: Mapping[str, Fraction],
    tolerance: float,
) -> bool:
    """Whether two expressions with these values at a point are equal, of which one may be rounded.

    38 is not 38.0000021, nor 123456789 123456700.0, but 1000/3 is 333.33333.
    """
    gap, size = abs(values[0] - values[1]), max(map(abs, values))
    if not tolerance or gap > Fraction(repr(tolerance)) * size:
        return False
    return bool(
        gap
        <= largest_gap(
            left, right, size, tolerance, lambda one: exact(one, point), is_constant=not point
        )
    )


def _same_numerically(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> bool | None:
    """Compare values at several points. Real values decide; complex ones if none is real."""
    if not names:
        try:
            return _same_at(left, right, {}, tolerance)[0]
        except Undefined:
            return None
    is_complex = has_symbol(left, "i") or has_symbol(right, "i")
    num_equal = num_different = num_decisive = 0
    first = points(names, left, right)
    for is_equal, is_real in _comparisons(left, right, first, tolerance, is_complex=is_complex):
        if is_real or is_complex:
            if not is_equal:
                return False
            num_decisive += 1
        elif is_equal:
            num_equal += 1
        else:
            num_different += 1
    if num_decisive < 2 and not is_complex:
        further = _equal_where_real(left, right, names, tolerance)
        if not all(further):
            return False
        if _agree_beyond_reals(left, right, first, tolerance):
            num_decisive += len(further)
    if num_decisive >= 2:
        return None if _num_nested_powers(left) != _num_nested_powers(right) else True
    if num_different:
        return None if num_decisive else False
    return True if num_equal + num_decisive >= 2 else None


def _equal_where_real(
    left: Expression, right: Expression, names: Sequence[str], tolerance: float
) -> list[bool]:
    """Whether values are equal at each of the further points at which both are real."""
    further = _further_points(names, left, right)
    found = _comparisons(left, right, further, tolerance, is_complex=False)
    return [is_equal for is_equal, is_real in found if is_real]


def _agree_beyond_reals(
    left: Expression, right: Expression, at: Iterable[dict[str, Fraction]], tolerance: float
) -> bool:
    """Whether complex values agree too, at points where `x^{100}` and `e^{-x}` are not tiny.

    Near 0 the first is lost among 50 digits, and far from it the second.
    """
    found = _comparisons(left, right, at, tolerance, is_complex=True)
    verdicts = [is_equal for is_equal, _ in found]
    return len(verdicts) >= 2 and all(verdicts)


def _num_nested_powers(expression: Expression) -> int:
    """How many powers of powers have letters everywhere: `(a^b)^c`, which a^(bc) need not be.

    They are equal where the base is positive, as at all points with real values.
    """
    return sum(
        isinstance(part, Power)
        and isinstance(part.base, Power)
        and all(map(variables, (part.exponent, part.base.exponent, part.base.base)))
        for part in walk(expression)
    )


def _comparisons(
    left: Expression,
    right: Expression,
    at: Iterable[dict[str, Fraction]],
    tolerance: float,
    *,
    is_complex: bool,
) -> Iterator[tuple[bool, bool]]:
    """Whether values are equal, and whether both are real, at each point that defines both."""
    for point in at:
        try:
            if not is_complex and any(leaves_the_reals(one, point) for one in (left, right)):
                continue
            yield _same_at(left, right, point, tolerance)
        except Undefined:
            continue


def leaves_the_reals(expression: Expression, point: Mapping[str, Fraction]) -> bool:
    """Whether the value at a point takes a root or logarithm of a negative number."""
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
        if gap and gap <= tolerance * size:
            largest = largest_gap(
                left,
                right,
                size,
                tolerance,
                lambda part: numeric(part, point, DIGITS),
                is_constant=not point,
            )
            if gap <= largest:
                return True, is_real
        least = mpmath.mpf(10) ** (-DIGITS // 2)
        if gap > size * least and gap > least:  # below that, both may be zero: sin(pi)
            return False, is_real
    return _agree_further(left, right, point, gap), is_real


def _agree_further(
    left: Expression, right: Expression, point: Mapping[str, Fraction], gap: Any
) -> bool:
    """Whether a small difference shrinks with the precision, down to the smallest parts written.

    Without their size `\\sqrt2 + 10^{-90}` would be `\\sqrt2` to any fixed number of digits.
    """
    extra = _num_lost_digits(left) + _num_lost_digits(right)
    if not extra and not gap:
        return True
    if extra > MAX_LOST_DIGITS:
        return False
    digits = MORE_DIGITS + extra
    with mpmath.workdps(digits):
        more = abs(numeric(left, point, digits) - numeric(right, point, digits))
        gap = max(gap, mpmath.mpf(10) ** -DIGITS) if extra else gap
        return bool(more < gap * mpmath.mpf(10) ** (-(digits - DIGITS) // 2))


def _num_lost_digits(expression: Expression) -> int:
    """How many digits constants far from 1 can hide from others: twice those of `10^{-90}`.

    Twice, because half of them are left to rounding. An argument of a function counts twice that:
    functions square a small one, and the cosine of 10^-45 is 10^-90 below 1.
    """
    lost = 0
    for part in walk(expression):
        inside: tuple[Expression, ...] = ()
        times = 4 if isinstance(part, Call) else 2
        if isinstance(part, Sum | Product):
            inside = part.terms if isinstance(part, Sum) else part.factors
        elif isinstance(part, Call):
            inside = part.arguments
        elif isinstance(part, Power):
            inside = (part.exponent,)
        lost += sum(times * _num_digits_from_one(one) for one in inside)
    return lost


def _num_digits_from_one(one: Expression) -> int:
    """The distance of a constant from 1 in decimal digits; 0 where it is near, or no constant."""
    if (isinstance(one, Number | Symbol) and not _is_extreme(one)) or variables(one):
        return 0
    try:
        value = numeric(one, {}, 15)
    except (Undefined, Unreadable):
        return 0
    size = abs(mpmath.mag(value)) * math.log10(2) if value else 0
    return int(size) if size > LEAST_LOST_DIGITS else 0


def _is_extreme(one: Number | Symbol) -> bool:
    """Whether a number is written with more digits than the first precision has."""
    if isinstance(one, Symbol):
        return False
    bits = max(one.value.numerator.bit_length(), one.value.denominator.bit_length())
    return bits > LEAST_LOST_DIGITS * 3
