"""Log-probabilities and entropy from hidden states, without the logits of all tokens at once.

Logits take tokens * vocabulary numbers, at 150,000 tokens in the vocabulary more than everything
else in a training step. Here they exist for a few hundred tokens at a time. Where the loss can say
its derivatives from a token's own log-probability (`SlopesOf`), the gradient is made from them in
the forward pass; else they are computed again in the backward pass. Sums are kept in float32
whatever the weights are. What is done with the logits themselves is in `logit_passes`.

Shapes: N tokens, H hidden size, V tokens in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from transformers import PretrainedConfig, PreTrainedModel

from trainer_client.config.run_config import ConfigError
from trainer_client.policy.logit_passes import (
    Chunk,
    LogitForm,
    Slopes,
    Statistics,
    fusion_error,
    logits_of,
    passes_for,
)
from trainer_client.policy.output_chunk import CHUNK_TOKENS
from trainer_client.run.console import say

_ADDS_IN_FLOAT32 = hasattr(torch.ops.aten.addmm, "dtype_out")
"""Whether torch can add a product of half precision to a float32 sum, on a GPU."""

SlopesOf = Callable[[slice, Tensor, Tensor], Slopes]
"""The derivatives at some of the N tokens, from their places, log-probabilities and entropies."""


@dataclass(frozen=True)
class OutputLayer:
    """The layer that makes logits: scale * (states @ weight^T + bias), then a soft cap."""

    weight: Tensor
    """float `[V, H]`."""
    bias: Tensor | None
    """float `[V]`."""
    scale: float
    softcap: float | None
    """A logit z becomes softcap * tanh(z / softcap) (Gemma 2); None: it stays z."""

    def form(self, temperature: float) -> LogitForm:
        """How its logits are made for a sampler's temperature."""
        return LogitForm(self.scale, self.softcap, temperature)

    def logprobs(
        self,
        states: Tensor,
        targets: Tensor,
        *,
        temperature: float,
        entropy_gradient: bool,
        chunk_tokens: int = CHUNK_TOKENS,
        slopes_of: SlopesOf | None = None,
    ) -> tuple[Tensor, Tensor]:
        """log softmax(logits / temperature) at the targets, and the entropy.

        Args:
            states: float `[N, H]`, the last hidden states.
            targets: int64 `[N]`, token ids.
            temperature: the sampler's.
            entropy_gradient: whether a gradient flows through the entropy.
            chunk_tokens: tokens whose logits exist at a time.
            slopes_of: the derivatives of the loss that the caller will make of both. The backward
                pass computes no logits where they are those that arrive, and else as without.

        Returns:
            float32 `[N]` each; the entropy in nats.
        """
        logprobs, entropy = _ChunkedLogprobs.apply(  # type: ignore[no-untyped-call]
            states, self.weight, self.bias, targets, self, temperature, chunk_tokens, slopes_of
        )
        return logprobs, entropy if entropy_gradient else entropy.detach()


def output_layer(model: PreTrainedModel) -> OutputLayer:
    """The output layer of a causal language model.

    Raises:
        ConfigError: the layer is not linear, because it is quantized or has an adapter, or its
            scale is not a number.
    """
    head = model.get_output_embeddings()
    if type(head).__name__ not in ("Linear", "FSDPLinear"):
        raise ConfigError(
            f"the model's output layer is a {type(head).__name__}, expected a plain linear layer: "
            "leave it out of model.lora.target_modules and of the quantization"
        )
    config = model.config.get_text_config()
    return OutputLayer(
        head.weight, head.bias, _scale(config), getattr(config, "final_logit_softcapping", None)
    )


def check_output_layer(model: PreTrainedModel) -> None:
    """Compare the logits of `output_layer` with the model's own on one token.

    It says so where a GPU's kernels for logits cannot be compiled.

    Raises:
        ConfigError: they differ, so the architecture changes its logits in a way unknown here.
    """
    ids = torch.zeros((1, 1), dtype=torch.long, device=model.device)
    with torch.no_grad():
        own = model(input_ids=ids, use_cache=False).logits[0].float()
        states = model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state[0]
        layer = output_layer(model)
        ours = logits_of(states @ layer.weight.T, layer.bias, layer.form(temperature=1.0))
    if not torch.allclose(own, ours, rtol=1e-2, atol=1e-2):
        raise ConfigError(
            f"{type(model).__name__} changes its logits after the output layer in a way that is "
            f"not known here (largest difference {(own - ours).abs().max():.3g})"
        )
    dtype = _compute_dtype(layer.weight)
    if model.device.type == "cuda" and (error := fusion_error(model.device, dtype)):
        say(
            "the output layer takes 2.3 times as long, without compiled kernels: "
            f"{error}. They need a C compiler and Python's headers: apt install gcc python3-dev"
        )


