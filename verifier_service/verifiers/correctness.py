"""Whether a completion is correct and how long it is, for verifiers that reward length by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.reference import acceptable_answers
from verifier_service.verifier import Judgement, OpenQuestion, Undecided, Unverifiable, Verifier
from verifier_service.verifiers.accuracy import Accuracy

NO_TOKEN_COUNT = "the completion is needed as {text, num_tokens}"
IsCorrect = Callable[[Completion], bool]


class RewardsLength(Verifier):
    """What verifiers have in common whose score follows from both."""

    no_token_count: ClassVar[Reason]
    """Why a completion without `num_tokens` is unverifiable."""

    mode: Literal["strict", "open_r1"] = "strict"
    unit: Literal["characters", "tokens"] = Field(
        default="characters", description="of the length; open_r1: characters"
    )

    @model_validator(mode="after")
    def _open_r1_counts_characters(self) -> Self:
        if self.mode == "open_r1" and self.unit == "tokens":
            raise ValueError("unit tokens: open-r1 counts characters")
        return self

    @property
    def task_size(self) -> int:
        """See `Verifier`: math-verify takes milliseconds where it is asked."""
        return 64 if self.mode == "strict" else 8

    def correctness(self, reference: Mapping[str, Any]) -> IsCorrect | None:
        """Whether a completion is correct; None where each of them counts as correct.

        Raises:
            Unverifiable: the reference cannot be used; also raised by the result.
        """
        return _correctness(reference) if self.mode == "strict" else _open_r1(reference)

    def length(self, completion: Completion) -> int:
        """In that unit; raises Unverifiable where tokens were not counted."""
        if self.unit == "characters":
            return len(completion.text)
        if completion.num_tokens is None:
            raise Unverifiable(self.no_token_count, NO_TOKEN_COUNT)
        return completion.num_tokens


def _correctness(reference: Mapping[str, Any]) -> IsCorrect:
    """Whether `accuracy`, with its default options, gives 1; math-verify is asked on the spot."""
    accuracy = Accuracy()
    judge = accuracy.prepare(reference)

    @cache
    def settled(question: OpenQuestion) -> Judgement:
        return accuracy.settle(reference)(question)

    def is_correct(completion: Completion) -> bool:
        found = judge(completion)
        judgement = settled(found.question) if isinstance(found, Undecided) else found
        return judgement.score == 1.0

    return is_correct


def _open_r1(reference: Mapping[str, Any]) -> IsCorrect | None:
    """As open-r1's rewards of length have it: math-verify with reference and answer swapped.

    None where math-verify cannot read the reference, which they take for correct.
    """
    # Only workers call this; the API process must stay free of sympy.
    from verifier_service.mathematics.math_verify_comparison import PeerReading  # noqa: PLC0415

    readings = [PeerReading.of_reference(text, "open_r1") for text in acceptable_answers(reference)]
    readable = [one for one in readings if one.parsed]
    if not readable:
        return None
    for one in readable:
        one.evaluate()

    def is_correct(completion: Completion) -> bool:
        answer = PeerReading.of_completion(completion.text, "open_r1")
        return any(answer.accepts(one) for one in readable)

    return is_correct
