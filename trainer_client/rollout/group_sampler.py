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
from trainer_client.learner import Learner
from trainer_client.problem_order import ProblemOrder
from trainer_client.processes import OtherProcessFailed
from trainer_client.reward.functions import RewardError
from trainer_client.reward.group_scoring import Scorer, generate_and_score, scored_here
from trainer_client.reward.rewards import raw_rewards
from trainer_client.rollout import RolloutError, Sampling
from trainer_client.rollout.sampling_ahead import SampleGroups, SamplingAhead, StepGroups
from trainer_client.run.checkpoint import Position
from trainer_client.update.advantages import groups_that_differ

T = TypeVar("T")

SAMPLING_ERRORS = (VerifierError, RewardError, RolloutError, OtherProcessFailed)
"""Errors of the outside world before an update; any other exception is a bug."""

REFILL_SEED_STRIDE = 2**40
"""Distance between the seeds of a step's refills; seeds of steps are smaller."""


class GroupSampler:
    """Samples and scores this process's groups; with `train.one_step_off`, a step ahead."""

    def __init__(
        self, learner: Learner, scorer: Scorer, order: ProblemOrder, config: Config
    ) -> None:
        self._learner = learner
        self._scorer = scorer
        self._order = order
        self._rollout = config.rollout
        self._reward_sources = config.reward.sources
        self._seed = config.train.seed
        self._num_steps = config.train.steps

    def next_groups(self, position: Position) -> tuple[StepGroups, float]:
        """The groups of the step after this position, and the seconds that new weights took.

        Raises:
            VerifierError, RewardError, RolloutError, OtherProcessFailed: see `SAMPLING_ERRORS`.
        """
        if self._learner.ahead is None:
            return self._sample_now(position)
        return self._take_and_sample_ahead(self._learner.ahead, position)

    def sample(self, scorer: Scorer, next_problem: int, *, seed: int | None = None) -> StepGroups:
        """The scored groups of one step, sampled now.

        When groups with equal rewards are dropped, as many further problems are sampled in their
        place, at most `rollout.max_refills` times. The step then goes on with the groups it has.

        Args:
            scorer: scores each group.
            next_problem: position of the first problem.
            seed: see `Sampling`.

        Raises:
            VerifierError, RewardError: a group was not scored.
            RolloutError: a group was not sampled.
        """
        wanted = self._rollout.prompts_per_step
        problems, position = self._order.take(next_problem, wanted)
        problems = self._learner.processes.share(problems)
        sampling = Sampling.configured(self._rollout, seed=seed)
        scored = generate_and_score(self._learner.engine, scorer, problems, sampling)
        for refill in range(1, self._rollout.max_refills + 1):
            rewards = raw_rewards(scored, self._reward_sources)
            teaching = int(groups_that_differ(rewards).sum())
            if teaching == wanted:
                break
            problems, position = self._order.take(position, wanted - teaching)
            refill_seed = None if seed is None else seed + refill * REFILL_SEED_STRIDE
            sampling = Sampling.configured(self._rollout, seed=refill_seed)
            more = generate_and_score(self._learner.engine, scorer, problems, sampling)
            scored = scored.joined(more)
        return StepGroups(scored, position)

    def _sample_now(self, position: Position) -> tuple[StepGroups, float]:
        # New weights wake a sleeping sampler up, and it needs the memory that offloading frees.
        with self._learner.offloaded():
            seconds = self._update_weights()
            groups = self._agree(partial(self.sample, self._scorer, position.next_problem))
        return groups, seconds

    def _take_and_sample_ahead(
        self, ahead: SamplingAhead, position: Position
    ) -> tuple[StepGroups, float]:
        seconds = 0.0 if ahead.started else self._update_weights()
        groups = self._agree(partial(self._take, ahead, position))
        if position.step + 1 < self._num_steps:
            seconds += self._update_weights()
            ahead.start(self._sample_of(position.step + 1), groups.next_problem)
        return groups, seconds

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
        return partial(self.sample, self._scorer.of_service, seed=seed)

    def _update_weights(self) -> float:
        """Give the sampler the policy's present weights; returns the seconds that it took."""
        start = time.perf_counter()
        self._agree(self._learner.engine.update_weights)
        return time.perf_counter() - start

    def _agree(self, work: Callable[[], T]) -> T:
        return self._learner.processes.agree(work, *SAMPLING_ERRORS)
