"""The reward of a completion: the weighted sum of its verifiers' scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.verdict import Outcome
from verifier_service.verifier import Verifier


def reward(verdicts: VerdictsByKey, shares: Mapping[str, float]) -> float | None:
    """The weighted sum of the scores.

    None where a verdict with a weight other than 0 is not `scored`, or where every weight is 0:
    nothing was judged that a reward could tell, and 0 is a reward.

    Args:
        verdicts: on one completion.
        shares: of `shares_of`.
    """
    parts = []
    for key, share in shares.items():
        verdict = verdicts[key]
        if verdict.outcome is not Outcome.SCORED or verdict.score is None:
            return None
        parts.append(share * verdict.score)
    return math.fsum(parts) if parts else None


def shares_of(verifiers: Iterable[Verifier]) -> dict[str, float]:
    """The weights other than 0, by the keys of their verifiers."""
    return {one.key: one.share for one in verifiers if one.share != 0}
