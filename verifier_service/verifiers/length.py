"""`length`: of the completions of a group, the short ones are better.

Kimi k1.5 (arXiv 2501.12599, section 2.3.3), as open-r1's `len_reward`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import GroupVerifier, Judge, Judgement
from verifier_service.verifiers.correctness import RewardsLength


class LengthReason(Reason):
    """Reasons of `length`; `details` has the length, and the group's least and greatest."""

    CORRECT = "correct", "From 0.5 (the shortest) to -0.5 (the longest)."
    WRONG = "wrong", "From 0 to -0.5: a wrong completion gains nothing by being short."
    SAME_LENGTH = "same_length", "0: all completions of the group have the same length."
    NO_TOKEN_COUNT = (
        "no_token_count",
        "unverifiable: a completion of the group comes without `num_tokens` (only with unit "
        "tokens).",
    )


class Length(RewardsLength, GroupVerifier):
    """0.5 to -0.5 from the shortest to the longest of a group, at most 0 for wrong ones."""

    purpose: ClassVar[str] = (
        "0.5 - (length - shortest) / (longest - shortest) of the group, and at most 0 for a "
        "completion that is wrong (as `accuracy` finds it); 0 where all have the same length"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    score_range: ClassVar[tuple[float, float]] = (-0.5, 0.5)
    reasons: ClassVar[Iterable[Reason]] = LengthReason
    no_token_count: ClassVar[Reason] = LengthReason.NO_TOKEN_COUNT

    type: Literal["length"] = "length"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: math-verify decides as open-r1 calls it, and every completion counts "
        "as correct where it cannot read the reference",
    )

    @property
    def score_if_killed(self) -> float:
        """See `Verifier`: never better than to be wrong."""
        return self.score_range[0]

    def prepare_group(self, reference: Mapping[str, Any], group: Sequence[Completion]) -> Judge:
        """See `Verifier`."""
        is_correct = self.correctness(reference)
        lengths = [self.length(completion) for completion in group]
        shortest, longest = min(lengths), max(lengths)

        def judge(completion: Completion) -> Judgement:
            length = self.length(completion)
            details = {"length": length, "shortest": shortest, "longest": longest}
            if shortest == longest:
                return Judgement(0.0, LengthReason.SAME_LENGTH, details=details)
            score = 0.5 - (length - shortest) / (longest - shortest)
            if is_correct is None or is_correct(completion):
                return Judgement(score, LengthReason.CORRECT, details=details)
            return Judgement(min(0.0, score), LengthReason.WRONG, details=details)

        return judge
