"""The episodes of a step: which turns are ready, whose environment is at work, which have ended.

Everything here runs in the thread that samples. An environment's calls run in threads of their own,
which do nothing but put their result into an inbox.
"""

from __future__ import annotations

import json
import queue
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from trainer_client.config.rollout_section import EnvironmentConfig
from trainer_client.episodes.environment import (
    Environment,
    EnvironmentLost,
    StepOutcome,
    read_messages,
    read_outcome,
)
from trainer_client.episodes.environment_source import (
    EnvironmentSource,
    close,
    role_of,
    service_seconds_of,
    tools_of,
)
from trainer_client.episodes.live_episode import LiveEpisode
from trainer_client.episodes.observation_tokens import ObservationTokens
from trainer_client.errors import raised
from trainer_client.policy.policy import Policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.turns import SampledTurn, TurnRequest

MAX_CLOSE_SECONDS = 30.0
"""Time limit for environments to close once every episode has ended."""


@dataclass(frozen=True)
class _Reply:
    """The result of one call of an environment, as its thread leaves it in the inbox."""

    episode: LiveEpisode
    seconds: float
    result: Any = None
    error: Exception | None = None
    is_close: bool = False


class EpisodeFeed:
    """Runs a group of episodes for each problem; see `TurnFeed`.

    Args:
        problems: each gets one group.
        sampling: group size and token limit of an episode; its seed seeds the episodes, and
            without one torch's generator does.
        limits: the other limits of an episode.
        source: makes the environments.
        policy: writes prompts and observations as tokens, and decodes messages.
        on_group: see `RolloutEngine.generate`.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        limits: EnvironmentConfig,
        source: EnvironmentSource,
        policy: Policy,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        self._problems = problems
        self._size = sampling.group_size
        self._limits = limits
        self._source = source
        self._policy = policy
        self._on_group = on_group
        self._episodes = self._made(sampling)
        self._waiting = deque(self._episodes)
        self._ready: deque[LiveEpisode] = deque()
        self._at_work: set[int] = set()
        """Episodes with a call that has not returned, those past their time limit included."""
        self._due: dict[int, float] = {}
        """Moments at which episodes whose environment is at work may have met a time limit."""
        self._live: set[int] = set()
        """Episodes that have begun and not ended."""
        self._closing = 0
        """Environments that are being closed."""
        self._writers: dict[str, ObservationTokens] = {}
        self._lost: dict[int, str] = {}
        self._told: set[int] = set()
        """Groups that were handed over."""
        self._inbox: queue.SimpleQueue[_Reply] = queue.SimpleQueue()
        self._tell: Callable[[], None] = lambda: None

    @property
    def is_over(self) -> bool:
        """See `TurnFeed`."""
        return len(self._told) == len(self._problems)

    def on_ready(self, tell: Callable[[], None]) -> None:
        """See `TurnFeed`."""
        self._tell = tell

    def take(self, limit: int, *, wait: bool = True) -> list[TurnRequest]:
        """See `TurnFeed`."""
        self._advance()
        while wait and not self._ready and not self.is_over:
            self._wait()
            self._advance()
        taken: list[TurnRequest] = []
        while self._ready and len(taken) < limit:
            taken.append(self._ready.popleft().request)
        return taken

    def end(self, key: int, turn: SampledTurn) -> None:
        """See `TurnFeed`."""
        episode = self._episodes[key]
        if episode.group in self._lost:
            return
        episode.add_turn(turn, self._policy.decode(turn.token_ids))
        if episode.end is None:
            environment = episode.environment
            assert environment is not None
            self._start(episode, partial(environment.step, dict(episode.messages[-1])))
        else:
            self._finish(episode)

    def updates(self, group: int) -> tuple[tuple[int, ...], ...]:
        """The weights that sampled a group, see `DatedGroup`; nothing for a group that was lost."""
        if group in self._lost:
            return ()
        return tuple(tuple(one.updates) for one in self._episodes_of(group))

    def seconds_to_limit(self) -> float | None:
        """See `TurnFeed`."""
        if not self._due:
            return None
        return max(0.0, min(self._due.values()) - time.monotonic())

    def close(self) -> None:
        """End what has not ended, and wait until environments are closed, for a bounded time."""
        self._tell = lambda: None
        for episode in self._episodes:
            self._discard(episode)
        until = time.monotonic() + MAX_CLOSE_SECONDS
        while self._closing and (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                self._receive(self._inbox.get(timeout=left))
        if self._at_work:
            start_daemon(self._close_late)

    def _close_late(self) -> None:
        """Close the environments whose last call has not returned, once it does."""
        while self._at_work or self._closing:
            self._receive(self._inbox.get())

    def _made(self, sampling: Sampling) -> list[LiveEpisode]:
        """The episodes of all groups, with a seed of their own."""
        count = len(self._problems) * self._size
        seed = sampling.seed
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        seeds = torch.randint(2**62, (count,), generator=generator).tolist()
        return [
            LiveEpisode(
                key=key,
                group=key // self._size,
                problem=self._problems[key // self._size],
                seed=seeds[key],
                limits=self._limits,
                max_tokens=sampling.max_completion_tokens,
            )
            for key in range(count)
        ]

    def _advance(self) -> None:
        """Take replies, act on time limits, and open environments for episodes that wait."""
        with suppress(queue.Empty):
            while True:
                self._receive(self._inbox.get_nowait())
        now = time.monotonic()
        for key in [key for key, due in self._due.items() if due <= now]:
            self._check_time(self._episodes[key], now)
        while self._waiting and len(self._live) < self._limits.max_open:
            episode = self._waiting.popleft()
            if episode.group not in self._lost:
                self._live.add(episode.key)
                self._start(episode, partial(self._reset, episode))

    def _wait(self) -> None:
        """Wait for a reply or a time limit."""
        with suppress(queue.Empty):
            self._receive(self._inbox.get(timeout=self.seconds_to_limit()))

    def _reset(self, episode: LiveEpisode) -> tuple[Environment, Any]:
        environment = self._source.make()
        episode.environment = environment
        return environment, environment.reset(episode.problem)

    def _start(self, episode: LiveEpisode, work: Callable[[], Any]) -> None:
        """Call the environment in a thread."""
        self._at_work.add(episode.key)
        episode.call_began = time.monotonic()
        left = self._limits.max_seconds - episode.own_seconds
        self._due[episode.key] = episode.call_began + left
        start_daemon(partial(self._call, episode, work))

    def _call(self, episode: LiveEpisode, work: Callable[[], Any], is_close: bool = False) -> None:
        start = time.monotonic()
        result, error = None, None
        try:
            result = work()
        # Which errors are the environment's loss and which are bugs is decided in `_receive`.
        except Exception as found:  # noqa: BLE001
            error = found
        self._inbox.put(_Reply(episode, time.monotonic() - start, result, error, is_close))
        self._tell()

    def _receive(self, reply: _Reply) -> None:
        """Go on with an episode; raises RolloutError where its environment has a bug."""
        episode = reply.episode
        if reply.is_close:
            self._closing -= 1
            return
        self._at_work.discard(episode.key)
        if self._due.pop(episode.key, None) is None:
            self._close(episode)  # it met its time limit, or its group is lost
            return
        episode.seconds += reply.seconds
        episode.service_seconds = service_seconds_of(episode.environment)
        if isinstance(reply.error, EnvironmentLost):
            self._lose(episode.group, str(reply.error))
        elif reply.error is not None:
            raise RolloutError(
                f"rollout.environment: {self._limits.path} raised {raised(reply.error)}"
            ) from reply.error
        elif episode.num_turns:
            assert episode.environment is not None
            self._go_on(episode, read_outcome(reply.result, role=role_of(episode.environment)))
        else:
            self._begin(episode, *reply.result)

    def _begin(self, episode: LiveEpisode, environment: Environment, messages: Any) -> None:
        """Write the prompt; the first turn is ready then."""
        episode.prompt = read_messages(messages, role="user", name="reset's result")
        if not episode.prompt:
            raise RolloutError("reset of an environment must return at least one message")
        tools = tools_of(environment)
        episode.variables = {
            **episode.problem.template_variables,
            **({"tools": tools} if tools else {}),
        }
        episode.prompt_ids = self._policy.prompt_ids(list(episode.prompt), episode.variables)
        self._ready.append(episode)

    def _go_on(self, episode: LiveEpisode, outcome: StepOutcome) -> None:
        episode.add_outcome(outcome)
        if episode.end is None:
            writer = self._writer(episode.variables)
            ids = writer.ids(outcome.observation, last_id=episode.ids[-1])
            episode.add_observation(outcome.observation, ids)
        if episode.end is None:
            self._ready.append(episode)
        else:
            self._finish(episode)

    def _writer(self, variables: dict[str, Any]) -> ObservationTokens:
        key = json.dumps(variables, sort_keys=True, default=repr)
        if key not in self._writers:
            tokenizer, eos_ids = self._policy.tokenizer, self._policy.eos_ids
            self._writers[key] = ObservationTokens(tokenizer, eos_ids, variables)
        return self._writers[key]

    def _check_time(self, episode: LiveEpisode, now: float) -> None:
        """Expire an episode whose own time is over, and lose one that waits for a service."""
        limit = self._limits.max_seconds
        waited = service_seconds_of(episode.environment)
        own = episode.seconds + (now - episode.call_began) - waited
        if own >= limit:
            episode.seconds, episode.service_seconds = own + waited, waited
            self._expire(episode)
        elif waited >= limit:
            self._lose(
                episode.group,
                f"the environment has waited {waited:.1f} s for the service, more than "
                f"rollout.environment.max_seconds {limit:g}",
            )
        else:
            self._due[episode.key] = now + limit - max(own, waited)

    def _expire(self, episode: LiveEpisode) -> None:
        """End an episode at its time limit; its environment is closed when its call returns.

        Its place is free now: environments that never return would hold all places for ever.
        """
        del self._due[episode.key]
        self._live.discard(episode.key)
        if episode.num_turns:
            episode.end = "time_limit"
            self._tell_if_whole(episode.group)
        else:
            self._lose(
                episode.group,
                "reset did not return within rollout.environment.max_seconds "
                f"{self._limits.max_seconds:g}",
            )

    def _finish(self, episode: LiveEpisode) -> None:
        """Close an episode that has ended, and hand its group over if it was the last one."""
        self._live.discard(episode.key)
        self._close(episode)
        self._tell_if_whole(episode.group)

    def _episodes_of(self, group: int) -> list[LiveEpisode]:
        return self._episodes[group * self._size : (group + 1) * self._size]

    def _tell_if_whole(self, group: int) -> None:
        episodes = self._episodes_of(group)
        if group not in self._lost and all(one.end is not None for one in episodes):
            self._told.add(group)
            rollouts = tuple(one.rollout() for one in episodes)
            self._on_group(group, RolloutGroup(self._problems[group], rollouts))

    def _lose(self, group: int, reason: str) -> None:
        """Give a group up, once: none of its episodes is sampled further."""
        if group in self._lost:
            return
        self._lost[group] = reason
        self._told.add(group)
        for episode in self._episodes_of(group):
            self._discard(episode)
        self._on_group(group, RolloutGroup(self._problems[group], (), lost=reason))

    def _discard(self, episode: LiveEpisode) -> None:
        """Let an episode go; an environment at work is closed when its call returns."""
        self._live.discard(episode.key)
        self._due.pop(episode.key, None)
        self._close(episode)
        if episode in self._ready:
            self._ready.remove(episode)

    def _close(self, episode: LiveEpisode) -> None:
        """Close an episode's environment, once, in a thread; later if it is at work."""
        if episode.key in self._at_work:
            return
        environment, episode.environment = episode.environment, None
        if environment is not None:
            self._closing += 1
            start_daemon(partial(self._call, episode, partial(close, environment), is_close=True))
