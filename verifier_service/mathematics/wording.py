"""Answers in words: numbers that are spelled, set phrases, dates and times of day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.expressions import Number, negative
from verifier_service.mathematics.notation import Kind, Token
from verifier_service.mathematics.plain_text import (
    folded,
    text_command_arguments,
    unwrapped,
    without_ordinal_endings,
)
from verifier_service.mathematics.spelled_numbers import (
    ORDINAL_WORDS,
    SCALE_WORDS,
    spelled_number,
)
from verifier_service.mathematics.units import PERCENT
from verifier_service.mathematics.values import (
    EMPTY,
    EVERYTHING,
    Quantity,
    Range,
    Ranges,
    Time,
    Value,
    Words,
)

_ARTICLES = frozenset({"the", "a", "an"})

_PHRASES: dict[str, Value] = {
    **dict.fromkeys(
        (
            "∅", "\\{ \\}", "no solution", "no solutions", "no real solution", "no real solutions",
            "none", "empty set", "the empty set", "no such", "no roots", "no real roots",
            "no such numbers", "no integers", "there are no solutions", "there is no solution",
            "no integer solutions", "no solution exists", "no solutions exist", "no such integers",
            "no such number", "无解", "无实数解", "无实数根", "方程无解", "空集",
        ),
        EMPTY,
    ),
    **dict.fromkeys(
        (
            "all real numbers", "all reals", "any real number", "all real", "all real values",
            "every real number", "the set of all real numbers", "real numbers",
        ),
        EVERYTHING,
    ),
    **dict.fromkeys(
        ("dne", "不存在", "limit does not exist", "the limit does not exist", "it does not exist"),
        Words("does not exist"),
    ),
    **dict.fromkeys(
        ("converges", "convergent", "is convergent", "it converges", "the series converges"),
        Words("convergent"),
    ),
    **dict.fromkeys(
        (
            "diverges", "divergent", "is divergent", "it diverges", "the series diverges",
            "does not converge", "it does not converge", "the series does not converge",
            "not convergent", "is not convergent",
        ),
        Words("divergent"),
    ),
    **dict.fromkeys(
        ("converges absolutely", "absolutely convergent", "is absolutely convergent"),
        Words("absolutely convergent"),
    ),
    **dict.fromkeys(
        ("converges conditionally", "conditionally convergent", "is conditionally convergent"),
        Words("conditionally convergent"),
    ),
    **dict.fromkeys(
        (
            "infinitely many solutions", "there are infinitely many",
            "there are infinitely many solutions", "infinite", "infinite solutions",
            "there are infinite solutions", "infinite number of solutions",
        ),
        Words("infinitely many"),
    ),
    # A statement is true where the answer to its question is yes: data sets use either.
    **dict.fromkeys(("true", "是", "对", "正确"), Words("yes")),
    **dict.fromkeys(("false", "否", "错", "错误"), Words("no")),
}  # fmt: skip
_MAX_PHRASE_TOKENS = max(len(phrase.split()) for phrase in _PHRASES)

_MAX_TIME_CHARACTERS = 40
# A time of day: `2:15 p.m.`, `at 14:05:30`, `3 am`.
_TIME = re.compile(
    r"(?:at\s+)?(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?\s*m\b\.?)?", re.IGNORECASE
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
# The name of a month, perhaps short: `March`, `Sept.`.
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATES = (
    # A date with the month first: `March 15, 2024`.
    re.compile(
        _MONTH + r"\s*(?:the\s+)?(?P<day>\d{1,2})(?:\s*,?\s+(?P<year>\d{4}))?", re.IGNORECASE
    ),
    # A date with the day first: `15 March 2024`, `15 of March`.
    re.compile(
        r"(?:the\s+)?(?P<day>\d{1,2})\s*(?:of\s+)?" + _MONTH + r"(?:\s*,?\s*(?P<year>\d{4}))?",
        re.IGNORECASE,
    ),
)
# A date that begins with its year, as ISO 8601 has it: `2024-03-15`.
_ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>0?[1-9]|1[0-2])-(?P<day>0?[1-9]|[12]\d|3[01])")
# A date in digits: `2024-03-15`, `15/3/2024`, `15.3.2024`.
_DATE_IN_DIGITS = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4}")


def is_date_in_digits(text: str) -> bool:
    """Whether a text is a date, and no difference, quotient or decimal: `2024-03-15`."""
    return _DATE_IN_DIGITS.fullmatch(text) is not None


def read_as_time(text: str) -> Time | Words | None:
    """A text as a time of day or as a date; None if it is neither.

    >>> read_as_time("2:15 p.m.")
    Time(minutes=855, seconds=0, half='p')
    >>> read_as_time("15th March") == read_as_time("March 15")
    True
    """
    text = text_command_arguments(unwrapped(text)).replace("{:}", ":")
    text = text.replace("\\", " ").strip(" .{}")
    if len(text) > _MAX_TIME_CHARACTERS:
        return None
    match = _TIME.fullmatch(text)
    if match is not None and (match[2] or match[4]):
        return _time_of_day(match)
    if (match := _ISO_DATE.fullmatch(text)) is not None:
        return Words(f"date {match['year']}-{int(match['month'])}-{int(match['day'])}")
    text = without_ordinal_endings(text)
    for pattern in _DATES:
        if (match := pattern.fullmatch(text)) is not None:
            month = _MONTHS.index(match["month"][:3].lower()) + 1
            return Words(f"date {match['year'] or ''}-{month}-{int(match['day'])}")
    return None


def _time_of_day(match: re.Match[str]) -> Time | None:
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[4] or "").lower()
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif (
        match[1].startswith("0") and hour > 0
    ):  # so are hours until noon written that are counted to 24
        half = "a"
    return Time(hour * 60 + minute, int(match[3] or 0), half)


def stem(word: str) -> str:
    """A word in lower case without the ending of its plural."""
    word = word.lower()
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def scale_of(words: tuple[str, ...]) -> tuple[int, tuple[str, ...]] | None:
    """The number that the first word multiplies by, 10**6 for `million`, and the other words."""
    if words and words[0] in SCALE_WORDS:
        return SCALE_WORDS[words[0]], words[1:]
    return None


_PARTS = {"halves": 2, "third": 3, "thirds": 3, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6,
          "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9,
          "tenth": 10, "tenths": 10}  # fmt: skip
"""Parts that digits can count: `2 thirds`. A quarter is also a coin."""


def parts_of_whole(words: Sequence[str]) -> int | None:
    """The number of such parts in a whole, 3 for `thirds`; None for anything else."""
    return _PARTS.get(words[0]) if len(words) == 1 else None


def read_phrase(tokens: Sequence[Token]) -> Value | None:
    """The answer that a set phrase gives, such as `no solution`; None for anything else."""
    if len(tokens) > _MAX_PHRASE_TOKENS:
        return None
    if len(tokens) == 1 and tokens[0].text == "R":
        return EVERYTHING
    text = " ".join(token.text.lower() for token in tokens)
    signed = _SIGNED_REALS.fullmatch(text)
    return _PHRASES.get(text) if signed is None else _reals(signed)


# The real numbers of one sign: `all non-negative real numbers`, `positive reals`.
_SIGNED_REALS = re.compile(
    r"(?:(?:all|any|every|the(?: set of)?(?: all)?) )?"
    r"(?P<non>non ?-? ?)?(?P<sign>positive|negative) (?:reals|real (?:numbers?|values))"
)


def _reals(signed: re.Match[str]) -> Ranges:
    """The interval from or to 0 of a match of _SIGNED_REALS."""
    zero, has_zero = Number(Fraction(0)), signed["non"] is not None
    if (signed["sign"] == "positive") == has_zero:
        return Ranges((Range(None, False, zero, has_zero),))
    return Ranges((Range(zero, has_zero, None, False),))


def read_words(tokens: Sequence[Token]) -> Value:
    """The number that words spell, `twenty-one`, or else the words."""
    if tokens[0].text == "-" and len(tokens) > 1:
        inside = read_words(tokens[1:])
        if isinstance(inside, Quantity):
            return replace(inside, expression=negative(inside.expression))
    words = [part for token in tokens for part in token.text.lower().split("-") if part]
    value = _spelled_value(words)
    if value is not None:
        return value
    kept = [
        "minus" if _is_minus(tokens, at) else _JAPANESE_ENDING.sub("", folded(token.text))
        for at, token in enumerate(tokens)
        if token.text.lower() not in _ARTICLES
    ]
    text = " ".join(part for word in kept for part in word.split("-") if part not in "&'.")
    return Words(text or " ".join(words))


def _is_minus(tokens: Sequence[Token], index: int) -> bool:
    """Whether a dash is the sign of a number among words: that of `-5 foo`, not of `Form 3-5`."""
    if tokens[index].text != "-" or index + 1 == len(tokens):
        return False
    following = tokens[index + 1]
    begins = index == 0 or tokens[index].spaced
    return begins and following.kind is Kind.NUMBER and not following.spaced


# The end of a verb or a sentence behind a noun: the `した` of `改善した`, the `です` of `増加です`.
_JAPANESE_ENDING = re.compile(
    r"(?<=[\u4e00-\u9fff])(?:し(?:て(?:い(?:る|ます|ました))?|た|ました)|する|します|です|でした|だ|だった)\Z"
)


def _spelled_value(words: Sequence[str]) -> Quantity | None:
    """The value that words spell, perhaps with words after it: `half`, `third`, `two dogs`."""
    if len(words) in (1, 2) and words[-1] in ORDINAL_WORDS and words[:-1] in ([], ["the"]):
        return Quantity(Number(Fraction(ORDINAL_WORDS[words[-1]])))
    spelled = spelled_number(words)
    if spelled is None:
        return None
    number, length = spelled
    rest = words[length:]
    if length == 1 and len(rest) > 2:
        return None  # prose
    if rest == ["percent"]:
        return Quantity(number, PERCENT)
    return Quantity(number, None, tuple(stem(word) for word in rest))
