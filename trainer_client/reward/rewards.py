"""From verdicts to a reward: what a judgement is worth is the trainer's decision."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from reward_verifier.protocol import Verdicts
from trainer_client.config.reward_sections import RewardSource
from trainer_client.config.run_config import Config
from trainer_client.reward.group_scoring import ScoredGroups


def reward(verdicts: Verdicts, sources: Sequence[RewardSource]) -> float | None:
    """The weighted sum of the scores.

    None where a source with a weight other than 0 did not judge (`unverifiable` or `failed`): such
    a completion has no reward, which is not a reward of 0.

    Raises:
        KeyError: a source has no verdict (`VerifierClient.score` never returns such).
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


def raw_rewards(scored: ScoredGroups, config: Config) -> Tensor:
    """float64 `[N, G]`, NaN where a completion could not be judged."""
    values = [
        [reward(verdicts, config.reward.sources) for verdicts in group.verdicts]
        for group in scored.groups
    ]
    return torch.tensor(
        [[math.nan if value is None else value for value in group] for group in values],
        dtype=torch.float64,
    )
