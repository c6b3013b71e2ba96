"""The scored groups of each step: of which problems, from which weights, sampled when.

Shapes: N problems, G completions of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from reward_verifier.errors import VerifierError
from trainer_client.config.run_config import Config
from trainer_client.errors import TrainingError
from trainer_client.learner import Learner
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.problems import Problem
from trainer_client.processes import OtherProcessFailed
from trainer_client.reward.functions import RewardError
from trainer_client.reward.group_scoring import (
    ScoredGroups,
    Scorer,
    generate_and_score,
    scored_here,
)
from trainer_client.reward.rewards import groups_that_teach, raw_rewards
from trainer_client.rollout import RolloutError, Sampling
from trainer_client.rollout.group_stream import (
    GroupStream,
    StreamSource,
    TakenGroups,
    staleness_metrics,
)
from trainer_client.rollout.one_step_ahead import SampleGroups, SamplingAhead, StepGroups
from trainer_client.rollout.refills import refill_seed, refilled
from trainer_client.run.checkpoint import Position
from trainer_client.run.step_progress import STEP

T = TypeVar("T")

SAMPLING_ERRORS = (VerifierError, RewardError, RolloutError, OtherProcessFailed)
"""Errors of the outside world before an update; any other exception is a bug."""

_NOTHING = ScoredGroups([], 0.0, 0.0)


class GroupSampler:
    """Samples and scores this process's groups, ahead with `train.max_staleness_steps`."""

    def __init__(self, learner: Learner, scorer: Scorer, mix: ProblemMix, config: Config) -> None:
        self._learner = learner
        self._scorer = scorer
        self._mix = mix
        self.measured = mix.measured
        self._rollout = config.rollout
        self._reward = config.reward
        self._advantage = config.advantage
        self._seed = config.train.seed
        self._num_steps = config.train.steps
        self._max_staleness = config.train.max_staleness_steps

    def next_groups(self, position: Position) -> tuple[StepGroups, float]:
        """The groups of the step after this position, and the seconds that new weights took.

        Raises:
            VerifierError, RewardError, RolloutError, OtherProcessFailed: see `SAMPLING_ERRORS`.
        """
        if self._max_staleness > 1:
            return self._take_from_stream(position)
        if self._learner.ahead is None:
            return self._sample_now(position)
        return self._take_and_sample_ahead(self._learner.ahead, position)

    def sample(
        self, scorer: Scorer, position: MixPosition, *, step: int, seed: int | None = None
    ) -> StepGroups:
        """This process's scored groups of one step, sampled now. Collective, but for a step ahead.

        When groups with equal rewards are dropped, as many further problems are sampled in their
        place, at most `rollout.max_refills` times. The step then goes on with the groups it has.
        Both numbers are those of all processes together.

        Args:
            scorer: scores each group.
            position: position of the first problem.
            step: number of the step, from 1.
            seed: see `Sampling`.

        Raises:
            VerifierError, RewardError, RolloutError, OtherProcessFailed: see `SAMPLING_ERRORS`.
            TrainingError: a profile lacks a verdict that has a weight.
        """
        wanted = self._rollout.prompts_per_step
        scored, position, _ = self._sample_next(scorer, position, wanted, step, seed)

        def num_teaching(scored: ScoredGroups) -> int:
            own = self._agree(partial(self._num_teaching, scored))
            return sum(self._learner.processes.gather(own))

        def sample(refill: int, count: int) -> ScoredGroups:
            nonlocal position
            more, position, _ = self._sample_next(
                scorer, position, count, step, refill_seed(seed, refill)
            )
            return more

        scored = refilled(
            scored,
            wanted=wanted,
            max_refills=self._rollout.max_refills,
            num_teaching=num_teaching,
            sample=sample,
        )
        return StepGroups(scored, position)

    def _sample_next(
        self, scorer: Scorer, position: MixPosition, count: int, step: int, seed: int | None
    ) -> StepGroups:
        """This process's part of the groups of the next problems, and the position after them."""
        problems, after = self._mix.take(position, count, step=step)
        own = self._learner.processes.share(problems)
        sampling = Sampling.configured(self._rollout, seed=seed)
        work = partial(generate_and_score, self._learner.engine, scorer, own, sampling)
        # In the thread that samples ahead nothing may be collective: the main thread trains then.
        return StepGroups(work() if self._learner.ahead is not None else self._agree(work), after)

    def _num_teaching(self, scored: ScoredGroups) -> int:
        """Number of groups whose rewards differ."""
        if not scored.groups:
            return 0
        rewards = raw_rewards(scored, self._reward)
        return int(groups_that_teach(scored, rewards, self._reward, self._advantage).sum())

    def _sample_now(self, position: Position) -> tuple[StepGroups, float]:
        # New weights wake a sleeping sampler up, and it needs the memory that offloading frees.
        with self._learner.offloaded():
            seconds = self._update_weights(position.step)
            groups = self.sample(self._scorer, position.next_problem, step=position.step + 1)
        return groups, seconds

    def _take_and_sample_ahead(
        self, ahead: SamplingAhead, position: Position
    ) -> tuple[StepGroups, float]:
        age = float(ahead.started)
        seconds = 0.0 if ahead.started else self._update_weights(position.step)
        sampler_idle, start = ahead.idle_seconds(), time.perf_counter()
        groups = self._agree(partial(self._take, ahead, position))
        metrics = {
            "staleness/mean": age,
            "staleness/max": age,
            "time/trainer_idle": time.perf_counter() - start,
            "time/sampler_idle": sampler_idle,
        }
        if position.step + 1 < self._num_steps:
            seconds += self._update_weights(position.step)
            ahead.start(self._sample_of(position.step + 1), groups.next_problem)
        return groups._replace(metrics=metrics), seconds

    def _take_from_stream(self, position: Position) -> tuple[StepGroups, float]:
        """The groups of a step; the first process has those of all, the others have none."""
        processes, stream = self._learner.processes, self._learner.stream
        seconds = self._update_weights(position.step)

        def take() -> StepGroups:
            if stream is None:
                return StepGroups(_NOTHING, position.next_problem)
            if not stream.started:
                stream.start(self._source(), position.next_problem)
            return self._taken(stream, position)

        groups = self._agree(take)
        _, next_problem, metrics = processes.gather(groups._replace(scored=_NOTHING))[0]
        return StepGroups(groups.scored, next_problem, metrics), seconds

    def _taken(self, stream: GroupStream, position: Position) -> StepGroups:
        """The groups of a step, those that take the place of groups that do not teach included."""
        taken: list[TakenGroups] = []

        def take(count: int) -> ScoredGroups:
            taken.append(stream.take(count, _progress(count)))
            return self._scored(taken[-1])

        wanted = self._rollout.prompts_per_step
        scored = refilled(
            take(wanted),
            wanted=wanted,
            max_refills=self._rollout.max_refills,
            num_teaching=self._num_teaching,
            sample=lambda _, missing: take(missing),
        )
        metrics = {
            **staleness_metrics(scored.groups, position.step, self._max_staleness),
            "staleness/dropped_groups": sum(one.num_dropped for one in taken),
            "time/trainer_idle": sum(one.trainer_idle_seconds for one in taken),
            "time/sampler_idle": sum(one.sampler_idle_seconds for one in taken),
        }
        return StepGroups(scored, taken[-1].problems_from, metrics)

    def _scored(self, taken: TakenGroups) -> ScoredGroups:
        """The groups with the verdicts of the sources in this process."""
        return scored_here(self._scorer, ScoredGroups(taken.groups, taken.seconds, 0.0, taken.lost))

    def _source(self) -> StreamSource:
        """The problems of a stream, and its verdicts by the service."""

        def problems(position: MixPosition, block: int) -> tuple[list[Problem], MixPosition]:
            return self._mix.take(position, self._rollout.prompts_per_step, step=block + 1)

        return StreamSource(
            problems,
            self._scorer.of_service.submit,
            Sampling.configured(self._rollout),
            self._seed,
        )

    def _take(self, ahead: SamplingAhead, position: Position) -> StepGroups:
        groups = ahead.take(self._sample_of(position.step), position.next_problem)
        # Functions and models score here, in the main thread: many use signals or are not
        # thread-safe. The sampling thread asks the service alone.
        return groups._replace(scored=scored_here(self._scorer, groups.scored))

    def _sample_of(self, step: int) -> SampleGroups:
        """A function that samples the groups of a step, in any thread."""
        # Without a seed a thread would draw from torch's generator, which the training thread
        # uses at the same time: a resumed run would sample other completions.
        seed = self._learner.processes.step_seed(self._seed, step)
        return partial(self.sample, self._scorer.of_service, step=step + 1, seed=seed)

    def _update_weights(self, step: int) -> float:
        """Give the sampler the policy's present weights; returns the seconds that it took."""
        start = time.perf_counter()
        self._agree(partial(self._learner.update_sampler, step))
        return time.perf_counter() - start

    def _agree(self, work: Callable[[], T]) -> T:
        return self._learner.processes.agree(work, *SAMPLING_ERRORS, TrainingError)


def _progress(wanted: int) -> Callable[[int], None]:
    """A function that shows how many groups of a step have come."""
    STEP.begin("sampling", wanted, "groups")
    shown = 0

    def show(done: int) -> None:
        nonlocal shown
        STEP.advance(done - shown)
        shown = done

    return show
