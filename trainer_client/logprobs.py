"""Log-probabilities of given tokens under a causal language model.

Shapes: B sequences, T token positions (right-padded), N tokens of all sequences together, H hidden
size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from transformers import PreTrainedModel

from trainer_client.lora import causal_model
from trainer_client.memory_savers import recomputing
from trainer_client.output_layer import CHUNK_TOKENS, output_layer
from trainer_client.packing import packed_states

SCORE = "score_tokens"
"""A model that needs its own forward around `score` has it as this method."""


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
    packed: bool = False,
    autocast: torch.dtype | None = None,
    chunk_tokens: int = CHUNK_TOKENS,
) -> TokenLogprobs:
    """log softmax(logits / temperature)[token], over the whole vocabulary, where mask is True.

    Only the masked positions are normalised, and chunk by chunk, so that their logits never exist
    together (`trainer_client.output_layer`).

    Args:
        model: a causal language model.
        input_ids: int64 `[B, T]`.
        attention_mask: bool `[B, T]`.
        mask: bool `[B, T]`; position 0 is never True, since nothing predicts it.
        temperature: of the sampler.
        entropy_gradient: for a loss with an entropy bonus.
        packed: compute nothing for padding; after `packing.enable_packing`.
        autocast: the type to compute in where that is safe; None: that of the weights.
        chunk_tokens: tokens whose logits exist at a time.
    """
    causal = causal_model(model)
    precision = torch.autocast(input_ids.device.type, autocast, enabled=autocast is not None)
    with precision, recomputing(causal):
        logprobs, entropy = getattr(causal, SCORE, partial(score, causal))(
            input_ids,
            attention_mask,
            mask,
            temperature=temperature,
            entropy_gradient=entropy_gradient,
            packed=packed,
            chunk_tokens=chunk_tokens,
        )
    return TokenLogprobs(_scatter(logprobs, mask), _scatter(entropy, mask))


def score(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    mask: Tensor,
    *,
    temperature: float,
    entropy_gradient: bool,
    packed: bool,
    chunk_tokens: int,
) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy, float32 `[N]`, of the tokens under the mask."""
    states = _states(model, input_ids, attention_mask, packed=packed)
    # Among all tokens, each stands right after the one that predicts it.
    tokens = mask[attention_mask].nonzero()[:, 0]
    return output_layer(model).logprobs(
        states[tokens - 1],
        input_ids[mask],
        temperature=temperature,
        entropy_gradient=entropy_gradient,
        chunk_tokens=chunk_tokens,
    )


def _states(
    model: PreTrainedModel, input_ids: Tensor, attention_mask: Tensor, *, packed: bool
) -> Tensor:
    """Last hidden states of the tokens under the mask, `[N, H]`."""
    if packed:
        return packed_states(model, input_ids, attention_mask)
    output = model.get_decoder()(
        input_ids=input_ids, attention_mask=attention_mask.long(), use_cache=False
    )
    states: Tensor = output.last_hidden_state[attention_mask]
    return states


def _scatter(values: Tensor, mask: Tensor) -> Tensor:
    return values.new_zeros(mask.shape).masked_scatter(mask, values)