class _ChunkedLogprobs(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        layer: OutputLayer,
        temperature: float,
        chunk_tokens: int,
        slopes_of: SlopesOf | None,
    ) -> tuple[Tensor, Tensor]:
        dtype, form = _compute_dtype(weight), layer.form(temperature)
        passes = passes_for(weight.device, dtype)
        found = Statistics(*torch.empty(3, len(states), device=states.device))
        with _no_autocast(states):
            cast_weight = weight.to(dtype)
            early = None
            if slopes_of is not None and any(ctx.needs_input_grad):
                early = _EarlyGradients(slopes_of, _Gradients(ctx, states, weight, bias))
            for rows in _chunks(len(states), chunk_tokens):
                chunk = states[rows].to(dtype)
                logits = passes(Chunk(chunk @ cast_weight.T, bias, targets[rows], form))
                for whole, part in zip(found, logits.statistics, strict=True):
                    whole[rows] = part
                if early is not None:
                    of_loss = early.slopes(rows, found.logprobs[rows], found.entropy[rows])
                    early.gradients.add(rows, chunk, logits.slopes(of_loss), cast_weight)
        ctx.save_for_backward(states, weight, bias, targets, *found)
        ctx.form, ctx.passes, ctx.dtype = form, passes, dtype
        ctx.chunk_tokens, ctx.early = chunk_tokens, early
        ctx.set_materialize_grads(False)
        return found.logprobs, found.entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor | None) -> tuple[Tensor | None, ...]:
        arrived = Slopes(*slopes)
        # A gradient that the context still holds would be copied, and be there to the end of the
        # backward pass: 0.3 GB twice for 152,000 tokens of 512 numbers.
        early: _EarlyGradients | None = ctx.early
        ctx.early = None
        if early is not None and early.are_of(arrived):
            return early.gradients.all()
        early = None
        states, weight, bias, targets, *found = ctx.saved_tensors
        cast_weight = weight.to(ctx.dtype)
        gradients = _Gradients(ctx, states, weight, bias)
        for rows in _chunks(len(states), ctx.chunk_tokens):
            chunk = states[rows].to(ctx.dtype)
            at_rows = Statistics(*(one[rows] for one in found))
            products = chunk @ cast_weight.T
            logits = ctx.passes(Chunk(products, bias, targets[rows], ctx.form), at_rows)
            of_loss = Slopes(*(None if one is None else one[rows] for one in arrived))
            gradients.add(rows, chunk, logits.slopes(of_loss), cast_weight)
        return gradients.all()


class _Gradients:
    """Gradients of states, weight and bias, as far as they are needed; each chunk adds its part."""

    def __init__(self, ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> None:
        needs_states, needs_weight, needs_bias = ctx.needs_input_grad[:3]
        self._states = torch.empty_like(states) if needs_states else None
        self._weight = _float_zeros(weight) if needs_weight else None
        self._bias = _float_zeros(bias) if bias is not None and needs_bias else None
        self._dtype = weight.dtype

    def add(self, rows: slice, chunk: Tensor, slopes: Tensor, weight: Tensor) -> None:
        """Add the part of some tokens.

        Args:
            rows: their places.
            chunk: their states, `[n, H]`, in the type to compute in.
            slopes: derivatives by the products of states and weights, `[n, V]`, in that type.
            weight: that of the layer, in that type.
        """
        if self._bias is not None:
            self._bias += slopes.sum(dim=0, dtype=torch.float32)
        if self._states is not None:
            self._states[rows] = (slopes @ weight).to(self._states.dtype)
        if self._weight is None:
            return
        if slopes.dtype == torch.float32:
            self._weight.addmm_(slopes.T, chunk)
        elif slopes.is_cuda and _ADDS_IN_FLOAT32:
            torch.addmm(self._weight, slopes.T, chunk, out_dtype=torch.float32, out=self._weight)
        else:
            self._weight += slopes.T @ chunk

    def all(self) -> tuple[Tensor | None, ...]:
        """The gradients in the order of the arguments of `_ChunkedLogprobs.forward`."""
        sums = (None if one is None else one.to(self._dtype) for one in (self._weight, self._bias))
        return (self._states, *sums, *(None,) * 5)


class _EarlyGradients:
    """Gradients that the forward pass makes from derivatives that the loss will have.

    Args:
        slopes_of: the derivatives.
        gradients: to which chunks are added.
    """

    def __init__(self, slopes_of: SlopesOf, gradients: _Gradients) -> None:
        self.gradients = gradients
        self._slopes_of = slopes_of
        self._expected: list[Slopes] = []

    def slopes(self, rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
        """The derivatives at some tokens, which are noted."""
        self._expected.append(self._slopes_of(rows, logprobs, entropy))
        return self._expected[-1]

    def are_of(self, arrived: Slopes) -> bool:
        """Whether the loss has the derivatives that the gradients were made from."""
        return all(
            _are_close([one[place] for one in self._expected], found)
            for place, found in enumerate(arrived)
        )


def _are_close(expected: list[Tensor | None], found: Tensor | None) -> bool:
    """Whether the derivatives of all chunks are those that arrived, but for rounding."""
    parts = [one for one in expected if one is not None]
    if found is None or not parts:
        return found is None and not parts
    return torch.allclose(torch.cat(parts), found, rtol=1e-5, atol=0)


def _scale(config: PretrainedConfig) -> float:
    """The factor on logits: Cohere's `logit_scale` (null in MPT), or 1 / Granite's divisor."""
    return _factor(config, "logit_scale") / _factor(config, "logits_scaling")


def _factor(config: PretrainedConfig, name: str) -> float:
    value = getattr(config, name, None)
    if value is None:
        return 1.0
    if isinstance(value, (int, float)):
        return float(value)
    raise ConfigError(f"the model's configuration has {name} {value!r}, expected a number or null")


def _compute_dtype(weight: Tensor) -> torch.dtype:
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype


def _no_autocast(tensor: Tensor) -> torch.autocast:
    return torch.autocast(tensor.device.type, enabled=False)


def _chunks(length: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, length, size)]


def _float_zeros(tensor: Tensor) -> Tensor:
    return torch.zeros(tensor.shape, dtype=torch.float32, device=tensor.device)
