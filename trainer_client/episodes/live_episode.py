"""One episode under way: its tokens, its messages, and the limits that may end it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from trainer_client.config.rollout_section import EnvironmentConfig
from trainer_client.episodes.environment import Environment, Message, StepOutcome
from trainer_client.problems import Problem
from trainer_client.rollout import Episode, Rollout
from trainer_client.rollout.turns import SampledTurn, TurnRequest

End = Literal["done", "turn_limit", "token_limit", "time_limit"]

SEED_STRIDE = 1_000_003
"""Distance between the seeds of an episode's turns, a prime larger than any number of turns."""


@dataclass(eq=False)
class LiveEpisode:
    """The state of one episode; every change is made in the thread that samples."""

    key: int
    group: int
    problem: Problem
    seed: int
    limits: EnvironmentConfig
    max_tokens: int
    """Largest number of tokens after the prompt, those of observations included."""
    environment: Environment | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    """Variables of the chat template, with the environment's tools."""
    prompt: tuple[Message, ...] = ()
    prompt_ids: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    sampled: list[bool] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    """Number of the sampler's last weight update at each token that the policy sampled; empty where
    the engine does not say."""
    messages: list[Message] = field(default_factory=list)
    extra: dict[str, float] = field(default_factory=dict)
    num_turns: int = 0
    seconds: float = 0.0
    """Time of the environment's calls that have returned."""
    service_seconds: float = 0.0
    """The part of it that the environment waited for a service."""
    call_began: float = 0.0
    """Moment at which the environment's last call began."""
    end: End | None = None
    """None: the episode goes on."""

    @property
    def own_seconds(self) -> float:
        """Time that counts against `max_seconds`, of calls that have returned."""
        return self.seconds - self.service_seconds

    @property
    def tokens_left(self) -> int:
        """Number of tokens that the episode may still get."""
        return self.max_tokens - len(self.ids)

    @property
    def request(self) -> TurnRequest:
        """The next turn to sample."""
        limit = min(self.tokens_left, self.limits.max_turn_tokens or self.tokens_left)
        seed = (self.seed + SEED_STRIDE * self.num_turns) % 2**62
        return TurnRequest(self.key, [*self.prompt_ids, *self.ids], limit, seed)

    def add_turn(self, turn: SampledTurn, text: str) -> None:
        """Take a sampled message; one that met a token limit ends the episode."""
        self.ids += turn.token_ids
        self.logprobs += turn.logprobs
        self.sampled += [True] * len(turn.token_ids)
        self.updates += turn.updates
        self.messages.append({"role": "assistant", "content": text})
        self.num_turns += 1
        if not turn.ended:
            self.end = "token_limit"

    def add_outcome(self, outcome: StepOutcome) -> None:
        """Take the numbers of a step, and its end; the observation follows by itself."""
        for name, value in outcome.extra.items():
            self.extra[name] = self.extra.get(name, 0.0) + value
        if outcome.done:
            self.end = "done"
        elif self.num_turns == self.limits.max_turns:
            self.end = "turn_limit"
        elif self.own_seconds >= self.limits.max_seconds:
            self.end = "time_limit"

    def add_observation(self, observation: tuple[Message, ...], ids: list[int]) -> None:
        """Take an observation; one that leaves no room for a reply ends the episode instead."""
        if len(ids) >= self.tokens_left:
            self.end = "token_limit"
            return
        self.ids += ids
        self.logprobs += [0.0] * len(ids)
        self.sampled += [False] * len(ids)
        self.messages += observation

    def rollout(self) -> Rollout:
        """The episode as a completion."""
        assert self.end is not None
        said = [one["content"] for one in self.messages if one["role"] == "assistant"]
        judged = self.limits.judged
        return Rollout(
            prompt_ids=tuple(self.prompt_ids),
            completion_ids=tuple(self.ids),
            sampler_logprobs=tuple(self.logprobs),
            text="\n".join(said) if judged == "all_messages" else said[-1],
            truncated=self.end != "done",
            sampled=tuple(self.sampled),
            episode=Episode(
                prompt=self.prompt,
                messages=tuple(self.messages),
                extra=dict(self.extra),
                environment_seconds=self.seconds,
                end=self.end,
                judged_as_chat=judged == "chat",
            ),
        )
