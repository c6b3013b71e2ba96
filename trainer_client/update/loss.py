"""The policy loss: importance-weighted advantages, bounded, and the KL to a reference policy.

Shapes: B sequences, T token positions. Every `[B, T]` tensor is aligned to tokens: position t
belongs to token t. Padding may be on either side. `mask` is bool, True on the tokens of a
completion. Log-probabilities are named by who produced them:
`sampler_logprobs` by the policy that sampled the completion, as its engine reports them;
`proximal_logprobs` by the trainer's own policy before the first update on these completions;
`policy_logprobs` by the policy being trained; `reference_logprobs` by the frozen one.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import torch
from torch import Tensor, distributed

from trainer_client.config.loss_section import CovarianceConfig, ImportanceConfig, LossConfig


@dataclass(frozen=True)
class StepTotals:
    """Denominators of one optimizer step: counts over its micro-batches on all processes."""

    num_sequences: int
    num_tokens: int
    """Completion tokens in the loss; masked completions have none."""
    num_fresh_tokens: int
    """Those of them that this step sampled: all but the tokens of replayed completions."""

    @classmethod
    def of(
        cls, mask: Tensor, counts: Tensor | None = None, fresh: Tensor | None = None
    ) -> StepTotals:
        """The totals of a bool `[B, T]` mask of completion tokens.

        Args:
            mask: one row for every sequence.
            counts: bool `[B]`, False on placeholder rows (`Batch.counts`); None: no row is one.
            fresh: bool `[B, T]`, `mask` without replayed rows; None: no row is replayed.
        """
        num_sequences = len(mask) if counts is None else int(counts.sum())
        return cls(num_sequences, int(mask.sum()), int((mask if fresh is None else fresh).sum()))

    def over_processes(self, device: torch.device) -> StepTotals:
        """The sum over the processes of `torch.distributed`, if it runs. Collective."""
        if not distributed.is_initialized():
            return self
        sums = torch.tensor(list(astuple(self)), device=device)
        distributed.all_reduce(sums)
        return StepTotals(*sums.tolist())


@dataclass(frozen=True)
class LossTerms:
    """The loss of one micro-batch, and sums over its tokens to log means of."""

    loss: Tensor
    """A scalar to call backward on."""
    kl_sum: Tensor
    """k3 between policy and reference on fresh tokens, whichever estimator is in the loss; 0
    without a reference."""
    sampler_kl_sum: Tensor
    """k3 between sampler and policy: how far off-policy the tokens are."""
    clipped_sum: Tensor
    """Number of fresh tokens whose gradient a clip or a cap has bounded."""


def token_weights(
    mask: Tensor,
    config: LossConfig,
    *,
    max_completion_tokens: int,
    totals: StepTotals | None = None,
) -> Tensor:
    """The factor of each token's loss in the whole optimizer step; 0 off the mask.

    Computed once from every sequence of the step and sliced with the micro-batches, so that how
    the step is split never changes the gradient. A loss is the sum of weight * token loss with

    - `grpo`, `gspo`, `sapo`, `unclipped`: 1 / (B * completion length): mean over sequences of
      their token means (DeepSeekMath, equation 3; GSPO, arXiv 2507.18071, equation 5). A sequence
      without a token in the loss adds 0 and still counts in B, as in TRL;
    - `bnpo`, `dapo`, `cispo`: 1 / all completion tokens of the step (DAPO, equation 8). TRL's
      `bnpo` divides by the tokens of each micro-batch and takes the mean of those quotients, which
      depends on the split; ours is the value of the whole step, and so equals `dapo`;
    - `dr_grpo`: 1 / (B * max_completion_tokens) (Dr. GRPO, arXiv 2503.20783, appendix).

    Args:
        mask: bool `[B, T]`.
        config: its `type` picks one of the formulas.
        max_completion_tokens: the sampling limit, the constant of `dr_grpo`.
        totals: totals of the step that `mask` is a part of; None: `mask` is the whole step.

    Returns:
        float32 `[B, T]`.
    """
    totals = totals or StepTotals.of(mask)
    num_sequences = max(totals.num_sequences, 1)
    weights = mask.float()
    if config.type in ("grpo", "gspo", "sapo", "unclipped"):
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=1) / num_sequences
    if config.type == "dr_grpo":
        return weights / (num_sequences * max_completion_tokens)
    return weights / max(totals.num_tokens, 1)


def policy_loss(
    policy_logprobs: Tensor,
    sampler_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    weights: Tensor,
    config: LossConfig,
    *,
    reference_logprobs: Tensor | None = None,
    proximal_logprobs: Tensor | None = None,
    selected: Tensor | None = None,
    fresh: Tensor | None = None,
) -> LossTerms:
    """Sum over tokens of weight * (w * token loss + beta * KL), with A the sequence's advantage.

    r = exp(policy - sampler), per token; for `gspo` the exponential of its mean over the sequence.

    | type | token loss |
    |---|---|
    | all but these | -min(min(r, cap) A, clip(r, 1 - low, 1 + high) A) |
    | `cispo` (MiniMax-M1, arXiv 2506.13585) | -stop_gradient(min(r, cap)) A policy_logprob |
    | `sapo` (arXiv 2511.20347) | -4 / tau sigmoid(tau (r - 1)) A, tau by A's sign |
    | `unclipped` | -min(r, cap) A |

    With `proximal_logprobs` r is exp(policy - proximal), w = `importance_weights`; else w is 1.
    With `kl_ratio_weighted` KL is multiplied by r. `covariance` changes the losses in `selected`.

    Args:
        policy_logprobs: float `[B, T]`, carries the gradient.
        sampler_logprobs: float `[B, T]`.
        advantages: float `[B]`.
        mask: bool `[B, T]`.
        weights: float `[B, T]` from `token_weights`.
        config: section `loss`.
        reference_logprobs: float `[B, T]`; needed when `kl_coefficient` is not 0.
        proximal_logprobs: float `[B, T]`, detached; needed when `importance` is set.
        selected: bool `[B, T]` of `selected_tokens`; needed when `covariance` is set.
        fresh: bool `[B, T]`, `mask` without replayed rows; None: no row is replayed.

    Raises:
        ValueError: one of `importance` and `proximal_logprobs` is given without the other.
    """
    if (config.importance is None) != (proximal_logprobs is None):
        raise ValueError("proximal_logprobs belong to loss.importance: give both or neither")
    fresh = mask if fresh is None else fresh
    start_logprobs = sampler_logprobs if proximal_logprobs is None else proximal_logprobs
    ratio = _ratio(policy_logprobs, start_logprobs, mask, per_sequence=config.type == "gspo")
    token_loss, bounded = _token_loss(ratio, policy_logprobs, advantages[:, None], mask, config)
    if config.covariance is not None:
        assert selected is not None
        log_ratio = _masked_difference(policy_logprobs, start_logprobs, mask)
        token_loss = _by_covariance(token_loss, log_ratio, selected, config.covariance)
    if config.importance is not None and proximal_logprobs is not None:
        token_loss = token_loss * importance_weights(
            proximal_logprobs, sampler_logprobs, mask, config.importance
        )
    kl_term, kl_sum = _kl_term(policy_logprobs, reference_logprobs, ratio, fresh, config)
    token_loss = token_loss + kl_term
    sampler_kl = kl_divergence(sampler_logprobs, policy_logprobs.detach(), mask, "k3").sum()
    return LossTerms((token_loss * weights).sum(), kl_sum, sampler_kl, (bounded & fresh).sum())


def _kl_term(
    policy_logprobs: Tensor,
    reference_logprobs: Tensor | None,
    ratio: Tensor,
    fresh: Tensor,
    config: LossConfig,
) -> tuple[Tensor, Tensor]:
    """The KL's part of each token's loss, `[B, T]`, and the sum of k3; 0 without a reference.

    Both are 0 on replayed tokens: k3 estimates the KL on tokens that the policy samples, and is
    huge on those that it has moved away from.
    """
    if reference_logprobs is None:
        return policy_logprobs.new_zeros(()), policy_logprobs.new_zeros(())
    kl = kl_divergence(policy_logprobs, reference_logprobs, fresh, config.kl_estimator)
    k3 = kl_divergence(policy_logprobs.detach(), reference_logprobs, fresh, "k3")
    return config.kl_coefficient * (kl * ratio if config.kl_ratio_weighted else kl), k3.sum()


def _ratio(
    policy_logprobs: Tensor, start_logprobs: Tensor, mask: Tensor, *, per_sequence: bool
) -> Tensor:
    """Policy over start probability, `[B, T]`; per sequence its geometric mean, `[B, 1]`."""
    log_ratio = _masked_difference(policy_logprobs, start_logprobs, mask)
    if per_sequence:
        log_ratio = log_ratio.sum(dim=1, keepdim=True) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    return log_ratio.exp()


def _token_loss(
    ratio: Tensor, policy_logprobs: Tensor, advantage: Tensor, mask: Tensor, config: LossConfig
) -> tuple[Tensor, Tensor]:
    """Token losses, and a bool that is True where a bound acts.

    Both are `[B, T]`, or `[B, 1]` for `gspo`.
    """
    capped = ratio if config.ratio_cap is None else ratio.clamp(max=config.ratio_cap)
    if config.type == "cispo":
        gain = capped.detach() * advantage * policy_logprobs.masked_fill(~mask, 0.0)
        return -gain, capped < ratio
    if config.type == "sapo":
        positive, negative = config.sapo_temperature_positive, config.sapo_temperature_negative
        tau = torch.where(advantage > 0, positive, negative).to(ratio.dtype)
        return -(tau * (ratio - 1)).sigmoid() * 4 / tau * advantage, torch.zeros_like(mask)
    gain = capped * advantage
    if config.type == "unclipped":
        return -gain, capped < ratio
    clipped = ratio.clamp(1 - config.clip_low, 1 + config.clip_high) * advantage
    return -torch.minimum(gain, clipped), (clipped < gain) | (capped < ratio)


def _by_covariance(
    token_loss: Tensor, log_ratio: Tensor, selected: Tensor, config: CovarianceConfig
) -> Tensor:
    """The token losses `[B, T]`, those of selected tokens changed.

    They are 0 with mode `clip`, and have `kl_coefficient` * |log r| in addition with mode `kl`.

    Args:
        token_loss: float `[B, T]`, or `[B, 1]` for `gspo`.
        log_ratio: float `[B, T]`, of policy and start.
        selected: bool `[B, T]`.
        config: section `covariance`.
    """
    if config.mode == "clip":
        return token_loss * ~selected
    return token_loss + config.kl_coefficient * log_ratio.abs() * selected


def entropy_bonus(entropy: Tensor, mask: Tensor, totals: StepTotals) -> Tensor:
    """This micro-batch's part of the step's mean token entropy, a scalar.

    The loss falls by the coefficient times the mean. The mean is over all fresh completion tokens
    in the loss, whatever the loss type's own denominators. TRL takes it over the tokens of each
    micro-batch, which depends on the split.

    Args:
        entropy: float `[B, T]`, nats, carries the gradient.
        mask: bool `[B, T]`, without replayed rows.
        totals: totals of the whole step.
    """
    return entropy.masked_fill(~mask, 0.0).sum() / max(totals.num_fresh_tokens, 1)


def importance_weights(
    proximal_logprobs: Tensor, sampler_logprobs: Tensor, mask: Tensor, config: ImportanceConfig
) -> Tensor:
    """Weights that correct for a sampler that is not quite the trainer's policy.

    c = exp(proximal - sampler) per token, or exp of the sum over the sequence, which is the product
    of the tokens' weights and not their mean. `truncate` bounds c to [low, high]; `mask` makes it 0
    outside. A token whose sampler log-probability is NaN (unknown) counts as c = 1. The weights are
    not normalised afterwards. Source: TRL 1.16, `GRPOTrainer` (truncated and masked importance
    sampling).

    Returns:
        float `[B, T]`, or `[B, 1]` for the `sequence_` modes; no gradient.
    """
    difference = _masked_difference(proximal_logprobs.detach(), sampler_logprobs, mask)
    difference = difference.nan_to_num(nan=0.0, posinf=torch.inf, neginf=-torch.inf)
    level, action = config.mode.split("_")
    if level == "sequence":
        difference = difference.sum(dim=1, keepdim=True)
    weights = difference.exp()
    low = 0.0 if config.low is None else config.low
    high = torch.inf if config.high is None else config.high
    if action == "truncate":
        return weights.clamp(low, high)
    return weights.masked_fill((weights < low) | (weights > high), 0.0)


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
    # Padding may hold -inf or NaN; a weight of 0 would not remove it, since 0 * NaN is NaN.
    return left.masked_fill(~mask, 0.0) - right.masked_fill(~mask, 0.0)
