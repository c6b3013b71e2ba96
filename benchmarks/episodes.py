"""Episodes with a slow tool: the share of the time in which the sampler is at work.

    python benchmarks/episodes.py

64 episodes of up to 4 turns; each observation takes the tool a second. Control in the same run: one
batch for all episodes, whose tools nothing is sampled beside.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from trainer_client.config.run_config import Config, make_config
from trainer_client.demo import sums_task
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.policy.policy import Policy, make_policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutGroup, Sampling
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.rollout.turns import SampledTurn, TurnFeed, TurnRequest

NUM_PROBLEMS, GROUP_SIZE, NUM_TURNS, TOOL_SECONDS = 8, 8, 4, 1.0
BATCHES = (64, 16, 8)
"""Sizes of a batch; the first is the control."""


class SlowTool:
    """Takes its time for each observation."""

    def __init__(self) -> None:
        self.num_steps = 0

    def reset(self, problem: Problem) -> Sequence[dict[str, Any]]:
        """The problem's own messages."""
        return problem.messages

    def step(self, message: dict[str, Any]) -> tuple[Any, bool, dict[str, float]]:
        """An observation that never changes."""
        time.sleep(TOOL_SECONDS)
        self.num_steps += 1
        return "go on", self.num_steps == NUM_TURNS, {}


class WatchedFeed:
    """A feed that adds up the seconds for which the sampler waits for it."""

    def __init__(self, feed: TurnFeed) -> None:
        self._feed = feed
        self.waited = 0.0

    def take(self, limit: int, *, wait: bool = True) -> list[TurnRequest]:
        """See `TurnFeed`."""
        start = time.perf_counter()
        taken = self._feed.take(limit, wait=wait)
        self.waited += time.perf_counter() - start
        return taken

    def end(self, key: int, turn: SampledTurn) -> None:
        """See `TurnFeed`."""
        self._feed.end(key, turn)

    def __getattr__(self, name: str) -> Any:
        """The feed's other members."""
        return getattr(self._feed, name)


class WatchedEngine(TransformersEngine):
    """The engine with a watched feed."""

    watched: WatchedFeed

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        """See `TurnEngine`."""
        self.watched = WatchedFeed(feed)
        super().sample_turns(self.watched, sampling)


def main() -> None:
    """Print seconds and the sampler's share of them for each size of a batch."""
    console = Console()
    torch.manual_seed(0)
    tokenizer = sums_task.make_tokenizer()
    policy = make_policy(sums_task.make_model(tokenizer), tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        config = configured(Path(folder))
        control = None
        for batch_size in BATCHES:
            seconds, busy, turns = measured(policy, config, batch_size)
            control = control or seconds
            console.print(
                f"batch_size {batch_size:>2}: {seconds:5.1f} s, sampler at work {busy:.0%} of it, "
                f"{turns} turns, {control / seconds:.2f} times as fast as one batch for all"
            )


def configured(folder: Path) -> Config:
    """A configuration with the slow tool, of which nothing else is used."""
    return make_config(
        {
            "output_dir": str(folder),
            "model": {"path": str(folder)},
            "dataset": {"path": str(folder / "none.jsonl")},
            "rollout": {"environment": {"path": f"{__name__}:SlowTool", "max_turns": NUM_TURNS}},
        }
    )


def measured(policy: Policy, config: Config, batch_size: int) -> tuple[float, float, int]:
    """Seconds, share of them in which the sampler did not wait, and number of turns."""
    torch.manual_seed(1)
    engine = WatchedEngine(policy, batch_size=batch_size)
    problems = [
        Problem(str(number), ({"role": "user", "content": f"{number}+1=?"},), {})
        for number in range(NUM_PROBLEMS)
    ]
    groups: list[RolloutGroup] = []
    # Three of the 82 tokens end a message, so that it has about 27.
    sampling = Sampling(GROUP_SIZE, 200, 1.0, 1.0, stop=("a", "b", "c"))
    start = time.perf_counter()
    EpisodeEngine(engine, policy, config).generate(
        problems, sampling, lambda _, group: groups.append(group)
    )
    seconds = time.perf_counter() - start
    episodes = [one.episode for group in groups for one in group.rollouts if one.episode]
    turns = sum(episode.num_turns for episode in episodes)
    return seconds, 1 - engine.watched.waited / seconds, turns


if __name__ == "__main__":
    main()
