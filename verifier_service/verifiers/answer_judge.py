"""`answer_judge`: rules first, and a model only about answers in words that rules leave open.

The worker extracts the answer, judges by the rules of `accuracy`, and leaves what these neither
prove nor refute as a question. The API process asks it (`model_judge`). docs/judges.md has the
threat model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from pydantic import Field

from verifier_service.answer_text import SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.explanation import DecidingStage, Explanation
from verifier_service.model_judge.only_announced import says_nothing
from verifier_service.model_judge.open_answer import (
    MAX_GIVEN_CHARACTERS,
    MAX_JUDGED_CHARACTERS,
    OpenAnswer,
    cleaned,
)
from verifier_service.model_judge.reasons import CallReason, JudgeReason
from verifier_service.reason import EngineReason, Reason
from verifier_service.reference import bad, kind
from verifier_service.verifier import (
    AskingVerifier,
    Judge,
    Judgement,
    Settler,
    Undecided,
    Unverifiable,
)
from verifier_service.verifiers.accuracy import MAX_KEPT_JUDGEMENTS, Accuracy

if TYPE_CHECKING:
    from verifier_service.mathematics.closing_statement import Joint
    from verifier_service.mathematics.comparison import AnswerReading
    from verifier_service.mathematics.extracted_answer import Extraction

MAX_SENTENCE_CHARACTERS = 1000
"""Longest text after the reasoning that is the answer as a whole."""
BY_RULES: Mapping[str, Any] = {"by": "rules"}
"""Details of a verdict that rules decide."""


class AnswerJudge(AskingVerifier):
    """1 if the final answer means the same as the reference, else 0: by rules, or by a model."""

    purpose: ClassVar[str] = (
        "1 if the final answer means the same as reference.answer (a text or a number, or a list "
        "of which one must be met), else 0. The rules of accuracy decide what they can prove or "
        "refute; a model (VERIFIER_JUDGE_URL) is asked about the rest, mostly answers in words, "
        "and reads reference.problem, if there is one, the reference and the extracted answer. "
        "details.by says who decided: rules or model"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = (*JudgeReason, *CallReason)

    type: Literal["answer_judge"] = "answer_judge"
    audit_fraction: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of the answers that rules decide about which the model is asked too; "
        "it changes no verdict, and the metric verifier_judge_audited_total tells how often both "
        "agree",
    )

    @property
    def task_size(self) -> int:
        """A task of a few groups: math-verify takes milliseconds for some answers."""
        return 256

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        from verifier_service.mathematics.comparison import read_answer  # noqa: PLC0415

        texts = _RULES.answer_texts(reference)
        readings = [read_answer(text) for text in texts]
        by_rules = _RULES.judge_of_answers(readings)
        are_numbers = all(one.number for one in readings)
        problem, given = _problem(reference), _given(texts)
        kept: dict[tuple[tuple[str, ...], Joint], Judgement | Undecided] = {}

        @cache
        def settler() -> Settler:
            return _RULES.settle(reference)

        def judgement_of(text: str, found: Extraction | None) -> Judgement | Undecided:
            try:
                judged = by_rules(found)
                judgement = settler()(judged.question) if isinstance(judged, Undecided) else judged
            except Unverifiable:
                judgement = _UNREAD
            if judgement.reason not in (JudgeReason.DIFFERENT, JudgeReason.NO_ANSWER):
                return self._audited(_said_by_rules(judgement), given, problem)
            # Rules decide about two numbers in digits for certain.
            if are_numbers and found is not None and read_answer(found.text).number:
                return self._audited(_said_by_rules(judgement), given, problem)
            answer = _statement(text, found, readings)
            refuted = _refuted(answer, readings)
            if refuted is not None:
                return self._audited(refuted, given, problem)
            return Undecided(msgspec.json.encode(OpenAnswer(given, answer, problem)).decode())

        def judge(completion: Completion) -> Judgement | Undecided:
            found = _RULES.final_answer(completion.text, readings)
            if found is None or not _is_stated(found):
                return judgement_of(completion.text, found)
            answer = (found.statements, found.joint)
            judgement = kept.get(answer)
            if judgement is None:
                judgement = judgement_of(completion.text, found)
                if len(kept) < MAX_KEPT_JUDGEMENTS:
                    kept[answer] = judgement
            return judgement

        return judge

    def _audited(self, judgement: Judgement, given: list[str], problem: str | None) -> Judgement:
        """The judgement, with a question to the model if the answer is one of those to check."""
        if self.audit_fraction == 0:
            return judgement
        is_equal = judgement.reason == JudgeReason.EQUAL
        answer = cleaned(judgement.extracted or "")
        can_be_asked = is_equal or judgement.reason == JudgeReason.DIFFERENT
        if not can_be_asked or len(answer) > MAX_JUDGED_CHARACTERS:
            return judgement
        question = msgspec.json.encode(OpenAnswer(given, answer, problem, is_equal))
        drawn = int.from_bytes(hashlib.sha256(question).digest()[:8], "big") / 2**64
        if drawn >= self.audit_fraction:
            return judgement
        return replace(judgement, audit=question.decode())

    def explain(
        self, reference: Mapping[str, Any], judge: Judge, completion: Completion
    ) -> Explanation:
        """Tell what the final answer is, and whether rules or the model decide about it."""
        found = _RULES.explain(reference, judge, completion)
        if isinstance(judge(completion), Undecided):
            return msgspec.structs.replace(found, stage=DecidingStage.MODEL)
        return found


_RULES = Accuracy()


_UNREAD = Judgement(0.0, JudgeReason.DIFFERENT)
"""The judgement where rules cannot read the reference: the answer differs, as far as they see."""


def _said_by_rules(found: Judgement) -> Judgement:
    """A judgement of the rules, with details that say so."""
    return Judgement(found.score, found.reason, found.extracted, dict(BY_RULES))


def _is_stated(found: Extraction) -> bool:
    """Whether the completion presents it as its answer: then nothing else in it is one."""
    return found.source != "last_expression"


def _statement(text: str, found: Extraction | None, readings: list[AnswerReading]) -> str:
    """The text that states the answer, cleaned; empty without one.

    Mostly it is the final answer of `accuracy`. An answer in a sentence is none there, or its last
    number: then it is all that follows the reasoning, if that is short. Only where each reference
    is another number, the last one decides.
    """
    from verifier_service.mathematics.visible_text import visible_text  # noqa: PLC0415

    extracted = "" if found is None else cleaned(found.text)
    is_stated = found is not None and _is_stated(found)
    if is_stated or _is_other_number(extracted, readings):
        return extracted
    try:
        whole = cleaned(visible_text(answer_part(text) or "", ("answer",)))
    except SeveralAnswers:
        return extracted
    return whole if len(whole) <= MAX_SENTENCE_CHARACTERS else extracted


def _refuted(answer: str, readings: list[AnswerReading]) -> Judgement | None:
    """The judgement on an answer that rules refute; None where a model may find it right."""
    from verifier_service.mathematics.plain_text import unwrapped  # noqa: PLC0415

    if says_nothing(unwrapped(answer)):
        return Judgement(0.0, JudgeReason.NO_ANSWER, answer, dict(BY_RULES))
    if len(answer) > MAX_JUDGED_CHARACTERS:
        return Judgement(0.0, EngineReason.TOO_LARGE, answer, dict(BY_RULES))
    if _is_refuted(answer, readings):
        return Judgement(0.0, JudgeReason.DIFFERENT, answer, dict(BY_RULES))
    return None


def _is_other_number(extracted: str, readings: list[AnswerReading]) -> bool:
    """Whether all are numbers in digits, which differ for certain."""
    from verifier_service.mathematics.comparison import read_answer  # noqa: PLC0415

    numbers = [read_answer(extracted), *readings]
    return all(one.number for one in numbers) and _is_refuted(extracted, readings)


def _is_refuted(answer: str, readings: list[AnswerReading]) -> bool:
    """Whether an answer differs from each reference for certain."""
    from verifier_service.mathematics.comparison import read_answer  # noqa: PLC0415
    from verifier_service.mathematics.refutation import is_refuted  # noqa: PLC0415

    reading = read_answer(answer)
    return all(is_refuted(one, reading, _RULES.rules) for one in readings)


def _problem(reference: Mapping[str, Any]) -> str | None:
    """`reference.problem`, cleaned; None without one. Raises Unverifiable."""
    problem = reference.get("problem")
    if problem is None:
        return None
    if not isinstance(problem, str):
        raise bad("problem", f"found {kind(problem)}, expected a text")
    _check_length("problem", len(problem))
    return cleaned(problem) or None


def _given(texts: list[str]) -> list[str]:
    """The acceptable answers, cleaned. Raises Unverifiable."""
    _check_length("answer", sum(map(len, texts)))
    return [cleaned(text) for text in texts]


def _check_length(key: str, num_characters: int) -> None:
    if num_characters > MAX_GIVEN_CHARACTERS:
        found = f"found {num_characters} characters"
        raise bad(key, f"{found}, expected at most {MAX_GIVEN_CHARACTERS} for a model")
