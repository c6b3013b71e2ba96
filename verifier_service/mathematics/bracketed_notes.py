"""Brackets that add no factor to an answer: footnotes, what a number counts, its computation."""

from __future__ import annotations

import re

from verifier_service.mathematics.spelled_numbers import NUMBER_WORDS, SCALE_WORDS
from verifier_service.mathematics.units import unit_named

MAX_CHARACTERS = 100
"""Longest answer in which brackets and chances are read."""

# Marks of footnotes at the end of a sentence, behind a number that no operator joins to another one
# or behind the word for what it counts: the ` [2]` of `3 [2].`, the ` [1]` of `72 clips [1].`
_FOOTNOTE = re.compile(
    r"(?P<kept>(?<![\w.])(?<![+*/×·^_])(?<![+*/×·^_−-]\s)(?<!\w[−-])(?<!times\s)(?<!cdot\s)"
    r"\d[\d,]{0,20}(?:\.\d{1,20})?(?:\s(?P<what>[A-Za-z]{2,20}))?)"
    r"\s?\[\d{1,2}\](?:,?\s?\[\d{1,2}\]){0,4}"
    r"(?=[.!?*]{1,3}(?:[\s<]|\Z)|[ \t]{0,9}(?:\n|\Z)|(?<=\s\[\d\])[}<]"
    r"|,\s(?:as|see|according|which)\b)"
)
# Words that look like plurals of nouns and have an answer behind them: `5 and 7 makes [12]`.
_VERBS = frozenset(
    (
        "has is was does makes gives gets equals yields becomes leaves means totals adds comes"
        " remains results costs needs takes pays owes earns buys sells saves spends eats drinks"
        " walks runs drives travels reads writes wins scores holds contains weighs uses returns"
        " produces shows finds says collects receives bakes plants works goes ends"
    ).split()
)
_PLURALS = frozenset(("people", "children", "men", "women", "percent"))
# A sign of a congruence, whose modulus stands in such brackets in French: `n ≡ 1 [3]`.
_CONGRUENCE = re.compile(r"≡|\\equiv|\bcongru", re.IGNORECASE)
# A number and what it counts, or its unit, in brackets: `5 (apples)`, `12 (cm)`, `5 (in USD)`.
_COUNTED = re.compile(
    r"(?P<number>[-−]?\$?\d[\d.,/]{0,20})\s{1,3}\((?:in\s)?(?P<what>[A-Za-z][A-Za-z-]{0,20})\)"
)
_NO_NOUNS = frozenset(
    (
        "plus minus times yes is was this thus as negatives its plusminus always anyways besides"
        " ones tens fails holds works mod modulo to of and or"
    ).split()
)
# Endings of adverbs and the like, which count nothing: those of `sometimes`, `perhaps`, `unless`.
_NO_PLURAL = re.compile(r"(?:\wtimes|haps|wards|ous|ss)\Z")
# A computation behind its result: the ` (since 20 + 3 = 23)` of `23 (since 20 + 3 = 23)`.
_SINCE = re.compile(
    r"(?<=\d)\s{1,3}\((?:since|as|because|i\.e\.,?)\s\$?\d[-−+*/×·÷=\d\s.,$]{1,80}\)\s{0,3}\Z"
)
# A chance in words: `1 in 8`, `a 1 in 8 chance`, `one in eight`.
_CHANCE = re.compile(
    r"(?:an?\s)?(?P<part>\d{1,9}|[a-z]{3,9})[\s-]in[\s-](?:an?\s)?(?P<whole>\d{1,9}|[a-z]{3,9})"
    r"(?:\s(?:chance|probability))?",
    re.IGNORECASE,
)


def without_footnotes(text: str) -> str:
    """The text without marks of footnotes behind its numbers.

    >>> without_footnotes("The answer is 3 [2]."), without_footnotes("They sold 72 clips [1].")
    ('The answer is 3.', 'They sold 72 clips.')
    >>> without_footnotes("The answer is [2]."), without_footnotes("n ≡ 1 [3]")
    ('The answer is [2].', 'n ≡ 1 [3]')
    >>> without_footnotes("One apple: 1 apple [2]."), without_footnotes("3 [2], as shown")
    ('One apple: 1 apple.', '3, as shown')
    >>> without_footnotes("After 3 days he has [12]."), without_footnotes("5 and 7 makes [12].")
    ('After 3 days he has [12].', '5 and 7 makes [12].')
    """
    if "[" not in text or "]" not in text or _CONGRUENCE.search(text):
        return text
    return _FOOTNOTE.sub(_without_mark, text)


def _without_mark(footnote: re.Match[str]) -> str:
    word = footnote["what"]
    is_one = footnote["kept"] == f"1 {word}" and word.islower() and word not in _NO_NOUNS
    is_read = not word or word in _PLURALS or (word not in _VERBS and (is_one or _is_counted(word)))
    return footnote["kept"] if is_read else footnote[0]


def without_brackets(text: str) -> str:
    """The answer without brackets around what it counts, and without its computation in brackets.

    >>> without_brackets("5 (apples)"), without_brackets("12 (cm)"), without_brackets("5 (wrong)")
    ('5 apples', '12 cm', '5 (wrong)')
    >>> without_brackets("23 (since 20 + 3 = 23)"), without_brackets("5 (2 + 3)")
    ('23', '5 (2 + 3)')
    """
    if len(text) > MAX_CHARACTERS or "(" not in text:
        return text
    if (counted := _COUNTED.fullmatch(text)) is not None and _is_counted(counted["what"]):
        return f"{counted['number']} {counted['what']}"
    return _SINCE.sub("", text)


def _is_counted(word: str) -> bool:
    """Whether a word is a unit or the plural of a noun; a capital may be an option."""
    if len(word) == 1:
        return word.islower() and unit_named(word) is not None
    is_plural = len(word) > 3 and word.islower() and word.endswith("s")
    is_noun = word not in _NO_NOUNS and _NO_PLURAL.search(word) is None
    return unit_named(word) is not None or (is_plural and is_noun)


def with_quotient(text: str) -> str:
    """The quotient that a chance in words is; any other text as it is.

    >>> with_quotient("1 in 8"), with_quotient("one in eight"), with_quotient("8 in 1")
    ('1/8', '1/8', '8 in 1')
    """
    if len(text) > MAX_CHARACTERS or (chance := _CHANCE.fullmatch(text)) is None:
        return text
    part, whole = (_count(chance[name]) for name in ("part", "whole"))
    return f"{part}/{whole}" if part and whole and part < whole else text


def _count(text: str) -> int | None:
    if text.isdecimal():
        return int(text)
    return NUMBER_WORDS.get(text.lower()) or SCALE_WORDS.get(text.lower())
