"""The distribution that a token is drawn from: the policy's, as the sampling settings change it.

Shapes: B rows; V tokens.
"""

from __future__ import annotations

import math

from torch import Tensor
from transformers import TopPLogitsWarper

from trainer_client.rollout import Sampling


def drawn_probabilities(logits: Tensor, sampling: Sampling, seen: Tensor | None = None) -> Tensor:
    """Probabilities of the next token, float32 `[B, V]`; 0 where it is never drawn.

    Penalty, temperature, min_p, top_k, top_p: the order of vLLM, so that engines agree.

    Args:
        logits: of the policy, `[B, V]`.
        sampling: a temperature of 0 counts as 1.
        seen: bool `[B, V]`, True on tokens that `repetition_penalty` acts on; None: on none.
    """
    scores = logits.float()
    if seen is not None:
        penalty = sampling.repetition_penalty
        scores = scores.where(~seen, (scores / penalty).where(scores > 0, scores * penalty))
    if sampling.temperature not in (0.0, 1.0):
        scores = scores / sampling.temperature
    if sampling.min_p:
        least = scores.amax(dim=-1, keepdim=True) + math.log(sampling.min_p)
        scores = scores.masked_fill(scores < least, -math.inf)
    if sampling.top_k is not None and sampling.top_k < scores.shape[-1]:
        least = scores.topk(sampling.top_k, dim=-1).values[:, -1:]
        scores = scores.masked_fill(scores < least, -math.inf)
    if sampling.top_p < 1:
        scores = TopPLogitsWarper(sampling.top_p)(None, scores)
    return scores.softmax(dim=-1)
