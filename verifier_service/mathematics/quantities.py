"""Numbers with units: which tokens are the unit, angles, several units in one quantity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.expressions import (
    Number,
    difference,
    negative,
    number,
    parse,
    quotient,
    signs,
)
from verifier_service.mathematics.notation import Kind, Token, Unreadable
from verifier_service.mathematics.units import (
    AREA_WORDS,
    DEGREE,
    LETTER_UNITS,
    NO_UNIT,
    UNITS,
    Unit,
)
from verifier_service.mathematics.values import Quantity, Several, Value, Words
from verifier_service.mathematics.wording import NUMBER_WORDS


def read_with_base(tokens: Sequence[Token]) -> Quantity | Words | None:
    """`101_2`, `(2A)_{16}`, `204_{\\text{five}}`: digits and their base."""
    texts = [token.text for token in tokens if token.text not in ("{", "}", "(", ")")]
    if len(texts) < 3 or texts[-2] != "_" or tokens[0].text in ("-", "_"):
        return None
    digits, base_text = "".join(texts[:-2]), texts[-1].lower()
    if not digits[0].isdigit():  # a name with an index
        return None
    base = int(base_text) if base_text.isdigit() else NUMBER_WORDS.get(base_text, 0)
    if not 2 <= base <= 36 or len(digits) > 1000 or not digits.isalnum() or not digits.isascii():
        return None
    try:
        value = int(digits, base)
    except ValueError:
        return Words(f"{digits}_{base}")
    if not digits.isdigit():
        return Quantity(Number(Fraction(value)))
    return Quantity(Number(Fraction(int(digits))), base=base)


def read_compound(tokens: Sequence[Token]) -> Quantity | None:
    """`1 hour 30 minutes`, `5 ft 3 in`: a sum of quantities of one dimension."""
    starts = [index for index, token in enumerate(tokens) if token.kind is Kind.NUMBER]
    if len(starts) < 2 or starts[0] != 0:
        return None
    total, first = Fraction(0), None
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        unit_tokens = tokens[start + 1 : end]
        if not unit_tokens or any(token.kind is not Kind.WORD for token in unit_tokens):
            return None
        unit = read_unit(unit_tokens)
        if unit is None or (first is not None and unit.dimension != first.dimension):
            return None
        first = first or unit
        total += number(tokens[start].text).value * unit.size
    return Quantity(Number(total / first.size), first) if first else None


def signed(value: Quantity) -> Value:
    """A value, or both values of one with a sign that stands for both."""
    both = signs(value.expression)
    if len(both) == 1:
        return value
    return Several("list", tuple(replace(value, expression=one) for one in both))


def read_degrees(tokens: list[Token]) -> tuple[list[Token], Quantity | None]:
    """`60^\\circ 42'` is an angle of degrees, minutes and seconds."""
    index = next((i for i, token in enumerate(tokens) if token.text == "°"), None)
    if index is None:
        return tokens, None
    before = tokens[:index]
    if any(token.kind is Kind.FUNCTION for token in before) and not all(
        token.text in ("frac", "sqrt") for token in before if token.kind is Kind.FUNCTION
    ):
        return tokens, None  # sin 30°: the expression knows
    while before and before[-1].text in ("^", "{"):
        before = before[:-1]
    after = [token for token in tokens[index + 1 :] if token.text not in ("{", "}")]
    if after and after[0].text in ("C", "F") and len(after) == 1:
        return tokens, Quantity(parse(before), UNITS["°" + after[0].text])
    if not before:
        raise Unreadable("an angle without a number")
    expression = parse(before)
    sizes = {"'": 60, "''": 3600}
    while len(after) >= 2 and after[0].kind is Kind.NUMBER and after[1].text in sizes:
        minutes = quotient(parse(after[:1]), Number(Fraction(sizes[after[1].text])))
        expression = difference(expression, negative(minutes))
        after = after[2:]
    if after and not all(token.kind is Kind.WORD for token in after):
        raise Unreadable("an angle in an expression")
    return tokens, Quantity(expression, DEGREE)


def ends_expression(tokens: Sequence[Token], end: int) -> bool:
    """Whether an expression could end before `end`."""
    token = tokens[end - 1]
    return token.kind in (Kind.NUMBER, Kind.LETTER) or token.text in (
        ")", "]", "}", "|", "!", "'", "''", "⌋", "⌉", "°"
    )  # fmt: skip


def unit_starts(tokens: Sequence[Token], end: int) -> list[int]:
    """Where a unit may start, the likeliest first."""
    starts = [end] if end else []
    for index in range(end, 0, -1):
        token = tokens[index - 1] if index <= len(tokens) else None
        if token is None or index - 1 == 0:
            continue
        is_unit = token.text in UNITS and (
            token.kind is Kind.WORD
            or (token.text in LETTER_UNITS and token.spaced and _is_measure(tokens[: index - 1]))
            or token.text == "%"
        )
        if is_unit or token.kind is Kind.WORD:
            starts.insert(0, index - 1)
    for index, token in enumerate(tokens):
        if index and (token.kind is Kind.WORD or token.text in ("%", "$", "€", "£")):
            starts.insert(0, index)
            break
    return list(dict.fromkeys(starts))


def _is_measure(tokens: Sequence[Token]) -> bool:
    """Whether a letter after these can be a unit: they end in a number and have no variable."""
    return tokens[-1].kind is Kind.NUMBER and all(token.kind is not Kind.LETTER for token in tokens)


def is_not_prose(token: Token) -> bool:
    """Whether a token belongs to mathematics and not to a sentence."""
    return token.kind is not Kind.WORD and token.text not in (".", "-", "'", ",", "(", ")", "/")


def has_number(tokens: Sequence[Token]) -> bool:
    """Whether there is a number among the tokens."""
    return any(token.kind is Kind.NUMBER or token.text == "pi" for token in tokens)


def read_unit(tokens: Sequence[Token]) -> Unit | None:
    """The unit that tokens name, or None: `km/h`, `square meters`, `m^2`, `meters per second`."""
    if not tokens:
        return None
    result, sign, power, found = NO_UNIT, 1, 1, False
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        lower = text.lower()
        unit = UNITS.get(text) or (UNITS.get(lower) if len(text) > 2 else None)
        if lower in AREA_WORDS:
            power = AREA_WORDS[lower]
        elif lower in ("per", "/", "an") and found:
            sign = -1
        elif text in ("*", ".", "-", "{", "}", "(", ")", "of", "each", "the"):
            pass
        elif unit is not None:
            exponent, index = _exponent_after(tokens, index)
            result = result.times(unit, sign * power * exponent)
            power, found = 1, True
        elif text == "unit" or text == "units":
            _, index = _exponent_after(tokens, index)
            return None
        else:
            return None
        index += 1
    if found and len(tokens) == 1 and (text in UNITS or len(text) > 1):
        return UNITS.get(tokens[0].text) or UNITS.get(tokens[0].text.lower())
    return result if found else None


def _exponent_after(tokens: Sequence[Token], index: int) -> tuple[int, int]:
    """The exponent of the unit at index, and the index of its last token."""
    following = [token.text for token in tokens[index + 1 : index + 6]]
    if following[:1] != ["^"]:
        if following[:1] and following[0] in ("2", "3"):
            return int(following[0]), index + 1
        if following[:1] and following[0].lower() in ("squared", "cubed"):
            return 2 if following[0].lower() == "squared" else 3, index + 1
        return 1, index
    digits = "".join(text for text in following[1:] if text.isdigit() or text == "-")
    width = 2
    if following[1:2] == ["{"]:
        width = 1 + following.index("}") if "}" in following else 2
        digits = "".join(following[2 : width - 1])
    else:
        digits = following[1] if len(following) > 1 else ""
    try:
        return int(digits), index + width
    except ValueError:
        return 1, index
