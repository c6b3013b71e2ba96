"""Group-relative advantages.

Shapes: N problems, G completions of each.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from trainer_client.config.advantage_section import AdvantageConfig


def group_advantages(rewards: Tensor, config: AdvantageConfig) -> Tensor:
    """Advantages `(r - baseline) / (std + epsilon)`; `r - baseline` with scale `none`.

    Rewards that are NaN were not judged: they stay out of every mean and std and get advantage 0.
    A group whose judged rewards are all equal gets exactly 0, decided by comparing them, because a
    rounding error divided by a tiny std would be noise. A group with fewer than two judged rewards
    gets 0: there is nothing to compare.

    Source: DeepSeekMath (arXiv 2402.03300) for `group_std`; Dr. GRPO (2503.20783) for `none`;
    `batch_std` divides by the std over all judged rewards of the step.

    Args:
        rewards: float `[N, G]`.
        config: scale, std, epsilon and baseline. Their defaults stand in `AdvantageConfig`
            (`config/advantage_section.py`) and nowhere else.

    Returns:
        Advantages `[N, G]`, never NaN.

    Raises:
        ValueError: rewards are not `[N, G]` with G >= 2, or are infinite.
    """
    if rewards.dim() != 2 or rewards.shape[1] < 2:
        raise ValueError(
            f"rewards must be [problems, completions] with at least 2 completions of each problem, "
            f"found shape {list(rewards.shape)}"
        )
    if rewards.isinf().any():
        raise ValueError("a reward is infinite")
    judged = ~rewards.isnan()
    count = judged.sum(dim=1, keepdim=True)
    filled = rewards.masked_fill(~judged, 0.0)
    total = filled.sum(dim=1, keepdim=True)
    mean = total / count.clamp(min=1)
    if config.baseline == "mean":
        difference = filled - mean
    else:
        difference = filled - (total - filled) / (count - 1).clamp(min=1)

    if config.scale == "group_std":
        difference = difference / (_std(filled, judged, config.std, dim=1) + config.epsilon)
    elif config.scale == "batch_std":
        difference = difference / (_std(filled, judged, config.std, dim=None) + config.epsilon)
    return difference.masked_fill(~judged | ~_differ(rewards, judged), 0.0)


def decoupled_advantages(scores: Tensor, weights: Tensor, config: AdvantageConfig) -> Tensor:
    """GDPO's advantages: each source is normalised within its group, then weighted and summed.

    With s the score of source k: A_k = (s_k - mean_k) / (std_k + epsilon) over the group, S = sum
    of w_k A_k, and A = (S - mean S) / (std S + epsilon) over all judged completions of the step.
    Two groups that differ in other sources by as much then teach as much, where the sum of the
    scores would hide the smaller weight. Source: GDPO, arXiv 2601.05242.

    Completions without a score of a source that has a weight are unjudged; they, and groups that
    differ in no source, get exactly 0, see `group_advantages`.

    Args:
        scores: float `[N, G, K]` of K sources; NaN where one did not judge.
        weights: float `[N, K]`; 0 for a source that does not judge a group's problem.
        config: std and epsilon.

    Returns:
        Advantages `[N, G]`, never NaN.
    """
    used = weights != 0
    judged = ~(scores.isnan() & used[:, None]).any(dim=2)
    total = torch.zeros(judged.shape, dtype=scores.dtype)
    within = config.model_copy(update={"aggregation": "sum_first"})
    for source in range(scores.shape[2]):
        own = scores[:, :, source].masked_fill(~judged | ~used[:, None, source], torch.nan)
        total = total + weights[:, source, None] * group_advantages(own, within)
    differs = decoupled_groups_that_differ(scores, weights)
    filled = total.masked_fill(~judged, 0.0)
    mean = filled.sum() / judged.sum().clamp(min=1)
    scaled = (filled - mean) / (_std(filled, judged, config.std, dim=None) + config.epsilon)
    return scaled.masked_fill(~judged | ~differs[:, None], 0.0)


def decoupled_groups_that_differ(scores: Tensor, weights: Tensor) -> Tensor:
    """Bool `[N]`, True where a group's judged scores of a source with a weight are not all equal.

    Args:
        scores: float `[N, G, K]`; NaN where a source did not judge.
        weights: float `[N, K]`.
    """
    used = weights != 0
    judged = ~(scores.isnan() & used[:, None]).any(dim=2)
    own = scores.masked_fill(~judged[:, :, None] | ~used[:, None], torch.nan)
    differs = [groups_that_differ(own[:, :, source]) for source in range(scores.shape[2])]
    return torch.stack(differs).any(dim=0)


def groups_that_differ(rewards: Tensor) -> Tensor:
    """Bool `[N]`, True where a group's judged rewards are not all equal, so that it teaches."""
    return _differ(rewards, ~rewards.isnan())[:, 0]


def _differ(rewards: Tensor, judged: Tensor) -> Tensor:
    """Bool `[N, 1]`, True where the judged rewards of a group are not all equal."""
    highest = rewards.masked_fill(~judged, -torch.inf).amax(dim=1, keepdim=True)
    lowest = rewards.masked_fill(~judged, torch.inf).amin(dim=1, keepdim=True)
    return highest > lowest


def _std(
    filled: Tensor, judged: Tensor, convention: Literal["population", "bessel"], dim: int | None
) -> Tensor:
    """Std of the judged rewards along a dimension; None: over all of them."""
    count = judged.sum(dim=dim, keepdim=True)
    mean = filled.sum(dim=dim, keepdim=True) / count.clamp(min=1)
    squares = ((filled - mean) ** 2).masked_fill(~judged, 0.0).sum(dim=dim, keepdim=True)
    divisor = count if convention == "population" else count - 1
    return (squares / divisor.clamp(min=1)).sqrt()
