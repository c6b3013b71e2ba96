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

from trainer_client.policy.lora import causal_model
from trainer_client.policy.memory_savers import recomputing
from trainer_client.policy.output_layer import SlopesOf, output_layer
from trainer_client.policy.packing import packed_states

LOGPROBS_METHOD = "masked_logprobs"
"""Name of the method by which a sharded model computes `masked_logprobs` inside its own forward."""


@dataclass(frozen=True)
class TokenLogprobs:
    """Log-probability and entropy at each token's own position, 0 off the mask."""

    logprobs: Tensor
    """float32 `[B, T]`, carries the gradient."""
    entropy: Tensor
    """float32 `[B, T]`, in nats, detached unless `entropy_gradient` is set."""


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
    slopes_of: SlopesOf | None = None,
) -> TokenLogprobs:
    """log softmax(logits / temperature)[token], over the whole vocabulary, where mask is True.

    The output layer runs on masked positions only, and chunk by chunk, so that their logits never
    exist together (`trainer_client.policy.output_layer`).

    Args:
        model: a causal language model.
        input_ids: int64 `[B, T]`.
        attention_mask: bool `[B, T]`.
        mask: bool `[B, T]`; position 0 is never True, since nothing predicts it.
        temperature: the sampler's.
        entropy_gradient: let a gradient flow through the entropy, for a loss with an entropy bonus.
        packed: compute nothing for padding; needs `packing.enable_packing` before.
        autocast: type to compute in where that is safe; None: the weights' type.
        slopes_of: see `OutputLayer.logprobs`; tokens are those under the mask, row after row.
    """
    causal = causal_model(model)
    precision = torch.autocast(input_ids.device.type, autocast, enabled=autocast is not None)
    with precision, recomputing(causal):
        logprobs, entropy = getattr(causal, LOGPROBS_METHOD, partial(masked_logprobs, causal))(
            input_ids,
            attention_mask,
            mask,
            temperature=temperature,
            entropy_gradient=entropy_gradient,
            packed=packed,
            slopes_of=slopes_of,
        )
    return TokenLogprobs(_scatter(logprobs, mask), _scatter(entropy, mask))


def masked_logprobs(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    mask: Tensor,
    *,
    temperature: float,
    entropy_gradient: bool,
    packed: bool,
    slopes_of: SlopesOf | None = None,
) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy, float32 `[N]`, of the tokens under the mask."""
    states = _states(model, input_ids, attention_mask, packed=packed)
    # A token is predicted from the state of the token before it, which is the row before in states.
    tokens = mask[attention_mask].nonzero()[:, 0]
    return output_layer(model).logprobs(
        states[tokens - 1],
        input_ids[mask],
        temperature=temperature,
        entropy_gradient=entropy_gradient,
        slopes_of=slopes_of,
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
