"""Verdicts to rewards: the trainer decides what a score is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from reward_verifier.verdict import Verdicts
from trainer_client.config.reward_sections import RewardSource
from trainer_client.errors import TrainingError
from trainer_client.reward.group_scoring import ScoredGroups

MAX_SHOWN_VERDICTS = 5


def reward(verdicts: Verdicts, sources: Sequence[RewardSource]) -> float | None:
    """The weighted sum of the scores.

    None where a source with a weight other than 0 did not judge (`unverifiable` or `failed`): such
    a completion has no reward, which is not a reward of 0.

    Raises:
        KeyError: a source has no verdict; `VerifierClient.score` leaves none out.
    """
    parts = []
    for source in sources:
        score = verdicts[source.key].score
        if source.weight == 0:
            continue
        if score is None:
            return None
        parts.append(source.weight * score)
    return math.fsum(parts)


def rewards_of(scored: ScoredGroups, sources: Sequence[RewardSource]) -> Tensor:
    """The rewards of a step: those of `raw_rewards`, of which at least one is a number.

    Raises:
        TrainingError: no completion was judged at all.
    """
    rewards = raw_rewards(scored, sources)
    if rewards.isnan().all():
        seen = {
            f"{name}: {verdict.outcome} ({verdict.why})"
            for group in scored.groups
            for verdicts in group.verdicts
            for name, verdict in verdicts.items()
            if verdict.score is None
        }
        shown = ", ".join(sorted(seen)[:MAX_SHOWN_VERDICTS])
        raise TrainingError(
            "the verifier judged none of this step's completions, so there is nothing to learn "
            f"from; its verdicts: {shown}. Check dataset.reference_columns and the service's log"
        )
    return rewards


def raw_rewards(scored: ScoredGroups, sources: Sequence[RewardSource]) -> Tensor:
    """The reward of each completion, float64 `[N, G]`; NaN where it could not be judged."""
    values = [[reward(verdicts, sources) for verdicts in group.verdicts] for group in scored.groups]
    return torch.tensor(
        [[math.nan if value is None else value for value in group] for group in values],
        dtype=torch.float64,
    )
