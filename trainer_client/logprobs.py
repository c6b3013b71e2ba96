"""Log-probabilities of given tokens under a causal language model.

Shapes: B sequences, T token positions (right-padded), V tokens in the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel


@dataclass(frozen=True)
class TokenLogprobs:
    """Aligned to tokens, 0 off the mask."""

    logprobs: Tensor
    """float32 `[B, T]`, with gradient where the model has one."""
    entropy: Tensor
    """float32 `[B, T]`, in nats, detached unless asked otherwise."""


def token_logprobs(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    mask: Tensor,
    *,
    temperature: float,
    entropy_gradient: bool = False,
) -> TokenLogprobs:
    """log softmax(logits / temperature)[token], over the whole vocabulary, where mask is True.

    Only the masked positions are normalised, so prompts and padding cost no `[*, V]` memory.

    Args:
        model: a causal language model.
        input_ids: int64 `[B, T]`.
        attention_mask: bool `[B, T]`.
        mask: bool `[B, T]`; position 0 is never True, since nothing predicts it.
        temperature: of the sampler.
        entropy_gradient: for a loss with an entropy bonus.
    """
    logits = model(input_ids=input_ids, attention_mask=attention_mask.long()).logits
    predicts = mask[:, 1:]
    log_softmax = (logits[:, :-1][predicts].float() / temperature).log_softmax(dim=-1)
    chosen = log_softmax.gather(1, input_ids[:, 1:][predicts][:, None])[:, 0]
    with torch.set_grad_enabled(entropy_gradient and torch.is_grad_enabled()):
        entropy = -(log_softmax.exp() * log_softmax).sum(dim=-1)
    return TokenLogprobs(_scatter(chosen, mask), _scatter(entropy, mask))


def _scatter(values: Tensor, mask: Tensor) -> Tensor:
    return values.new_zeros(mask.shape).masked_scatter(mask, values)
