"""Rollouts: completions with their token ids and the sampler's log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from trainer_client.dataset import Problem
from trainer_client.errors import TrainerError


class RolloutError(TrainerError):
    """The engine could not sample or take new weights; the message says what to look at."""


@dataclass(frozen=True)
class Sampling:
    """How to sample."""

    group_size: int
    max_completion_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    """Of these completions, for engines in another process; None, and `transformers`: torch's
    generator, whose state is in the checkpoints."""


@dataclass(frozen=True)
class Rollout:
    """One completion as it was sampled; its text is never tokenised again."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    """With the end-of-sequence token, where the completion has one."""
    sampler_logprobs: tuple[float, ...]
    """One for each of completion_ids."""
    text: str
    truncated: bool
    """True when it met the token limit before an end-of-sequence token."""


@dataclass(frozen=True)
class RolloutGroup:
    """The completions of one problem."""

    problem: Problem
    rollouts: tuple[Rollout, ...]


class RolloutEngine(Protocol):
    """Samples completions from the policy."""

    def update_weights(self) -> None:
        """Sample with the policy's weights of now from the next `generate` on.

        Called once before the first `generate` and after every change of the weights; on every
        process of a distributed run. Raises RolloutError.
        """
        ...

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        """Sample a group for each problem.

        `on_group(index of the problem, group)` is called once for each, as soon as its last
        completion has ended, while later groups are still being sampled; from the calling thread.
        Raises RolloutError.
        """
        ...

    def close(self) -> None:
        """Free what the engine holds."""
        ...
