"""`accuracy`: does the completion's final answer equal the reference mathematically?

Three stages: `mathematics.extraction` finds the final answer, `mathematics.comparison` compares it
without sympy where that decides, and `mathematics.math_verify_comparison` settles the rest, once
for each pair of reference and answer. docs/accuracy.md lists the deliberate differences from
math-verify.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
from pydantic import Field, model_validator

from verifier_service.answer_text import SeveralAnswers, after_reasoning, answer_part
from verifier_service.completion import Completion
from verifier_service.explanation import DecidingStage, Explanation
from verifier_service.mathematics.answer_sources import MAX_ANSWER_CHARACTERS, SOURCES, Source
from verifier_service.mathematics.program_values import Lists, answers_in_value
from verifier_service.mathematics.rules import Form, FormFault, Rules
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
from verifier_service.verifiers.format import TagName

if TYPE_CHECKING:
    from verifier_service.mathematics.closing_statement import Joint
    from verifier_service.mathematics.comparison import AnswerReading
    from verifier_service.mathematics.extracted_answer import Extraction

# The API process imports this module for its options, must stay free of sympy and mpmath, and
# should start soon. So modules that need those, or compile many patterns, are imported inside the
# functions that use them.


MAX_TAG_CHARACTERS = 40
"""Most characters around an answer that repeats its reference: of tags, and of `</think>`."""


MAX_KEPT_JUDGEMENTS = 16
"""Most answers whose judgement is kept: completions of a group end with few different ones."""


class AccuracyReason(Reason):
    """Reasons of `accuracy`."""

    EQUAL = "equal", "1: the final answer equals the reference, or one of several."
    DIFFERENT = "different", "0: the final answer differs from the reference."
    NO_ANSWER = (
        "no_answer",
        "0: the completion has no final answer, or only one that it doubts, denies or takes back.",
    )
    AMBIGUOUS_ANSWER = (
        "ambiguous_answer",
        "0: the completion offers different values for one answer.",
    )
    UNEVALUATED = (
        "unevaluated",
        "0: the value is right, but the answer leaves an operation to do that the reference does "
        "not have, such as 37*24 for 888 (option `form`).",
    )
    OTHER_FORM = (
        "other_form",
        "0: the value is right, but the form is not the reference's, such as factored instead of "
        "expanded (option `form`).",
    )


_REASONS: Mapping[FormFault, AccuracyReason] = {
    "unevaluated": AccuracyReason.UNEVALUATED,
    "other_form": AccuracyReason.OTHER_FORM,
}


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
        "accuracy_reward. The other options are for the default mode only, but for reference_text",
    )
    reference_text: Literal["latex", "plain"] = Field(
        default="latex",
        description="for the modes of math-verify. latex: a reference without delimiters of "
        "mathematics is put between dollars; plain: it is given to math-verify as it is, as TRL "
        "and open-r1 do",
    )
    reference_list: Lists = Field(
        default="auto",
        description="a reference that is the text of a JSON or Python list. any: its elements are "
        "alternatives; all: they are one answer together; auto: any where they stand in quotes "
        '(["4", "5"]), else brackets of mathematics ([1, 2])',
    )
    decimal_comma: bool = Field(
        default=False, description="whether 3,5 is 3.5, in references and in completions"
    )
    tags: tuple[TagName, ...] = Field(
        default=("answer",),
        min_length=1,
        max_length=8,
        description="tags that the source answer_tag looks for, such as answer, solution, choice",
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

    rounding: int | None = Field(
        default=None,
        ge=1,
        le=15,
        description="significant digits: a decimal of so many or more equals what rounds to it, on "
        "either side: with 3, 85.71 equals 600/7 and 3.14 equals pi. null: decimals of six places "
        "or more do",
    )

    form: Form = Field(
        default="value",
        description="value: only the value counts; evaluated: an answer must not leave an "
        "operation to do that the reference does not have: 37*24 for 888; same: nor have another "
        "form: (x+1)^2 for x^2+2x+1. Choose evaluated where the task is to compute or solve, same "
        "where it is the form itself (expand, factor, reduce), value to compare with other graders",
    )

    @model_validator(mode="after")
    def _only_where_they_count(self) -> Self:
        modes = {"type", "name", "weight", "mode"}
        useless = self.model_fields_set - modes - {"reference_text"}
        if self.mode == "default":
            useless = self.model_fields_set & {"reference_text"}
        if useless:
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

        references = [comparison.read_answer(text) for text in self.answer_texts(reference)]
        judgement_of = self.judge_of_answers(references)

        def judge(completion: Completion) -> Judgement | Undecided:
            return judgement_of(self.final_answer(completion.text, references))

        return judge

    def judge_of_answers(
        self, references: Sequence[AnswerReading]
    ) -> Callable[[Extraction | None], Judgement | Undecided]:
        """The judge of what `final_answer` finds; it keeps its judgements."""
        from verifier_service.mathematics import comparison  # noqa: PLC0415

        rules = self.rules
        all_readable = all(one.values or one.order or _can_be_read(one.text) for one in references)
        kept: dict[tuple[tuple[str, ...], Joint], Judgement | Undecided] = {}

        def judgement_of(found: Extraction) -> Judgement | Undecided:
            extracted = found.text
            if len(extracted) > MAX_ANSWER_CHARACTERS:
                return Judgement(0.0, EngineReason.TOO_LARGE, extracted)
            answer = _reading_of(found)
            verdicts = [comparison.meets(one, answer, rules) for one in references]
            equal = [one for one, same in zip(references, verdicts, strict=True) if same]
            fault = self._fault_of_form(equal, answer)
            if equal and fault is None:
                return Judgement(1.0, AccuracyReason.EQUAL, extracted)
            if fault is not None and None not in verdicts:
                return Judgement(0.0, fault, extracted)
            if not all_readable:
                raise bad("answer", "it cannot be read, so only the same text would be equal")
            if found.joint == "or":
                return Judgement(0.0, AccuracyReason.AMBIGUOUS_ANSWER, extracted)
            if None in verdicts:
                return Undecided(extracted)
            if len(found.statements) > 1 or _offers_alternatives(answer, rules):
                return Judgement(0.0, AccuracyReason.AMBIGUOUS_ANSWER, extracted)
            return Judgement(0.0, AccuracyReason.DIFFERENT, extracted)

        def judge(found: Extraction | None) -> Judgement | Undecided:
            if found is None:
                return Judgement(0.0, AccuracyReason.NO_ANSWER)
            answer = (found.statements, found.joint)
            judgement = kept.get(answer)
            if judgement is None:
                judgement = judgement_of(found)
                if len(kept) < MAX_KEPT_JUDGEMENTS:
                    kept[answer] = judgement
            return judgement

        return judge

    def settle(self, reference: Mapping[str, Any]) -> Settler:
        """Read the reference for the pairs that the comparison leaves to math-verify."""
        from verifier_service.mathematics import comparison, math_verify_comparison  # noqa: PLC0415

        rules = self.rules
        texts = self.answer_texts(reference)
        for text in texts:
            math_verify_comparison.evaluate_reference(text)

        def settle(question: OpenQuestion) -> Judgement:
            # math-verify sees open pairs only: it could overrule references that differ.
            answer = comparison.read_answer(question)
            faults: list[AccuracyReason] = []
            for text in texts:
                one = comparison.read_answer(text)
                is_same = comparison.meets(one, answer, rules)
                if is_same is False:
                    continue
                if is_same is None and not math_verify_comparison.accepts_either_way(
                    text, question
                ):
                    continue
                fault = self._fault_of_form([one], answer)
                if fault is None:
                    return Judgement(1.0, AccuracyReason.EQUAL, question)
                faults.append(fault)
            if faults:
                return Judgement(0.0, faults[0], question)
            if _offers_alternatives(answer, rules):
                return Judgement(0.0, AccuracyReason.AMBIGUOUS_ANSWER, question)
            return Judgement(0.0, AccuracyReason.DIFFERENT, question)

        return settle

    def _fault_of_form(
        self, equal: Sequence[AnswerReading], answer: AnswerReading
    ) -> AccuracyReason | None:
        """The fault in the form of an answer that equals references; None if one allows it.

        Raises:
            Unverifiable: the form must be that of a reference that cannot be read.
        """
        if self.form == "value":
            return None
        from verifier_service.mathematics import comparison  # noqa: PLC0415

        try:
            faults = [comparison.wrong_form(one, answer, self.form) for one in equal]
        except comparison.UnreadableForm as error:
            raise bad("answer", "its form cannot be read, which `form` same asks for") from error
        found = [_REASONS[fault] for fault in faults if fault is not None]
        return found[0] if found and len(found) == len(faults) else None

    def explain(
        self, reference: Mapping[str, Any], judge: Judge, completion: Completion
    ) -> Explanation:
        """Tell what the final answer is, how both sides were read, and which stage decided."""
        from verifier_service.mathematics import comparison  # noqa: PLC0415
        from verifier_service.mathematics.answer_explanation import (  # noqa: PLC0415
            explained_answer,
        )

        if self.mode != "default":
            found = super().explain(reference, judge, completion)
            return msgspec.structs.replace(found, stage=DecidingStage.MATH_VERIFY)
        references = [comparison.read_answer(text) for text in self.answer_texts(reference)]
        return explained_answer(
            completion.text,
            references,
            find=lambda text: self._written_answer(text, references),
            as_read=self._in_notation,
            rules=self.rules,
        )

    @property
    def rules(self) -> Rules:
        """The options that decide what counts as equal."""
        return Rules(self.units, self.percent, self.order_matters, self.tolerance, self.rounding)

    def answer_texts(self, reference: Mapping[str, Any]) -> list[str]:
        """The acceptable answers; of a whole solution, the answer in it."""
        from verifier_service.mathematics.plain_text import with_decimal_points  # noqa: PLC0415
        from verifier_service.mathematics.reference_answer import (  # noqa: PLC0415
            NoAnswer,
            answers_of_reference,
        )

        texts: list[str] = []
        for text in acceptable_answers(_with_texts_for_booleans(reference)):
            try:
                texts += answers_of_reference(text, self.reference_list)
            except NoAnswer as error:
                raise bad("answer", str(error)) from error
        for text in texts:
            if not any(map(str.isalnum, text)) and text not in ("∅", "∞"):
                raise bad("answer", "it has neither letter nor digit")
            if len(text) > MAX_ANSWER_CHARACTERS:
                found = f"found {len(text)} characters"
                raise bad("answer", f"{found}, expected at most {MAX_ANSWER_CHARACTERS}")
        return [*map(with_decimal_points, texts)] if self.decimal_comma else texts

    def final_answer(self, text: str, references: Sequence[AnswerReading]) -> Extraction | None:
        """The final answer in the notation of `answer_texts`."""
        found = self._written_answer(text, references)
        return None if found is None else self._in_notation(found)

    def _in_notation(self, found: Extraction) -> Extraction:
        """An extraction in the notation of `answer_texts`."""
        if not self.decimal_comma and not any(map(_may_be_value, found.statements)):
            return found
        statements = tuple(_as_one_answer(one) for one in found.statements)
        if self.decimal_comma:
            from verifier_service.mathematics.plain_text import (  # noqa: PLC0415
                with_decimal_points,
            )

            statements = tuple(map(with_decimal_points, statements))
        return replace(found, statements=statements)

    def _written_answer(self, text: str, references: Sequence[AnswerReading]) -> Extraction | None:
        """The final answer; where a sentence or the whole text repeats a reference, that."""
        from verifier_service.mathematics.answers_in_json import (  # noqa: PLC0415
            with_tagged_answer,
        )
        from verifier_service.mathematics.extracted_answer import Extraction  # noqa: PLC0415
        from verifier_service.mathematics.extraction import extract  # noqa: PLC0415
        from verifier_service.mathematics.plain_text import text_key  # noqa: PLC0415

        found = self._asked_for(extract(text, self.extract, self.tags), text, references)
        if found is not None and found.sentence:
            sentence = text_key(found.sentence)
            if any(sentence == one.key for one in references):
                return Extraction(found.source, (found.sentence,))
        max_characters = max(len(one.text) for one in references) + MAX_TAG_CHARACTERS
        if "math" in self.extract and len(text) - text.rfind("</think>") <= max_characters:
            seen = self._seen(text)
            if "answer_tag" in self.extract:
                seen = with_tagged_answer(seen, "answer")
            whole = _whole_answer(seen)
            is_other = whole and (found is None or found.text != whole)
            if is_other and any(_repeats(whole, one) for one in references):
                return Extraction("math", (whole,))
        return found

    def _asked_for(
        self, found: Extraction | None, text: str, references: Sequence[AnswerReading]
    ) -> Extraction | None:
        """A verdict or a count where the references are such and nothing announces an answer."""
        from verifier_service.mathematics.counted_lists import counted_list  # noqa: PLC0415
        from verifier_service.mathematics.extracted_answer import Extraction  # noqa: PLC0415
        from verifier_service.mathematics.extraction import ANNOUNCED  # noqa: PLC0415
        from verifier_service.mathematics.leading_verdict import leading_verdict  # noqa: PLC0415

        is_announced = found is not None and found.source in ANNOUNCED
        if is_announced or "last_expression" not in self.extract:
            return found
        stated = None
        if all(one.number for one in references):
            stated = counted_list(self._seen(text))
        elif _ask_for_verdict(references):
            stated = leading_verdict(self._seen(text))
        return Extraction("last_expression", (stated,)) if stated else found

    def _seen(self, text: str) -> str:
        """The part of a completion behind its reasoning that a reader sees."""
        from verifier_service.mathematics.visible_text import visible_text  # noqa: PLC0415

        return visible_text(after_reasoning(text) or "", self.tags)

    def _judge_as_peer(self, mode: Literal["math_verify", "open_r1"], texts: list[str]) -> Judge:
        from verifier_service.mathematics.math_verify_comparison import PeerReading  # noqa: PLC0415

        references = [PeerReading.of_reference(text, mode, self.reference_text) for text in texts]
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


def _ask_for_verdict(references: Sequence[AnswerReading]) -> bool:
    """Whether each reference is yes or no, or true or false."""
    from verifier_service.mathematics.values import Words  # noqa: PLC0415

    verdicts = [one.values[:1] for one in references]
    return all(one in ((Words("yes"),), (Words("no"),)) for one in verdicts)


def _with_texts_for_booleans(reference: Mapping[str, Any]) -> Mapping[str, Any]:
    """The reference with `True` and `False` in place of truth values: they are words here."""
    answer = reference.get("answer")
    if isinstance(answer, list):
        texts = [str(one) if isinstance(one, bool) else one for one in answer]
        return {**reference, "answer": texts}
    return {**reference, "answer": str(answer)} if isinstance(answer, bool) else reference


def _as_one_answer(statement: str) -> str:
    """A statement; of one that is a JSON or Python value, what it stands for as one answer."""
    return answers_in_value(statement, "all")[0] if _may_be_value(statement) else statement


def _may_be_value(statement: str) -> bool:
    return statement.startswith(_VALUE_BEGINNINGS) and ('"' in statement or "'" in statement)


_VALUE_BEGINNINGS = ("[", "{", "(", "'", '"')


_SEVERAL_WORDS = re.compile(r"[a-z]{2,}\s+[a-z]{2,}")


def _repeats(whole: str, reference: AnswerReading) -> bool:
    """Whether a whole text is that of a reference, or says it in the same words."""
    from verifier_service.mathematics.labelled_values import labelled_values  # noqa: PLC0415
    from verifier_service.mathematics.plain_text import text_key  # noqa: PLC0415

    if whole == _as_written(reference.text):
        return True
    if (values := labelled_values(reference.text)) and (stated := labelled_values(whole)):
        return values.keys() == stated.keys()
    is_wordy = _SEVERAL_WORDS.search(reference.key) is not None and not whole.endswith("?")
    return is_wordy and text_key(whole) == reference.key


def _whole_answer(text: str) -> str:
    """The content of the answer tag, or without one everything after the reasoning.

    Empty where a sentence behind the tag takes it back, or offers another answer.
    """
    from verifier_service.mathematics.box_surroundings import offered_behind  # noqa: PLC0415
    from verifier_service.mathematics.further_answers import (  # noqa: PLC0415
        without_further_answers,
    )
    from verifier_service.mathematics.withdrawn_answers import is_withdrawn  # noqa: PLC0415

    try:
        answer = _as_written(answer_part(text) or "")
    except SeveralAnswers:
        return ""
    _, tag, behind = text.rpartition("</answer>")
    if tag and (
        is_withdrawn(behind, 0, answer)
        or without_further_answers(text)[1]
        or offered_behind(behind, 0)[0]
    ):
        return ""
    return answer


def _as_written(text: str) -> str:
    """A text with single spaces and without a final full stop; its lines stay lines."""
    return _SPACES.sub(" ", text.strip()).removesuffix(".")


# Spaces and tabs in a line.
_SPACES = re.compile(r"[ \t]+")


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
