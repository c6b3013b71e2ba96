"""`repetition`: a penalty for n-grams that occur more than once.

arXiv 2502.03373, appendix C.2, as open-r1's `get_repetition_penalty_reward`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from verifier_service import chinese_words
from verifier_service.completion import Completion
from verifier_service.instructions.visible import NO_INK
from verifier_service.reason import Reason
from verifier_service.verifier import MAX_WEIGHT, Judge, Judgement, TextVerifier

# A word: `apple`, `中`, `!`. A sign of a script without spaces is a word of its own, and so is
# punctuation: else text without white space would escape the penalty.
WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W぀-ヿ㐀-鿿豈-﫿]+|[^\w\s]")

MAX_WORD_CHARACTERS = 64
"""Longest word that counts as one; a longer one counts as pieces."""
PIECE_CHARACTERS = 8
_SLICE = 256
"""Characters that are brought to a normal form at a time."""
# Characters that show nothing, which only an attempt to escape scatters over a text. The space of
# no width is left: it separates words.
_NO_INK = re.compile(rf"(?:(?!\u200b)[{NO_INK}])+")

# A mark that is a word of its own, as in WORD: `!`.
MARK = re.compile(r"[^\w\s]")
ASCII_MARKS = [chr(code) for code in range(128) if MARK.match(chr(code))]
# A character that is a word of its own, as in WORD: `!`, `中`.
_WORD_OF_ITS_OWN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\w\s]")
_ASCII = bytes(range(128))
_FEW_CHARACTERS = 64
"""Different characters beyond ASCII of which each may take a pass over the text."""


class RepetitionReason(Reason):
    """Reasons of `repetition`; `details` has the numbers of n-grams and of different ones."""

    REPEATED = "repeated", "Below 0: some n-grams occur more than once."
    NOT_REPEATED = "not_repeated", "0: every n-gram occurs once."
    TOO_SHORT = "too_short", "0: the completion has fewer words than an n-gram."


class Repetition(TextVerifier):
    """(1 - different n-grams / n-grams) * max_penalty."""

    purpose: ClassVar[str] = (
        "(1 - different n-grams / n-grams) * max_penalty, over the words in lower case; at least "
        "max_penalty"
    )
    score_range: ClassVar[tuple[float, float]] = (-1.0, 0.0)
    """The range with the default of `max_penalty`, which is the lower end."""
    reasons: ClassVar[Iterable[Reason]] = RepetitionReason

    type: Literal["repetition"] = "repetition"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: words are what white space separates, so text without any has none; "
        "strict: punctuation marks and Chinese and Japanese signs are words too",
    )
    ngram_size: int = Field(default=3, ge=1, le=100, description="number of words in an n-gram")
    max_penalty: float = Field(
        default=-1.0,
        ge=-MAX_WEIGHT,
        le=0,
        allow_inf_nan=False,
        description="score that endless repetition approaches, of any size below 0",
    )
    language: Literal["en", "zh"] = Field(
        default="en",
        description="zh: words are those that the package jieba finds, as in open-r1, which then "
        "tells capitals from small letters; needs the extra `chinese`",
    )

    @field_validator("language")
    @classmethod
    def _can_be_split(cls, language: str) -> str:
        if language == "zh" and not chinese_words.can_split():
            raise ValueError(
                f"zh needs the package {chinese_words.PACKAGE}, which the service lacks; install "
                f"its extra `{chinese_words.EXTRA}`"
            )
        return language

    @property
    def score_if_killed(self) -> float:
        """The highest penalty."""
        return self.max_penalty

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Return the judge of completions; no reference is needed."""
        if self.language == "zh":
            chinese_words.load_dictionary()
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        words = self._words(completion.text)
        num_ngrams = len(words) - self.ngram_size + 1
        if num_ngrams < 1:
            return Judgement(0.0, RepetitionReason.TOO_SHORT)
        starts = (islice(words, start, None) for start in range(self.ngram_size))
        num_different = len(set(zip(*starts, strict=False)))  # stops at the last whole n-gram
        details = {"ngrams": num_ngrams, "different": num_different}
        if num_different == num_ngrams:
            return Judgement(0.0, RepetitionReason.NOT_REPEATED, details=details)
        score = (1 - num_different / num_ngrams) * self.max_penalty
        return Judgement(score, RepetitionReason.REPEATED, details=details)

    def _words(self, text: str) -> list[str]:
        if self.language == "zh":
            if self.mode == "open_r1":
                return chinese_words.chinese_words(text)
            words = chinese_words.chinese_words(plain_letters(text))
            return [word for word in words if not word.isspace()]
        if self.mode == "open_r1":
            return text.lower().split()
        return strict_words(plain_letters(text))


def strict_words(text: str) -> list[str]:
    """The words of WORD in a text, found by spaces put around marks: in half the time of WORD.

    A text with many characters beyond ASCII, as Chinese is, would need too many passes.
    """
    if not text.isascii():
        others = _beyond_ascii(text)
        if len(others) > _FEW_CHARACTERS:
            return _pieces(WORD.findall(text))
        for character in _WORD_OF_ITS_OWN.findall(others):
            text = text.replace(character, f" {character} ")
    for mark in ASCII_MARKS:
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    return _pieces(text.split())


def _beyond_ascii(text: str) -> str:
    """The different characters of a text that are not ASCII; 1 ns a character, a regex 15."""
    others = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return "".join(set(others.decode("utf-8", "surrogatepass")))


def _pieces(words: list[str]) -> list[str]:
    """The words, of which the long ones are cut: `hahaha...` without end would be one."""
    if not words or len(max(words, key=len)) <= MAX_WORD_CHARACTERS:
        return words
    found = []
    for word in words:
        if len(word) <= MAX_WORD_CHARACTERS:
            found.append(word)
        else:
            places = range(0, len(word), PIECE_CHARACTERS)
            found += [word[place : place + PIECE_CHARACTERS] for place in places]
    return found


def plain_letters(text: str) -> str:
    """A text in small letters, in which one letter has one code and nothing is without ink.

    Else a letter of full width, an accent apart or a space of no width would make another word of
    the same one.

    >>> plain_letters("\uff21\u200d cafe\u0301 a\u200bb") == "a caf\xe9 a b"
    True
    """
    if text.isascii():
        return text.lower()
    # Marks are sorted in time quadratic in their number. Slices of ASCII alone take no time.
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    normal = "".join([_normal_form(one).lower() for one in slices])
    if _NO_INK.search(_beyond_ascii(normal)):
        normal = _NO_INK.sub("", normal)
    return normal.replace("\u200b", " ")


def _normal_form(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
