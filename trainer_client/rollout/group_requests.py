"""Groups that are asked for one by one, while the weights may change under them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from trainer_client.problems import Problem
from trainer_client.rollout import RolloutEngine, RolloutGroup, Sampling


@dataclass(frozen=True)
class DatedGroup:
    """A group, which may be a lost one, and the weights that sampled its tokens."""

    group: RolloutGroup
    updates: tuple[tuple[int, ...], ...]
    """Number of the engine's last weight update at each sampled token, completion by completion."""


AskGroup = Callable[[Problem, Sampling], Awaitable[DatedGroup]]
"""Samples one group; cancelling it frees the sampler. Raises RolloutError."""


class GroupRequestEngine(RolloutEngine, Protocol):
    """A rollout engine that samples groups at any time, and goes on with them under new weights."""

    @property
    def num_updates(self) -> int:
        """Number of weight updates so far."""
        ...

    def group_requests(self) -> AbstractAsyncContextManager[AskGroup]:
        """A function that samples a group, to be used in one event loop of any thread."""
        ...
