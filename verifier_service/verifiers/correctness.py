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
"""Tells whether a completion is correct; raises Unverifiable where the reference is unusable."""


class RewardsLength(Verifier):
    """Options and steps that `length` and `cosine_length` share."""

    no_token_count: ClassVar[Reason]
    """Reason of the verdict where `unit` is tokens and a completion has no `num_tokens`."""

    mode: Literal["strict", "open_r1"] = "strict"
    unit: Literal["characters", "tokens"] = Field(
        default="characters", description="unit of the length; open_r1: characters"
    )

    reference_text: Literal["latex", "plain"] = Field(
        default="latex",
        description="for mode open_r1. latex: a reference without delimiters of mathematics is put "
        "between dollars; plain: it is given to math-verify as it is, as open-r1 does, which then "
        "reads none without delimiters",
    )

    @model_validator(mode="after")
    def _open_r1_counts_characters(self) -> Self:
        if self.mode == "open_r1" and self.unit == "tokens":
            raise ValueError("unit tokens: open-r1 counts characters")
        if self.mode == "strict" and "reference_text" in self.model_fields_set:
            raise ValueError("reference_text: no effect in mode strict")
        return self

    @property
    def task_size(self) -> int:
        """A small task: math-verify takes milliseconds for each completion that it judges."""
        return 64 if self.mode == "strict" else 8

    def correctness(self, reference: Mapping[str, Any]) -> IsCorrect | None:
        """A function that tells correct completions; None where every completion counts as correct.

        Raises:
            Unverifiable: the reference cannot be used; also raised by the result.
        """
        if self.mode == "strict":
            return _correctness(reference)
        return _open_r1(reference, self.reference_text)

    def length(self, completion: Completion) -> int:
        """Length of a completion in `unit`; raises Unverifiable where tokens were not counted."""
        if self.unit == "characters":
            return len(completion.text)
        if completion.num_tokens is None:
            raise Unverifiable(self.no_token_count, NO_TOKEN_COUNT)
        return completion.num_tokens


def _correctness(reference: Mapping[str, Any]) -> IsCorrect:
    """A function that takes a completion for correct where `accuracy` scores it 1 by default.

    Open questions are settled at once, in this worker.
    """
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


def _open_r1(reference: Mapping[str, Any], kind: Literal["latex", "plain"]) -> IsCorrect | None:
    """A function that takes a completion for correct where open-r1's rewards of length do.

    They call math-verify with reference and answer swapped. None where math-verify cannot read the
    reference: they then take every completion for correct.
    """
    # Only workers call this; the API process must stay free of sympy.
    from verifier_service.mathematics.math_verify_comparison import PeerReading  # noqa: PLC0415

    texts = acceptable_answers(reference)
    readings = [PeerReading.of_length_reference(text, kind) for text in texts]
    readable = [one for one in readings if one.parsed]
    if not readable:
        return None
    for one in readable:
        one.evaluate()

    def is_correct(completion: Completion) -> bool:
        answer = PeerReading.of_length_completion(completion.text)
        return any(answer.accepts(one) for one in readable)

    return is_correct
