"""Quantities: one expression with its unit, currency or words; ratios, residues and angles.

The hard part is to find which tokens are the unit: `m` is metres in `5 m`, and a variable in `5m`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.counters import with_counters
from verifier_service.mathematics.expression_parser import parse_expression, parse_number
from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Power,
    Product,
    difference,
    negative,
    quotient,
    with_each_sign,
)
from verifier_service.mathematics.notation import Kind, Token, Unreadable, sign_of_unit
from verifier_service.mathematics.spelled_numbers import (
    NUMBER_WORDS,
    mixed_number,
    with_digits,
)
from verifier_service.mathematics.units import (
    AREA_WORDS,
    CAPITAL_UNITS,
    DEGREE,
    ENERGY,
    GREEK_SIGNS,
    LETTER_UNITS,
    MAX_UNIT_EXPONENT,
    NO_UNIT,
    SPEED_OF_LIGHT,
    UNITS,
    Unit,
    unit_named,
)
from verifier_service.mathematics.values import Quantity, Several, Value, Words
from verifier_service.mathematics.wording import (
    parts_of_whole,
    read_words,
    scale_of,
    stem,
)

MAX_BASED_DIGITS = 1000
"""Most digits of a number that names its base."""

_BASES = {
    **{str(base): base for base in range(2, 37)},
    **{word: number for word, number in NUMBER_WORDS.items() if 2 <= number <= 36},
}
"""Bases of numbers, as digits or as a word."""
_CURRENCIES = frozenset({"$", "€", "£", "₤", "¥", "₹", "₩", "₽"})
_MODULO = frozenset({"mod", "pmod", "bmod"})
_BRACES = frozenset({"{", "}"})
_ROUND_OR_BRACES = frozenset({"(", ")", "{", "}"})
_MINUTES_AND_SECONDS = {"'": 60, '"': 3600}
_CURRENCY_CODES = frozenset(
    "USD EUR GBP JPY CNY RMB INR Rs rs CAD AUD NZD HKD SGD CHF SEK NOK DKK KRW BRL ZAR".split()
)
"""Names of currencies that may stand before an amount: `USD 5`, `Rs. 500`."""
_DOLLARS = {"US": "USD", "C": "CAD", "CA": "CAD", "A": "AUD", "AU": "AUD", "NZ": "NZD",
            "HK": "HKD", "S": "SGD"}  # fmt: skip
"""Letters before a dollar sign, and the currency that both name."""
MAX_SIGN_TOKENS = 3
"""Most tokens of the sign of a unit: `MPa` where each letter is one."""
_DEGREES = frozenset({"degree", "degrees", "deg"})
_SCALES = {
    **dict.fromkeys(("c", "celsius", "centigrade"), "°C"),
    **dict.fromkeys(("f", "fahrenheit"), "°F"),
    **dict.fromkeys(("k", "kelvin"), "K"),
}
"""Words behind `degrees` that make them degrees of a scale of temperature."""
_BEFORE_UNITS = frozenset({"*", ".", "-", "{", "}", "(", ")", "of", "each", "the"})
_WORD_SIGNS = frozenset({"-", "&", "'", "."})
_PLAIN_EXPONENTS = {"2": 2, "3": 3, "squared": 2, "cubed": 3}
"""Exponents of a unit that are written without `^`: `cm2`, `meters squared`."""
_MISLEADING_WORDS = frozenset(
    (
        "squared cubed factorial below above wrong incorrect not false less more plus times "
        "tenths hundredths thousandths halves thirds too fewer excluded doubled tripled "
        "quadrupled halved modulo away short shy off impossible invalid rejected"
    ).split()
)
"""Words after a number that make it another number, or deny it."""
_ONE_LETTER = LETTER_UNITS | CAPITAL_UNITS
_MISLEADING_LAST_WORDS = frozenset("minus negative half most least gross best worst".split())
"""Such words that count at the end only: `5 negative`, but `5 negative roots` counts roots."""


def read_quantity(tokens: list[Token]) -> Value | None:
    """A number or expression, perhaps with a unit: `5 cm`, `$3`, `3:4`, `60°`, `two dogs`.

    Returns:
        None if the tokens are prose with mathematics in it.

    Raises:
        Unreadable: a part that must be an expression is none.
    """
    counted = with_counters(tokens)
    if counted is None:
        return Words("".join("minus" if one.text == "-" else one.text for one in tokens))
    tokens = with_digits(with_signs_of_units(counted), begins_unit)
    for read in (_read_ratio, _read_residue, _read_with_base, read_compound):
        found = read(tokens)
        if found is not None:
            return found
    currency, tokens = _split_currency(_with_quotients_of_units(tokens))
    if not tokens:
        raise Unreadable("a currency without an amount")
    angle = _read_degrees(tokens)
    if angle is not None:
        return angle
    if all(token.kind is Kind.WORD or token.text in _WORD_SIGNS for token in tokens):
        return read_words(tokens)
    return _read_measure(tokens, currency)


def with_signs_of_units(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with one word for the sign of a unit in several: `k\\Omega`, `degrees C`."""
    found: list[Token] = []
    index = 0
    while index < len(tokens):
        sign, width = _sign_at(tokens, index)
        token = tokens[index]
        found.append(token if sign is None else token._replace(kind=Kind.WORD, text=sign))
        index += width
    return found


