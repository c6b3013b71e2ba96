"""`reasoning_gym`: does the scorer of a data set of reasoning-gym accept the answer?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.mathematics.boxes import boxes_in
from verifier_service.reason import Reason
from verifier_service.reference import MAX_KEY_CHARACTERS, bad, kind, missing
from verifier_service.validation import did_you_mean
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable

MAX_ANSWER_CHARACTERS = 20_000
FULL_SCORE = 1 - 1e-6
"""Shares of parts that are all right may add up to a little less than 1."""
MAX_SCORE = 1 + 1e-6


class ReasoningGymReason(Reason):
    """Reasons of `reasoning_gym`."""

    SOLVED = "solved", "1: the data set's scorer gives the full score."
    PARTLY_SOLVED = (
        "partly_solved",
        "Below 1: the data set's scorer gives a part, or 0 with `scoring: solved`; "
        "`details.score` has the part.",
    )
    DIFFERENT = "different", "0: the data set's scorer gives 0."
    MALFORMED = "malformed", "0: the data set's scorer cannot read the answer."
    TOO_LONG = "too_long", f"0: the answer has more than {MAX_ANSWER_CHARACTERS} characters."
    NO_ANSWER = "no_answer", "0: the part that should hold the answer is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."
    MISSING_PACKAGE = (
        "missing_package",
        "unverifiable: the scorers need `pip install reward-verifier[reasoning_gym]`.",
    )


class ReasoningGym(TextVerifier):
    """The score of an answer by the scorer of its data set in reasoning-gym."""

    purpose: ClassVar[str] = (
        "the score, from 0 to 1, that the package reasoning-gym gives the answer for "
        "reference.entry (a row of a data set, with `answer` and `metadata`); reference.dataset "
        "names the data set, else metadata.source_dataset does. The row may be the reference itself"
    )
    reasons: ClassVar[Iterable[Reason]] = ReasoningGymReason

    type: Literal["reasoning_gym"] = "reasoning_gym"
    scoring: Literal["source", "solved"] = Field(
        default="source",
        description="source: the data set's score, which for some is above 0 for wrong answers; "
        "solved: 1 for the full score, else 0",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: a scorer with sympy takes tens of milliseconds."""
        return 8

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the entry, check it with its own answer, and return the judge of completions."""
        from verifier_service.gym_scorers import fresh_entry, loading  # noqa: PLC0415  loads sympy

        entry, name = _entry(reference)
        if not loading.can_score():
            message = f"it needs reward-verifier[{loading.EXTRA}], which the service has not"
            raise Unverifiable(ReasoningGymReason.MISSING_PACKAGE, message)
        names = loading.data_set_names()
        if name not in names:
            shown = name[:MAX_KEY_CHARACTERS]
            raise bad("dataset", f"no data set {shown!r}{did_you_mean(shown, names)}")
        scorer = loading.scorer_of(name)
        own, entry = _checked(entry, name)
        own_stripped = own.strip()
        if loading.reads_the_answer_only(name):
            entry_copy = fresh_entry.same(entry)
        else:
            entry_copy = fresh_entry.copies_of(entry)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, ReasoningGymReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, ReasoningGymReason.NO_ANSWER)
            answer = _without_box(answer, completion.text)
            if "\r" not in own:  # scorers of grids split lines at line feeds
                answer = answer.replace("\r\n", "\n")
            if len(answer) > MAX_ANSWER_CHARACTERS:
                return Judgement(0.0, ReasoningGymReason.TOO_LONG)
            try:
                # An answer loses the white space around it, which counts for some scorers.
                score = scorer(own if answer == own_stripped else answer, entry_copy())
            except (MemoryError, RecursionError):
                raise
            except Exception:  # noqa: BLE001  the same entry was scored: the answer is to blame
                return Judgement(0.0, ReasoningGymReason.MALFORMED, answer)
            return self._judgement(score, answer)

        return judge

    def _judgement(self, score: float, answer: str) -> Judgement:
        if not 0 < score <= MAX_SCORE:  # nan, and what no scorer means
            return Judgement(0.0, ReasoningGymReason.DIFFERENT, answer)
        if score >= FULL_SCORE:
            return Judgement(1.0, ReasoningGymReason.SOLVED, answer)
        details = {"score": round(score, 6)}
        paid = score if self.scoring == "source" else 0.0
        return Judgement(paid, ReasoningGymReason.PARTLY_SOLVED, answer, details)


def _without_box(answer: str, text: str) -> str:
    """The content of the last box of an answer that has no tag, as NeMo Gym reads it."""
    if "box" not in answer and "oxed{" not in answer:  # the text is far longer
        return answer
    boxes = None if "<answer>" in text else boxes_in(answer)
    return boxes[-1][2] if boxes else answer


def _entry(reference: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The entry of a reference, and the name of its data set. Raises Unverifiable."""
    entry = reference.get("entry", reference)
    if not isinstance(entry, Mapping):
        raise bad("entry", f"found {kind(entry)}, expected an object")
    metadata = entry.get("metadata")
    if metadata is None:
        raise missing("metadata" if entry is reference else "entry.metadata", reference)
    if not isinstance(metadata, dict):
        raise bad("metadata", f"found {kind(metadata)}, expected an object")
    name = reference.get("dataset", metadata.get("source_dataset"))
    if name is None:
        raise missing("dataset", reference)
    if not isinstance(name, str):
        raise bad("dataset", f"found {kind(name)}, expected the name of a data set")
    return dict(entry), name


def _checked(entry: dict[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """The entry's own answer, which its scorer accepts, and the entry as the package makes it.

    The answer is empty where the entry has none.

    A scorer cannot tell an entry that it cannot use from a wrong answer: both get 0.

    Raises:
        Unverifiable: the scorer does not accept it.
    """
    from verifier_service.gym_scorers import loading  # noqa: PLC0415  it loads sympy

    answer = entry.get("answer")
    has_probe = name in loading.PROBES
    if not isinstance(answer, str) and not has_probe:
        raise bad("entry.answer", f"found {kind(answer)}, expected a text")
    try:
        entry = loading.with_tuples(name, entry)
        probe = loading.PROBES[name](entry["metadata"]) if has_probe else str(answer)
        score = loading.scorer_of(name)(probe, deepcopy(entry))
    except Exception as error:
        raise bad("entry", f"the scorer of {name} cannot read it") from error
    if math.isnan(score) or score < (FULL_SCORE if not has_probe else 1e-9):
        raise bad("entry", f"the scorer of {name} gives its own answer {score:.3g}")
    return answer if isinstance(answer, str) else "", entry
