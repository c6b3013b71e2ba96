"""The scored groups of a step: which problems, with which weights, and when.

Shapes: N problems, G completions of each.
"""

from __future__ import annotations

import time
from functools import partial

from reward_verifier.errors import VerifierError
from trainer_client.config.run_config import Config
from trainer_client.dataset import ProblemOrder
from trainer_client.learner import Learner
from trainer_client.processes import OtherProcessFailed
from trainer_client.reward.functions import RewardError
from trainer_client.reward.group_scoring import (
    ScoredGroups,
    Scorer,
    generate_and_score,
    scored_here,
)
from trainer_client.reward.rewards import raw_rewards
from trainer_client.rollout import RolloutError, Sampling
from trainer_client.rollout.sampling_ahead import Sample
from trainer_client.run.checkpoint import Position
from trainer_client.update.advantages import groups_that_differ

SAMPLING_ERRORS = (VerifierError, RewardError, RolloutError, OtherProcessFailed)
"""What can go wrong before an update, and is not of this program's making."""

OTHER_SEEDS = 2**40
"""Apart from every step's."""


def next_groups(
    learner: Learner, scorer: Scorer, order: ProblemOrder, position: Position, config: Config
) -> tuple[ScoredGroups, int, float]:
    """This process's groups of the next step, sampled now or, one step off-policy, before.

    Returns:
        The groups, the position of the next problems, and the seconds that new weights took.
    """
    agree, ahead = learner.processes.agree, learner.ahead
    seconds = 0.0

    def update_weights() -> None:
        nonlocal seconds
        start = time.perf_counter()
        agree(learner.engine.update_weights, *SAMPLING_ERRORS)
        seconds += time.perf_counter() - start

    def sample(problems: int, seed: int | None = None) -> tuple[ScoredGroups, int]:
        asked = scorer if ahead is None else scorer.of_service
        return sample_groups(learner, asked, order, problems, config, seed=seed)

    def sample_of(step: int) -> Sample:
        # A thread that drew from torch's generator would race with the one that trains.
        return partial(sample, seed=learner.processes.step_seed(config.train.seed, step))

    def take() -> tuple[ScoredGroups, int]:
        assert ahead is not None
        groups, problems = ahead.take(sample_of(position.step), position.problems)
        # Here, since many functions use signals or are not safe in threads.
        return scored_here(scorer, groups), problems

    if ahead is None:
        with learner.offloaded():  # of which a sampler that wakes up needs the place
            update_weights()
            groups, problems = agree(lambda: sample(position.problems), *SAMPLING_ERRORS)
        return groups, problems, seconds
    if not ahead.started:
        update_weights()
    groups, problems = agree(take, *SAMPLING_ERRORS)
    if position.step + 1 < config.train.steps:
        update_weights()
        ahead.start(sample_of(position.step + 1), problems)
    return groups, problems, seconds


def sample_groups(
    learner: Learner,
    scorer: Scorer,
    order: ProblemOrder,
    problems_position: int,
    config: Config,
    *,
    seed: int | None = None,
) -> tuple[ScoredGroups, int]:
    """The scored groups of one step, and the position of the next problems.

    Where groups with equal rewards are dropped, as many further problems are sampled, at most
    `rollout.max_refills` times; then the step goes on with what it has.

    Raises:
        VerifierError, RewardError: a group was not scored.
    """
    wanted = config.rollout.prompts_per_step
    problems, position = order.take(problems_position, wanted)
    problems = learner.processes.share(problems)
    scored = generate_and_score(learner.engine, scorer, problems, _sampling(config, seed))
    for refill in range(config.rollout.max_refills):
        teaching = int(groups_that_differ(raw_rewards(scored, config.reward.sources)).sum())
        if teaching == wanted:
            break
        problems, position = order.take(position, wanted - teaching)
        again = None if seed is None else seed + (refill + 1) * OTHER_SEEDS
        more = generate_and_score(learner.engine, scorer, problems, _sampling(config, again))
        scored = scored.joined(more)
    return scored, position


def _sampling(config: Config, seed: int | None) -> Sampling:
    return Sampling(
        group_size=config.rollout.group_size,
        max_completion_tokens=config.rollout.max_completion_tokens,
        temperature=config.rollout.temperature,
        top_p=config.rollout.top_p,
        seed=seed,
    )