def _sign_at(tokens: Sequence[Token], index: int) -> tuple[str | None, int]:
    """The sign of a unit that tokens make together at an index, and how many they are."""
    following = tokens[index : index + MAX_SIGN_TOKENS]
    if following[0].text.lower() in _DEGREES:
        scale = _SCALES.get(following[1].text.lower()) if len(following) > 1 else None
        return scale, 2 if scale else 1
    for width in range(len(following), 0, -1):
        run = following[:width]
        are_names = all(token.kind in (Kind.LETTER, Kind.WORD) for token in run)
        sign = sign_of_unit(run) if are_names else None
        if sign is not None:
            return (sign, width) if _stands_for_unit(tokens, index, index + width) else (None, 1)
    return None, 1


def _stands_for_unit(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether letters are the sign of a unit and no product: text, or all that follows a number."""
    run = tokens[start:end]
    if any(one.kind is Kind.WORD for one in run):  # \text{m}\text{s} are two units
        return any(one.text in GREEK_SIGNS for one in run)
    is_prefixed = len(run) > 1 or run[0].text == "Omega"
    is_number = start > 0 and tokens[start - 1].kind is Kind.NUMBER
    follows_number = run[0].spaced and (is_number or _ends_with_power_of_ten(tokens[:start]))
    return is_prefixed and follows_number and end == len(tokens)


def _read_ratio(tokens: Sequence[Token]) -> Value | None:
    """`3:4` as a quotient, and `1:2:3` as a tuple of quotients by the first term."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ":" and token.kind is Kind.SIGN:
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) == 1 or any(not part for part in parts):
        return None
    terms = [parse_expression(part) for part in parts]
    if len(terms) == 2:
        return Quantity(quotient(terms[0], terms[1]))
    return Several("tuple", tuple(Quantity(quotient(term, terms[0])) for term in terms), "::")


def _read_residue(tokens: Sequence[Token]) -> Value | None:
    """`3 (mod 7)`: a pair of residue and modulus."""
    tokens = [token for token in tokens if token.text not in _ROUND_OR_BRACES]
    texts = [token.text for token in tokens]
    index = next((i for i, text in enumerate(texts) if text in _MODULO), 0)
    if not 0 < index < len(texts) - 1:
        return None
    start = texts.index("≡") + 1 if "≡" in texts else 0
    residue, modulus = tokens[start:index], tokens[index + 1 :]
    return Several(
        "tuple", (Quantity(parse_expression(residue)), Quantity(parse_expression(modulus))), "mod"
    )


def _read_with_base(tokens: Sequence[Token]) -> Quantity | Words | None:
    """`101_2`, `(2A)_{16}`, `204_{\\text{five}}`: digits and their base."""
    texts = [token.text for token in tokens if token.text not in _ROUND_OR_BRACES]
    if len(texts) < 3 or texts[-2] != "_" or tokens[0].text in ("-", "_"):
        return None
    digits, base_text = "".join(texts[:-2]), texts[-1].lower()
    if not digits[0].isdigit():  # a name with an index
        return None
    base = _BASES.get(base_text)
    if base is None or len(digits) > MAX_BASED_DIGITS:
        return None
    if not digits.isalnum() or not digits.isascii():
        return None
    try:
        value = int(digits, base)
    except ValueError:
        return Words(f"{digits}_{base}")
    if not digits.isdigit():
        return Quantity(Number(Fraction(value)))
    return Quantity(Number(Fraction(int(digits))), base=base)


