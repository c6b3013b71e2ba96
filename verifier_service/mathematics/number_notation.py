r"""Notations of whole numbers and decimals, rewritten as ones that the parser knows.

Periods of repeating decimals, `0.(3)` and `0.333...`; points and pairs of digits in groups,
`1.234.567` and `12,34,567`; words and prefixes for a base, `101 base 2` and `0x1A`.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 200
"""Longest text that is taken for one number."""
MIN_DIGITS_OF_CUT = 6
"""Significant digits from which a decimal that is cut off, `3.14159...`, stands for its value."""
_MAX_PERIOD = 30
_BASES_OF_PREFIXES = {"x": 16, "o": 8, "b": 2}
_NAME = r"(?P<name>[A-Za-z]\s*=\s*)?"

# A decimal with its period in brackets: `0.1(6)`, `x = 3.(27)`.
_PERIOD_IN_BRACKETS = re.compile(
    _NAME + r"(?P<number>[-−+]?\d{1,30}\.\d{0,30})\((?P<period>\d{1,30})\)"
)
# A decimal that goes on: `0.333...`, `1.41421\ldots`.
_GOES_ON = re.compile(
    _NAME + r"(?P<number>[-−+]?\d{0,30}\.(?P<places>\d{1,100}))\s*(?:\.{3,4}|…|\\[lc]?dots)"
)
# A period between dots, as in Britain and China: `0.1\dot{2}3\dot{4}`, and the dot or bar over one
# digit without braces: `0.\bar 3`.
_DOTTED = re.compile(
    _NAME + r"(?P<number>[-−+]?\d{1,30}\.\d{0,30})"
    r"(?:\\dot\s*\{?\s*(?P<first>\d)\s*\}?(?P<middle>\d{0,28})\\dot\s*\{?\s*(?P<last>\d)\s*\}?"
    r"|\\(?:bar|dot|overline)\s+(?P<only>\d))"
)
# A number of thousandths: `5‰`, `2.5\text{‰}`.
_PER_MILLE = re.compile(
    _NAME + r"(?P<number>[-−+]?\d{1,30}(?:\.\d{1,30})?)(?:\s|\\[,; ])*"
    r"(?:‰|\\text\s*\{\s*‰\s*\}|\\(?:textperthousand|permil)(?![a-z])|per[ ]?mil(?:le?)?\b)"
)
# A whole number with points between its groups, and perhaps a decimal comma: `1.234.567,89`.
_POINTED = re.compile(
    r"(?<![\w.,])(?P<whole>[1-9]\d{0,2}(?:\.\d{3}){2,})(?:,(?P<decimals>\d{1,9}))?(?![\w.,])"
)
# A number whose groups have two digits but for the last, as in India: `12,34,567`, `1,00,000`.
_LAKHS = re.compile(r"(?<![\w.,])[1-9]\d?(?:,\d\d)+,\d{3}(?![\d,])")
# A number and its base in words: `101 (base 2)`, `2345 in base six`, `101_{base 2}`.
_BASE_IN_WORDS = re.compile(
    r"\(?(?P<digits>\d[0-9A-Za-z]{0,100})\)?,?\s*(?:[(\[]|_\s*\{?)?\s*(?:in\s+)?base[\s-]*"
    r"(?P<base>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen)\s*[)\]}]?",
    re.IGNORECASE,
)
# A whole number as programs write it: `0x1A`, `0b101`.
_WITH_PREFIX = re.compile(
    r"0(?:(?P<x>[xX])(?P<hex>[0-9a-fA-F]{1,100})|(?P<o>[oO])[0-7]{1,100}|(?P<b>[bB])[01]{1,100})"
)
# Digits of base sixteen that begin with a letter: `FF_{16}`, `\mathrm{FF}_{16}`.
_HEX_LETTERS = re.compile(
    r"(?:\\(?:mathrm|text)\s*\{(?P<styled>[A-F][0-9A-F]{1,100})\}|(?P<plain>[A-F][0-9A-F]{1,100}))"
    r"\s*_\s*\{?\s*16\s*\}?"
)

# A Roman numeral in its usual form: `XIV`, `MCMXCIV`.
_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
MAX_ROMAN_CHARACTERS = 15
"""Characters of the longest Roman numeral, 3888."""

# Numbers of statements, and that no others are meant: `I and III only`.
_ONLY = re.compile(r"([IVX]{1,5}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[IVX]{1,5}){0,9})\s+only")


def with_plain_numbers(text: str) -> str:
    r"""The text with numbers as the parser knows them in place of other notations.

    >>> with_plain_numbers("0.1(6)"), with_plain_numbers("0.333..."), with_plain_numbers("3.14...")
    ('0.1\\overline{6}', '0.\\overline{3}', '3.14...')
    >>> with_plain_numbers("1.234.567,5"), with_plain_numbers("12,34,567")
    ('1234567.5', '1234567')
    >>> with_plain_numbers("0x1A"), with_plain_numbers("101 (base 2)")
    ('01A_{16}', '101_{2}')
    """
    if "." in text:
        text = _POINTED.sub(_unpointed, text)
    if text.count(",") > 1 and not text.startswith(("(", "[", "{", "\\")):
        text = _LAKHS.sub(lambda number: number[0].replace(",", ""), text)
    return _whole_number(text.strip()) or text if len(text) <= MAX_CHARACTERS else text


def may_be_lakhs(text: str) -> bool:
    """Whether commas may part groups as in India, or elements of a list: `12,34,567`."""
    return text.count(",") > 1 and _LAKHS.search(text) is not None


def roman_value(text: str) -> int | None:
    """The value of a Roman numeral of two letters or more; None for any other text.

    Letters that name options or points as often are none: `CD`, `MC`, `DI`.

    >>> roman_value("XIV"), roman_value("II"), roman_value("IIII"), roman_value("CD")
    (14, 2, None, None)
    """
    if not 1 < len(text) <= MAX_ROMAN_CHARACTERS or _ROMAN.fullmatch(text) is None:
        return None
    if set(text) == {"X"} or (set(text).isdisjoint("VX") and set(text) != {"I"}):
        return None  # `XX` stands for a number that is left out
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def without_only(text: str) -> str:
    """The text without `only` behind Roman numerals, which number statements: `I and III only`."""
    match = _ONLY.fullmatch(text) if text.endswith("only") else None
    return match[1] if match else text


def _unpointed(number: re.Match[str]) -> str:
    decimals = f".{number['decimals']}" if number["decimals"] else ""
    return number["whole"].replace(".", "") + decimals


def _whole_number(text: str) -> str | None:
    """The text of one number in another notation; None for any other text."""
    if (match := _PERIOD_IN_BRACKETS.fullmatch(text)) is not None:
        return rf"{match['name'] or ''}{match['number']}\overline{{{match['period']}}}"
    if (match := _GOES_ON.fullmatch(text)) is not None:
        return _continued(match)
    if (match := _DOTTED.fullmatch(text)) is not None:
        period = match["only"] or match["first"] + match["middle"] + match["last"]
        return rf"{match['name'] or ''}{match['number']}\overline{{{period}}}"
    if (match := _PER_MILLE.fullmatch(text)) is not None:
        return f"{match['name'] or ''}{match['number']}/1000"
    if (match := _BASE_IN_WORDS.fullmatch(text)) is not None:
        return f"{match['digits']}_{{{match['base']}}}"
    if (match := _HEX_LETTERS.fullmatch(text)) is not None:
        return f"0{match['styled'] or match['plain']}_{{16}}"
    if (match := _WITH_PREFIX.fullmatch(text)) is not None:
        letter = (match["x"] or match["o"] or match["b"]).lower()
        return f"0{text[2:].upper()}_{{{_BASES_OF_PREFIXES[letter]}}}"
    return None


def _continued(match: re.Match[str]) -> str | None:
    r"""A decimal that goes on: with its period, or as it is where it has many digits."""
    name, number, places = match["name"] or "", match["number"], match["places"]
    num_digits = len(number.lstrip("-−+0.").replace(".", ""))
    if num_digits > MIN_DIGITS_OF_CUT + 2:  # 2.718281828 has no period
        return name + number
    if period := _period_of(places):
        start = number[: -len(places)] + _before_period(places, period)
        return rf"{name}{start}\overline{{{period}}}"
    return name + number if num_digits >= MIN_DIGITS_OF_CUT else None


def _period_of(places: str) -> str:
    """The digits that decimals end with twice: `27` of `2727`; empty where there are none."""
    for width in range(1, min(_MAX_PERIOD, len(places) // 2) + 1):
        if places[-width:] == places[-2 * width : -width]:
            return places[-width:]
    return ""


def _before_period(places: str, period: str) -> str:
    """The decimals before the period begins: the `1` of `1666`."""
    while places.endswith(period):
        places = places[: -len(period)]
    return places
