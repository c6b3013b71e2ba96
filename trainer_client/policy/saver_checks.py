"""Checks at the start that packing, recomputation and compilation change no log-probability.

Shapes: B sequences, N tokens of all sequences together.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from trainer_client.config.run_config import ConfigError
from trainer_client.policy.compiled_layers import enable_compilation
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.memory_savers import enable_recomputation

PROBE_LENGTHS = (3, 5)
"""Lengths, in tokens, of the made-up rows on which two ways to compute are compared."""
MAX_DIFFERENCE = 1e-3
"""Largest difference between two ways to compute that counts as rounding, in nats, in float32.
Attention to another row's tokens makes a larger one."""
MAX_HALF_DIFFERENCE = 0.5
"""MAX_DIFFERENCE in half precision, where a logit of 20 is rounded by 0.06 and kernels differ."""


def packing_error(model: PreTrainedModel) -> str | None:
    """Why packed rows are wrong; None: each has the log-probabilities that it has alone.

    An architecture may accept an attention implementation and yet not tell it the lengths, or
    attend in a way of its own. Call this after `packing.enable_packing`.
    """
    alone = torch.cat([_probe(model, lengths=(length,)) for length in PROBE_LENGTHS])
    try:
        together = _probe(model, lengths=PROBE_LENGTHS, packed=True)
    except (TypeError, ValueError) as error:
        return str(error)
    difference = _difference(model, together, alone)
    if difference is None:
        return None
    return f"log-probabilities of packed sequences are off by {difference:.2g}"


def recompute_layers(model: PreTrainedModel) -> None:
    """Call `memory_savers.enable_recomputation` and check that no log-probability changes.

    Raises:
        ConfigError: the architecture has no recomputation, or recomputed layers give other values.
    """
    before = _probe(model, lengths=PROBE_LENGTHS)
    enable_recomputation(model)
    after = _probe(model, lengths=PROBE_LENGTHS, with_gradient=True)  # else nothing is recomputed
    if difference := _difference(model, after, before):
        raise ConfigError(
            f"train.gradient_checkpointing: not with {type(model).__name__}, whose "
            f"log-probabilities it changes by {difference:.2g}"
        )


def compile_layers(model: PreTrainedModel, *, packed: bool) -> None:
    """Call `compiled_layers.enable_compilation` and check that no log-probability changes.

    Args:
        model: a causal language model.
        packed: whether packed rows are enabled.

    Raises:
        ConfigError: this machine or the architecture cannot do it, or the layers give other values.
    """
    before = _probe(model, lengths=PROBE_LENGTHS, packed=packed)
    enable_compilation(model)
    try:
        after = _probe(model, lengths=PROBE_LENGTHS, packed=packed)
    except Exception as error:
        # torch raises errors of many types here: a compiler is missing, a layer cannot be traced.
        raise ConfigError(
            f"train.compile: torch.compile cannot compile {type(model).__name__} here: {error}"
        ) from error
    if difference := _difference(model, after, before):
        raise ConfigError(
            f"train.compile: not with {type(model).__name__}, whose log-probabilities it changes "
            f"by {difference:.2g}"
        )


def _difference(model: PreTrainedModel, one: Tensor, other: Tensor) -> float | None:
    """The largest difference; None where it is rounding."""
    difference = (one - other).abs().max().item()
    limit = MAX_DIFFERENCE if model.dtype == torch.float32 else MAX_HALF_DIFFERENCE
    return difference if not difference <= limit else None


def _probe(
    model: PreTrainedModel,
    *,
    lengths: Sequence[int],
    packed: bool = False,
    with_gradient: bool = False,
) -> Tensor:
    """Log-probabilities, float32 `[N - B]`, of all but the first token of made-up rows.

    A row of n tokens has the ids n, n + 1, ...: all different, so that positions can be told apart.
    """
    sizes = torch.tensor(lengths, device=model.device)[:, None]
    positions = torch.arange(max(lengths), device=model.device)[None]
    attention_mask = positions < sizes
    mask = attention_mask & (positions > 0)
    ids = (sizes + positions) % model.config.get_text_config().vocab_size
    with torch.set_grad_enabled(with_gradient):
        result = token_logprobs(model, ids, attention_mask, mask, temperature=1.0, packed=packed)
    return result.logprobs[mask].detach()
