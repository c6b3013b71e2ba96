"""Log-probabilities and entropy from hidden states, without the logits of all tokens at once.

Logits take tokens * vocabulary numbers, at 150,000 tokens in the vocabulary more than everything
else in a training step. Here they exist for a few hundred tokens at a time. Where the loss can say
its derivatives from a token's own log-probability (`SlopesOf`), the gradient is made from them in
the forward pass; else they are computed again in the backward pass. Sums are kept in float32
whatever the weights are.

Shapes: N tokens, H hidden size, V tokens in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from transformers import PretrainedConfig, PreTrainedModel

from trainer_client.config.run_config import ConfigError
from trainer_client.policy.output_chunk import CHUNK_TOKENS

POWER_TOKENS = 64
"""Tokens whose logits and exponentials exist at a time."""


class Slopes(NamedTuple):
    """Derivatives of a loss by the log-probability and by the entropy of each token."""

    of_logprobs: Tensor | None
    """float32 `[N]`; None: the loss does not hang on them."""
    of_entropy: Tensor | None
    """float32 `[N]`; None: the loss does not hang on them."""


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

    Raises:
        ConfigError: they differ, so the architecture changes its logits in a way unknown here.
    """
    ids = torch.zeros((1, 1), dtype=torch.long, device=model.device)
    with torch.no_grad():
        own = model(input_ids=ids, use_cache=False).logits[0].float()
        states = model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state[0]
        layer = output_layer(model)
        ours = _logits(states, layer.weight, layer.bias, layer)
    if not torch.allclose(own, ours, rtol=1e-2, atol=1e-2):
        raise ConfigError(
            f"{type(model).__name__} changes its logits after the output layer in a way that is "
            f"not known here (largest difference {(own - ours).abs().max():.3g})"
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
        dtype = _compute_dtype(weight)
        logprobs = torch.empty(len(states), dtype=torch.float32, device=states.device)
        entropy = torch.empty_like(logprobs)
        normaliser = torch.empty_like(logprobs)
        with _no_autocast(states):
            cast_weight = weight.to(dtype)
            early = None
            if slopes_of is not None and any(ctx.needs_input_grad):
                early = _EarlyGradients(
                    slopes_of,
                    _Gradients(ctx, states, weight, bias, layer, temperature),
                )
            for rows in _chunks(len(states), chunk_tokens):
                chunk = states[rows].to(dtype)
                logits = _logits(chunk, cast_weight, bias, layer)
                capped = None if early is None or layer.softcap is None else logits.clone()
                _scale_by(logits, 1 / temperature)
                # With m the largest logit, z = logits - m and s = sum exp(z):
                # log p_y = z_y - log s and H = log s - sum(z exp(z)) / s. In-place operations save
                # passes over N * V numbers, which take most of the time.
                largest = logits.amax(dim=1)
                logits -= largest[:, None]
                chosen = logits.gather(1, targets[rows, None])[:, 0]
                total, weighted = _raise_to_powers(logits)
                log_total = total.log()
                normaliser[rows] = largest + log_total
                logprobs[rows] = chosen - log_total
                entropy[rows] = log_total - weighted / total
                if early is not None:
                    slopes = early.slopes(rows, logprobs[rows], entropy[rows])
                    slope = _slope(slopes, logits, total, entropy[rows], targets[rows])
                    early.gradients.add(rows, chunk, slope, cast_weight, capped)
        ctx.save_for_backward(states, weight, bias, targets, normaliser, entropy)
        ctx.layer, ctx.temperature, ctx.chunk_tokens, ctx.dtype, ctx.early = (
            layer,
            temperature,
            chunk_tokens,
            dtype,
            early,
        )
        ctx.set_materialize_grads(False)
        return logprobs, entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor | None) -> tuple[Tensor | None, ...]:
        arrived = Slopes(*slopes)
        early: _EarlyGradients | None = ctx.early
        if early is not None and early.are_of(arrived):
            return early.gradients.all()
        states, weight, bias, targets, normaliser, entropy = ctx.saved_tensors
        cast_weight = weight.to(ctx.dtype)
        gradients = _Gradients(ctx, states, weight, bias, ctx.layer, ctx.temperature)
        for rows in _chunks(len(states), ctx.chunk_tokens):
            chunk = states[rows].to(ctx.dtype)
            logp = _logits(chunk, cast_weight, bias, ctx.layer)
            capped = None if ctx.layer.softcap is None else logp.clone()
            _scale_by(logp, 1 / ctx.temperature)
            logp -= normaliser[rows, None]
            at_rows = Slopes(*(None if one is None else one[rows] for one in arrived))
            total = torch.ones_like(entropy[rows])
            slope = _slope(at_rows, logp.exp_(), total, entropy[rows], targets[rows])
            gradients.add(rows, chunk, slope, cast_weight, capped)
        return gradients.all()


