"""Asynchronous sampling: who waits for whom, and what staleness does to the reward.

    python benchmarks/staleness.py
    python benchmarks/staleness.py --steps 25 --supervised 250

First a sampler that sleeps and a trainer that sleeps, of equal cost: the share of the time in which
each waits, without staleness (the control), one step ahead, and as a stream. Then the
demonstration's task by three seeds, on-policy (the control) and with staleness 2: the sampler works
in a thread of this process, on a copy of the weights.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import itertools
import random
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from trainer_client.config.loss_section import ImportanceConfig
from trainer_client.config.run_config import Config, make_config
from trainer_client.data_sets import load_data_sets
from trainer_client.demo import sums_task
from trainer_client.learner import Learner, make_learner, start_position
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroups, open_scorer
from trainer_client.rollout import Rollout, RolloutGroup, Sampling
from trainer_client.rollout.group_requests import AskGroup, DatedGroup
from trainer_client.rollout.group_sampler import GroupSampler
from trainer_client.rollout.group_stream import GroupStream, StreamLimits, StreamSource
from trainer_client.rollout.one_step_ahead import SamplingAhead, StepGroups
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.run.checkpoint import Position, RandomState
from trainer_client.run.console import CONSOLE
from trainer_client.sft import fine_tune
from trainer_client.train import train_step

PER_STEP, STEP_SECONDS, SLEPT_STEPS = 16, 1.0, 40
SPREAD = 0.5
"""Standard deviation of the logarithm of a group's time."""
SEEDS = (0, 1, 2)
LAST_STEPS = 5

REWARD = """
def accuracy(completions, answer, **columns):
    return [float(f"<answer>{a}</answer>" in "".join(text.split()))
            for text, a in zip(completions, answer, strict=True)]
"""


class Sleeper:
    """A sampler with a place for each group of a step; its groups take as long as it sleeps."""

    def __init__(self) -> None:
        self.num_updates = 0
        chosen = random.Random(0)
        times = [chosen.lognormvariate(0, SPREAD) for _ in range(PER_STEP * SLEPT_STEPS)]
        scale = STEP_SECONDS / statistics.mean(times)
        self._times = itertools.cycle([scale * one for one in times])
        self._places = asyncio.Semaphore(PER_STEP)

    def seconds(self) -> float:
        """The time of the next group; the mean of all is the time of a training step."""
        return next(self._times)

    def update_weights(self) -> None:
        """Count the update, which takes no time."""
        self.num_updates += 1

    def generate(self, *_: Any) -> None:
        """Sleep as long as the slowest group of a step."""
        time.sleep(max(self.seconds() for _ in range(PER_STEP)))

    def close(self) -> None:
        """Nothing is open."""

    @asynccontextmanager
    async def group_requests(self) -> AsyncIterator[AskGroup]:
        """See `GroupRequestEngine`."""
        yield self._ask

    async def _ask(self, problem: Problem, sampling: Sampling) -> DatedGroup:
        async with self._places:
            first = self.num_updates
            await asyncio.sleep(self.seconds())
        rollout = Rollout((1,), (2, 3), (-1.0, -1.0), "", truncated=False)
        return DatedGroup(RolloutGroup(problem, (rollout,)), ((first, self.num_updates),))


def synchronous() -> tuple[float, float]:
    """The shares of the time in which trainer and sampler wait, when they take turns."""
    sleeper, start, trained = Sleeper(), time.perf_counter(), 0.0
    for _ in range(SLEPT_STEPS):
        sleeper.generate()
        trained += train_asleep()
    total = time.perf_counter() - start
    return 1 - trained / total, trained / total


def one_step_ahead() -> tuple[float, float]:
    """The shares of waiting with `train.max_staleness_steps: 1`."""
    sleeper, ahead = Sleeper(), SamplingAhead()

    def sample(position: MixPosition) -> StepGroups:
        sleeper.generate()
        return StepGroups(ScoredGroups([], 0.0, 0.0), position)

    start, trained, idle = time.perf_counter(), 0.0, 0.0
    ahead.start(sample, MixPosition())
    for step in range(SLEPT_STEPS):
        idle += ahead.idle_seconds()
        ahead.take(sample, MixPosition())
        if step + 1 < SLEPT_STEPS:
            ahead.start(sample, MixPosition())
        trained += train_asleep()
    total = time.perf_counter() - start
    return 1 - trained / total, idle / total


