"""The tokens that make the entropy fall: those whose log-probability and advantage vary together.

Source: "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models"
(arXiv 2505.22617), section 4. Shapes: B sequences, T token positions, N completion tokens of the
optimizer step on all processes.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, distributed

from trainer_client.config.loss_section import CovarianceConfig
from trainer_client.processes import sum_over_processes


def covariances(logprobs: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """Cov(y) = (log pi(y) - mean log pi) (A(y) - mean A), float64 `[B, T]`; 0 off the mask.

    The means are over the N tokens of all processes. Collective.

    Args:
        logprobs: float `[B, T]`, of the policy before the first update on these completions. The
            paper's are those of the policy that is trained, which are the same in the first
            update; these are known for the whole step without another forward.
        advantages: float `[B]`.
        mask: bool `[B, T]`.
    """
    logprobs = logprobs.double().masked_fill(~mask, 0.0)
    spread = advantages.double()[:, None] * mask
    sums = sum_over_processes(
        {
            "logprobs": float(logprobs.sum()),
            "advantages": float(spread.sum()),
            "tokens": float(mask.sum()),
        }
    )
    count = max(sums["tokens"], 1.0)
    product = (logprobs - sums["logprobs"] / count) * (spread - sums["advantages"] / count)
    return product.masked_fill(~mask, 0.0)


def selected_tokens(
    logprobs: Tensor, advantages: Tensor, mask: Tensor, config: CovarianceConfig
) -> Tensor:
    """Bool `[B, T]`, True on the tokens that the setting acts on. Collective.

    - `clip` (Clip-Cov): max(1, floor(share N)) tokens, drawn at random among those
      whose covariance is between `low` and `high`; all of them where there are fewer.
    - `kl` (KL-Cov): the max(1, floor(share N)) tokens of the largest covariance.

    At least one token is taken, as in the paper's code.

    Args:
        logprobs: see `covariances`.
        advantages: float `[B]`.
        mask: bool `[B, T]`.
        config: mode, share and bounds.
    """
    values = covariances(logprobs, advantages, mask)
    total = sum_over_processes({"tokens": float(mask.sum())})["tokens"]
    count = max(1, math.floor(config.share * total))
    candidates = mask
    if config.mode == "clip":
        candidates = mask & (values > config.low) & (values < config.high)
        values = torch.rand(values.shape, dtype=torch.float64, device=values.device)
    chosen = torch.zeros_like(mask)
    places = candidates.flatten().nonzero()[:, 0]
    own = _own_largest(values.flatten()[places], count)
    chosen.view(-1)[places[own]] = True
    return chosen


def _own_largest(values: Tensor, count: int) -> Tensor:
    """Places of the values of this process that are among the largest of all. Collective.

    Args:
        values: float64 `[n]` of this process.
        count: number of values to choose over all processes.
    """
    largest = values.topk(min(count, len(values)))
    if not distributed.is_initialized():
        return largest.indices
    gathered: list[list[float]] = [[]] * distributed.get_world_size()
    distributed.all_gather_object(gathered, largest.values.tolist())
    rank = distributed.get_rank()
    before = sum(map(len, gathered[:rank]))
    together = torch.tensor([value for part in gathered for value in part], dtype=torch.float64)
    winners = together.topk(min(count, len(together))).indices - before
    own = winners[(winners >= 0) & (winners < len(largest.values))]
    return largest.indices[own.to(largest.indices.device)]