def _raise_to_powers(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Put exp(z) in the place of each logit z; returns the sums of exp(z) and of z exp(z).

    A second tensor of all tokens would be the largest thing in memory, so tokens take turns.

    Args:
        logits: float32 `[N, V]`, at most 0.

    Returns:
        float32 `[N]` each.
    """
    total = logits.new_empty(len(logits))
    weighted = torch.empty_like(total)
    for rows in _chunks(len(logits), POWER_TOKENS):
        powers = logits[rows].exp()
        total[rows] = powers.sum(dim=1)
        weighted[rows] = torch.linalg.vecdot(powers, logits[rows])
        logits[rows] = powers
    return total, weighted


def _slope(
    slopes: Slopes, powers: Tensor, total: Tensor, entropy: Tensor, targets: Tensor
) -> Tensor:
    """The derivative of the loss by each logit, `[N, V]`, in new memory or that of powers.

    For z = logits / temperature, p = powers / total = softmax(z), y the target and H the entropy:
    d log p_y / dz_j = [j = y] - p_j and dH / dz_j = -p_j (log p_j + H).

    Args:
        slopes: the derivatives by log-probability and entropy; at least one of them.
        powers: `[N, V]`.
        total: `[N]`.
        entropy: `[N]`.
        targets: int64 `[N]`.
    """
    of_logprobs, of_entropy = slopes
    if of_entropy is None:
        assert of_logprobs is not None  # one of both gradients started this backward pass
        slope = powers.mul_((-of_logprobs / total)[:, None])
    else:
        # A power that is 0 in float32 has a logarithm here that is finite: 0 times it is 0.
        logp = powers.clamp(min=torch.finfo(powers.dtype).tiny).log_()
        slope = logp.add_((entropy - total.log())[:, None]).mul_(-of_entropy[:, None])
        if of_logprobs is not None:
            slope -= of_logprobs[:, None]
        slope.mul_(powers)
        slope /= total[:, None]
    if of_logprobs is not None:
        slope.scatter_add_(1, targets[:, None], of_logprobs[:, None])
    return slope


class _Gradients:
    """Gradients of states, weight and bias, as far as they are needed; each chunk adds its part."""

    def __init__(
        self,
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        layer: OutputLayer,
        temperature: float,
    ) -> None:
        needs_states, needs_weight, needs_bias = ctx.needs_input_grad[:3]
        self._states = torch.empty_like(states) if needs_states else None
        self._weight = _float_zeros(weight) if needs_weight else None
        self._bias = _float_zeros(bias) if bias is not None and needs_bias else None
        self._dtype = weight.dtype
        self._softcap = layer.softcap
        self._factor = layer.scale / temperature

    def add(
        self,
        rows: slice,
        chunk: Tensor,
        slope: Tensor,
        weight: Tensor,
        capped: Tensor | None,
    ) -> None:
        """Add the part of some tokens.

        Args:
            rows: their places.
            chunk: their states, `[n, H]`, in the type to compute in.
            slope: see `_slope`, `[n, V]`; it is overwritten.
            weight: that of the layer, in the type to compute in.
            capped: their logits before the temperature, where the layer has a soft cap.
        """
        _scale_by(slope, self._factor)
        if capped is not None:
            assert self._softcap is not None
            slope *= 1 - (capped / self._softcap) ** 2
        if self._bias is not None:
            self._bias += slope.sum(dim=0)
        slope = slope.to(weight.dtype)
        if self._states is not None:
            self._states[rows] = (slope @ weight).to(self._states.dtype)
        if self._weight is None:
            return
        if slope.dtype == torch.float32:
            self._weight.addmm_(slope.T, chunk)
        else:
            self._weight += slope.T @ chunk

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


def _logits(states: Tensor, weight: Tensor, bias: Tensor | None, layer: OutputLayer) -> Tensor:
    """Logits, float32 `[N, V]`, in new memory, so that callers may overwrite them."""
    logits = (states @ weight.T).float()
    if bias is not None:
        logits += bias
    _scale_by(logits, layer.scale)
    if layer.softcap is not None:
        logits = logits.div_(layer.softcap).tanh_().mul_(layer.softcap)
    return logits


def _scale_by(numbers: Tensor, factor: float) -> None:
    """Multiply in place, but by 1: a pass over a chunk's logits takes as long as any other."""
    if factor != 1:
        numbers.mul_(factor)


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