def streamed(staleness: int) -> tuple[float, float]:
    """The shares of waiting with a stream."""
    sleeper = Sleeper()
    stream = GroupStream(
        sleeper, StreamLimits(staleness, PER_STEP, num_steps=SLEPT_STEPS, deadline_seconds=600)
    )
    problem = Problem("0", ({"role": "user", "content": "?"},), {})

    def problems(position: MixPosition, block: int) -> tuple[list[Problem], MixPosition]:
        return [problem] * PER_STEP, position

    waited, idle = 0.0, 0.0
    with closing(stream):
        for step in range(SLEPT_STEPS):
            with stream.new_weights(step):
                sleeper.update_weights()
            if not stream.started:
                source = StreamSource(problems, unjudged, Sampling(1, 2, 1.0, 1.0), 0)
                stream.start(source, MixPosition())
                start = time.perf_counter()
            taken = stream.take(PER_STEP)
            waited += taken.trainer_idle_seconds
            # The sampler ends before the run does, and no longer has to wait for anyone.
            idle += taken.sampler_idle_seconds if step + staleness < SLEPT_STEPS else 0.0
            train_asleep()
    total = time.perf_counter() - start
    return waited / total, idle / total


def unjudged(group: RolloutGroup) -> Future[list[Any]]:
    """No verdict at once."""
    done: Future[list[Any]] = Future()
    done.set_result([{} for _ in group.rollouts])
    return done


def train_asleep() -> float:
    """One training step; returns its time."""
    start = time.perf_counter()
    time.sleep(STEP_SECONDS)
    return time.perf_counter() - start


class CopyEngine:
    """Samples from a copy of the policy, one group after the other, in threads beside the trainer.

    Args:
        learner: trains the policy.
        batch_size: completions that are sampled together.
    """

    def __init__(self, learner: Learner, *, batch_size: int) -> None:
        self.num_updates = 0
        self._trained = learner.policy.model
        self._copy = replace(learner.policy, model=copy.deepcopy(self._trained))
        self._engine = TransformersEngine(self._copy, batch_size=batch_size)
        self._lock = threading.Lock()

    def update_weights(self) -> None:
        """Copy the weights once the group under way is done."""
        with self._lock:
            self._copy.model.load_state_dict(self._trained.state_dict())
            self.num_updates += 1

    def generate(self, *arguments: Any) -> None:
        """See `RolloutEngine`."""
        self._engine.generate(*arguments)

    def close(self) -> None:
        """Nothing is open."""

    @asynccontextmanager
    async def group_requests(self) -> AsyncIterator[AskGroup]:
        """See `GroupRequestEngine`."""

        async def ask(problem: Problem, sampling: Sampling) -> DatedGroup:
            return await asyncio.to_thread(self._sample, problem, sampling)

        yield ask

    def _sample(self, problem: Problem, sampling: Sampling) -> DatedGroup:
        groups: list[RolloutGroup] = []
        with self._lock:
            self._engine.generate([problem], sampling, lambda _, group: groups.append(group))
            number = self.num_updates
        updates = tuple((number,) * len(one.completion_ids) for one in groups[0].rollouts)
        return DatedGroup(groups[0], updates)


def taught_model(folder: Path, *, steps: int) -> Path:
    """The demonstration's data, and its model after a supervised phase."""
    torch.manual_seed(0)
    sums_task.write_data(folder / "data", num_held_out=20, seed=0)
    tokenizer = sums_task.make_tokenizer()
    sums_task.make_model(tokenizer).save_pretrained(folder / "untrained")
    tokenizer.save_pretrained(folder / "untrained")
    data = {"path": str(folder / "data" / "demonstrations.jsonl"), "system_prompt": None}
    phase = {"steps": steps, "batch_size": 32, "learning_rate": 3e-3, "warmup_steps": 20}
    fine_tune(
        make_config(
            {
                "output_dir": str(folder / "sft"),
                "model": {"path": str(folder / "untrained"), "device": "cpu"},
                "dataset": data,
                "sft": phase,
            }
        )
    )
    (folder / "reward.py").write_text(REWARD)
    return folder / "sft" / "model"


