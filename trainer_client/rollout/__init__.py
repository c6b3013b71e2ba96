"""Rollouts: completions with their token ids and the sampler's log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from trainer_client.config.rollout_section import RolloutConfig
from trainer_client.errors import TrainerError
from trainer_client.problems import Problem


class RolloutError(TrainerError):
    """The engine could not sample or take new weights; the message says what to look at."""


@dataclass(frozen=True)
class Sampling:
    """The sampling parameters of one call; their defaults stand in `RolloutConfig`."""

    group_size: int
    max_completion_tokens: int
    temperature: float
    """0: the likeliest token at each place; runs never train so."""
    top_p: float
    top_k: int | None = None
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    stop: tuple[str, ...] = ()
    """Texts that end a completion, which keeps them."""
    seed: int | None = None
    """Seed of the vLLM engines for these completions; None: drawn from torch's generator.

    The `transformers` engine ignores it: it samples from torch's generator, whose state is in the
    checkpoints.
    """

    @classmethod
    def configured(cls, config: RolloutConfig, *, seed: int | None = None) -> Sampling:
        """The parameters that a run trains with."""
        return cls(
            group_size=config.group_size,
            max_completion_tokens=config.max_completion_tokens,
            temperature=config.temperature,
            top_p=config.top_p,
            top_k=config.top_k,
            min_p=config.min_p,
            repetition_penalty=config.repetition_penalty,
            stop=config.stop,
            seed=seed,
        )


@dataclass(frozen=True)
class Episode:
    """The turns of a completion that was sampled in an environment."""

    prompt: tuple[dict[str, Any], ...]
    """Messages of the environment's `reset`, which the prompt's token ids are of."""
    messages: tuple[dict[str, Any], ...]
    """The policy's messages and the observations between them, in their order."""
    extra: dict[str, float]
    """Numbers of the environment's steps by their names, each summed over the steps."""
    environment_seconds: float
    """Time in the environment; time in which tokens were sampled does not count."""
    end: Literal["done", "turn_limit", "token_limit", "time_limit"]
    """`done`: the environment ended the episode; a limit truncated it otherwise."""
    judged_as_chat: bool = False
    """Whether the service gets `messages` and not the rollout's text."""

    @property
    def num_turns(self) -> int:
        """Number of the policy's messages."""
        return sum(message["role"] == "assistant" for message in self.messages)


@dataclass(frozen=True)
class Rollout:
    """One completion as it was sampled; its text is never tokenised again."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    """Token ids after the prompt. The last one ends the sequence, or a text of `rollout.stop`,
    unless the completion is truncated. In an episode observations stand between the turns."""
    sampler_logprobs: tuple[float, ...]
    """Log-probability of each token in `completion_ids`; 0 for those of observations."""
    text: str
    """The completion as it is judged; of an episode the policy's own words alone, see
    `rollout.environment.judged`."""
    truncated: bool
    """True when the completion met the token limit before an end-of-sequence token or a text of
    `rollout.stop`, or when a limit ended its episode."""
    sampled: tuple[bool, ...] | None = None
    """True on the tokens of `completion_ids` that the policy sampled; None: it sampled all."""
    episode: Episode | None = None
    """None: the completion is of one turn, without an environment."""
    weight_steps: tuple[int, ...] | None = None
    """Number of steps that the weights had been trained for, at each token that the policy sampled;
    None: the completion was not sampled in a stream, `train.max_staleness_steps` is at most 1."""
    replayed_from: int | None = None
    """The step that it was sampled in, where a later step trains on it (`rollout.replay`)."""

    @property
    def num_sampled(self) -> int:
        """Number of tokens that the policy sampled."""
        return len(self.completion_ids) if self.sampled is None else sum(self.sampled)


@dataclass(frozen=True)
class RolloutGroup:
    """The completions of one problem."""

    problem: Problem
    rollouts: tuple[Rollout, ...]
    """No rollout when the group is lost."""
    lost: str | None = field(default=None, kw_only=True)
    """The fault, none of the policy's, by which an episode ended early; None: the group is whole.
    A lost group is neither scored nor trained on."""


class RolloutEngine(Protocol):
    """Samples completions from the policy."""

    def update_weights(self) -> None:
        """Make the next `generate` sample with the policy's present weights.

        The run calls it before the first `generate` and after every change of the weights, on
        every process. Raises RolloutError.
        """
        ...

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        """Sample a group for each problem.

        `on_group(index of the problem, group)` is called once for each problem, as soon as its last
        completion has ended, while later groups are still being sampled. It runs in the calling
        thread. Raises RolloutError.
        """
        ...

    def close(self) -> None:
        """Free the memory and connections of the engine."""
        ...
