"""Tasks and their verdicts: the messages between the API process and its workers.

Each is a frame. Tasks are msgpack, which carries long texts four times as fast as JSON. References
and options are JSON in it: msgpack has no whole numbers over 64 bits. Verdicts are JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import msgspec

from verifier_service.completion import Completion
from verifier_service.current_call import request_id
from verifier_service.verdict import Verdict
from verifier_service.verifier import ExplainedQuestion, OpenQuestion

TaskResult = Verdict | OpenQuestion | ExplainedQuestion
"""The answer of a worker to one completion of a task."""


class TaskPart(msgspec.Struct, frozen=True):
    """Completions that share a reference."""

    reference: bytes | None
    """The reference in JSON, or None if it is a shared one."""
    completions: list[Completion]
    group: list[Completion] | None = None
    """The whole group of the completions, for a `GroupVerifier`."""
    shared_reference: str | None = None
    """Name of a reference that was sent to the worker before."""

    @classmethod
    def of(cls, reference: Mapping[str, Any], completions: list[Completion]) -> Self:
        """A part with a reference of its own."""
        return cls(msgspec.json.encode(reference), completions)


class Task(msgspec.Struct, frozen=True, tag="task"):
    """Work for a worker: completions to be judged by one verifier, in order."""

    verifier: bytes
    """`Verifier.options` in JSON: its type, and its options that are not the default."""
    parts: list[TaskPart]
    settle: bool = False
    """Whether the completions are open questions, for `SettlingVerifier.settle`."""
    explain: bool = False
    """Whether verdicts have explanations."""
    request_id: str | None = None
    """The id of the call, for the log of the worker."""

    @classmethod
    def of(
        cls,
        options: Mapping[str, Any],
        parts: list[TaskPart],
        *,
        settle: bool = False,
        explain: bool = False,
    ) -> Self:
        """A task of the call under way for a verifier with these options."""
        return cls(msgspec.json.encode(options), parts, settle, explain, request_id())

    @property
    def options(self) -> dict[str, Any]:
        """The verifier's type and options."""
        return msgspec.json.decode(self.verifier, type=dict[str, Any])

    @property
    def num_completions(self) -> int:
        """Number of completions in all parts."""
        return sum(len(part.completions) for part in self.parts)

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


class SharedReference(msgspec.Struct, frozen=True, tag="reference"):
    """Parent to worker: the next frame has a large reference, in JSON, that tasks will name.

    See `shared_references`.
    """

    name: str


class EncodedTask(msgspec.Struct, frozen=True):
    """A task as it is sent; it is decoded only if a worker dies at it."""

    workers: str
    """The kind of workers that judge the task: see `Verifier.workers`."""
    verifier: str
    """Type of the task's verifier."""
    body: bytes
    """A `Task` in msgpack."""
    num_completions: int
    shared_name: str | None = None
    """Name of the shared reference that the task names, if any."""
    shared_reference: tuple[bytes, ...] = ()
    """The shared reference in JSON, in parts."""

    @classmethod
    def of(cls, task: Task, workers: str) -> Self:
        """Encode a task."""
        body = msgspec.msgpack.encode(task)
        return cls(workers, task.options["type"], body, task.num_completions)

    def decode(self) -> Task:
        """The task that was encoded."""
        return msgspec.msgpack.decode(self.body, type=Task)

    def slice(self, start: int, end: int) -> Self:
        """The encoded slice of the task, see `Task.slice`."""
        task = self.decode().slice(start, end)
        body = msgspec.msgpack.encode(task)
        return msgspec.structs.replace(self, body=body, num_completions=task.num_completions)


class TaskVerdicts(msgspec.Struct, frozen=True):
    """Worker to parent: verdicts on the task's next completions."""

    verdicts: list[TaskResult]
    finished: bool
    """Whether these are the task's last."""


class CodeWorkerStarted(msgspec.Struct, frozen=True):
    """Code worker to parent, once at its start: whether its sandbox works."""

    problem: str | None
    """Why the sandbox does not work; None if it works."""


to_worker: msgspec.msgpack.Decoder[Task | SharedReference] = msgspec.msgpack.Decoder(
    Task | SharedReference
)
from_worker: msgspec.json.Decoder[TaskVerdicts] = msgspec.json.Decoder(TaskVerdicts)
