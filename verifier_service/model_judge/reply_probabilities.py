"""The decision of a reply whose first token has probabilities: the likeliest one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from verifier_service.model_judge.replies import Said

MIN_MASS = 0.5
"""Least probability of all allowed replies together. Below it, the model says something else."""


def likeliest(
    logprobs: Mapping[str, float],
    decisions: Sequence[str],
    meaning_of: Callable[[str], str | None],
) -> Said | None:
    """The likeliest decision; None if two are, or the model says something else.

    Args:
        logprobs: log-probabilities of the tokens that may come first.
        decisions: names of all decisions, at least two.
        meaning_of: gives a token's decision; None: it has none.
    """
    masses = dict.fromkeys(decisions, 0.0)
    for token, logprob in logprobs.items():
        decision = meaning_of(token)
        if decision is not None and logprob <= 0:
            masses[decision] += math.exp(logprob)
    total = sum(masses.values())
    first, second = sorted(masses.values(), reverse=True)[:2]
    if total < MIN_MASS or first == second:
        return None
    best = max(masses, key=masses.__getitem__)
    return Said(best, masses[best] / total)
