"""Admission: requests are accepted while the pending work of all of them stays within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from verifier_service.errors import QueueFull


@dataclass(frozen=True)
class PendingBounds:
    """Bounds on pending work: accepted and without a full response yet, all requests together."""

    completions: int
    num_bytes: int
    """Bytes of bodies, and of responses until they are read, as they are held in memory. Responses
    may take the same amount once more: finished work is not refused because the queue is full."""


class Admission:
    """Counts pending work, and accepts more of it within its bounds."""

    def __init__(self, bounds: PendingBounds) -> None:
        self.bounds = bounds
        self.pending_completions = 0
        self.pending_bytes = 0

    @property
    def state(self) -> dict[str, int]:
        """Pending work and its bounds, as a client is told."""
        return {
            "pending_completions": self.pending_completions,
            "max_pending_completions": self.bounds.completions,
            "pending_bytes": self.pending_bytes,
            "max_pending_bytes": self.bounds.num_bytes,
        }

    @property
    def is_full(self) -> bool:
        """Whether not even the smallest request would be accepted."""
        return (
            self.pending_completions >= self.bounds.completions
            or self.pending_bytes >= self.bounds.num_bytes
        )

    def check_not_full(self) -> None:
        """Raise QueueFull if not even the smallest request would be accepted."""
        if self.is_full:
            raise self.queue_full()

    def queue_full(self) -> QueueFull:
        """The error of a request that finds no room."""
        state = self.state
        return QueueFull(
            f"{state['pending_completions']} completions, of at most "
            f"{state['max_pending_completions']}, and {state['pending_bytes']} bytes, of at most "
            f"{state['max_pending_bytes']}, are waiting",
            details=state,
        )

    @contextmanager
    def reservation(self) -> Iterator[Reservation]:
        """A share of the pending work, which ends with the context."""
        reservation = Reservation(self)
        try:
            yield reservation
        finally:
            self.pending_completions -= reservation.num_completions
            self.pending_bytes -= reservation.num_bytes


class Reservation:
    """One request's share of the pending work; grows with its body and its response."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.num_completions = 0
        self.num_bytes = 0

    def grow(self, *, completions: int = 0, num_bytes: int = 0) -> None:
        """Reserve more. Raises QueueFull, and reserves nothing then."""
        admission = self._admission
        # A request alone is accepted with any size: otherwise it would be refused every time.
        others = admission.pending_completions - self.num_completions
        if others and admission.pending_completions + completions > admission.bounds.completions:
            raise admission.queue_full()
        self._grow_bytes(num_bytes, admission.bounds.num_bytes)
        self.num_completions += completions
        admission.pending_completions += completions

    def grow_by_response(self, *, num_bytes: int) -> None:
        """Reserve the bytes of a response. Raises QueueFull, and reserves nothing then."""
        self._grow_bytes(num_bytes, 2 * self._admission.bounds.num_bytes)

    def _grow_bytes(self, num_bytes: int, bound: int) -> None:
        admission = self._admission
        others = admission.pending_bytes - self.num_bytes
        if others and admission.pending_bytes + num_bytes > bound:
            raise admission.queue_full()
        self.num_bytes += num_bytes
        admission.pending_bytes += num_bytes

    def shrink(self, *, completions: int = 0, num_bytes: int = 0) -> None:
        """Release completions and bytes."""
        self.num_completions -= completions
        self._admission.pending_completions -= completions
        self.num_bytes -= num_bytes
        self._admission.pending_bytes -= num_bytes
