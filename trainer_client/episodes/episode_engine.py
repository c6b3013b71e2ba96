"""A rollout engine whose completions are episodes in an environment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import cast

from trainer_client.config.run_config import Config
from trainer_client.episodes.environment_source import EnvironmentSource
from trainer_client.episodes.episode_feed import EpisodeFeed
from trainer_client.episodes.observation_tokens import ObservationTokens
from trainer_client.policy.policy import Policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutEngine, RolloutGroup, Sampling
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.group_requests import AskGroup, DatedGroup
from trainer_client.rollout.turns import SampleTurns, TurnEngine, TurnRequestEngine
from trainer_client.run.console import say


class EpisodeEngine:
    """Samples episodes with an engine that samples turns.

    A group is handed over when its last episode has ended; a group of which an environment was
    lost, at once and without rollouts.

    Args:
        turns: samples the policy's messages.
        policy: the policy, whose tokenizer writes observations.
        config: configuration of a run with `rollout.environment`.

    Raises:
        ConfigError: the environment cannot be made, or the chat template cannot write its
            observations without rewriting earlier turns.
    """

    def __init__(self, turns: TurnEngine, policy: Policy, config: Config) -> None:
        limits = config.rollout.environment
        assert limits is not None
        self._turns = turns
        self._policy = policy
        self._limits = limits
        self._group_size = config.rollout.group_size
        self._source = EnvironmentSource(config)
        tools = {"tools": self._source.tools} if self._source.tools else {}
        if tools and "tools" not in str(policy.tokenizer.chat_template):
            say(
                f"the chat template of {config.model.path!r} does not show tools: the policy "
                "knows of them only what the system prompt says"
            )
        for data_set in config.dataset:
            variables = {**data_set.chat_template_kwargs, **tools}
            ObservationTokens(policy.tokenizer, policy.eos_ids, variables).check(
                role=self._source.role, model=config.model.path
            )

    def update_weights(self) -> None:
        """See `RolloutEngine`."""
        self._turns.update_weights()

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        """See `RolloutEngine`; `sampling.max_completion_tokens` bounds a whole episode."""
        feed = self._feed(problems, sampling, on_group)
        try:
            self._turns.sample_turns(feed, sampling)
        finally:
            feed.close()

    @property
    def num_updates(self) -> int:
        """See `GroupRequestEngine`."""
        return cast(TurnRequestEngine, self._turns).num_updates

    @asynccontextmanager
    async def group_requests(self) -> AsyncIterator[AskGroup]:
        """See `GroupRequestEngine`; a group waits until `max_open` leaves room for its episodes."""
        places = asyncio.Semaphore(max(1, self._limits.max_open // self._group_size))

        async def ask_group(problem: Problem, sampling: Sampling) -> DatedGroup:
            async with places:
                return await self._sample_group(sample_turns, problem, sampling)

        async with cast(TurnRequestEngine, self._turns).turn_requests() as sample_turns:
            yield ask_group

    async def _sample_group(
        self, sample_turns: SampleTurns, problem: Problem, sampling: Sampling
    ) -> DatedGroup:
        done: list[RolloutGroup] = []
        feed = self._feed([problem], sampling, lambda _, group: done.append(group))
        try:
            await sample_turns(feed, sampling)
        finally:
            # It waits for environments, so in the event loop it would stop all other groups.
            await asyncio.wrap_future(start_daemon(feed.close))
        (group,) = done
        return DatedGroup(group, feed.updates(0))

    def close(self) -> None:
        """See `RolloutEngine`; also closes what the environments share."""
        try:
            self._turns.close()
        finally:
            self._source.close()

    def _feed(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> EpisodeFeed:
        return EpisodeFeed(problems, sampling, self._limits, self._source, self._policy, on_group)


def in_environment(engine: RolloutEngine, policy: Policy, config: Config) -> RolloutEngine:
    """The engine itself, or one of episodes where the run has an environment.

    Raises ConfigError, see `EpisodeEngine`.
    """
    if config.rollout.environment is None:
        return engine
    return EpisodeEngine(cast(TurnEngine, engine), policy, config)
