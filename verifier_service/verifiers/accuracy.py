"""`accuracy`: does the completion's final answer equal the reference mathematically?

Three stages: `mathematics.extraction` finds the final answer, `mathematics.comparison` compares it
without sympy where that decides, and `mathematics.math_verify_comparison` settles the rest, once
for each pair of reference and answer. docs/accuracy.md lists the deliberate differences from
math-verify.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
from pydantic import Field, model_validator

from verifier_service.completion import Completion
from verifier_service.explanation import DecidingStage, Explanation
from verifier_service.mathematics.extraction import (
    MAX_ANSWER_CHARACTERS,
    SOURCES,
    Extraction,
    Source,
    extract,
)
from verifier_service.mathematics.reference_answer import NoAnswer, answer_of_reference
from verifier_service.mathematics.rules import Rules
from verifier_service.mathematics.tolerance import DECIMAL_TOLERANCE, MAX_DECIMAL_TOLERANCE
from verifier_service.reason import EngineReason, Reason
from verifier_service.reference import acceptable_answers, bad
from verifier_service.verifier import (
    Judge,
    Judgement,
    OpenQuestion,
    Settler,
    SettlingVerifier,
    Undecided,
)

if TYPE_CHECKING:
    from verifier_service.mathematics.comparison import AnswerReading

# The API process imports this module for its options and must stay free of sympy and mpmath. So
# modules that need those are imported inside the functions that use them.


class AccuracyReason(Reason):
    """Reasons of `accuracy`."""

    EQUAL = "equal", "1: the final answer equals the reference, or one of several."
    DIFFERENT = "different", "0: the final answer equals none."
    NO_ANSWER = "no_answer", "0: the completion has no final answer."
    AMBIGUOUS_ANSWER = (
        "ambiguous_answer",
        "0: the completion offers different values for one answer.",
    )


class Accuracy(SettlingVerifier):
    """1 if the final answer equals the reference mathematically, else 0."""

    purpose: ClassVar[str] = (
        "1 if the final answer equals reference.answer (a string or a number, or a list of which "
        "one must be met) mathematically, else 0"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = AccuracyReason

    type: Literal["accuracy"] = "accuracy"
    mode: Literal["default", "math_verify", "open_r1"] = Field(
        default="default",
        description="math_verify: verify(parse(reference), parse(completion)) with the defaults of "
        "math-verify 0.9; open_r1: with the extraction settings of TRL's and open-r1's "
        "accuracy_reward. The other options are for the default mode only",
    )
    extract: tuple[Source, ...] = Field(
        default=SOURCES,
        min_length=1,
        description="where to look for the final answer, in that order; the first source that "
        "finds one decides. Leave sources out to be strict",
    )
    units: Literal["compare", "require", "ignore"] = Field(
        default="compare",
        description="compare: units are converted, and a unit on one side only is ignored; "
        "require: such answers differ; ignore: all units are ignored",
    )
    percent: Literal["lenient", "strict"] = Field(
        default="lenient",
        description="lenient: 50% equals 0.5 and 50; strict: only 0.5",
    )
    order_matters: bool = Field(
        default=True, description="whether (1, 2) differs from (2, 1); sets have no order anyway"
    )
    tolerance: float = Field(
        default=DECIMAL_TOLERANCE,
        ge=0,
        lt=MAX_DECIMAL_TOLERANCE,
        description="relative difference of equal values, where one side is a decimal; a decimal "
        "with so many places also equals values that round to it",
    )

    @model_validator(mode="after")
    def _only_in_default_mode(self) -> Self:
        useless = self.model_fields_set & {
            "extract",
            "units",
            "percent",
            "order_matters",
            "tolerance",
        }
        if self.mode != "default" and useless:
            raise ValueError(f"{', '.join(sorted(useless))}: no effect in mode {self.mode}")
        return self

    @property
    def task_size(self) -> int:
        """A small task in the peers' modes: math-verify takes milliseconds for a completion."""
        return super().task_size if self.mode == "default" else 8

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        if self.mode != "default":
            return self._judge_as_peer(self.mode, acceptable_answers(reference))
        from verifier_service.mathematics import comparison  # noqa: PLC0415

        rules = self.rules
        references = [comparison.read_answer(text) for text in _answer_texts(reference)]
        all_readable = all(one.values or _can_be_read(one.text) for one in references)

        def judge(completion: Completion) -> Judgement | Undecided:
            found = extract(completion.text, self.extract)
            if found is None:
                return Judgement(0.0, AccuracyReason.NO_ANSWER)
            extracted = found.text
            if len(extracted) > MAX_ANSWER_CHARACTERS:
                return Judgement(0.0, EngineReason.TOO_LARGE, extracted)
            answer = _reading_of(found)
            verdicts = [comparison.same_answer(one, answer, rules) for one in references]
            if True in verdicts:
                return Judgement(1.0, AccuracyReason.EQUAL, extracted)
            if not all_readable:
                raise bad("answer", "it cannot be read, so only the same text would be equal")
            if found.joint == "or":
                return Judgement(0.0, AccuracyReason.AMBIGUOUS_ANSWER, extracted)
            if None in verdicts:
                return Undecided(extracted)
            if len(found.statements) > 1 or _offers_alternatives(answer, rules):
                return Judgement(0.0, AccuracyReason.AMBIGUOUS_ANSWER, extracted)
            return Judgement(0.0, AccuracyReason.DIFFERENT, extracted)

        return judge

    def settle(self, reference: Mapping[str, Any]) -> Settler:
        """Read the reference for the pairs that the comparison leaves to math-verify."""
        from verifier_service.mathematics import comparison, math_verify_comparison  # noqa: PLC0415

        rules = self.rules
        texts = _answer_texts(reference)
        for text in texts:
            math_verify_comparison.evaluate_reference(text)

        def settle(question: OpenQuestion) -> Judgement:
            # math-verify sees open pairs only: it could overrule references that differ.
            answer = comparison.read_answer(question)
            for text in texts:
                one = comparison.read_answer(text)
                if comparison.same_answer(one, answer, rules) is not None:
                    continue
                if math_verify_comparison.accepts_either_way(text, question):
                    return Judgement(1.0, AccuracyReason.EQUAL, question)
            if _offers_alternatives(answer, rules):
                return Judgement(0.0, AccuracyReason.AMBIGUOUS_ANSWER, question)
            return Judgement(0.0, AccuracyReason.DIFFERENT, question)

        return settle

    def explain(
        self, reference: Mapping[str, Any], judge: Judge, completion: Completion
    ) -> Explanation:
        """Tell what the final answer is, how both sides were read, and which stage decided."""
        from verifier_service.mathematics.answer_explanation import (  # noqa: PLC0415
            explained_answer,
        )

        if self.mode != "default":
            found = super().explain(reference, judge, completion)
            return msgspec.structs.replace(found, stage=DecidingStage.MATH_VERIFY)
        return explained_answer(completion.text, _answer_texts(reference), self.extract, self.rules)

    @property
    def rules(self) -> Rules:
        """The options that decide what counts as equal."""
        return Rules(self.units, self.percent, self.order_matters, self.tolerance)

    def _judge_as_peer(self, mode: Literal["math_verify", "open_r1"], texts: list[str]) -> Judge:
        from verifier_service.mathematics.math_verify_comparison import PeerReading  # noqa: PLC0415

        references = [PeerReading.of_reference(text, mode) for text in texts]
        readable = [one for one in references if one.parsed]
        if not readable:
            raise bad("answer", "math-verify cannot read it")
        for one in readable:
            one.evaluate()

        def judge(completion: Completion) -> Judgement:
            answer = PeerReading.of_completion(completion.text, mode)
            if not answer.parsed:
                return Judgement(0.0, AccuracyReason.NO_ANSWER)
            if any(one.accepts(answer) for one in readable):
                return Judgement(1.0, AccuracyReason.EQUAL, answer.text)
            return Judgement(0.0, AccuracyReason.DIFFERENT, answer.text)

        return judge


