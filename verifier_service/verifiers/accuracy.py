"""`accuracy`: does the completion's final answer equal the reference mathematically?

Two stages: find the final answer in the text, then let math-verify parse and compare. math-verify
limits its own time with `signal.alarm`; here that is off, and the worker's parent keeps the limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from verifier_service.verdict import Completion, EngineReason, Reason
from verifier_service.verifier import Judge, Judgement, Unverifiable, Verifier

DELIMITER = re.compile(r"(?<!\\)\$|\\\(|\\\[|\\boxed")
"""What marks mathematics in a text; an escaped dollar is money."""


class AccuracyReason(Reason):
    """Reasons of `accuracy`."""

    EQUAL = "equal", "1: the final answer equals the reference, or one of them."
    DIFFERENT = "different", "0: it equals none."
    NO_ANSWER = "no_answer", "0: the completion has no final answer."


class Accuracy(Verifier):
    """1 if the final answer equals the reference mathematically, else 0."""

    purpose: ClassVar[str] = (
        "1 if the final answer equals reference.answer (a string, or a list of which one must be "
        "met) mathematically, else 0"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = AccuracyReason

    type: Literal["accuracy"] = "accuracy"

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`."""
        # The API process imports this module for its options and must stay free of sympy.
        from math_verify import parse, verify  # noqa: PLC0415

        references = [
            parsed
            for text in _reference_texts(reference)
            if (parsed := parse(_as_math(_after_marker(text)), parsing_timeout=None))
        ]
        if not references:
            raise Unverifiable(EngineReason.BAD_REFERENCE)
        for one in references:
            if not getattr(one[0], "is_Number", False):
                # Parsing is lazy. What evaluating the reference costs must show here, where it is
                # the reference's fault, and not in the judgement of the first completion.
                verify(one, parse("$2$", parsing_timeout=None), timeout_seconds=None)

        def judge(completion: Completion) -> Judgement:
            answer = final_answer(completion.text)
            if answer is None:
                return Judgement(0.0, AccuracyReason.NO_ANSWER)
            in_tag, text = answer
            extracted = text if in_tag else None
            # What stands in the tag is read as the reference is, so that an answer equals itself;
            # where that finds nothing equal, as text, for answers such as `5 apples`.
            for reading in dict.fromkeys([_as_math(text), text] if in_tag else [text]):
                parsed = parse(reading, parsing_timeout=None)
                if parsed and extracted is None:
                    extracted = str(parsed[-1])
                if any(verify(one, parsed, timeout_seconds=None) for one in references):
                    return Judgement(1.0, AccuracyReason.EQUAL, extracted)
            if extracted is None:
                return Judgement(0.0, AccuracyReason.NO_ANSWER)
            return Judgement(0.0, AccuracyReason.DIFFERENT, extracted)

        return judge


def final_answer(text: str) -> tuple[bool, str] | None:
    """Where the final answer stands: (whether in an <answer> tag, the text to read it from).

    Only what follows the reasoning counts; None where the reasoning never ends or the tag is empty.

    >>> final_answer("<think>\\n1 + 1 = 3?\\n</think>\\n<answer>\\n2\\n</answer>")
    (True, '2')
    >>> final_answer("The answer is 2.")
    (False, 'The answer is 2.')
    """
    after = text.rpartition("</think>")[2]
    if "<think>" in after:
        return None
    _, opening, inside = after.rpartition("<answer>")
    if not opening:
        return (False, after) if after.strip() else None
    answer = inside.partition("</answer>")[0].strip()
    return (True, answer) if answer else None


def _reference_texts(reference: Mapping[str, Any]) -> list[str]:
    answer = reference.get("answer")
    if answer is None or answer == "" or answer == []:
        raise Unverifiable(EngineReason.MISSING_REFERENCE)
    texts = answer if isinstance(answer, list) else [answer]
    if any(isinstance(text, bool) or not isinstance(text, str | int | float) for text in texts):
        raise Unverifiable(EngineReason.BAD_REFERENCE)
    return [str(text) for text in texts]


def _after_marker(text: str) -> str:
    """GSM8K references are a worked solution whose last line is `#### 72`."""
    return text.rpartition("####")[2].strip()


def _as_math(text: str) -> str:
    """Text that math-verify reads as LaTeX; text that has delimiters is left as it is."""
    return text if DELIMITER.search(text) else f"${text}$"
