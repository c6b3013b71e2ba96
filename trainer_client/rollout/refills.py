"""Refills: problems sampled in place of groups whose rewards are equal, in the same step."""

from __future__ import annotations

from collections.abc import Callable

from trainer_client.reward.group_scoring import ScoredGroups

REFILL_SEED_STRIDE = 2**40
"""Distance between the seeds of a step's refills; seeds of steps are smaller."""


def refilled(
    first: ScoredGroups,
    *,
    wanted: int,
    max_refills: int,
    num_teaching: Callable[[ScoredGroups], int],
    sample: Callable[[int, int], ScoredGroups],
) -> ScoredGroups:
    """The groups of a step, with as many further ones as do not teach.

    It ends once enough groups teach, or after `max_refills` times, with the groups that it has.

    Args:
        first: the groups that were sampled for the step.
        wanted: number of groups that must teach.
        max_refills: most times that further groups are sampled.
        num_teaching: how many of some groups teach.
        sample: samples and scores groups; its arguments are the number of the refill, from 1, and
            the number of groups.
    """
    scored = first
    for refill in range(1, max_refills + 1):
        missing = wanted - num_teaching(scored)
        if not missing:
            break
        scored = scored.joined(sample(refill, missing))
    return scored


def refill_seed(seed: int | None, refill: int) -> int | None:
    """The seed of a refill, from that of its step; None where the step has none."""
    return None if seed is None else seed + refill * REFILL_SEED_STRIDE
