"""Whether two quantities, or two expressions, are equal: units, percents, rounding, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.arbitrary_constants import (
    differ_by_a_constant,
    with_same_parameters,
)
from verifier_service.mathematics.decimals import (
    half_unit,
    plain_decimal,
    significant_digits,
)
from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Symbol,
    difference,
    has_symbol,
    quotient,
    variables,
    with_parts,
)
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.numeric_values import DIGITS, numeric
from verifier_service.mathematics.ordered_products import factors_of, ordered_letters
from verifier_service.mathematics.rules import Rules
from verifier_service.mathematics.tolerance import rounding_places
from verifier_service.mathematics.units import (
    GREEK_SIGNS,
    LETTER_UNITS,
    MAX_UNIT_EXPONENT,
    NO_UNIT,
    UNITS,
    Unit,
    unit_named,
)
from verifier_service.mathematics.values import Quantity


def same_quantity(left: Quantity, right: Quantity, rules: Rules) -> bool | None:
    """Whether two quantities are equal; None where that is not decided here.

    One that its author rounds is equal to what equals it, rounded or not.
    """
    if left.rounding is None and right.rounding is None:
        return _same_unrounded(left, right, rules)
    verdicts = [
        _same_unrounded(one, other, rules)
        for one in (left, *_rounded(left))
        for other in (right, *_rounded(right))
    ]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _rounded(value: Quantity) -> list[Quantity]:
    return [] if value.rounding is None else [replace(value, expression=value.rounding)]


def _same_unrounded(left: Quantity, right: Quantity, rules: Rules) -> bool | None:
    if left.base or right.base:
        return _same_based(left, right)
    one, other = ordered_letters(left.expression), ordered_letters(right.expression)
    if one and other and max(len(one), len(other)) > 1:
        return one == other
    if rules.units == "ignore":
        return same_expression(left.expression, right.expression, rules)
    left, right = _with_letters_as_units(left, right), _with_letters_as_units(right, left)
    if _name_different_things(left.words, right.words):
        return False
    if _is_percent(left) or _is_percent(right):
        return _same_percent(left, right, rules)
    if left.unit and right.unit:
        return _same_measured(left, right, rules)
    if left.unit or right.unit:
        measured, plain = (left, right) if left.unit else (right, left)
        if plain.words:  # 3 hours, 3 students
            return False
        if _is_angle(measured.unit) and has_symbol(plain.expression, "pi"):
            return same_expression(_in_radians(measured), plain.expression, rules)
        if rules.units == "require":
            return False
    return same_expression(left.expression, right.expression, rules)


def _with_letters_as_units(value: Quantity, other: Quantity) -> Quantity:
    """A value whose letters are units if the other has one: the `5m/s` beside `5 m/s`.

    By itself `5m` is a product of a number and a variable.
    """
    if other.unit is None or value.unit is not None or value.words:
        return value
    numbers: list[Number] = []
    letters: list[tuple[str, int]] = []
    for factor in factors_of(value.expression):
        base, power = _base_and_power(factor)
        if isinstance(base, Number) and power == 1:
            numbers.append(base)
        elif isinstance(base, Symbol) and _is_of_unit(power):
            letters.append((base.name, int(power)))
        else:
            return value
    unit = _unit_of_letters(letters)
    return Quantity(numbers[0], unit) if len(numbers) == 1 and unit else value


def _unit_of_letters(letters: Sequence[tuple[str, int]]) -> Unit | None:
    """The unit of letters with their powers: one sign of several, or units of one letter each."""
    sign = "".join(GREEK_SIGNS.get(name, name) for name, _ in letters)
    if letters and all(power == 1 for _, power in letters) and (unit := unit_named(sign)):
        return unit
    unit = NO_UNIT
    for name, power in letters:
        if name not in LETTER_UNITS:
            return None
        unit = unit.times(UNITS[name], power)
    return unit if unit.dimension else None


def _base_and_power(factor: Expression) -> tuple[Expression, Fraction]:
    """A factor without its numeric exponents, and their product: s and -2 for `1/s^2`."""
    power = Fraction(1)
    while isinstance(factor, Power) and isinstance(factor.exponent, Number):
        power *= factor.exponent.value
        factor = factor.base
    return factor, power


def _is_of_unit(power: Fraction) -> bool:
    return power.denominator == 1 and abs(power) <= MAX_UNIT_EXPONENT


def _name_different_things(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether both sides name what they count, and count different things: 5 apples, 5 pears."""
    one, other = set(left), set(right)
    return bool(one and other and not (one <= other or other <= one))


def _same_based(left: Quantity, right: Quantity) -> bool:
    """Whether whole numbers in any base are equal: `101_2` is 5, and not 101."""
    return _in_base_ten(left) is not None and _in_base_ten(left) == _in_base_ten(right)


def _in_base_ten(number: Quantity) -> Fraction | None:
    """The value of a number in any base; None for anything else."""
    if not isinstance(number.expression, Number):
        return None
    value = number.expression.value
    if not number.base:
        return value
    try:
        return Fraction(int(str(value), number.base))
    except ValueError:  # no digits of that base: `9_2`
        return None


