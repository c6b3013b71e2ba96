"""Whether a completion is correct and how long it is, for verifiers that reward length by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from verifier_service.reference import acceptable_answers
from verifier_service.verdict import Completion, Question, Reason
from verifier_service.verifier import Judgement, Undecided, Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

NO_TOKEN_COUNT = "the completion is needed as {text, num_tokens}"
LengthUnit = Literal["characters", "tokens"]


def length_of(completion: Completion, unit: LengthUnit, *, no_token_count: Reason) -> int:
    """In that unit; raises Unverifiable with that reason where tokens were not counted."""
    if unit == "characters":
        return len(completion.text)
    if completion.num_tokens is None:
        raise Unverifiable(no_token_count, NO_TOKEN_COUNT)
    return completion.num_tokens


def correctness(reference: Mapping[str, Any]) -> Callable[[Completion], bool]:
    """Whether `accuracy`, with its default options, gives 1; math-verify is asked on the spot.

    Raises:
        Unverifiable: the reference cannot be used; also raised by the result.
    """
    accuracy = Accuracy()
    judge = accuracy.prepare(reference)

    @cache
    def settled(question: Question) -> Judgement:
        return accuracy.settle(reference)(question)

    def is_correct(completion: Completion) -> bool:
        found = judge(completion)
        judgement = settled(found.question) if isinstance(found, Undecided) else found
        return judgement.score == 1.0

    return is_correct


def open_r1_correctness(reference: Mapping[str, Any]) -> Callable[[Completion], bool] | None:
    """As open-r1's rewards of length have it: math-verify with reference and answer swapped.

    None where math-verify cannot read the reference, which they take for correct.

    Raises:
        Unverifiable: there is no reference.
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
