"""The distribution that top_p leaves, from its definition."""

from __future__ import annotations

import torch
from torch import Tensor

from trainer_client.policy.policy import Policy
from trainer_client.rollout import Rollout


@torch.no_grad()
def cut_logprobs(policy: Policy, rollout: Rollout, *, temperature: float, top_p: float) -> Tensor:
    """Log-probability of each completion token among the likeliest tokens that make up top_p.

    A token that is not among them has -inf.
    """
    ids = torch.tensor([rollout.prompt_ids + rollout.completion_ids], device=policy.device)
    logits = policy.model(ids).logits[0, len(rollout.prompt_ids) - 1 : -1].float().cpu()
    result = []
    for token, row in zip(rollout.completion_ids, (logits / temperature).softmax(-1), strict=True):
        ordered = row.sort(descending=True).values
        count = int((ordered.cumsum(0) < top_p).sum()) + 1
        kept = row[token] >= ordered[count - 1]
        result.append(
            (row[token] / ordered[:count].sum()).log() if kept else torch.tensor(-torch.inf)
        )
    return torch.stack(result)
