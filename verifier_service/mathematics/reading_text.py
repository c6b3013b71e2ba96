"""Readings of answers in words, for explanations: the values as the comparison sees them."""

from __future__ import annotations

from verifier_service.mathematics.comparison import AnswerReading
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
)
from verifier_service.mathematics.units import UNITS, Unit
from verifier_service.mathematics.values import (
    Grid,
    Named,
    Quantity,
    Range,
    Ranges,
    Relation,
    Several,
    Time,
    Value,
    Words,
)

_SIGNS = {unit: name for name, unit in reversed(UNITS.items())}
"""The first name of each unit."""
_HALVES = {"a": " a.m.", "p": " p.m."}
_KINDS = {"list": "list", "or": "one of", "set": "set", "tuple": "tuple"}


def reading_texts(reading: AnswerReading) -> list[str]:
    """Every reading of an answer, the likeliest first; none where it cannot be read.

    >>> from verifier_service.mathematics.comparison import read_answer
    >>> reading_texts(read_answer("x = 50\\\\%"))
    ['x = 50 %']
    >>> reading_texts(read_answer("\\\\frac{1}{2}"))
    ['1/2']
    """
    found = [value_text(value) for value in reading.values]
    if reading.option is not None:
        found.append(f"option {reading.option.letter}")
    if reading.letters:
        found.append(f"options {', '.join(reading.letters)}")
    if reading.condition:
        found = [f"{one}, if {reading.condition}" for one in found]
    return list(dict.fromkeys(found))


def value_text(value: Value) -> str:
    """A value in words and signs."""
    match value:
        case Quantity():
            return _quantity_text(value)
        case Named():
            name = value.name + (f"({value.argument})" if value.argument else "")
            return f"{name} = {value_text(value.value)}"
        case Several():
            return _several_text(value)
        case Ranges():
            pieces = " ∪ ".join(map(_range_text, value.pieces))
            return f"{value.variable} ∈ {pieces}" if value.variable else pieces
        case Relation():
            return f"{_text(value.left)} {value.sign} {_text(value.right)}"
        case Grid():
            rows = ("[" + ", ".join(map(value_text, row)) + "]" for row in value.rows)
            return f"matrix [{', '.join(rows)}]"
        case Words():
            return f"words “{value.text}”"
        case Time():
            half = _HALVES.get(value.half, "")
            return f"time {value.minutes // 60}:{value.minutes % 60:02}{half}"


def _quantity_text(value: Quantity) -> str:
    text = _text(value.expression)
    if value.base is not None:
        text += f" in base {value.base}"
    if value.unit is not None:
        text += " " + _unit_text(value.unit)
    return " ".join((text, *value.words))


def _unit_text(unit: Unit) -> str:
    """A unit's usual sign, `cm`; of any other its size and dimension, `1/1000 mass·length`."""
    if unit in _SIGNS:
        return _SIGNS[unit]
    name = "·".join(one if power == 1 else f"{one}^{power}" for one, power in unit.dimension)
    return name if unit.size == 1 else f"{unit.size} {name}"


def _several_text(value: Several) -> str:
    items = ", ".join(map(value_text, value.items))
    if value.kind == "set":
        return f"{{{items}}}" if value.items else "∅"
    if value.kind == "tuple" and value.brackets not in ("", "::"):
        return f"{value.brackets[0]}{items}{value.brackets[1]}"
    return f"{_KINDS.get(value.kind, value.kind)} ({items})"


def _range_text(one: Range) -> str:
    low = "-∞" if one.low is None else _text(one.low)
    high = "∞" if one.high is None else _text(one.high)
    return f"{'[' if one.low_closed else '('}{low}, {high}{']' if one.high_closed else ')'}"


def _text(expression: Expression, *, inside: bool = False) -> str:
    """An expression; in brackets where it is part of another and not a single sign."""
    match expression:
        case Number():
            text = _number_text(expression)
            return f"({text})" if inside and ("/" in text or "-" in text) else text
        case Symbol():
            return expression.name
        case Call():
            return f"{expression.name}({', '.join(map(_text, expression.arguments))})"
        case Power(base=base, exponent=exponent):
            text = f"{_text(base, inside=True)}^{_text(exponent, inside=True)}"
        case Product():
            text = _product_text(expression)
        case Sum():
            text = " + ".join(_text(one, inside=True) for one in expression.terms)
    return f"({text})" if inside and not isinstance(expression, Power) else text


def _product_text(product: Product) -> str:
    """A product, with a division for each factor to the power of -1."""
    text = ""
    for factor in product.factors:
        if isinstance(factor, Power) and _is_minus_one(factor.exponent):
            text = f"{text or '1'} / {_text(factor.base, inside=True)}"
        else:
            text += (" · " if text else "") + _text(factor, inside=True)
    return text


def _is_minus_one(exponent: Expression) -> bool:
    return isinstance(exponent, Number) and exponent.value == -1


def _number_text(number: Number) -> str:
    """A number as it was written, as far as that is known: `0.50`, `3`, `1/3`."""
    if number.decimals is None or number.decimals > 60:
        return str(number.value)
    digits = f"{abs(number.value.numerator) * 10**number.decimals // number.value.denominator}"
    digits = digits.rjust(number.decimals + 1, "0")
    point = len(digits) - number.decimals
    sign = "-" * (number.value < 0)
    return f"{sign}{digits[:point]}.{digits[point:]}" if number.decimals else sign + digits
