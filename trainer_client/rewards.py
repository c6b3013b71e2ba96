"""From verdicts to a reward: what a judgement is worth is the trainer's decision."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainer_client.config import RewardSource
from trainer_client.verifier_client import Verdicts


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
