"""Numbers that are spelled: `twenty-one`, `a hundred and five`, `two and a half`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from verifier_service.mathematics.expression_parser import parse_number
from verifier_service.mathematics.expressions import Expression, Number
from verifier_service.mathematics.notation import Kind, Token

NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen"
        ).split()
    )
} | {
    word: 10 * (index + 2)
    for index, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
SCALE_WORDS = {"ten": 10, "hundred": 100, "dozen": 12, "thousand": 1000, "lakh": 10**5,
               "million": 10**6, "crore": 10**7, "billion": 10**9, "trillion": 10**12,
               "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8,
               "億": 10**8}  # fmt: skip
_FRACTION_WORDS = {"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifths": 5,
                   "fifth": 5, "halves": 2, "fourth": 4, "fourths": 4, "eighth": 8,
                   "eighths": 8, "tenth": 10, "tenths": 10, "sixth": 6, "sixths": 6,
                   "seventh": 7, "sevenths": 7, "ninth": 9, "ninths": 9, "twelfth": 12,
                   "twelfths": 12}  # fmt: skip
ORDINAL_WORDS = {
    # Less `second` and `third`, which are a unit and a fraction.
    "first": 1, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
_ARTICLES = frozenset({"a", "an"})
_ANY_WORD = "|".join([*NUMBER_WORDS, *SCALE_WORDS, *_FRACTION_WORDS])
SPELLED_NUMBER = (
    rf"(?:a\s+(?=hundred|thousand|million|dozen))?(?:{_ANY_WORD})"
    rf"(?:(?:\s+and\s+(?:a\s+)?|[\s-]+(?:point\s+)?)(?:{_ANY_WORD}))*\b"
)
"""A pattern for numbers in sentences in lower case: `twenty-one`, `a hundred and five`."""
_MAX_WORDS = 24
"""Most words of a number: `nine hundred ninety-nine billion ...` has fewer."""


def is_number_word(word: str) -> bool:
    """Whether a word in lower case is part of a number; `one` is a pronoun too."""
    words = (NUMBER_WORDS, SCALE_WORDS, _FRACTION_WORDS, ("point",))
    return word != "one" and any(word in some for some in words)


def spelled_number(words: Sequence[str]) -> tuple[Number, int] | None:
    """The number that the first words spell, in lower case without hyphens, and how many they are.

    >>> spelled_number("two and a half hours".split())
    (Number(value=Fraction(5, 2), decimals=None), 4)
    >>> spelled_number("one point five".split())
    (Number(value=Fraction(3, 2), decimals=1), 3)
    >>> spelled_number(["dogs"]) is None
    True
    """
    words = words[:_MAX_WORDS]
    part = _part(words)
    if part is not None:
        return Number(part[0]), part[1]
    whole = _whole_number(words)
    if whole is None:
        return None
    found = _with_decimals(*whole, words) or _mixed_number(*whole, words)
    if found is None:
        return Number(whole[0]), whole[1]
    scale = SCALE_WORDS.get(words[found[1]]) if found[1] < len(words) else None
    return found if scale is None else (_scaled(found[0], scale), found[1] + 1)


def _part(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """The part of a whole that the first words name: `half`, `a quarter`, `three fourths`."""
    if words[:1] == ["half"]:
        return Fraction(1, 2), 1
    if len(words) < 2 or words[1] not in _FRACTION_WORDS:
        return None
    count = 1 if words[0] in _ARTICLES else NUMBER_WORDS.get(words[0], 0)
    return (Fraction(count, _FRACTION_WORDS[words[1]]), 2) if count else None


def stated_once(text: str) -> str | None:
    """The digits of a number that a text has in words too; None for any other text.

    >>> stated_once("7 (seven)"), stated_once("forty-two (42)"), stated_once("7 (eight)")
    ('7', '42', None)
    """
    match = _STATED_TWICE.fullmatch(text) if text.endswith(")") else None
    if match is None:
        return None
    digits = match["digits"] or match["in_brackets"]
    words = (match["words"] or match["spelled"]).lower().replace("-", " ").split()
    found = spelled_number(words)
    is_same = found is not None and found[1] == len(words) and found[0] == parse_number(digits)
    return digits if is_same else None


# A number in digits and in words, one of them in brackets: `7 (seven)`, `Forty-two (42)`.
_STATED_TWICE = re.compile(
    r"(?P<digits>\d{1,15})\s{0,3}\((?P<words>[A-Za-z][A-Za-z -]{1,80})\)"
    r"|(?P<spelled>[A-Za-z][A-Za-z -]{0,79}[A-Za-z])\s{0,3}\((?P<in_brackets>\d{1,15})\)"
)


def mixed_number(whole: Expression, words: Sequence[str]) -> Number | None:
    """The number of digits with a part in words behind it: `2 and a half`; None for all else."""
    if not isinstance(whole, Number) or whole.decimals is not None or whole.value <= 0:
        return None
    mixed = _mixed_number(whole.value, 0, words)
    return mixed[0] if mixed is not None and mixed[1] == len(words) else None


def _mixed_in_digits(digits: str, words: Sequence[str]) -> tuple[Number, int] | None:
    """The number of digits with the part behind it, and how many words name that."""
    whole = parse_number(digits) if words[:1] == ["and"] else None
    if whole is None or whole.decimals is not None:
        return None
    return _mixed_number(whole.value, 0, words)


def _mixed_number(whole: Fraction, length: int, words: Sequence[str]) -> tuple[Number, int] | None:
    """A whole number, of so many words, with the part that those behind it name: `and a half`."""
    part = _part(words[length + 1 :]) if words[length : length + 1] == ["and"] else None
    if part is None or part[0] >= 1 or whole.denominator != 1:
        return None
    return Number(whole + part[0]), length + 1 + part[1]


def _whole_number(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """The whole number that the first words spell, and how many they are."""
    total, current, index = 0, 0, 0
    if len(words) > 1 and words[0] in _ARTICLES and words[1] in SCALE_WORDS and words[1] != "ten":
        current, index = 1, 1
    while index < len(words):
        word = words[index]
        if word in NUMBER_WORDS:
            if not _fits(NUMBER_WORDS[word], current):
                return None
            current += NUMBER_WORDS[word]
        elif word == "hundred" and index:
            current = (current or 1) * 100
        elif word in SCALE_WORDS and index:
            total, current = total + (current or 1) * SCALE_WORDS[word], 0
        elif word != "and" or not index or not _goes_on(words[index - 1], words[index + 1 :]):
            break
        index += 1
    return (Fraction(total + current), index) if index else None


def _goes_on(before: str, behind: Sequence[str]) -> bool:
    """Whether a number goes on behind `and`: `hundred and five`, but not `twenty and five`."""
    goes_on = before in SCALE_WORDS and bool(behind) and behind[0] in NUMBER_WORDS
    return goes_on and _part(behind) is None


def _fits(value: int, before: int) -> bool:
    """Whether a number can follow another: `twenty one`, but not `one two`."""
    return before % 100 == 0 or (before % 10 == 0 and before % 100 >= 20 and value < 10)


def _with_decimals(whole: Fraction, length: int, words: Sequence[str]) -> tuple[Number, int] | None:
    """A whole number, of so many words, with the decimals behind it: `point one four`."""
    value, decimals = whole, 0
    for word in words[length + 1 :] if words[length : length + 1] == ["point"] else ():
        if NUMBER_WORDS.get(word, 10) > 9:
            break
        decimals += 1
        value += Fraction(NUMBER_WORDS[word], 10**decimals)
    return (Number(value, decimals), length + 1 + decimals) if decimals else None


def _scaled(number: Number, scale: int) -> Number:
    """A number that counts thousands or millions: the `two point five` of `... million`."""
    zeros, decimals = len(str(scale)) - 1, number.decimals
    if decimals is None or scale != 10**zeros:
        return Number(number.value * scale)
    return Number(number.value * scale, decimals - zeros)


def with_digits(
    tokens: Sequence[Token], is_unit: Callable[[Token], bool], *, alone: bool = False
) -> list[Token]:
    """Tokens with digits for the numbers that are spelled before a unit: `two and a half hours`.

    Raises Unreadable for a number of too many digits.

    Args:
        tokens: the tokens of a quantity. Where they do not begin with such a number, they stay.
        is_unit: whether a token begins the name of a unit.
        alone: whether a number counts too with which the tokens end.
    """
    if all(token.kind is not Kind.WORD for token in tokens):
        return list(tokens)
    first = index = 1 if tokens and tokens[0].text == "-" else 0
    result = list(tokens[:first])
    while index < len(tokens):
        found = _number_before_unit(tokens[index:], is_unit, alone=alone)
        if found is not None:
            result += _in_digits(found[0])
            index += found[1]
        elif index == first:
            return list(tokens)
        else:
            result.append(tokens[index])
            index += 1
    return result


def _in_digits(number: Number) -> list[Token]:
    decimals = number.decimals
    if decimals is not None and decimals > 0:
        digits = f"{int(number.value * 10**decimals):0{decimals + 1}}"
        return [Token(Kind.NUMBER, f"{digits[:-decimals]}.{digits[-decimals:]}")]
    numerator = Token(Kind.NUMBER, str(number.value.numerator))
    if number.value.denominator == 1:
        return [numerator]
    denominator = Token(Kind.NUMBER, str(number.value.denominator))
    return [numerator, Token(Kind.SIGN, "/"), denominator]


def _number_before_unit(
    tokens: Sequence[Token], is_unit: Callable[[Token], bool], *, alone: bool
) -> tuple[Number, int] | None:
    """The number with which tokens begin, and how many tokens stand before its unit."""
    is_in_digits = tokens[0].kind is Kind.NUMBER
    words, ends = _words(tokens[1:] if is_in_digits else tokens)
    found = _mixed_in_digits(tokens[0].text, words) if is_in_digits else spelled_number(words)
    if found is None or not ends[found[1] - 1]:
        return None
    number, end = found[0], ends[found[1] - 1] + is_in_digits
    if number.value < 1:  # `half an hour`, `three quarters of an hour`
        while end < len(tokens) - 1 and tokens[end].text in ("of", "an", "a"):
            end += 1
    is_read = alone if end == len(tokens) else is_unit(tokens[end])
    return (number, end) if is_read else None


def _words(tokens: Sequence[Token]) -> tuple[list[str], list[int]]:
    """The words with which tokens begin, and how many tokens end with each: 0 inside of one."""
    words: list[str] = []
    ends: list[int] = []
    for end, token in enumerate(tokens[: 2 * _MAX_WORDS], start=1):
        if token.kind is Kind.WORD or token.text == "a":
            parts = [part for part in token.text.lower().split("-") if part]
            words += parts
            ends += [*[0] * (len(parts) - 1), end]
        elif token.text != "-" or not words:
            break
    return words, ends
