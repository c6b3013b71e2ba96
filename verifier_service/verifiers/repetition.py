"""`repetition`: a penalty for n-grams that come again.

arXiv 2502.03373, appendix C.2, as open-r1's `get_repetition_penalty_reward`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier

# A sign of a script without spaces is a word of its own, and so is punctuation: text without white
# space must not escape.
WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W぀-ヿ㐀-鿿豈-﫿]+|[^\w\s]")


class RepetitionReason(Reason):
    """Reasons of `repetition`; `details` has the numbers of n-grams and of different ones."""

    REPEATED = "repeated", "Below 0: some n-grams come more than once."
    NOT_REPEATED = "not_repeated", "0: none does."
    TOO_SHORT = "too_short", "0: fewer words than an n-gram has."


class Repetition(TextVerifier):
    """(1 - different n-grams / n-grams) * max_penalty."""

    purpose: ClassVar[str] = (
        "(1 - different n-grams / n-grams) * max_penalty, over the words in lower case"
    )
    score_range: ClassVar[tuple[float, float]] = (-1.0, 0.0)
    reasons: ClassVar[Iterable[Reason]] = RepetitionReason

    type: Literal["repetition"] = "repetition"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: words are what white space separates, so text without any has none; "
        "strict: punctuation marks and Chinese and Japanese signs are words too",
    )
    ngram_size: int = Field(default=3, ge=1, le=100, description="words of an n-gram")
    max_penalty: float = Field(
        default=-1.0, ge=-1, le=0, description="the score that endless repetition comes close to"
    )

    @property
    def score_if_killed(self) -> float:
        """See `Verifier`."""
        return self.max_penalty

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`; no reference is needed."""
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        text = completion.text.lower()
        words = text.split() if self.mode == "open_r1" else WORD.findall(text)
        starts = (islice(words, start, None) for start in range(self.ngram_size))
        ngrams = list(zip(*starts, strict=False))  # the shortest ends it
        if not ngrams:
            return Judgement(0.0, RepetitionReason.TOO_SHORT)
        num_different = len(set(ngrams))
        details = {"ngrams": len(ngrams), "different": num_different}
        if num_different == len(ngrams):
            return Judgement(0.0, RepetitionReason.NOT_REPEATED, details=details)
        score = (1 - num_different / len(ngrams)) * self.max_penalty
        return Judgement(score, RepetitionReason.REPEATED, details=details)
