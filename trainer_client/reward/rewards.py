"""Verdicts to rewards: the trainer decides what a score is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from reward_verifier.verdict import Verdicts
from trainer_client.config.advantage_section import AdvantageConfig
from trainer_client.config.reward_sections import (
    RewardConfig,
    RewardSource,
    VerifierConfig,
    main_source,
)
from trainer_client.errors import TrainingError
from trainer_client.problems import Problem
from trainer_client.reward.functions import NOT_JUDGED
from trainer_client.reward.group_scoring import ScoredGroups
from trainer_client.update.advantages import (
    decoupled_advantages,
    decoupled_groups_that_differ,
    group_advantages,
    groups_that_differ,
)

MAX_SHOWN_VERDICTS = 5
LARGEST_REWARD = 1e18
"""Variances of larger rewards overflow float32."""


def reward(verdicts: Verdicts, sources: Sequence[RewardSource]) -> float | None:
    """The weighted sum of the scores.

    None where a source with a weight other than 0 did not judge (`unverifiable` or `failed`): such
    a completion has no reward, which is not a reward of 0.

    Raises:
        TrainingError: a source has no verdict, as where the weights of a profile name a verifier
            that the service's profile does not have; or the sum is too large to be trained on.
    """
    parts = []
    for source in sources:
        if source.key not in verdicts:
            raise TrainingError(
                f"there is no verdict {source.key!r}, only {sorted(verdicts)}. Do reward.profiles "
                "name the verifiers that the service's profiles have?"
            )
        score = verdicts[source.key].score
        if source.weight == 0:
            continue
        if score is None:
            return None
        parts.append(source.weight * score)
    total = math.fsum(parts) if all(map(math.isfinite, parts)) else math.inf
    if abs(total) > LARGEST_REWARD:
        scores = {source.key: verdicts[source.key].score for source in sources}
        raise TrainingError(
            f"a reward of {total:g} cannot be trained on, since its square has no float32; the "
            f"scores are {scores}, and their weights stand in reward"
        )
    return total


def sources_of(problem: Problem, config: RewardConfig) -> Sequence[RewardSource]:
    """The sources that judge a problem's completions: its own, or the run's."""
    return config.sources if problem.reward is None else problem.reward.sources


def scores_of(scored: ScoredGroups, config: RewardConfig) -> tuple[Tensor, Tensor]:
    """The scores of all sources, and their weights.

    Returns:
        float64 `[N, G, K]`, NaN where a source did not judge; float64 `[N, K]`, 0 where a source
        does not judge a group's problem.
    """
    keys = list(
        dict.fromkeys(
            source.key
            for group in scored.groups
            for source in sources_of(group.group.problem, config)
        )
    )
    weights = torch.zeros(len(scored.groups), len(keys), dtype=torch.float64)
    scores = torch.full(
        (len(scored.groups), len(scored.groups[0].verdicts), len(keys)),
        math.nan,
        dtype=torch.float64,
    )
    for row, group in enumerate(scored.groups):
        for source in sources_of(group.group.problem, config):
            column = keys.index(source.key)
            weights[row, column] = source.weight
            for place, verdicts in enumerate(group.verdicts):
                score = verdicts[source.key].score
                scores[row, place, column] = math.nan if score is None else score
    return scores, weights


def advantages_of(
    scored: ScoredGroups, rewards: Tensor, reward: RewardConfig, config: AdvantageConfig
) -> Tensor:
    """The advantages of a step `[N, G]`, from the rewards `[N, G]` or from each source's scores."""
    if config.aggregation == "sum_first":
        return group_advantages(rewards, config)
    return decoupled_advantages(*scores_of(scored, reward), config)


def groups_that_teach(
    scored: ScoredGroups, rewards: Tensor, reward: RewardConfig, config: AdvantageConfig
) -> Tensor:
    """Bool `[N]`, True where completions of a group are judged differently."""
    if config.aggregation == "sum_first":
        return groups_that_differ(rewards)
    return decoupled_groups_that_differ(*scores_of(scored, reward))


def source_keys(problem: Problem, config: RewardConfig) -> list[str]:
    """The keys of all verdicts on a problem's completions."""
    return [source.key for source in sources_of(problem, config)]


def service_keys(problem: Problem, config: RewardConfig) -> list[str]:
    """The keys of the verdicts that the service gives on a problem's completions."""
    sources = sources_of(problem, config)
    return [source.key for source in sources if isinstance(source, VerifierConfig)]


def main_of(problem: Problem, config: RewardConfig) -> str:
    """The key of the source that says whether a problem is solved."""
    return main_source(sources_of(problem, config)).key


def rewards_of(scored: ScoredGroups, config: RewardConfig) -> Tensor:
    """The rewards of a step: those of `raw_rewards`, of which at least one is a number.

    Raises:
        TrainingError: no completion was judged at all.
    """
    rewards = raw_rewards(scored, config)
    if rewards.isnan().all():
        unscored = [
            (name, verdict)
            for group in scored.groups
            for verdicts in group.verdicts
            for name, verdict in verdicts.items()
            if verdict.score is None
        ]
        seen = {f"{name}: {verdict.outcome} ({verdict.why})" for name, verdict in unscored}
        shown = ", ".join(sorted(seen)[:MAX_SHOWN_VERDICTS])
        returned_none = all(verdict.reason == NOT_JUDGED for _, verdict in unscored)
        remedy = (
            "The function returned None for each; let it return numbers"
            if returned_none
            else "Check dataset.reference_columns and the service's log"
        )
        raise TrainingError(
            "none of this step's completions was judged, so there is nothing to learn from; the "
            f"verdicts: {shown}. {remedy}"
        )
    return rewards


def raw_rewards(scored: ScoredGroups, config: RewardConfig) -> Tensor:
    """The reward of each completion, float64 `[N, G]`; NaN where it could not be judged."""
    values = [
        [reward(verdicts, sources) for verdicts in group.verdicts]
        for group in scored.groups
        for sources in [sources_of(group.group.problem, config)]
    ]
    return torch.tensor(
        [[math.nan if value is None else value for value in group] for group in values],
        dtype=torch.float64,
    )