def read_compound(tokens: Sequence[Token]) -> Quantity | None:
    """`1 hour 30 minutes`, `2 h 30 min`, `5 ft 3 in`, `5'3"`: a sum of ever smaller units.

    Returns:
        None unless every amount has a unit of one dimension, smaller than the one before it.
    """
    parts = _amounts_with_units(_currency_behind(tokens))
    if len(parts) < 2:
        return None
    names = [" ".join(token.text.lower() for token in unit) for _, unit in parts]
    units = [_unit_beside(name, names) or read_unit(unit)
             for name, (_, unit) in zip(names, parts, strict=True)]  # fmt: skip
    first, total, size_before = units[0], Fraction(0), None
    for unit, (amount, _) in zip(units, parts, strict=True):
        if first is None or unit is None or unit.dimension != first.dimension or unit.offset:
            return None
        value = parse_number(amount.text).value
        if size_before is not None and not value * unit.size < size_before:
            return None
        total, size_before = total + value * unit.size, unit.size
    return Quantity(Number(total / first.size), first) if first else None


def _currency_behind(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with the currency sign before the first amount behind it: `5 $ 30 cents`."""
    if len(tokens) > 1 and tokens[0].text in _CURRENCIES and tokens[1].kind is Kind.NUMBER:
        return (tokens[1], tokens[0]._replace(kind=Kind.WORD), *tokens[2:])
    return tokens


def _amounts_with_units(tokens: Sequence[Token]) -> list[tuple[Token, Sequence[Token]]]:
    """Each number with the tokens of its unit; empty where the tokens are anything else."""
    starts = [index for index, token in enumerate(tokens) if token.kind is Kind.NUMBER]
    if len(starts) < 2 or starts[0] != 0:
        return []
    parts = []
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        unit = tokens[start + 1 : end]
        if end < len(tokens) and len(unit) > 1 and _joins_amounts(unit[-1], unit[-2]):
            unit = unit[:-1]
        if not unit or not all(_may_name_unit(token) for token in unit):
            return []
        parts.append((tokens[start], unit))
    return parts


def _joins_amounts(token: Token, unit: Token) -> bool:
    """Whether `and`, or a comma behind a unit in words, may stand between amounts."""
    return token.text.lower() == "and" or (token.text == "," and len(unit.text) > 2)


def _may_name_unit(token: Token) -> bool:
    if token.kind is Kind.WORD:
        return token.text.lower() not in ("and", "or")
    return (token.kind is Kind.LETTER and token.text in LETTER_UNITS) or token.text in ("'", '"')


_OTHER_MEANINGS = (
    # Units whose names mean something else beside others: those others, and the meanings.
    ({"h", "hr", "hrs", "hour", "hours", "s", "sec", "seconds", "min", "minutes"}, {"m": "min"}),
    ({"'"}, {"'": "ft", '"': "in"}),
)
_PARTS_OF_DEGREES = {"minute": 60, "minutes": 60, "min": 60, "second": 3600, "seconds": 3600}


def _unit_beside(name: str, names: Sequence[str]) -> Unit | None:
    """The unit that a name has beside these others only: minutes, the m of `2 h 30 m`."""
    if names[0] in ("degree", "degrees", "deg") and name in _PARTS_OF_DEGREES:
        return Unit(DEGREE.dimension, DEGREE.size / _PARTS_OF_DEGREES[name])
    for others, meanings in _OTHER_MEANINGS:
        if name in meanings and others.intersection(names):
            return UNITS[meanings[name]]
    return None


def _with_quotients_of_units(tokens: list[Token]) -> list[Token]:
    """The tokens with `km / h` in place of `\\frac{\\text{km}}{\\text{h}}`."""
    for index, token in enumerate(tokens):
        if index and token.kind is Kind.FUNCTION and token.text == "frac":
            quotient_of_units = _without_frac(tokens[index + 1 :])
            if read_unit(quotient_of_units) is not None:
                return [*tokens[:index], *quotient_of_units]
    return tokens


def _without_frac(arguments: Sequence[Token]) -> list[Token]:
    """Words in the two groups of a fraction, with `/` between them; empty for other arguments."""
    groups: list[list[Token]] = []
    depth = 0
    for token in arguments:
        depth -= token.text == "}"
        if depth < 0:
            return []
        if depth:
            groups[-1].append(token)
        elif token.text == "{":
            groups.append([])
        elif token.text != "}":
            return []
        depth += token.text == "{"
    if len(groups) != 2 or any(one.kind is Kind.LETTER for group in groups for one in group):
        return []
    return [*groups[0], Token(Kind.SIGN, "/"), *groups[1]]


def _split_currency(tokens: list[Token]) -> tuple[Unit | None, list[Token]]:
    """The currency that stands before an amount, `$5`, `-$5`, `USD 5`, and the other tokens."""
    texts = [token.text for token in tokens[:3]]
    if "$" in texts and (letters := "".join(texts[: texts.index("$")])) in _DOLLARS:
        return UNITS[_DOLLARS[letters]], tokens[texts.index("$") + 1 :]
    if texts[0] in _CURRENCY_CODES and tokens[0].kind is Kind.WORD:
        after = tokens[2:] if texts[1:2] in (["."], ["$"]) else tokens[1:]
        if after and after[0].kind is Kind.NUMBER:
            return UNITS[texts[0]], after
    if tokens[0].kind is Kind.SIGN and tokens[0].text in _CURRENCIES:
        return UNITS[tokens[0].text], tokens[1:]
    if len(tokens) > 1 and tokens[0].text == "-" and tokens[1].text in _CURRENCIES:
        return UNITS[tokens[1].text], [tokens[0], *tokens[2:]]
    return None, tokens


def _read_degrees(tokens: list[Token]) -> Quantity | None:
    """`60^\\circ 42'`, an angle in degrees, minutes and seconds, or `20^\\circ C`; else None."""
    index = next((i for i, token in enumerate(tokens) if token.text == "°"), None)
    if index is None:
        return None
    before = tokens[:index]
    if any(token.kind is Kind.FUNCTION and token.text not in ("frac", "sqrt") for token in before):
        return None  # sin 30°: the expression parser knows degrees
    while before and before[-1].text in ("^", "{"):
        before = before[:-1]
    after = _primes(tokens[index + 1 :])
    if len(after) == 1 and after[0].text.lower() in _SCALES:
        return Quantity(parse_expression(before), UNITS[_SCALES[after[0].text.lower()]])
    if not before:
        raise Unreadable("an angle without a number")
    expression, rest = _with_minutes(parse_expression(before), after)
    if any(token.kind is Kind.LETTER for token in (*before, *rest)):
        return None  # 30° + 360° k: the expression parser knows degrees
    if any(token.kind is not Kind.WORD for token in rest):
        raise Unreadable("an angle in an expression")
    return Quantity(expression, DEGREE)


def _primes(tokens: Sequence[Token]) -> list[Token]:
    """Tokens behind a degree sign, with `'` and `"` in place of `^{\\prime}` and of two primes."""
    found: list[Token] = []
    for token in tokens:
        if token.text == "'" and found and found[-1].text == "'":
            found[-1] = token._replace(text='"')
        elif token.text not in ("{", "}", "^"):
            found.append(token)
    return found


def _with_minutes(degrees: Expression, tokens: list[Token]) -> tuple[Expression, list[Token]]:
    """Degrees with the minutes and seconds after them, `42' 30\"`, and the other tokens."""
    while (
        len(tokens) >= 2
        and tokens[0].kind is Kind.NUMBER
        and tokens[1].text in _MINUTES_AND_SECONDS
    ):
        parts = Number(Fraction(_MINUTES_AND_SECONDS[tokens[1].text]))
        minutes = quotient(parse_expression(tokens[:1]), parts)
        degrees = difference(degrees, negative(minutes))
        tokens = tokens[2:]
    return degrees, tokens


def _read_measure(tokens: list[Token], currency: Unit | None) -> Value | None:
    """An expression with the unit or the words after it; None if there is no such expression."""
    for start in _unit_starts(tokens, _expression_end(tokens)):
        try:
            expression = parse_expression(tokens[:start])
        except Unreadable:
            continue
        rest = _without_exponent_of_units(tokens[start:])
        unit = read_unit(rest)
        if unit is None and any(_belongs_to_mathematics(token) for token in rest):
            continue
        if unit is None and rest and not _has_words(rest):
            continue  # `5-` and `5/` break off
        if unit is None and rest and not _has_number(tokens[:start]):
            return None  # `a right prism`: an article, not a variable
        words = [token.text.lower() for token in rest]
        mixed = mixed_number(expression, words)
        if mixed is not None and currency is None:
            return Quantity(mixed)
        parts = parts_of_whole(words) if currency is None else None
        if parts is not None and isinstance(expression, Number):
            return Quantity(Number(expression.value / parts))
        is_pay = currency is not None and words[-1:] == ["gross"]
        if unit is None and not is_pay and _is_misleading(words):
            return Words(" ".join(token.text.lower() for token in tokens))
        return _with_signs(_scaled(expression, rest, unit, currency))
    return None


def _without_exponent_of_units(rest: list[Token]) -> list[Token]:
    """The tokens with `units` in place of `units^2`, which name no unit either."""
    is_area = len(rest) > 2 and rest[0].text.lower() in ("unit", "units") and rest[1].text == "^"
    inside = [token.text for token in rest[2:] if token.text not in _BRACES] if is_area else []
    return rest[:1] if inside in (["2"], ["3"]) else rest


def _is_misleading(words: Sequence[str]) -> bool:
    """Whether the words after a number make it another number, or deny it: `5 point five`."""
    if words[:1] == ["times"] and _compares(words[1:]):
        words = words[1:]
    if not words:
        return False
    return (
        not _MISLEADING_WORDS.isdisjoint(words)
        or words[-1] in _MISLEADING_LAST_WORDS
        or (len(words) > 1 and words[0] == "point" and words[1] in NUMBER_WORDS)
    )


def _compares(words: Sequence[str]) -> bool:
    """Whether words behind `5 times` leave the 5 what it is: `brighter`, or none."""
    return not words or (len(words) == 1 and words[0] in _COMPARATIVES)


_COMPARATIVES = frozenset(
    "bigger brighter closer colder cooler darker deeper denser dimmer farther faster fewer further "
    "greater harder heavier higher hotter larger lesser lighter longer louder lower narrower "
    "nearer older richer shorter slower smaller softer steeper stiffer stronger taller thicker "
    "thinner tighter warmer weaker wider younger".split()
)
"""Words that end a comparison: the brighter of `25 times brighter`."""


def _scaled(
    expression: Expression, rest: Sequence[Token], unit: Unit | None, currency: Unit | None
) -> Quantity:
    """An expression with the tokens after it: a unit, words, or a scale: `3 million dollars`."""
    words = () if unit else tuple(stem(t.text) for t in rest if t.kind is Kind.WORD)
    scale = scale_of(words)
    if scale is None:
        return Quantity(expression, currency or unit, words)
    factor, words = scale
    unit = read_unit([token for token in rest[1:] if token.text != "of"])
    expression = Product((expression, _as_power_of_ten(factor)))
    return Quantity(expression, currency or unit, () if unit else words)


def _as_power_of_ten(factor: int) -> Expression:
    """A scale as `3 * 10^6` has it, so that nobody takes `3 million` for a product."""
    exponent = len(str(factor)) - 1
    if factor != 10**exponent:
        return Number(Fraction(factor))
    return Power(Number(Fraction(10)), Number(Fraction(exponent)))


def _with_signs(value: Quantity) -> Value:
    """A value, or the two values of `2 ± 1` as a list."""
    both = with_each_sign(value.expression)
    if len(both) == 1:
        return value
    return Several("list", tuple(replace(value, expression=one) for one in both))


def _expression_end(tokens: Sequence[Token]) -> int:
    """The last index before which an expression could end."""
    end = len(tokens)
    while end > 0 and not _ends_expression(tokens[end - 1]):
        end -= 1
    return end


def _ends_expression(token: Token) -> bool:
    return token.kind in (Kind.NUMBER, Kind.LETTER) or token.text in (
        ")", "]", "}", "|", "!", "'", "''", "⌋", "⌉", "°"
    )  # fmt: skip


def _unit_starts(tokens: Sequence[Token], end: int) -> list[int]:
    """Indices at which a unit may start, the likeliest first.

    Args:
        tokens: a quantity.
        end: the last index before which its expression could end.
    """
    starts = [end] if end else []
    for index in range(end - 1, 0, -1):
        if tokens[index].kind is Kind.WORD or _is_unit(tokens, index):
            starts.insert(0, index)
    for index, token in enumerate(tokens):
        if index and (token.kind is Kind.WORD or token.text in ("%", "$", "€", "£")):
            starts.insert(0, index)
            break
        if index and _is_unit(tokens, index) and read_unit(tokens[index:]) is not None:
            starts.insert(0, index)  # all of `g mol^{-1}`, not `mol^{-1}` alone
            break
    return list(dict.fromkeys(starts))


def _is_unit(tokens: Sequence[Token], index: int) -> bool:
    """Whether a sign or a letter can be a unit: `%`, or the m of `5 m`, but not of `x m`."""
    token = tokens[index]
    if token.text == "%":
        return True
    if not token.spaced or token.text not in _ONE_LETTER:
        return False
    is_scientific = _ends_with_power_of_ten(tokens[:index])
    is_sign = token.text in LETTER_UNITS or (
        # No product has a decimal, a space and a capital: `0.5 A`.
        is_scientific or "." in tokens[index - 1].text
    )
    return (
        is_sign
        and (is_scientific or tokens[index - 1].kind is Kind.NUMBER)
        and all(one.kind is not Kind.LETTER for one in tokens[:index])
    )


def _ends_with_power_of_ten(tokens: Sequence[Token]) -> bool:
    """Whether tokens end as a number in scientific notation does: `5 * 10^{-7}`."""
    texts = [token.text for token in tokens[-8:] if token.text not in _BRACES]
    for width in (3, 4):
        match texts[-width:]:
            case ["10", "^", digits] | ["10", "^", "-" | "+", digits] if digits.isdigit():
                return texts[-width - 1 : -width] in ([], ["*"])
    return False


def _belongs_to_mathematics(token: Token) -> bool:
    """Whether a token belongs to mathematics and not to a sentence."""
    return token.kind is not Kind.WORD and token.text not in (".", "-", "'", ",", "(", ")", "/")


def _has_words(tokens: Sequence[Token]) -> bool:
    return any(token.kind is Kind.WORD for token in tokens)


def _has_number(tokens: Sequence[Token]) -> bool:
    return any(token.kind is Kind.NUMBER or token.text == "pi" for token in tokens)


def read_unit(tokens: Sequence[Token]) -> Unit | None:
    """The unit that tokens name: `km/h`, `square meters`, `m^2`, `meters per second`.

    Returns:
        None if they name none, or only the word `units`.
    """
    if len(tokens) == 1:
        return unit_named(tokens[0].text)
    result, sign, power, found = NO_UNIT, 1, 1, False
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        lower = text.lower()
        if lower in AREA_WORDS:
            power = AREA_WORDS[lower]
        elif lower in ("per", "/", "an") and found:
            sign = -1
        elif text not in _BEFORE_UNITS:
            name = tokens[index].text
            exponent, index = _exponent_after(tokens, index)
            if abs(exponent) > MAX_UNIT_EXPONENT or (text == "%" and (exponent != 1 or found)):
                return None
            first, unit = _run_together(name) if exponent < 0 else (NO_UNIT, unit_named(name))
            if name == "c" and sign < 0 and result.dimension == ENERGY:  # GeV/c^2
                unit = SPEED_OF_LIGHT
            if unit is None:
                return None
            result = result.times(first, sign).times(unit, sign * power * exponent)
            power, found = 1, True
        index += 1
    return result if found else None


_NO_SINGLE_UNITS = frozenset({"ms", "kms", "cms", "kmh"})
"""Names of units that are two units before a negative exponent: `5 ms^{-1}` is 5 m/s."""


def _run_together(name: str) -> tuple[Unit, Unit | None]:
    """The two units whose names one word joins, as in `ms^{-1}` and `Jmol^{-1}`; of one, only it.

    The exponent behind the word belongs to the second.
    """
    unit = unit_named(name)
    if unit is not None and name not in _NO_SINGLE_UNITS:
        return NO_UNIT, unit
    for index in range(len(name) - 1, 0, -1):
        if name[:index] in UNITS and name[index:] in UNITS:
            return UNITS[name[:index]], UNITS[name[index:]]
    return NO_UNIT, None


def begins_unit(token: Token) -> bool:
    """Whether a word is a unit, or begins the name of one; `in` is a preposition too."""
    lower = token.text.lower()
    return lower in AREA_WORDS or (lower != "in" and unit_named(token.text) is not None)


def _exponent_after(tokens: Sequence[Token], index: int) -> tuple[int, int]:
    """The exponent of the unit at an index, 1 without one, and the index of its last token."""
    following = [token.text for token in tokens[index + 1 : index + 6]]
    if not following:
        return 1, index
    if following[0] != "^":
        exponent = _PLAIN_EXPONENTS.get(following[0].lower())
        return (1, index) if exponent is None else (exponent, index + 1)
    if following[1:2] == ["{"]:
        width = following.index("}") + 1 if "}" in following else 0
        digits = "".join(following[2 : width - 1])
    else:  # `^2`, `^-1`
        width = 3 if following[1:2] == ["-"] else 2
        digits = "".join(following[1:width])
    try:
        return int(digits), index + width
    except ValueError:
        return 1, index
