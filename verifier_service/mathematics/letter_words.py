"""Sets of words in capitals, such as those of coins: `HT` and `TH` are no products of letters."""

from __future__ import annotations

import re

_WORD = r"(?:\\text\s?\{\s?)?[A-Z]{2,8}\}?"
# A set of words: the `{HH, HT, TH, TT}` of `S = \{HH, HT, TH, TT\}`.
_SET = re.compile(
    rf"[\s$]{{0,4}}(?:[A-Z]\s?=\s?)?\\?\{{\s?(?P<words>{_WORD}(?:,\s{{0,3}}{_WORD}){{1,63}})\s?\\?\}}[\s$.]{{0,4}}"
)
_LETTERS = re.compile(r"[A-Z]{2,8}")


def words_of_set(text: str) -> frozenset[str] | None:
    """The words of the set that a whole text is; None for any other text."""
    found = _SET.fullmatch(text)
    return frozenset(_LETTERS.findall(found["words"])) if found else None


def have_same_words(left: str, right: str) -> bool | None:
    """Whether two texts are sets of the same words; None where one is none.

    They are words only where a set has the same letters in two orders.

    >>> have_same_words("{HH, HT, TH}", "{TH, HH, HT}"), have_same_words("{HH, HT, TH}", "{HH, TH}")
    (True, False)
    >>> have_same_words("{AB, CD}", "{AB}") is None
    True
    """
    sets = [words_of_set(text) for text in (left, right)]
    if sets[0] is None or sets[1] is None:
        return None
    are_words = any(
        len({"".join(sorted(one)) for one in each}) < len(each) for each in sets if each
    )
    return sets[0] == sets[1] if are_words else None
