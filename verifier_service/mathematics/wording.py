"""The text of an answer: taken out of its wrapping, as a key, and read where words say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.expressions import Number, negative
from verifier_service.mathematics.notation import Token
from verifier_service.mathematics.units import PERCENT
from verifier_service.mathematics.values import Quantity, Time, Value, Words

_ARTICLES = frozenset({"the", "a", "an"})

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
_SCALE_WORDS = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9,
                "trillion": 10**12}  # fmt: skip
_FRACTION_WORDS = {"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifths": 5,
                   "fifth": 5, "halves": 2, "fourth": 4, "fourths": 4, "eighth": 8,
                   "eighths": 8, "tenth": 10, "tenths": 10}  # fmt: skip

_ORDINAL_WORDS = {
    "first": 1, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
"""Without those that are units or fractions on their own."""
_TIME = re.compile(
    r"(?:at\s+)?(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?\s*m\b\.?)?", re.IGNORECASE
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATES = (
    re.compile(_MONTH + r"\s*(?P<day>\d{1,2})(?:\s*,?\s+(?P<year>\d{4}))?", re.IGNORECASE),
    re.compile(
        r"(?P<day>\d{1,2})\s*(?:of\s+)?" + _MONTH + r"(?:\s*,?\s*(?P<year>\d{4}))?", re.IGNORECASE
    ),
)
ORDINAL = re.compile(
    r"(?<=\d)\s*(?:\^?\s*\{?\s*(?:\\(?:text|mathrm|textrm|textsuperscript)\s*\{\s*)?"
    r"(?:st|nd|rd|th)\s*\}?\s*\}?)(?![a-zA-Z])"
)
_UNWRAP = re.compile(
    r"\s*(?:\$\$(?P<a>[^$]*)\$\$|\$(?P<b>[^$]*)\$|\\\((?P<c>.*)\\\)|\\\[(?P<d>.*)\\\])\s*",
    re.DOTALL,
)
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\[dt]?frac\s*\{\s*d\s*([a-z])\s*\}\s*\{\s*d\s*([a-z])\s*\}", r"\1'"),
        (r"\\textcolor\s*\{[^{}]*\}|\\color\s*\{[^{}]*\}", ""),
        (r"√\s*(\d+(?:\.\d+)?)", r"\\sqrt{\1}"),
        (r"^(?:negative|minus)\s+(?=\S)", "-"),
        (r"^\s*(\d+)\s+out of\s+(\d+)\s*$", r"\1/\2"),
        (r"^\s*(\d+)\s+to\s+(\d+)\s*$", r"\1:\2"),
        (
            r"(?:^|(?<=[,;\s]))\(([a-h])\)\s*(?=[-\d\\$][^,;]*(?:[,;]\s*(?:and\s+)?\([a-h]\)|$))",
            r"\1: ",
        ),
    )
)


def unwrapped_text(text: str) -> str:
    """The text without the commands that only say that it is text."""
    if "\\" not in text:
        return text
    return re.sub(r"\s+", " ", _TEXT.sub(r" \1 ", text)).strip()


def rewritten(text: str) -> str:
    """Ways of writing that say the same as simpler ones."""
    words = unwrapped_text(text)
    if "\\" not in words:
        text = words
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def unwrapped(text: str) -> str:
    """The text without what only sets it off: delimiters, a box, bold, a full stop."""
    while True:
        before = text
        text = text.strip().strip("*").strip()
        if text.endswith(".") and not text.endswith("..") and "..." not in text[-4:]:
            text = text[:-1]
        if (match := _UNWRAP.fullmatch(text)) is not None:
            text = next(inside for inside in match.groups() if inside is not None)
        if text.startswith(("\\boxed{", "\\fbox{")) and text.endswith("}"):
            text = text[text.index("{") + 1 : -1]
        text = text.rstrip(",;^")
        if text == before:
            return text


def text_key(text: str) -> str:
    """A text without anything that only dresses it: two texts with one key say the same.

    >>> text_key(r"\\text{Line segment,  and Circle.}") == text_key("line segment, and circle")
    True
    """
    text = _TEXT.sub(lambda dressed: f" {dressed[1]} ", _SPACING.sub(" ", unwrapped(text)))
    text = _DRESS.sub("", text)
    if not _BRACES_MATTER.search(text):
        text = text.replace("{", "").replace("}", "")
    text = _ARTICLE.sub("", _KEY_PUNCTUATION.sub(" ", text))
    return " ".join(word.casefold() if _IS_WORD.fullmatch(word) else word for word in text.split())


_TEXT = re.compile(
    r"\\(?:text|mathrm|textrm|textbf|mathbf|textit|mbox|operatorname)\s*\{([^{}]*)\}"
)
_DRESS = re.compile(r"\\(?:left|right|displaystyle|bigg?|Bigg?)(?![a-zA-Z])|\$")
_SPACING = re.compile(r"\\(?:quad|qquad|[ ,;:!])|~|\s+")
_BRACES_MATTER = re.compile(r"[\\^_]")
_KEY_PUNCTUATION = re.compile(r"[\"`“”.,;:?]+(?=\s|$)|(?<=\s)[\"`“”]+|^[\"`“”]+")
_ARTICLE = re.compile(r"(?<![^\s])(?:the|an?)\s+(?=[a-z]{3})", re.IGNORECASE)
_IS_WORD = re.compile(r"[^\W\d_][^\W\d_'-]{2,}")


def read_as_time(text: str) -> Time | Words | None:
    """The reading of a text as a time of day or a date; None where it is neither.

    >>> read_as_time("2:15 p.m.")
    Time(minutes=855, seconds=0, half='p')
    >>> read_as_time("15th March") == read_as_time("March 15")
    True
    """
    text = _TEXT.sub(r"\1", unwrapped(text)).replace("\\", " ").strip(" .{}")
    if len(text) > _MAX_TIME_CHARACTERS:
        return None
    if (match := _TIME.fullmatch(text)) is not None and (match[2] or match[4]):
        hour, minute, half = int(match[1]), int(match[2] or 0), (match[4] or "").lower()
        if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
            return None
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
        return Time(hour * 60 + minute, int(match[3] or 0), half)
    text = ORDINAL.sub("", text)
    for pattern in _DATES:
        if (match := pattern.fullmatch(text)) is not None:
            month = _MONTHS.index(match["month"][:3].lower()) + 1
            return Words(f"date {match['year'] or ''}-{month}-{int(match['day'])}")
    return None


_MAX_TIME_CHARACTERS = 40


def stem(word: str) -> str:
    """A word in lower case without the ending of its plural."""
    word = word.lower()
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def scale_of(words: tuple[str, ...]) -> tuple[int, tuple[str, ...]] | None:
    """The power of ten that words begin with, `million`, and the words after it."""
    if words and words[0] in _SCALE_WORDS:
        return _SCALE_WORDS[words[0]], words[1:]
    return None


def read_words(tokens: Sequence[Token]) -> Value:
    """Words, or the number that they spell."""
    if tokens[0].text == "-" and len(tokens) > 1:
        inside = read_words(tokens[1:])
        if isinstance(inside, Quantity):
            return replace(inside, expression=negative(inside.expression))
    words = [part for token in tokens for part in token.text.lower().split("-") if part]
    if words in (["half"], ["one", "half"]):
        return Quantity(Number(Fraction(1, 2)))
    if len(words) == 1 and words[0] in _ORDINAL_WORDS:
        return Quantity(Number(Fraction(_ORDINAL_WORDS[words[0]])))
    count = _spelled(words)
    if count is not None:
        value, rest = count
        unit = PERCENT if rest == ["percent"] else None
        return Quantity(Number(value), unit, tuple(stem(word) for word in rest) if not unit else ())
    text = " ".join(word for word in words if word not in _ARTICLES and word not in "-&'.")
    return Words(text or " ".join(words))


def _spelled(words: Sequence[str]) -> tuple[Fraction, list[str]] | None:
    """The number that the first words spell, and the words after it."""
    total, current, index = 0, 0, 0
    while index < len(words):
        word = words[index]
        if word in NUMBER_WORDS:
            value = NUMBER_WORDS[word]
            fits = current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and value < 10)
            if not fits:  # `twenty twenty`, `one two`
                return None
            current += value
        elif word == "hundred" and index:
            current = (current or 1) * 100
        elif word in _SCALE_WORDS and index:
            total, current = total + (current or 1) * _SCALE_WORDS[word], 0
        elif word == "and" and index:
            pass
        elif word in _FRACTION_WORDS and index == 1 and current:
            return Fraction(current, _FRACTION_WORDS[word]), list(words[2:])
        else:
            break
        index += 1
    if index == 0 or (index == 1 and len(words) > 3):
        return None
    return Fraction(total + current), list(words[index:])