def _reading_of(found: Extraction) -> AnswerReading:
    """The reading of a final answer that has one statement or several."""
    from verifier_service.mathematics.comparison import joined_answer, read_answer  # noqa: PLC0415

    readings = [read_answer(statement) for statement in found.statements]
    return readings[0] if len(readings) == 1 else joined_answer(readings, found.text, found.joint)


def _offers_alternatives(answer: AnswerReading, rules: Rules) -> bool:
    from verifier_service.mathematics.value_comparison import (  # noqa: PLC0415
        has_different_alternatives,
    )

    return any(has_different_alternatives(value, rules) for value in answer.values)


def _can_be_read(text: str) -> bool:
    from verifier_service.mathematics import math_verify_comparison  # noqa: PLC0415

    return "\\" not in text or math_verify_comparison.can_read(text)


def _answer_texts(reference: Mapping[str, Any]) -> list[str]:
    """The acceptable answers; of a whole solution, the answer in it."""
    texts = [_answer_of(text) for text in acceptable_answers(reference)]
    for text in texts:
        if not any(map(str.isalnum, text)) and text not in ("∅", "∞"):
            raise bad("answer", "it has neither letter nor digit")
        if len(text) > MAX_ANSWER_CHARACTERS:
            found = f"found {len(text)} characters"
            raise bad("answer", f"{found}, expected at most {MAX_ANSWER_CHARACTERS}")
    return texts


def _answer_of(text: str) -> str:
    try:
        return answer_of_reference(text)
    except NoAnswer as error:
        raise bad("answer", str(error)) from error
