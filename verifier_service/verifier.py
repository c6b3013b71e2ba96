"""Verifiers: their options, the keys that they need in a reference, and how they judge.

The API process reads options, purpose and reasons; only workers call the methods that judge.

| subclass | judges |
|---|---|
| `TextVerifier` | one completion after the other: `prepare` |
| `SettlingVerifier` | in two steps: `prepare`, then `settle` for questions that are left open |
| `AskingVerifier`, `AskingGroupVerifier` | as those beside them, but for questions to a model |
| `GroupVerifier` | the completions of one group beside each other: `prepare_group` |
| `verifiers.code.Code` | programs, which code workers run |

A `Judge` gives a `Judgement` of one completion; the engine turns it into a `Verdict`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.completion import Completion
from verifier_service.explanation import (
    MAX_REFERENCES,
    DecidingStage,
    Explanation,
    Reading,
    cut,
    spans_of,
)
from verifier_service.reason import EngineReason, Reason

MAX_EXTRACTED_CHARACTERS = 1000
MAX_WEIGHT = 1e6
"""Largest weight, and largest penalty that a request can choose: far above any use, and far below
where the sum of weighted scores overflows."""


OpenQuestion = str
"""Text of a completion about which a quick look does not decide."""


@dataclass(frozen=True)
class Judgement:
    """The finding of a verifier about a completion that could be judged."""

    score: float
    reason: Reason
    extracted: str | None = None
    """The text that was compared with the reference."""
    details: dict[str, Any] | None = None
    """Numbers behind the reason."""
    audit: OpenQuestion | None = None
    """Question that a model is asked beside the judgement, which it cannot change."""


class ExplainedQuestion(NamedTuple):
    """An open question, with the explanation of the verdict that it will get."""

    question: OpenQuestion
    explanation: Explanation


@dataclass(frozen=True)
class Undecided:
    """A quick look at a completion does not decide: `SettlingVerifier.settle` does.

    Equal questions about one reference have equal judgements, so each is settled once, whatever
    completions it came from.
    """

    question: OpenQuestion


Judge = Callable[[Completion], Judgement | Undecided]
"""Judges a completion; raises Unverifiable where the reference does not allow it."""
Settler = Callable[[OpenQuestion], Judgement]
"""Judges a question that a `Judge` left open."""


class Unverifiable(Exception):
    """The reference cannot be used; the reason says whether it is missing or bad.

    The message is for the makers of the data: it names the key and the value expected there. It
    holds no text of a completion, and is the same for every completion of the reference.
    """

    def __init__(self, reason: Reason, message: str = "") -> None:
        super().__init__(message or reason.value)
        self.reason = reason
        self.message = message


def reason_types(verifiers: Iterable[type[Verifier]]) -> list[type[Reason]]:
    """The types of all reasons that verifiers give, each once."""
    return list(dict.fromkeys(type(reason) for one in verifiers for reason in one.reasons))


def _require_type(schema: dict[str, Any]) -> None:
    """Make `type` a required key of a request although the field has a default."""
    schema["required"] = ["type", *schema.get("required", [])]


class Verifier(BaseModel, ABC):
    """A verifier with its options, as in a request. Unknown options are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_require_type)

    purpose: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys that a reference must have."""
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    reasons: ClassVar[Iterable[Reason]]
    workers: ClassVar[Literal["text", "code"]] = "text"
    """Kind of the workers that judge."""
    asks: ClassVar[Literal["model", "lean"] | None] = None
    """The server that the API process asks about questions that a worker leaves open; None: a
    worker settles them, too."""
    is_cached: ClassVar[bool] = True
    """Whether equal tasks have equal verdicts, so that a later request may get cached ones."""
    reads_turns: ClassVar[bool] = False
    """Whether completions that are chats come with all of their messages."""
    is_stored: ClassVar[bool] = True
    """Whether the store of verdicts keeps the verdicts."""
    unavailable: ClassVar[Reason] = EngineReason.WORKER_DIED
    """Reason of `failed` verdicts while no such worker runs."""

    type: str
    name: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="key of the verdict; default: the type",
    )
    weight: float | None = Field(
        default=None,
        allow_inf_nan=False,
        ge=-MAX_WEIGHT,
        le=MAX_WEIGHT,
        description="share in `reward`; default: 1",
    )

    @classmethod
    def field_names(cls) -> list[str]:
        """The keys that a verifier may have in a request."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @property
    def key(self) -> str:
        """The key of this verifier's verdicts."""
        return self.name or self.type

    @property
    def share(self) -> float:
        """The weight of this verifier's score in the reward."""
        return 1.0 if self.weight is None else self.weight

    @property
    def task_size(self) -> int:
        """Completions that a worker judges in about 10 ms: requests take turns after so many."""
        return 512

    @property
    def score_if_killed(self) -> float:
        """The score of a completion that is too slow or too large to judge.

        At most the score of a wrong completion: else a completion could gain by being slow.
        """
        return 0.0

    @property
    def options(self) -> dict[str, Any]:
        """The type and the options that differ from their defaults: a worker needs these."""
        changed = self.model_dump(exclude_defaults=True, exclude={"type", "name", "weight"})
        return {"type": self.type, **changed}


