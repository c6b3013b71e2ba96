"""`rubric`: points for what a response does; rules decide what they can, a model the other items.

The worker reads the rubric, decides the items that have a rule, and leaves the rest as a question
with the response. The API process asks it (`model_judge`). docs/judges.md has the threat model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart
from verifier_service.completion import Completion
from verifier_service.instructions.sentences import count_words
from verifier_service.model_judge.open_answer import cleaned_lines
from verifier_service.model_judge.reasons import CallReason, RubricReason
from verifier_service.model_judge.response_text import MAX_RESPONSE_CHARACTERS, response_text
from verifier_service.model_judge.rubric import OpenRubric, RubricItem, is_refused, rubric_score
from verifier_service.model_judge.rubric_rows import RubricRow, rubric_rows
from verifier_service.model_judge.task_text import task_text
from verifier_service.reason import EngineReason, Reason
from verifier_service.reference import bad
from verifier_service.validation import first_problem
from verifier_service.verifier import AskingVerifier, Judge, Judgement, TextVerifier, Undecided
from verifier_service.verifiers.instruction_following import InstructionFollowing
from verifier_service.verifiers.json_schema import JsonSchema
from verifier_service.verifiers.regex import Regex

BY_RULES: Mapping[str, Any] = {"by": "rules"}

MeetsItem = Callable[[str], bool]
"""Tells whether a response meets an item."""


class Rubric(AskingVerifier):
    """The share of a rubric's points that the response gets."""

    purpose: ClassVar[str] = (
        "the points of the items of reference.rubric that the response meets, divided by all "
        "positive points and cut to 0 to 1; 0 where a required item is not met. An item is a text "
        "or {text, points, required, rule}; rules decide items that have one, a model "
        "(VERIFIER_JUDGE_URL) the others, and reads reference.problem, if there is one. Rows of "
        "HealthBench and NeMo Gym are read as they are. details.items tells of each item"
    )
    reasons: ClassVar[Iterable[Reason]] = (*RubricReason, *CallReason)

    type: Literal["rubric"] = "rubric"
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)
    together: bool = Field(
        default=False,
        description="ask about all items in one call, which costs less and is less exact; default: "
        "a call for each",
    )

    @property
    def task_size(self) -> int:
        """A small task: rules for a response take about a millisecond."""
        return 16

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the rubric, and return the judge of responses."""
        rows = [(row.item, _check(row)) for row in rubric_rows(reference)]
        given = task_text(reference)
        problem = None if given is None else cleaned_lines(given)

        def judge(completion: Completion) -> Judgement | Undecided:
            response = response_text(completion.text, self.part)
            if response is None:
                return Judgement(0.0, RubricReason.NO_RESPONSE, details={**BY_RULES})
            if len(response) > MAX_RESPONSE_CHARACTERS:
                return Judgement(0.0, EngineReason.TOO_LARGE, details={**BY_RULES})
            items = [_decided(item, check, response) for item, check in rows]
            if is_refused(items) or all(item.met is not None for item in items):
                found = rubric_score(items, [item.met for item in items])
                details = {**BY_RULES, **found.details}
                return Judgement(found.score, found.reason, response, details)
            shown = cleaned_lines(response)
            question = OpenRubric(items, shown, problem, self.together)
            return Undecided(msgspec.json.encode(question).decode())

        return judge


def _decided(item: RubricItem, check: MeetsItem | None, response: str) -> RubricItem:
    return item if check is None else msgspec.structs.replace(item, met=check(response))


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _RegexRule(_Rule):
    """A pattern in RE2's syntax."""

    type: Literal["regex"]
    pattern: str
    match: Literal["search", "full"] = "search"

    def check(self) -> MeetsItem:
        verifier = Regex(pattern=self.pattern, match=self.match, part="completion")
        return _check_by(verifier, {})


class _LengthRule(_Rule):
    """Bounds on the length of the response."""

    type: Literal["length"]
    unit: Literal["characters", "words"] = "words"
    minimum: Annotated[int, Field(ge=0)] = 0
    maximum: int | None = None

    @model_validator(mode="after")
    def _allows_a_length(self) -> _LengthRule:
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError("expected a maximum that is not below the minimum")
        return self

    def check(self) -> MeetsItem:
        def is_within(response: str) -> bool:
            number = len(response) if self.unit == "characters" else count_words(response)
            return self.minimum <= number and (self.maximum is None or number <= self.maximum)

        return is_within


class _SchemaRule(_Rule):
    """A JSON Schema that the response, or its last block of JSON, fits."""

    type: Literal["schema"]
    document: Any = Field(alias="schema")

    def check(self) -> MeetsItem:
        return _check_by(JsonSchema(part="completion"), {"schema": self.document})


class _InstructionRule(_Rule):
    """A constraint of `instruction_following`."""

    type: Literal["instruction"]
    id: str
    kwargs: dict[str, Any] = {}

    def check(self) -> MeetsItem:
        instructions = [{"id": self.id, "kwargs": self.kwargs}]
        verifier = InstructionFollowing(part="completion")
        return _check_by(verifier, {"instructions": instructions})


_rule: TypeAdapter[_RegexRule | _LengthRule | _SchemaRule | _InstructionRule] = TypeAdapter(
    Annotated[
        _RegexRule | _LengthRule | _SchemaRule | _InstructionRule, Field(discriminator="type")
    ]
)


def _check(row: RubricRow) -> MeetsItem | None:
    """The check of an item's rule; None without one. Raises Unverifiable."""
    if row.rule is None:
        return None
    try:
        return _rule.validate_python(dict(row.rule)).check()
    except ValidationError as error:
        raise bad(f"{row.field}.rule", first_problem(error)) from error


def _check_by(verifier: TextVerifier, reference: Mapping[str, Any]) -> MeetsItem:
    """The check that a verifier gives its full score. Raises Unverifiable."""
    judge = verifier.prepare(reference)

    def check(response: str) -> bool:
        found = judge(Completion(response))
        assert isinstance(found, Judgement), "verifiers of rules leave nothing open"
        return found.score == 1

    return check
