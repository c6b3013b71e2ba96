"""What is said about a completion, and the values that travel between API process and workers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Self

import msgspec


class Outcome(StrEnum):
    """Three outcomes, never two: a completion that could not be judged is not a wrong one."""

    SCORED = "scored"
    """The completion was judged; wrong, endless and hostile ones score 0 with a reason."""
    UNVERIFIABLE = "unverifiable"
    """The reference is missing or unusable: the data's fault. No score."""
    FAILED = "failed"
    """The service's fault: a worker died, time ran out. No score; asking again may help."""


class Reason(StrEnum):
    """A reason with its meaning; each verifier has a closed set of them."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """A member whose value is the first part."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class EngineReason(Reason):
    """Reasons that the engine gives for any verifier, beside the verifier's own."""

    TOO_SLOW = (
        "too_slow",
        "scored 0, or as a wrong completion where that is less: judging this completion took "
        "longer than the item's time limit.",
    )
    TOO_LARGE = (
        "too_large",
        "scored 0, or as a wrong completion where that is less: the answer is too long, or judging "
        "it took more memory than the item's limit.",
    )
    BAD_REFERENCE = (
        "bad_reference",
        "unverifiable: the reference cannot be read, or not within the limits.",
    )
    MISSING_REFERENCE = (
        "missing_reference",
        "unverifiable: the reference lacks what the verifier needs.",
    )
    DEADLINE = "deadline", "failed: the request's deadline passed first."
    WORKER_DIED = (
        "worker_died",
        "failed: the worker died for a reason of its own, each time it was tried.",
    )


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What one verifier says about one completion.

    It has no cycles, and a cache full of what the collector has to look at holds up the event loop.
    """

    outcome: Outcome
    score: float | None
    reason: str
    seconds: float
    extracted: str | None = None
    details: dict[str, Any] | None = None


class Completion(msgspec.Struct, frozen=True, gc=False):
    """A completion as verifiers see it; the counts are None where the request does not tell."""

    text: str
    num_tokens: int | None = None
    truncated: bool | None = None


class Part(msgspec.Struct, frozen=True):
    """Completions that share a reference."""

    reference: dict[str, Any] | None
    """None where it is a shared one."""
    completions: list[Completion]
    group: list[Completion] | None = None
    """The whole group that they belong to, for a verifier that is group-wise."""
    shared_reference: str | None = None
    """Name of a reference that the worker was sent before."""


class Task(msgspec.Struct, frozen=True, tag="task"):
    """Work for a worker: one verifier's judgement of some completions, in order."""

    verifier: dict[str, Any]
    """A member of the verifier union, as in the request."""
    parts: list[Part]
    settle: bool = False
    """Whether the completions are questions that a judge left open."""

    @property
    def num_completions(self) -> int:
        """Of all parts."""
        return sum(len(part.completions) for part in self.parts)

    def slice(self, start: int, end: int) -> Self:
        """The task of the completions from start to end, counted through all parts."""
        parts = []
        for part in self.parts:
            kept = part.completions[max(start, 0) : max(end, 0)]
            if kept:
                parts.append(msgspec.structs.replace(part, completions=kept))
            start -= len(part.completions)
            end -= len(part.completions)
        return msgspec.structs.replace(self, parts=parts)


class SharedReference(msgspec.Struct, frozen=True, tag="reference"):
    """Parent to worker: a large reference that tasks will name. See `SharedReferences`."""

    name: str
    reference: msgspec.Raw
    """JSON, which the parent does not read."""

    @staticmethod
    def encode(name: str, reference: Sequence[bytes]) -> list[bytes]:
        """The message in parts, of a reference in parts: it may be large.

        >>> b"".join(SharedReference.encode("r1", [b'{"answer":', b'"2"}']))
        b'{"type":"reference","name":"r1","reference":{"answer":"2"}}'
        """
        head = f'{{"type":"reference","name":"{name}","reference":'
        return [head.encode(), *reference, b"}"]

    def decode(self) -> dict[str, Any]:
        """The reference."""
        return msgspec.json.decode(self.reference, type=dict[str, Any])


class EncodedTask(msgspec.Struct, frozen=True):
    """A task as it is sent; it is decoded only when a worker died at it."""

    workers: str
    """The kind of workers that it is for."""
    verifier: str
    """The type of its verifier."""
    body: bytes
    """A `Task` in JSON."""
    num_completions: int
    shared_name: str | None = None
    """Name of the shared reference that it has."""
    shared_reference: tuple[bytes, ...] = ()
    """That reference in JSON, in parts."""

    @classmethod
    def of(cls, task: Task, workers: str) -> Self:
        """Encode a task."""
        return cls(workers, task.verifier["type"], msgspec.json.encode(task), task.num_completions)

    def decode(self) -> Task:
        """The task again."""
        return msgspec.json.decode(self.body, type=Task)

    def slice(self, start: int, end: int) -> Self:
        """See `Task.slice`."""
        task = self.decode().slice(start, end)
        body = msgspec.json.encode(task)
        return msgspec.structs.replace(self, body=body, num_completions=task.num_completions)


Question = str
"""What a verifier leaves open about a completion; equal questions about a reference have equal
answers."""


class Judged(msgspec.Struct, frozen=True):
    """Worker to parent: what came of the task's next completions."""

    verdicts: list[Verdict | Question]
    finished: bool
    """Whether these are the task's last."""


class Hello(msgspec.Struct, frozen=True):
    """Code worker to parent, once at its start: its sandbox works, or why it does not."""

    problem: str | None


MAX_MESSAGE_CHARACTERS = 300


def unverifiable(reason: str, seconds: float = 0.0, message: str = "") -> Verdict:
    """A verdict without a score, because of the reference; the message says what is wrong in it."""
    details = {"message": message[:MAX_MESSAGE_CHARACTERS]} if message else None
    return Verdict(Outcome.UNVERIFIABLE, None, reason, seconds, details=details)


def failed(reason: str, seconds: float = 0.0) -> Verdict:
    """A verdict without a score, because of the service."""
    return Verdict(Outcome.FAILED, None, reason, seconds)
