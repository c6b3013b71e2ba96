"""Tasks and their verdicts: the messages between the API process and its workers.

Each is a frame. Tasks are msgpack, which carries long texts four times as fast as JSON. References
and options are JSON in it: msgpack has no whole numbers over 64 bits. Verdicts are JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Self

import msgspec

from verifier_service.completion import Completion
from verifier_service.current_call import request_id
from verifier_service.verdict import Verdict
from verifier_service.verifier import ExplainedQuestion, OpenQuestion

TaskResult = Verdict | OpenQuestion | ExplainedQuestion
"""The answer of a worker to one completion of a task."""


class TaskPart(msgspec.Struct, frozen=True):
    """Completions that one verifier judges by one reference."""

    reference: bytes | None
    """The reference in JSON, or None if it is a shared one."""
    completions: list[Completion]
    group: list[Completion] | None = None
    """The whole group of the completions, for a `GroupVerifier`."""
    shared_reference: str | None = None
    """Name of a reference that was sent to the worker before."""
    verifier: bytes = b""
    """`Verifier.options` in JSON: its type, and its options that are not the default."""

    @classmethod
    def of(cls, reference: Mapping[str, Any], completions: list[Completion]) -> Self:
        """A part with a reference of its own."""
        return cls(msgspec.json.encode(reference), completions)

    @property
    def options(self) -> dict[str, Any]:
        """The verifier's type and options."""
        return msgspec.json.decode(self.verifier, type=dict[str, Any])


class Task(msgspec.Struct, frozen=True):
    """Work for a worker: completions to be judged in order, part by part."""

    parts: list[TaskPart]
    settle: bool = False
    """Whether the completions are open questions, for `SettlingVerifier.settle`."""
    explain: bool = False
    """Whether verdicts have explanations."""
    request_id: str | None = None
    """The id of the call, for the log of the worker."""

    @classmethod
    def of(cls, options: Mapping[str, Any], parts: list[TaskPart]) -> Self:
        """A task of the call under way for one verifier with these options."""
        verifier = msgspec.json.encode(options)
        its = [msgspec.structs.replace(part, verifier=verifier) for part in parts]
        return cls(its, request_id=request_id())

    @property
    def num_completions(self) -> int:
        """Number of completions in all parts."""
        return _num_completions(self.parts)

    def slice(self, start: int, end: int) -> Self:
        """A task of the completions from start to end, counted through all parts."""
        parts = []
        for part in self.parts:
            kept = part.completions[max(start, 0) : max(end, 0)]
            if kept:
                parts.append(msgspec.structs.replace(part, completions=kept))
            start -= len(part.completions)
            end -= len(part.completions)
        return msgspec.structs.replace(self, parts=parts)


class _SentPart(msgspec.Struct, frozen=True, array_like=True):
    """A part as it is sent, with the places of its completions among those of the task."""

    verifier: bytes
    reference: bytes | None
    completions: list[int]
    group: list[int] | None
    shared_reference: str | None


class SentTask(msgspec.Struct, frozen=True, tag="task"):
    """Parent to worker: a task, in which each completion stands once."""

    completions: list[Completion]
    parts: list[_SentPart]
    settle: bool
    explain: bool
    request_id: str | None

    @classmethod
    def of(cls, task: Task) -> Self:
        """A task to send. Verifiers that judge the same completions share the objects."""
        sent: list[Completion] = []
        places: dict[int, int] = {}

        def placed(completions: list[Completion]) -> list[int]:
            found = []
            for completion in completions:
                place = places.setdefault(id(completion), len(sent))
                if place == len(sent):
                    sent.append(completion)
                found.append(place)
            return found

        parts = [
            _SentPart(
                part.verifier,
                part.reference,
                placed(part.completions),
                None if part.group is None else placed(part.group),
                part.shared_reference,
            )
            for part in task.parts
        ]
        return cls(sent, parts, task.settle, task.explain, task.request_id)

    @property
    def task(self) -> Task:
        """The task that was sent."""
        completions = self.completions
        parts = [
            TaskPart(
                part.reference,
                [completions[place] for place in part.completions],
                None if part.group is None else [completions[place] for place in part.group],
                part.shared_reference,
                part.verifier,
            )
            for part in self.parts
        ]
        return Task(parts, self.settle, self.explain, self.request_id)


class SharedReference(msgspec.Struct, frozen=True, tag="reference"):
    """Parent to worker: the next frame has a large reference, in JSON, that tasks will name.

    See `shared_references`.
    """

    name: str


class EncodedTask(msgspec.Struct, frozen=True):
    """A task as it is sent; it is decoded only if a worker dies at it."""

    workers: str
    """The kind of workers that judge the task: see `Verifier.workers`."""
    verifiers: tuple[tuple[str, int], ...]
    """Type of each verifier, in the order of the parts, and its number of completions."""
    body: bytes
    """A `SentTask` in msgpack."""
    num_completions: int
    shared_name: str | None = None
    """Name of the shared reference that the task names, if any."""
    shared_reference: tuple[bytes, ...] = ()
    """The shared reference in JSON, in parts."""

    @classmethod
    def of(cls, task: Task, workers: str) -> Self:
        """Encode a task."""
        verifiers = [
            (msgspec.json.decode(verifier, type=_VerifierType).type, _num_completions(parts))
            for verifier, parts in groupby(task.parts, key=lambda part: part.verifier)
        ]
        return cls(workers, tuple(verifiers), _encoded(task), task.num_completions)

    def decode(self) -> Task:
        """The task that was encoded."""
        return msgspec.msgpack.decode(self.body, type=SentTask).task

    def slice(self, start: int, end: int) -> Self:
        """The encoded slice of the task, see `Task.slice`."""
        task = self.decode().slice(start, end)
        sliced = type(self).of(task, self.workers)
        return msgspec.structs.replace(
            sliced, shared_name=self.shared_name, shared_reference=self.shared_reference
        )


class _VerifierType(msgspec.Struct):
    type: str


def _encoded(task: Task) -> bytes:
    return msgspec.msgpack.encode(SentTask.of(task))


def _num_completions(parts: Iterable[TaskPart]) -> int:
    return sum(len(part.completions) for part in parts)


class TaskVerdicts(msgspec.Struct, frozen=True):
    """Worker to parent: verdicts on the task's next completions."""

    verdicts: list[TaskResult]
    finished: bool
    """Whether these are the task's last."""


class CodeServerTerms(msgspec.Struct, frozen=True):
    """Parent to the process that code workers are forked from, once: what all of them have.

    With it come the descriptors of readings, of compiled programs and of turns.
    """

    num_processors: int
    """Programs that run at a time."""
    unsafe_without: tuple[str, ...]
    """Layers of the sandbox to leave out."""


class CodeWorkerOrder(msgspec.Struct, frozen=True):
    """Parent to the process that code workers are forked from: what a new one is given."""

    directory: str
    """An empty directory, for its sandbox."""
    place: int
    """Its place among the turns on the processors."""


class CodeWorkerStarted(msgspec.Struct, frozen=True):
    """Code worker to parent, once at its start: whether its sandbox works."""

    problem: str | None
    """Why the sandbox does not work; None if it works."""


to_worker: msgspec.msgpack.Decoder[SentTask | SharedReference] = msgspec.msgpack.Decoder(
    SentTask | SharedReference
)
from_worker: msgspec.json.Decoder[TaskVerdicts] = msgspec.json.Decoder(TaskVerdicts)
