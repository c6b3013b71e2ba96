"""The call that is being answered: its id for the log, and for its trace the times of its tasks.

Both follow the call into the asyncio tasks that it starts, without an argument from hand to hand.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class WorkSpan:
    """The time from the first of several pieces of work to the end of the last one."""

    start: int
    """Nanoseconds since the epoch, as the end."""
    end: int
    num_pieces: int = 0
    nanoseconds: int = 0
    """The times of all pieces together, which may be longer: they lie beside each other."""

    def add(self, start: int, end: int) -> None:
        """Count a piece."""
        self.start, self.end = min(self.start, start), max(self.end, end)
        self.num_pieces += 1
        self.nanoseconds += end - start


@dataclass
class CallTimes:
    """Times at which the tasks of a call waited for workers, and at which workers had them."""

    queue: WorkSpan | None = None
    judge: dict[str, WorkSpan] = field(default_factory=dict)
    """Times of workers by the types of the verifiers that share a task."""

    def add(self, verifiers: str, *, asked: int, started: int, ended: int) -> None:
        """Count a task.

        Args:
            verifiers: the types of its verifiers.
            asked: when it asked for a worker, in nanoseconds since the epoch as the others.
            started: when it got one.
            ended: when that was done with it.
        """
        self.queue = self.queue or WorkSpan(asked, started)
        self.queue.add(asked, started)
        self.judge.setdefault(verifiers, WorkSpan(started, ended)).add(started, ended)


_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_times: ContextVar[CallTimes | None] = ContextVar("times", default=None)


def new_request_id() -> str:
    """An id that no other call has."""
    return os.urandom(16).hex()


def enter_call(request_id: str | None, times: CallTimes | None = None) -> None:
    """Let what runs from now on in this context belong to a call.

    Args:
        request_id: of the call.
        times: take the times of its tasks; None where nobody wants them.
    """
    _request_id.set(request_id)
    _times.set(times)


def request_id() -> str | None:
    """The id of the call; None outside of calls."""
    return _request_id.get()


def call_times() -> CallTimes | None:
    """The times of the call's tasks, if somebody wants them."""
    return _times.get()
