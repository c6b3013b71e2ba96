"""Messages between a gateway and a judge, over a connection of their own. Each is a frame.

    gateway -> judge   the token of its place; then, for one task after the other, `TaskHead` in
                       msgpack, the task's body, and the shared reference if the judge asks for it
    judge -> gateway   `JudgedPart`s in JSON, of which the last is finished

A gateway sends nothing between a task and its last verdict, but a reference. So a connection that
ends says that nobody waits for the verdicts.
"""

from __future__ import annotations

import msgspec

from verifier_service.workers.tasks import EncodedTask, TaskVerdicts

CONNECT_SECONDS = 10.0
"""Time that a gateway has to take the place that a judge has lent it."""
MAX_FRAME_BYTES = 2**27
"""Largest frame: that of a task with a group of the longest completions is less than half of it."""


class LentPlace(msgspec.Struct, frozen=True):
    """A place at a judge: where to connect, and what to say there first."""

    host: str
    port: int
    token: str


class TaskHead(msgspec.Struct, frozen=True):
    """The beginning of a task, before its body; the fields are those of `EncodedTask`."""

    verifiers: tuple[tuple[str, int], ...]
    num_completions: int
    shared_name: str | None

    @classmethod
    def of(cls, task: EncodedTask) -> TaskHead:
        """The head of a task."""
        return cls(task.verifiers, task.num_completions, task.shared_name)


class JudgedPart(TaskVerdicts, frozen=True):
    """Verdicts on the task's next completions, or what keeps the judge from it."""

    needs_reference: bool = False
    """Whether the gateway is to send the shared reference, which the judge does not have."""
    problem: str | None = None
    """Why the judge cannot judge the task, which ends there."""


decode_place = msgspec.json.Decoder(LentPlace).decode
decode_head = msgspec.msgpack.Decoder(TaskHead).decode
decode_part = msgspec.json.Decoder(JudgedPart).decode
