"""The policy loss: clipped importance-weighted advantages and the KL to a reference policy.

Shapes: B sequences, T token positions, right-padded. Every `[B, T]` tensor is aligned to tokens:
position t holds what belongs to token t. `mask` is bool, True where a token is of a completion.
Log-probabilities are named by who produced them: `sampler_logprobs` by the policy that sampled the
completion, `policy_logprobs` by the policy being trained, `reference_logprobs` by the frozen one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trainer_client.config import LossConfig


@dataclass(frozen=True)
class LossTerms:
    """The loss of one micro-batch and what to log about it; sums over tokens are for averaging."""

    loss: Tensor
    kl_sum: Tensor
    clipped_sum: Tensor


def token_weights(mask: Tensor, config: LossConfig, *, max_completion_tokens: int) -> Tensor:
    """What each token's loss is multiplied by, for the whole optimizer step; 0 off the mask.

    Computed once from every sequence of the step and sliced with the micro-batches, so that how
    the step is split never changes the gradient. A loss is the sum of weight * token loss with

    - `grpo`, `unclipped`: 1 / (B * completion length): mean over sequences of their token means
      (DeepSeekMath, equation 3);
    - `bnpo`, `dapo`: 1 / all completion tokens of the step (DAPO, equation 8; TRL's `bnpo` divides
      by the micro-batch's tokens, ours by the step's, which makes the two equal);
    - `dr_grpo`: 1 / (B * max_completion_tokens) (Dr. GRPO, appendix).

    Args:
        mask: bool `[B, T]` of all sequences of the step.
        config: its `type` decides.
        max_completion_tokens: the sampling limit, the constant of `dr_grpo`.

    Returns:
        float32 `[B, T]`.
    """
    num_sequences = max(mask.shape[0], 1)
    weights = mask.float()
    if config.type in ("grpo", "unclipped"):
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=1) / num_sequences
    if config.type == "dr_grpo":
        return weights / (num_sequences * max_completion_tokens)
    return weights / weights.sum().clamp(min=1)


def policy_loss(
    policy_logprobs: Tensor,
    sampler_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    weights: Tensor,
    config: LossConfig,
    *,
    reference_logprobs: Tensor | None = None,
) -> LossTerms:
    """Sum over tokens of weight * (-min(r A, clip(r, 1 - low, 1 + high) A) + beta * KL).

    r = exp(policy - sampler), per token; `unclipped` has -r A. A is the sequence's advantage.

    Args:
        policy_logprobs: float `[B, T]`, carries the gradient.
        sampler_logprobs: float `[B, T]`.
        advantages: float `[B]`.
        mask: bool `[B, T]`.
        weights: float `[B, T]` from `token_weights`, the rows of this micro-batch.
        config: loss type, clip and KL.
        reference_logprobs: float `[B, T]`; needed when `kl_coefficient` is not 0.

    Returns:
        `loss`, a scalar to call backward on; `kl_sum` and `clipped_sum`, detached scalars.
    """
    ratio = _masked_difference(policy_logprobs, sampler_logprobs, mask).exp()
    advantage = advantages[:, None]
    gain = ratio * advantage
    clipped = torch.zeros_like(mask)
    if config.type != "unclipped":
        bounded = ratio.clamp(1 - config.clip_low, 1 + config.clip_high) * advantage
        clipped = (bounded < gain) & mask
        gain = torch.minimum(gain, bounded)
    token_loss = -gain
    kl_sum = policy_logprobs.new_zeros(())
    if reference_logprobs is not None:
        kl = kl_divergence(policy_logprobs, reference_logprobs, mask, config.kl_estimator)
        token_loss = token_loss + config.kl_coefficient * kl
        kl_sum = kl.detach().sum()
    return LossTerms((token_loss * weights).sum(), kl_sum, clipped.sum())


def kl_divergence(
    policy_logprobs: Tensor, reference_logprobs: Tensor, mask: Tensor, estimator: str
) -> Tensor:
    """Per-token estimate of KL(policy || reference) on tokens the policy sampled; 0 off the mask.

    With d = reference - policy: `k1` = -d, `k2` = d^2 / 2, `k3` = exp(d) - d - 1
    (Schulman, "Approximating KL divergence", 2020).
    """
    d = _masked_difference(reference_logprobs, policy_logprobs, mask)
    if estimator == "k1":
        return -d
    if estimator == "k2":
        return d**2 / 2
    return torch.expm1(d) - d


def _masked_difference(left: Tensor, right: Tensor, mask: Tensor) -> Tensor:
    # Padding may hold -inf or NaN; masking the inputs keeps both out of the gradient.
    return left.masked_fill(~mask, 0.0) - right.masked_fill(~mask, 0.0)
