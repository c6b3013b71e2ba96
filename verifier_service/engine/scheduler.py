"""What requests share: the workers, the bounds on what may wait, and what is known already."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from verifier_service.engine.request_scoring import ScoredRequest, Scoring, Unavailable
from verifier_service.engine.verdict_cache import VerdictCache
from verifier_service.http.metrics import Metrics
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Verdict
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.tasks import EncodedTask


class QueueFull(Exception):
    """Accepting the request would exceed a bound on what is pending.

    Args:
        state: of the queue, as a client is told.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(
            f"{state['pending_completions']} completions, of at most "
            f"{state['max_pending_completions']}, and {state['pending_bytes']} bytes, of at most "
            f"{state['max_pending_bytes']}, are waiting"
        )
        self.state = state


class Pool(Protocol):
    """What the scheduler needs of a worker pool."""

    size: int

    @property
    def problem(self) -> str | None:
        """Why no worker is running; None while one is, or is about to be."""
        ...

    async def judge(self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion]) -> None:
        """Append a verdict for each completion of the task, in order, as they come."""
        ...


@dataclass(frozen=True)
class Bounds:
    """What may be pending: accepted and not yet answered, all requests together."""

    completions: int = 131_072
    bytes: int = 256 * 2**20
    """Of bodies, and of answers until they are read, as they are kept. Answers may take the same
    once more: work that is done is not refused because as much as possible was accepted."""


class Reservation:
    """A request's share of what is pending; grows as it is read, and as its answer is made."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.num_completions = 0
        self.num_bytes = 0

    def grow(self, *, completions: int = 0, num_bytes: int = 0) -> None:
        """Reserve more. Raises QueueFull, and reserves nothing."""
        scheduler = self._scheduler
        # A request alone is taken whatever its size, or asking again would never help.
        others = scheduler.pending_completions - self.num_completions
        if others and scheduler.pending_completions + completions > scheduler.bounds.completions:
            raise QueueFull(scheduler.state)
        self._grow_bytes(num_bytes, scheduler.bounds.bytes)
        self.num_completions += completions
        scheduler.pending_completions += completions

    def grow_by_answer(self, *, num_bytes: int) -> None:
        """Reserve what an answer takes. Raises QueueFull, and reserves nothing."""
        self._grow_bytes(num_bytes, 2 * self._scheduler.bounds.bytes)

    def _grow_bytes(self, num_bytes: int, bound: int) -> None:
        scheduler = self._scheduler
        others = scheduler.pending_bytes - self.num_bytes
        if others and scheduler.pending_bytes + num_bytes > bound:
            raise QueueFull(scheduler.state)
        self.num_bytes += num_bytes
        scheduler.pending_bytes += num_bytes

    def shrink(self, *, num_bytes: int) -> None:
        """Give some of it back."""
        self.num_bytes -= num_bytes
        self._scheduler.pending_bytes -= num_bytes


class Scheduler:
    """Shares the workers of pools among requests.

    Args:
        pools: by the kind of workers, `Verifier.workers`.
        bounds: on what may be pending.
        max_cached_verdicts: kept for later requests.
        metrics: are told what is judged.
    """

    def __init__(
        self,
        pools: Mapping[str, Pool],
        *,
        bounds: Bounds = Bounds(),
        max_cached_verdicts: int,
        metrics: Metrics | None = None,
    ) -> None:
        self.bounds = bounds
        self.pending_completions = 0
        self.pending_bytes = 0
        self.cache = VerdictCache(max_cached_verdicts)
        self._pools = pools
        self._metrics = metrics

    @property
    def state(self) -> dict[str, Any]:
        """Of the queue, as a client is told."""
        return {
            "pending_completions": self.pending_completions,
            "max_pending_completions": self.bounds.completions,
            "pending_bytes": self.pending_bytes,
            "max_pending_bytes": self.bounds.bytes,
        }

    @property
    def is_full(self) -> bool:
        """Whether not even the smallest request would be accepted."""
        return (
            self.pending_completions >= self.bounds.completions
            or self.pending_bytes >= self.bounds.bytes
        )

    @contextmanager
    def reservation(self) -> Iterator[Reservation]:
        """A share of what is pending, given back at the end."""
        reservation = Reservation(self)
        try:
            yield reservation
        finally:
            self.pending_completions -= reservation.num_completions
            self.pending_bytes -= reservation.num_bytes

    async def score(self, request: ScoreRequest, *, deadline_seconds: float) -> ScoredRequest:
        """Judge every completion of a request with each of its verifiers, in this process.

        Every completion gets a verdict of every verifier: what is not judged within
        deadline_seconds is `failed`. What may be pending is not bounded here: see `reservation`.
        """
        return await Scoring(request, self).run(deadline_seconds)

    @property
    def worker_counts(self) -> dict[str, int]:
        """Workers by kind."""
        return {kind: pool.size for kind, pool in self._pools.items()}

    def num_workers(self, kind: str) -> int:
        """See `Engine`."""
        return self._pools[kind].size

    async def judge(
        self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion], keys: Sequence[bytes] = ()
    ) -> None:
        """See `Engine`."""
        pool = self._pools[task.workers]
        if pool.problem is not None:
            raise Unavailable(pool.problem)
        num_before = len(verdicts)
        start = time.perf_counter()
        try:
            await pool.judge(task, verdicts)
        finally:
            found = verdicts[num_before:]
            for key, verdict in zip(keys, found, strict=False):
                if isinstance(verdict, Verdict):
                    self.cache.keep(key, verdict)
            if self._metrics is not None:
                self._metrics.judged(task.verifier, found, time.perf_counter() - start)

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """See `Engine`."""
        return self.cache.look_up(keys)

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """See `Engine`."""
        for key, verdict in verdicts:
            self.cache.keep(key, verdict)