def _is_percent(value: Quantity) -> bool:
    return value.unit is not None and value.unit.dimension == (("percent", 1),)


def _is_angle(unit: Unit | None) -> bool:
    return unit is not None and unit.dimension == (("angle", 1),)


def _in_radians(value: Quantity) -> Expression:
    return Product((value.expression, Number(Fraction(1, 180)), Symbol("pi")))


def _same_percent(left: Quantity, right: Quantity, rules: Rules) -> bool | None:
    if _is_percent(left) and _is_percent(right):
        return same_expression(left.expression, right.expression, rules)
    percent, plain = (left, right) if _is_percent(left) else (right, left)
    if plain.unit:  # 20%, 20 km
        return False
    share = quotient(percent.expression, Number(Fraction(100)))
    verdict = same_expression(share, plain.expression, rules)
    if verdict or rules.percent == "strict":
        return verdict
    return same_expression(percent.expression, plain.expression, rules)


def _same_measured(left: Quantity, right: Quantity, rules: Rules) -> bool | None:
    left, right = _with_degrees(left, right), _with_degrees(right, left)
    if left.unit is None or right.unit is None:
        return False
    if {left.unit.dimension, right.unit.dimension} == {(("angle", 1),), (("radian", 1),)}:
        angle, radian = (left, right) if _is_angle(left.unit) else (right, left)
        return same_expression(_in_radians(angle), radian.expression, rules)
    if left.unit.dimension != right.unit.dimension:
        # A unit without a dimension, such as m/km, is no currency.
        is_money = any(
            one.currency != () and one.currency == other.dimension
            for one, other in ((left.unit, right.unit), (right.unit, left.unit))
        )
        return is_money and same_expression(left.expression, right.expression, rules)
    if left.unit == right.unit:
        return same_expression(left.expression, right.expression, rules)
    return same_expression(_in_base_units(left), _in_base_units(right), rules)


_DEGREES = {UNITS["C"]: UNITS["°C"], UNITS["F"]: UNITS["°F"]}
"""Degrees that the sign of another unit stands for beside a temperature: `20 C`."""


def _with_degrees(value: Quantity, other: Quantity) -> Quantity:
    """A value whose unit is a degree if the other is a temperature: the `20 C` beside `20 °C`."""
    if value.unit is None or other.unit is None or other.unit.dimension != _TEMPERATURE:
        return value
    return replace(value, unit=_DEGREES.get(value.unit, value.unit))


_TEMPERATURE = UNITS["K"].dimension


def _in_base_units(value: Quantity) -> Expression:
    if value.unit is None:
        return value.expression
    scaled = Product((value.expression, Number(value.unit.size)))
    return difference(scaled, Number(-value.unit.offset)) if value.unit.offset else scaled


def same_expression(left: Expression, right: Expression, rules: Rules) -> bool | None:
    """Whether two expressions are equal, or differ in their conventions only."""
    verdict = same(left, right, rules.tolerance)
    if verdict is not False:
        return verdict
    if _is_rounded(left, right, rules):
        return True
    if isinstance(left, Number) and isinstance(right, Number):  # neither logarithm nor parameter
        return False
    # `log` alone is natural to some and decimal to others.
    one, other = with_decimal_logarithms(left), with_decimal_logarithms(right)
    if (one, other) != (left, right) and same(one, other, rules.tolerance):
        return True
    if any(same(left, renamed, rules.tolerance) for renamed in with_same_parameters(left, right)):
        return True
    return differ_by_a_constant(left, right)


def with_decimal_logarithms(expression: Expression) -> Expression:
    """The expression with base 10 for each `log` that names no base."""
    changed = with_parts(expression, with_decimal_logarithms)
    if isinstance(changed, Call) and changed.name == "log" and len(changed.arguments) == 1:
        return Call("log", (*changed.arguments, Number(Fraction(10))))
    return changed


MIN_DIGITS_OF_ROUNDED = 4
"""Significant digits without which no decimal of many places is a rounded value: 0.000002."""


def _is_rounded(left: Expression, right: Expression, rules: Rules) -> bool:
    """Whether one side is a decimal of enough digits, and the other side rounds to it."""
    return any(
        _may_be_rounded(literal, rules) and _rounds_to(other, literal)
        for literal, other in ((left, right), (right, left))
    )


def _may_be_rounded(expression: Expression, rules: Rules) -> bool:
    decimal = plain_decimal(expression)
    if decimal is None:
        return False
    num_digits = significant_digits(decimal)
    if rules.rounding is not None and num_digits >= rules.rounding:
        return True
    has_places = (decimal.decimals or 0) >= rounding_places(rules.tolerance)
    return has_places and expression == decimal and num_digits >= MIN_DIGITS_OF_ROUNDED


def _rounds_to(value: Expression, rounded: Expression) -> bool:
    decimal = plain_decimal(rounded)
    if decimal is None or not decimal.value or variables(value):
        return False
    half_of_one = float(half_unit(decimal) / abs(decimal.value)) * (1 + 1e-9)
    try:
        gap = abs(numeric(difference(value, rounded), {}, DIGITS))
        return bool(gap <= abs(numeric(rounded, {}, DIGITS)) * half_of_one)
    except (Undefined, Unreadable):
        return False
