"""`cosine_length`: correct and short is best, wrong and short is worst.

arXiv 2502.03373, section 4.2, as open-r1's and TRL's `get_cosine_scaled_reward`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier
from verifier_service.verifiers.correctness import RewardsLength

MAX_LENGTH = 10**9
"""Far above any completion, and a length that a float holds."""


class CosineLengthReason(Reason):
    """Reasons of `cosine_length`; `details.length` has the length."""

    CORRECT = "correct", "From max_value_correct (short) down to min_value_correct (max_length)."
    WRONG = "wrong", "From min_value_wrong (short) up to max_value_wrong (max_length)."
    UNREADABLE_REFERENCE = (
        "unreadable_reference",
        "1: math-verify cannot read the reference (only with mode open_r1).",
    )
    NO_TOKEN_COUNT = (
        "no_token_count",
        "unverifiable: the completion comes without `num_tokens` (only with unit tokens).",
    )


class CosineLength(RewardsLength, TextVerifier):
    """A cosine of the length, between values for correct and for wrong completions."""

    purpose: ClassVar[str] = (
        "long + (short - long) * (1 + cos(pi * length / max_length)) / 2, where a correct "
        "completion (as `accuracy` finds it) has short = max_value_correct and long = "
        "min_value_correct, a wrong one short = min_value_wrong and long = max_value_wrong"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    score_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    reasons: ClassVar[Iterable[Reason]] = CosineLengthReason
    no_token_count: ClassVar[Reason] = CosineLengthReason.NO_TOKEN_COUNT

    type: Literal["cosine_length"] = "cosine_length"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: the cosine turns back past max_length, math-verify decides as "
        "open-r1 calls it, and a reference that it cannot read gives 1",
    )
    max_length: int = Field(
        default=1000,
        gt=0,
        le=MAX_LENGTH,
        description="length from which the score stays the same",
    )
    min_value_wrong: float = Field(
        default=-1.0, ge=-1, le=1, description="score of a wrong completion of length 0"
    )
    max_value_wrong: float = Field(
        default=-0.5, ge=-1, le=1, description="score of a wrong completion of max_length"
    )
    min_value_correct: float = Field(
        default=0.5, ge=-1, le=1, description="score of a correct completion of max_length"
    )
    max_value_correct: float = Field(
        default=1.0, ge=-1, le=1, description="score of a correct completion of length 0"
    )

    @property
    def score_if_killed(self) -> float:
        """The lowest score of a wrong completion."""
        return min(self.min_value_wrong, self.max_value_wrong)

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        is_correct = self.correctness(reference)

        def judge(completion: Completion) -> Judgement:
            if is_correct is None:
                return Judgement(1.0, CosineLengthReason.UNREADABLE_REFERENCE)
            length = self.length(completion)
            correct = is_correct(completion)
            reason = CosineLengthReason.CORRECT if correct else CosineLengthReason.WRONG
            return Judgement(self._score(length, correct), reason, details={"length": length})

        return judge

    def _score(self, length: int, correct: bool) -> float:
        if self.mode == "strict":
            length = min(length, self.max_length)
        short, long = (
            (self.max_value_correct, self.min_value_correct)
            if correct
            else (self.min_value_wrong, self.max_value_wrong)
        )
        return long + 0.5 * (short - long) * (1.0 + math.cos(math.pi * length / self.max_length))