class TextVerifier(Verifier):
    """A verifier that reads each completion by itself, in a text worker."""

    @abstractmethod
    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference once, for judging any number of completions.

        Raises:
            Unverifiable: the reference cannot be used.
        """

    def explain(
        self, reference: Mapping[str, Any], judge: Judge, completion: Completion
    ) -> Explanation:
        """Tell how a completion that could be judged got its judgement.

        Args:
            reference: that the judge was prepared with.
            judge: of `prepare`; may be asked about other texts.
            completion: that was judged.
        """
        extracted = _extracted(judge, completion)
        accepted = _texts(reference.get("answer")) if "answer" in self.needs else []
        references = [Reading(cut(text)) for text in accepted[:MAX_REFERENCES]]
        if extracted is None:
            return Explanation(DecidingStage.RULE, references=references)

        def find(text: str) -> str | None:
            return _extracted(judge, msgspec.structs.replace(completion, text=text))

        spans = spans_of(completion.text, [extracted], find)
        return Explanation(DecidingStage.RULE, spans, Reading(cut(extracted)), references)


def _extracted(judge: Judge, completion: Completion) -> str | None:
    judgement = judge(completion)
    return judgement.extracted if isinstance(judgement, Judgement) else judgement.question


def _texts(answer: object) -> list[str]:
    """The answers of a reference that are texts or numbers."""
    answers = answer if isinstance(answer, list) else [answer]
    return [str(one) for one in answers if isinstance(one, str | int | float)]


class SettlingVerifier(TextVerifier):
    """A verifier whose judges may leave questions open, which it settles in a second step."""

    @abstractmethod
    def settle(self, reference: Mapping[str, Any]) -> Settler:
        """Read the reference for questions that the judge of `prepare` leaves open.

        Raises:
            Unverifiable: the reference cannot be used.
        """


class AskingVerifier(TextVerifier):
    """A verifier whose judges leave questions to a model, which the API process asks.

    A question is one of those that `model_judge.models` reads, in JSON. No worker has a network.
    """

    asks: ClassVar[Literal["model", "lean"] | None] = "model"

    def explain(
        self, reference: Mapping[str, Any], judge: Judge, completion: Completion
    ) -> Explanation:
        """Tell whether rules or a model decide."""
        if isinstance(judge(completion), Undecided):
            return Explanation(DecidingStage.MODEL)
        return super().explain(reference, judge, completion)


class GroupVerifier(Verifier):
    """A verifier whose score of a completion depends on the others of the group."""

    @abstractmethod
    def prepare_group(self, reference: Mapping[str, Any], group: Sequence[Completion]) -> Judge:
        """Read the reference and a whole group.

        The judge takes completions of the group one by one: after a worker was killed at one of
        them, another worker prepares the same group and goes on.

        Raises:
            Unverifiable: the reference, or the group, cannot be used.
        """


class AskingGroupVerifier(GroupVerifier):
    """A verifier of groups whose judges leave questions to a model, as `AskingVerifier` does."""

    asks: ClassVar[Literal["model", "lean"] | None] = "model"
