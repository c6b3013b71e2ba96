r"""Whole numbers with their base, such as `254_7`: a reference in a base asks for these digits.

The value in base ten is what the question mostly gives (`Write 137 in base 7`), so it is no answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from verifier_service.mathematics.plain_text import text_command_arguments, without_delimiters
from verifier_service.mathematics.spelled_numbers import NUMBER_WORDS

MAX_CHARACTERS = 200
"""Longest text that is read as a number with its base."""


class BasedNumber(NamedTuple):
    """A whole number and the base that its text names."""

    value: int
    base: int


_BASE = r"(?P<base>\d{1,2}|[A-Za-z]{3,12})"
_DIGITS = r"(?P<digits>[0-9A-Za-z]{1,100})"
# A number with its base: `254_7`, `(2A)_{16}`, `254_{(7)}`, `254 in base 7`, `N = 254 (base 7)`.
_BASED = re.compile(
    rf"(?:[A-Za-z]\s?=\s?)?(?P<sign>[-−]?)(?:\\left\s?)?\(?{_DIGITS}(?:\\right\s?)?\)?,?\s{{0,3}}"
    rf"(?:_\s?\{{?\s?\(?(?:base[\s-]?)?{_BASE}\)?\s?\}}?|[(\[]?(?:in\s)?base[\s-]?(?P<word>\w{{1,12}})[)\]]?)"
)
# A whole number as programs write it: `0b1011`, `0x2A`.
_PREFIXED = re.compile(r"(?P<sign>[-−]?)0(?P<prefix>[xXoObB])(?P<digits>[0-9A-Fa-f]{1,100})")
_PREFIXES = {"x": 16, "o": 8, "b": 2}
# A number that is written in a base: `137 in base 7 = 254`, `137_{10} in base 7 is 254`.
_WRITTEN = re.compile(
    rf"(?P<decimal>\d{{1,30}})(?:_\{{?10\}}?)?\s(?:(?:written|expressed)\s)?in\sbase[\s-]?{_BASE}"
    rf"\s?(?:=|is)\s?{_DIGITS}(?:_\s?\{{?\s?(?P<again>\w{{1,12}})\s?\}}?)?"
)
# Digits without a base, perhaps with spaces between groups: `254`, `(254)`, `1011 0110`.
_BARE = re.compile(r"(?:[A-Za-z]\s?=\s?)?(?P<sign>[-−]?)\(?(?P<digits>[0-9A-Za-z ]{1,120})\)?")
# Spaces in LaTeX: the `\,` of `1011\,0110`.
_THIN_SPACE = re.compile(r"\\[,;:! ]|~")
# A space before a group of three or four digits, or a comma there: those of `1,011 011_2`.
_GROUP_SPACE = re.compile(r"(?<=[0-9A-Fa-f]) (?=[0-9A-Fa-f]{3,4}(?![0-9A-Za-z]))")
_GROUP_COMMA = re.compile(r"(?<=[0-9A-Fa-f])(?:,|\{,\})(?=[0-9A-Fa-f]{3,4}(?![0-9A-Za-z]))")
# A sign of a base, without which no text names one.
_MAY_NAME_BASE = re.compile("_|base|0|[₀-₉]")
# A base in subscript digits: the `₁₆` of `2A₁₆`.
_SUBSCRIPT = re.compile("[₀-₉]{1,3}")
_SUBSCRIPT_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def based_number(text: str) -> BasedNumber | None:
    """The number that a text is if it names its base; None for any other text.

    >>> based_number("254_7"), based_number(r"(2A)_{16}"), based_number("254 base seven")
    (BasedNumber(value=137, base=7), BasedNumber(value=42, base=16), BasedNumber(value=137, base=7))
    >>> based_number("254"), based_number("9_2"), based_number("x_2")
    (None, None, None)
    """
    if len(text) > MAX_CHARACTERS or not _MAY_NAME_BASE.search(text):
        return None
    text = _plain(text)
    if (prefixed := _PREFIXED.fullmatch(text)) is not None:
        return _number(prefixed, _PREFIXES[prefixed["prefix"].lower()])
    if (match := _BASED.fullmatch(text)) is not None:
        base = _base(match["base"] or match["word"])
        is_name = not match["digits"][0].isdigit() and (base != 16 or len(match["digits"]) < 2)
        return None if base is None or is_name else _number(match, base)
    return None


def writes_digits(text: str, reference: BasedNumber) -> bool:
    """Whether a text has the digits of a reference, with its base or without one.

    Commas may part groups of three or four digits.

    >>> [writes_digits(one, BasedNumber(137, 7)) for one in ("254", "254_7", "137", "254_8")]
    [True, True, False, False]
    """
    if len(text) > MAX_CHARACTERS:
        return False
    text = _GROUP_COMMA.sub("", text)
    if (found := based_number(text)) is not None:
        return found == reference
    text = _plain(text)
    if (written := _WRITTEN.fullmatch(text)) is not None:
        if _base(written["base"]) != reference.base:
            return False
        if written["again"] and _base(written["again"]) != reference.base:
            return False
        return int(written["decimal"]) == reference.value == _value(written["digits"], reference)
    bare = _BARE.fullmatch(text)
    return bare is not None and _number(bare, reference.base) == reference


def _plain(text: str) -> str:
    text = _SUBSCRIPT.sub(lambda base: f"_{{{base[0].translate(_SUBSCRIPT_DIGITS)}}}", text)
    text = text_command_arguments(without_delimiters(_THIN_SPACE.sub(" ", text)))
    return _GROUP_SPACE.sub("", " ".join(text.split())).rstrip(".")


def _base(name: str) -> int | None:
    base = int(name) if name.isdecimal() else NUMBER_WORDS.get(name.lower(), 0)
    return base if 2 <= base <= 36 else None


def _value(digits: str, reference: BasedNumber) -> int | None:
    try:
        return int(digits, reference.base)
    except ValueError:  # no digits of that base: the 9 of `9_2`
        return None


def _number(match: re.Match[str], base: int) -> BasedNumber | None:
    try:
        value = int(match["digits"].replace(" ", ""), base)
    except ValueError:
        return None
    return BasedNumber(-value if match["sign"] else value, base)
