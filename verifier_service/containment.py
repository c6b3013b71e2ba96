"""Texts that an answer contains: whole words and whole numbers, and how many numbers beside them.

Everything here takes time linear in the length of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

NUMBERS_PER_WANTED = 3
"""Other numbers that an answer may have for each number of the wanted texts."""
# Letters of scripts that write no spaces between words, or endings at them: Thai to Burmese, Kana,
# Chinese, Korean. A word may begin or end beside them: the `7` of `共7个`.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# A letter or digit that belongs to a word: the `a` of `ab`, no underscore.
_LETTER = rf"[^\W_{_UNSPACED}]"
# What stands before a digit that goes on a number: the `-` of `-7`, the `1.` of `1.7`.
_NUMBER_BEFORE = r"(?<![-\u2212])(?<!\d[.:/^])(?<!\d,)"
# What stands behind a digit that goes on a number: the `.5` of `7.5`, the `,000` of `7,000`.
_NUMBER_BEHIND = r"(?![-.:/^,\u2212]\d)"
# A number: `7`, `1,000.5`.
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class WantedTexts:
    """Texts that an answer should contain.

    >>> wanted = WantedTexts(["7", "Paris"])
    >>> wanted.share_in("In Paris, 7 of them."), wanted.share_in("17 Parisians, 7.5, -7")
    (1.0, 0.0)
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [_whole(text) for text in self._texts]

    @cached_property
    def _numbers(self) -> frozenset[str]:
        return frozenset(number for text in self._texts for number in _NUMBER.findall(text))

    def share_in(self, answer: str) -> float:
        """The share of the texts that the answer has as whole words and numbers."""
        found = sum(pattern.search(answer) is not None for pattern in self._patterns)
        return found / len(self._patterns)

    def has_too_many_numbers(self, answer: str) -> bool:
        """Whether an answer to texts with numbers lists other numbers instead of choosing."""
        if not self._numbers:
            return False
        others = set(_NUMBER.findall(answer)) - self._numbers
        return len(others) > NUMBERS_PER_WANTED * len(self._numbers)


def _whole(text: str) -> re.Pattern[str]:
    """The pattern of a text that is no part of a longer word or number."""
    before = _edge_before(text)
    behind = f"(?!{_LETTER})" if re.match(_LETTER, text[-1]) else ""
    if text[-1].isdigit():
        behind += _NUMBER_BEHIND
    return re.compile(before + re.escape(text) + behind)


def _edge_before(text: str) -> str:
    if text[0].isdigit():
        return f"(?<!{_LETTER}){_NUMBER_BEFORE}"
    if re.match(r"[-+.\u2212]\d", text):  # the `-7` of `5-7` is no number
        return r"(?<!\d)"
    return f"(?<!{_LETTER})" if re.match(_LETTER, text[0]) else ""
