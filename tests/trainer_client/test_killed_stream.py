"""A stream that is killed again and again trains as one that nobody killed.

KILLED_STREAM_STEPS and KILLED_STREAM_KILLS make the run longer, such as 200 steps and five kills.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import metrics, rollouts, same, weights
from tests.trainer_client.sampling_server import SampledGroup, sampling_server
from tests.trainer_client.test_killed_run import equal, started, state, without_times
from tests.trainer_client.test_stream_runs import MAX_STALENESS, PER_STEP, streamed
from trainer_client.config.run_config import Config, dump_config, make_config
from trainer_client.data_sets import load_data_sets
from trainer_client.learner import Learner, make_learner, start_position
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import (
    ScoredGroup,
    ScoredGroups,
    Scorer,
    open_scorer,
    scored_here,
)
from trainer_client.rollout import Rollout, RolloutGroup
from trainer_client.rollout.group_sampler import GroupSampler
from trainer_client.rollout.group_stream import seed_of, staleness_metrics
from trainer_client.rollout.one_step_ahead import StepGroups
from trainer_client.rollout.stop_texts import StopTexts, finished_rollout
from trainer_client.run.checkpoint import Position, RandomState
from trainer_client.run.json_lines import read_lines
from trainer_client.train import train_step

pytestmark = pytest.mark.slow
STEPS = int(os.environ.get("KILLED_STREAM_STEPS", "20"))
KILLS = int(os.environ.get("KILLED_STREAM_KILLS", "2"))
SETTINGS: dict[str, Any] = {
    "optimizer": {"warmup_steps": 5, "schedule": "cosine"},
    "loss": {"importance": {"mode": "token_truncate"}, "entropy_target": 2.0},
    "guards": {"stop_if_kl_above": None},
}
SAME_IN_EVERY_RUN = ("step", "policy/learning_rate", "policy/updates", "completion/count")


@dataclass(frozen=True)
class KilledRun:
    """A run that was killed, and all that its server sampled."""

    config: Config
    groups: list[SampledGroup]
    runs: list[str]
    """The first parts of the versions of weights, one for each start."""


@pytest.fixture(scope="module")
def killed(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledRun]:
    """Kills come all over the run, at any moment of a step; not each step has a checkpoint."""
    folder = tmp_path_factory.mktemp("killed")
    train = {"steps": STEPS, "checkpoint_every_steps": 2, "keep_checkpoints": 2}
    with sampling_server(str(task / "model")) as (url, sampler):
        config = streamed(task, folder / "run", url, **SETTINGS, train=train)
        path = folder / "run.yaml"
        path.write_text(dump_config(config))
        chosen, run = random.Random(), started(path)
        for _ in range(KILLS):
            assert run.kill_after(max(3, STEPS // (KILLS + 2)), chosen.uniform(0, 1)), "has ended"
            run = started(path, "--resume")
        run.finish()
        yield KilledRun(config, sampler.groups, sampler.runs)


@pytest.fixture(scope="module")
def order(killed: KilledRun) -> list[Problem]:
    """The problems in the order of the run; some more than it had time for."""
    config, position, found = killed.config, MixPosition(), []
    mix = ProblemMix(load_data_sets(config), per_step=PER_STEP, seed=config.train.seed)
    for _ in range(2 * STEPS):
        problems, position = mix.take(position, PER_STEP)
        found += problems
    return found


def steps_of(config: Config) -> list[list[list[dict[str, Any]]]]:
    """The lines of `rollouts/`, by step and group."""
    return [
        [list(rows) for _, rows in groupby(rollouts(config.output_dir, step), lambda r: r["group"])]
        for step in range(1, STEPS + 1)
    ]


def test_a_killed_run_has_the_steps_and_the_learning_rates_of_any_run(
    task: Path, killed: KilledRun
) -> None:
    scheduler = make_learner(recorded(killed.config, killed.config.output_dir)).scheduler
    rows = metrics(killed.config.output_dir)
    rates = []
    for _ in range(STEPS):
        rates += scheduler.get_last_lr()
        scheduler.optimizer.step()
        scheduler.step()
    expected = [(step, rate, 1, 4 * PER_STEP) for step, rate in enumerate(rates, 1)]
    assert [tuple(row[name] for name in SAME_IN_EVERY_RUN) for row in rows] == expected
    assert all(row["staleness/max"] <= MAX_STALENESS for row in rows)


def test_every_group_has_the_problem_and_the_seed_of_its_number(
    killed: KilledRun, order: list[Problem]
) -> None:
    """Those that a kill interrupted are asked for again as they were."""
    policy = make_learner(recorded(killed.config, killed.config.output_dir)).policy
    expected = {
        seed_of(killed.config.train.seed, number): policy.prompt_ids(problem.messages)
        for number, problem in enumerate(order)
    }
    assert {one.seed for one in killed.groups} <= set(expected)
    assert all(one.prompt_ids == expected[one.seed] for one in killed.groups)


def test_each_problem_of_the_order_is_trained_on_once_or_counted_as_dropped(
    killed: KilledRun, order: list[Problem], tmp_path: Path
) -> None:
    """A long run has the same problem in each epoch: its seed tells one from the other."""
    config = recorded(killed.config, tmp_path / "replayed")
    numbers = {seed_of(config.train.seed, number): number for number in range(len(order))}
    with replayed(killed, config) as (_, sampler):
        steps = [
            [numbers[sampler.sampled(rows)[0].seed] for rows in step]
            for step in steps_of(killed.config)
        ]
    assert all(step == sorted(step) for step in steps)
    trained = list(chain.from_iterable(steps))
    assert len(trained) == len(set(trained)) == STEPS * PER_STEP
    dropped = sum(row["staleness/dropped_groups"] for row in metrics(killed.config.output_dir))
    assert len(set(range(max(trained) + 1)) - set(trained)) <= dropped


def test_a_run_that_nobody_killed_has_the_same_metrics_from_the_same_groups(
    killed: KilledRun, tmp_path: Path
) -> None:
    """Bit for bit, weights, optimizer, schedule and random numbers too: nothing else is open."""
    config = recorded(killed.config, tmp_path / "replayed")
    config.output_dir.mkdir()
    rows = []
    with replayed(killed, config) as (learner, sampler):
        position = start_position(None)
        for step in range(1, STEPS + 1):
            found, following = train_step(learner, sampler, position, config)
            position = Position(step, following, RandomState.now())
            rows.append({"step": step, **found})
        learner.save(config.output_dir, position)
        learner.policy.save_merged(config.output_dir / "model")
    expected = without_times(metrics(killed.config.output_dir))
    assert [{**row, "staleness/dropped_groups": 0.0} for row in without_times(rows)] == [
        {**row, "staleness/dropped_groups": 0.0} for row in expected
    ]
    ours, theirs = config.output_dir, killed.config.output_dir
    assert same(weights(ours / "model"), weights(theirs / "model"))
    for name in ("optimizer", "scheduler"):
        assert equal(state(ours)[name], state(theirs)[name])


def recorded(config: Config, run_dir: Path) -> Config:
    """A configuration of the same training without a server.

    The bound on staleness stays: it says which tokens are in the loss. Only a run with a server may
    have one, so it is set afterwards.
    """
    settings = config.model_dump(mode="json")
    settings["output_dir"] = str(run_dir)
    settings["rollout"] |= {"engine": "transformers"}
    bound = settings["train"].pop("max_staleness_steps")
    made = make_config(settings)
    return made.model_copy(
        update={"train": made.train.model_copy(update={"max_staleness_steps": bound})}
    )


@contextmanager
def replayed(killed: KilledRun, config: Config) -> Iterator[tuple[Learner, RecordedGroups]]:
    """A learner at its start, and the groups that the killed run trained on."""
    mix = ProblemMix(load_data_sets(config), per_step=PER_STEP, seed=config.train.seed)
    with open_scorer(config.reward) as scorer, closing(make_learner(config)) as learner:
        yield learner, RecordedGroups(learner, scorer, mix, config, killed)


class RecordedGroups(GroupSampler):
    """The groups that each step of a killed run trained on, as its server sampled them."""

    def __init__(
        self,
        learner: Learner,
        scorer: Scorer,
        mix: ProblemMix,
        config: Config,
        killed: KilledRun,
    ) -> None:
        super().__init__(learner, scorer, mix, config)
        self._policy, self._score = learner.policy, scorer
        self._steps, self._sampled = steps_of(killed.config), killed.groups
        starts = read_lines(killed.config.output_dir / "starts.jsonl")
        self._starts = dict(zip(killed.runs, (one["step"] for one in starts), strict=True))
        data_sets = load_data_sets(config)
        self._problems = {one.id: one for data_set in data_sets for one in data_set.problems}

    def next_groups(self, position: Position) -> tuple[StepGroups, float]:
        groups = [
            ScoredGroup(self._group(rows), tuple({} for _ in rows))
            for rows in self._steps[position.step]
        ]
        scored = scored_here(self._score, ScoredGroups(groups, 0.0, 0.0))
        found = staleness_metrics(groups, position.step, MAX_STALENESS)
        return StepGroups(scored, position.next_problem, found), 0.0

    def _group(self, rows: list[dict[str, Any]]) -> RolloutGroup:
        return RolloutGroup(self._problems[rows[0]["id"]], self.sampled(rows)[1])

    def sampled(self, rows: list[dict[str, Any]]) -> tuple[SampledGroup, tuple[Rollout, ...]]:
        """The last group that was sampled with these lines.

        One before it may have them too: sampled by weights of the same steps that a kill has lost,
        it has the same tokens and other log-probabilities.
        """
        prompt = self._policy.prompt_ids(self._problems[rows[0]["id"]].messages)
        found = (
            (one, self._rollouts(one.choices, prompt))
            for one in reversed(self._sampled)
            if one.prompt_ids == prompt
        )
        return next(one for one in found if all(map(is_of, rows, one[1])))

    def _rollouts(self, choices: list[dict[str, Any]], prompt: list[int]) -> tuple[Rollout, ...]:
        stops = StopTexts((), self._policy.decode)
        return tuple(
            replace(
                finished_rollout(
                    self._policy,
                    prompt,
                    choice["token_ids"],
                    [token["logprob"] for token in choice["logprobs"]["content"]],
                    stops,
                ),
                weight_steps=self._weight_steps(choice["weight_versions"]),
            )
            for choice in choices
        )

    def _weight_steps(self, spans: list[dict[str, Any]]) -> tuple[int, ...]:
        """A version is `RUN.UPDATE`; the first update is of the step at which the run began."""
        parts = [span["version"].split(".") for span in spans]
        steps = [self._starts[run] + int(update) - 1 for run, update in parts]
        return tuple(
            step
            for step, span in zip(steps, spans, strict=True)
            for _ in range(span["start"], span["end"])
        )


def is_of(row: dict[str, Any], rollout: Rollout) -> bool:
    """Whether a line of `rollouts/` is of this rollout."""
    steps = [step for step, tokens in row["weights"] for _ in range(tokens)]
    return row["completion"] == rollout.text and steps == list(rollout.weight_steps or ())
