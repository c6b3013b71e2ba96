"""Turns of episodes: what an engine samples at a time, and where it gets the next ones.

Which turns are ready depends on environments, so an engine asks for them while it samples.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from trainer_client.rollout import Rollout, RolloutEngine, Sampling

MAX_TURNS_AT_ONCE = 1024
"""Turns that vLLM is asked for together; it queues those that it cannot batch."""


@dataclass(frozen=True)
class TurnRequest:
    """One message of the policy to sample."""

    key: int
    """Number of the episode."""
    context_ids: list[int]
    """Token ids of prompt, earlier turns and observations."""
    max_tokens: int
    """Token limit of this message."""
    seed: int
    """Seed of this message alone, so that it does not depend on those sampled beside it."""


@dataclass(frozen=True)
class SampledTurn:
    """One message as it was sampled."""

    token_ids: list[int]
    """Token ids up to an end-of-sequence token or a text of `rollout.stop`, which they keep."""
    logprobs: list[float]
    """Log-probability of each token."""
    ended: bool
    """False when the message met its token limit."""
    updates: tuple[int, ...] = ()
    """Number of the engine's last weight update at each token; empty where the engine takes no new
    weights within an episode."""

    @classmethod
    def of(cls, rollout: Rollout, updates: tuple[int, ...] = ()) -> SampledTurn:
        """The message that was sampled as a completion of its context."""
        return cls(
            list(rollout.completion_ids),
            list(rollout.sampler_logprobs),
            not rollout.truncated,
            updates,
        )


class TurnFeed(Protocol):
    """Turns that are ready to be sampled; every method is called in one thread."""

    @property
    def is_over(self) -> bool:
        """Whether every episode has ended."""
        ...

    def take(self, limit: int, *, wait: bool = True) -> list[TurnRequest]:
        """The next turns, at most `limit`, the longest waiting first; raises RolloutError.

        With `wait` the list is empty only when every episode has ended.
        """
        ...

    def end(self, key: int, turn: SampledTurn) -> None:
        """Hand over an episode's turn; its environment goes on at once, in another thread."""
        ...

    def seconds_to_limit(self) -> float | None:
        """Seconds until the next time limit of an episode; None: no environment is at work."""
        ...

    def on_ready(self, tell: Callable[[], None]) -> None:
        """Have a function called, from any thread, whenever `take` may have something new."""
        ...


class TurnEngine(RolloutEngine, Protocol):
    """A rollout engine that also samples message by message."""

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        """Sample until every episode of the feed has ended; raises RolloutError.

        `sampling.group_size`, `max_completion_tokens` and `seed` are not read: the feed has its
        own.
        """
        ...


SampleTurns = Callable[[TurnFeed, Sampling], Awaitable[None]]
"""Samples until every episode of a feed has ended; cancelling it frees the sampler. Raises
RolloutError, which may stand in an exception group."""


class TurnRequestEngine(TurnEngine, Protocol):
    """A turn engine that samples feeds at any time, and goes on with them under new weights."""

    @property
    def num_updates(self) -> int:
        """Number of weight updates so far."""
        ...

    def turn_requests(self) -> AbstractAsyncContextManager[SampleTurns]:
        """A function that samples a feed, to be used in one event loop of any thread."""
        ...
