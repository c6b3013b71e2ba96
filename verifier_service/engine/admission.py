"""Admission: requests are accepted while the pending work of all of them stays within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from verifier_service.engine.allowance import Allowance
from verifier_service.errors import QueueFull


@dataclass(frozen=True)
class PendingBounds:
    """Bounds on pending work: accepted and without a full response yet, all requests together."""

    completions: int
    num_bytes: int
    """Bytes of bodies, and of responses until they are read, as they are held in memory. Responses
    may take the same amount once more: finished work is not refused because the queue is full."""


@dataclass
class _PendingWork:
    completions: int = 0
    num_bytes: int = 0


class Admission:
    """Counts pending work, and accepts more of it within its bounds."""

    def __init__(self, bounds: PendingBounds) -> None:
        self.bounds = bounds
        self._allowance: Allowance | None = None
        self._pending = _PendingWork()

    def within(self, allowance: Allowance) -> Admission:
        """This admission for the calls of one API key, whose limits are kept too."""
        own = Admission(self.bounds)
        own._allowance = allowance
        own._pending = self._pending
        return own

    @property
    def pending_completions(self) -> int:
        """Completions accepted and not yet answered, of all calls."""
        return self._pending.completions

    @property
    def pending_bytes(self) -> int:
        """Bytes of bodies and responses that are held, of all calls."""
        return self._pending.num_bytes

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
        self.check_completions(1)

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
            self.add(completions=-reservation.num_completions, num_bytes=-reservation.num_bytes)

    def check_completions(self, completions: int) -> None:
        """Raise KeyLimitReached if the API key may not have so many more pending."""
        if self._allowance is not None:
            self._allowance.check_pending(completions)

    def add(self, *, completions: int = 0, num_bytes: int = 0) -> None:
        """Count work without asking for room; a reservation has asked."""
        self._pending.completions += completions
        self._pending.num_bytes += num_bytes
        if self._allowance is not None:
            self._allowance.pending_completions += completions


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
        admission.check_completions(completions)
        self._grow_bytes(num_bytes, admission.bounds.num_bytes)
        self.num_completions += completions
        admission.add(completions=completions)

    def grow_by_response(self, *, num_bytes: int) -> None:
        """Reserve the bytes of a response. Raises QueueFull, and reserves nothing then."""
        self._grow_bytes(num_bytes, 2 * self._admission.bounds.num_bytes)

    def _grow_bytes(self, num_bytes: int, bound: int) -> None:
        admission = self._admission
        others = admission.pending_bytes - self.num_bytes
        if others and admission.pending_bytes + num_bytes > bound:
            raise admission.queue_full()
        self.num_bytes += num_bytes
        admission.add(num_bytes=num_bytes)

    def shrink(self, *, completions: int = 0, num_bytes: int = 0) -> None:
        """Release completions and bytes."""
        self.num_completions -= completions
        self.num_bytes -= num_bytes
        self._admission.add(completions=-completions, num_bytes=-num_bytes)
