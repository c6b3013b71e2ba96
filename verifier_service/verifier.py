"""What a verifier is: its options, what it needs, and how it judges.

The API process reads options, purpose and reasons; only workers call the methods that judge.

| subclass | judges |
|---|---|
| `TextVerifier` | one completion after the other: `prepare` |
| `SettlingVerifier` | the same in two steps: `prepare`, then `settle` for what is left open |
| `GroupVerifier` | the completions of one group beside each other: `prepare_group` |
| `verifiers.code.Code` | programs, in `code.verdicts` |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from verifier_service.completion import Completion
from verifier_service.reason import EngineReason, Reason

MAX_EXTRACTED_CHARACTERS = 1000
MAX_WEIGHT = 1e6
"""Far above any use, and far below where the sum of weighted scores overflows."""


@dataclass(frozen=True)
class Judgement:
    """A verifier's finding about a completion."""

    score: float
    reason: Reason
    extracted: str | None = None
    """What was compared with the reference."""
    details: dict[str, Any] | None = None
    """Numbers behind the reason."""


OpenQuestion = str
"""What a verifier leaves open about a completion; equal questions about a reference have equal
answers."""


@dataclass(frozen=True)
class Undecided:
    """A quick look at a completion does not decide; `SettlingVerifier.settle` has to.

    Equal questions about one reference have equal answers, so each is settled once, whatever
    completions it came from.
    """

    question: OpenQuestion


Judge = Callable[[Completion], Judgement | Undecided]
"""Raises Unverifiable where the reference does not tell about this completion."""
Settler = Callable[[OpenQuestion], Judgement]


class Unverifiable(Exception):
    """The reference cannot be used; the reason says whether it is missing or bad.

    The message is for whoever made the data: it names the key and what is expected there. It holds
    no text of a completion, and is the same for every completion of the reference.
    """

    def __init__(self, reason: Reason, message: str = "") -> None:
        super().__init__(message or reason.value)
        self.reason = reason
        self.message = message


def _require_type(schema: dict[str, Any]) -> None:
    """The type tells verifiers apart, so a request must have it although the class knows it."""
    schema["required"] = ["type", *schema.get("required", [])]


class Verifier(BaseModel, ABC):
    """A verifier with its options, as it stands in a request. Unknown options are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_require_type)

    purpose: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys of `reference` without which nothing can be judged."""
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    reasons: ClassVar[Iterable[Reason]]
    workers: ClassVar[Literal["text", "code"]] = "text"
    """The kind of workers that judge."""
    is_cached: ClassVar[bool] = True
    """Whether equal work has equal verdicts, so that later requests may have earlier ones."""
    unavailable: ClassVar[Reason] = EngineReason.WORKER_DIED
    """The reason of `failed` verdicts while there are no such workers."""

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
        description="share in `reward`, which is given when every verifier has a weight",
    )

    @classmethod
    def field_names(cls) -> list[str]:
        """The keys that it may have in a request."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @property
    def key(self) -> str:
        """The key of this verifier's verdicts."""
        return self.name or self.type

    @property
    def task_size(self) -> int:
        """How many completions a worker judges in some 10 ms, so that requests can take turns."""
        return 512

    @property
    def score_if_killed(self) -> float:
        """The score of a completion that is too slow or too large to judge.

        No completion may gain by it: at most what it would get for being wrong.
        """
        return 0.0

    @property
    def options(self) -> dict[str, Any]:
        """What a worker needs to know of it: its type, and the options that are not the default."""
        changed = self.model_dump(exclude_defaults=True, exclude={"type", "name", "weight"})
        return {"type": self.type, **changed}


class TextVerifier(Verifier):
    """A verifier that reads text: each completion by itself, in a text worker."""

    @abstractmethod
    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference once; the result judges any number of completions.

        Raises:
            Unverifiable: the reference cannot be used.
        """


class SettlingVerifier(TextVerifier):
    """A verifier whose judges may leave questions open, which it settles in a second step."""

    @abstractmethod
    def settle(self, reference: Mapping[str, Any]) -> Settler:
        """Read the reference for the questions that a judge of `prepare` left open.

        Raises:
            Unverifiable: the reference cannot be used.
        """


class GroupVerifier(Verifier):
    """A verifier whose score of a completion depends on the others of the group."""

    @abstractmethod
    def prepare_group(self, reference: Mapping[str, Any], group: Sequence[Completion]) -> Judge:
        """Read the reference and a whole group.

        The result judges completions of the group, each by itself: when a worker is killed at one
        of them, another one prepares the same group and goes on.

        Raises:
            Unverifiable: the reference, or the group, cannot be used.
        """
