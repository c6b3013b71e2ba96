"""Sampling one step ahead: the next step's groups are sampled and scored while this one trains.

They then come from the weights before this step's update, one step off-policy, which the importance
correction (`loss.importance`) makes up for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from functools import partial

from trainer_client.daemon import start_daemon
from trainer_client.scoring import ScoredGroups

Sample = Callable[[int], tuple[ScoredGroups, int]]
"""From the position of the problems to their scored groups and the next position."""


class SamplingAhead:
    """The groups of the next step, in the making."""

    def __init__(self) -> None:
        self._pending: Future[tuple[ScoredGroups, int]] | None = None

    @property
    def started(self) -> bool:
        """Whether the next `take` has been started already."""
        return self._pending is not None

    def start(self, sample: Sample, position: int) -> None:
        """Begin with the groups at this position."""
        self._pending = start_daemon(partial(sample, position))

    def take(self, sample: Sample, position: int) -> tuple[ScoredGroups, int]:
        """The groups that were started, or those at this position; raises what sampling raises."""
        if self._pending is None:
            return sample(position)
        pending, self._pending = self._pending, None
        return pending.result()

    def wait(self) -> None:
        """Wait until the engine is free; an error comes with `take`."""
        if self._pending is not None:
            wait_for([self._pending])

    def close(self) -> None:
        """Give up what has not been taken; a process that ends does not wait for it."""
        self._pending = None