def run_config(folder: Path, *, seed: int, steps: int) -> Config:
    """The demonstration's task, rewarded by the answer alone."""
    return make_config(
        {
            "output_dir": str(folder / "grpo"),
            "model": {"path": str(folder / "sft" / "model"), "device": "cpu"},
            "dataset": {"path": str(folder / "data" / "train.jsonl"), "system_prompt": None},
            "rollout": {"prompts_per_step": 8, "group_size": 8, "max_completion_tokens": 48},
            "reward": {
                "verifiers": [],
                "functions": [{"path": f"{folder / 'reward.py'}:accuracy"}],
            },
            "optimizer": {"learning_rate": 1e-4, "warmup_steps": 5},
            "train": {"steps": steps, "seed": seed, "write_rollouts": False},
        }
    )


def rewards(config: Config, staleness: int) -> tuple[list[float], float]:
    """The mean reward of each step, and the mean staleness of the tokens."""
    if staleness:
        train_section = config.train.model_copy(update={"max_staleness_steps": staleness})
        loss = config.loss.model_copy(
            update={"importance": ImportanceConfig(mode="token_truncate")}
        )
        stale = config.model_copy(update={"train": train_section, "loss": loss})
    else:
        stale = config
    mix = ProblemMix(load_data_sets(config), per_step=8, seed=config.train.seed)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    found, ages = [], []
    with open_scorer(config.reward) as scorer:
        learner = make_learner(config)
        if staleness:
            engine = CopyEngine(learner, batch_size=config.rollout.batch_size)
            limits = StreamLimits(staleness, 8, config.train.steps, deadline_seconds=600)
            learner = replace(learner, engine=engine, stream=GroupStream(engine, limits))
        with closing(learner):
            sampler, position = GroupSampler(learner, scorer, mix, stale), start_position(None)
            for step in range(config.train.steps):
                metrics, following = train_step(learner, sampler, position, stale)
                position = Position(step + 1, following, RandomState.now())
                found.append(metrics["reward/total"])
                ages.append(metrics.get("staleness/mean", 0.0))
    return found, statistics.mean(ages)


def compare_waits() -> None:
    """Print the shares of waiting."""
    print(f"{SLEPT_STEPS} steps; a group and a training step take {STEP_SECONDS} s on average")
    print("max_staleness_steps  trainer waits  sampler waits")
    forms: Iterable[tuple[str, Callable[[], tuple[float, float]]]] = (
        ("0", synchronous),
        ("1", one_step_ahead),
        ("2", lambda: streamed(2)),
        ("4", lambda: streamed(4)),
    )
    shares = {}
    for name, form in forms:
        shares[name], sampler = form()
        print(f"{name:>19}  {shares[name]:>13.1%}  {sampler:>13.1%}", flush=True)
    print(f"trainer waits with 2 : with 0 = {shares['2'] / shares['0']:.2f}")


def compare_rewards(*, steps: int, supervised: int) -> None:
    """Print the reward of the last steps by seed, on-policy and with staleness 2."""
    ends: dict[int, list[float]] = {0: [], 2: []}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        taught_model(folder, steps=supervised)
        print(f"mean reward of the first and the last {LAST_STEPS} of {steps} steps")
        for seed in SEEDS:
            for staleness, end in ends.items():
                config = run_config(folder, seed=seed, steps=steps)
                found, age = rewards(config, staleness)
                end.append(statistics.mean(found[-LAST_STEPS:]))
                first = statistics.mean(found[:LAST_STEPS])
                print(
                    f"seed {seed}  max_staleness_steps {staleness}  first {first:.3f}  last "
                    f"{end[-1]:.3f}  staleness {age:.2f}",
                    flush=True,
                )
    spread = statistics.stdev(ends[0])
    means = {staleness: statistics.mean(end) for staleness, end in ends.items()}
    print(f"last steps: {means[0]:.3f} +- {spread:.3f} with 0, {means[2]:.3f} with 2")
    print(f"reward with 2 : with 0 = {means[2] / means[0]:.3f}")


def main() -> None:
    """Compare waits, then rewards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60, help="0: waits alone")
    parser.add_argument("--supervised", type=int, default=500)
    arguments = parser.parse_args()
    CONSOLE.quiet = True
    torch.set_num_threads(1)
    compare_waits()
    if arguments.steps:
        compare_rewards(steps=arguments.steps, supervised=arguments.supervised)


if __name__ == "__main__":
    main()
