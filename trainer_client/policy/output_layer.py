"""Log-probabilities and entropy from hidden states, without the logits of all tokens at once.

Logits take tokens * vocabulary numbers, at 150,000 tokens in the vocabulary more than everything
else in a training step. Here they exist for a few hundred tokens at a time, in the forward pass and
(computed again) in the backward pass. Sums are kept in float32 whatever the weights are.

Shapes: N tokens, H hidden size, V tokens in the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from transformers import PretrainedConfig, PreTrainedModel

from trainer_client.config.run_config import ConfigError
from trainer_client.policy.output_chunk import CHUNK_TOKENS


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
    ) -> tuple[Tensor, Tensor]:
        """log softmax(logits / temperature) at the targets, and the entropy.

        Args:
            states: float `[N, H]`, the last hidden states.
            targets: int64 `[N]`, token ids.
            temperature: the sampler's.
            entropy_gradient: whether a gradient flows through the entropy.
            chunk_tokens: tokens whose logits exist at a time.

        Returns:
            float32 `[N]` each; the entropy in nats.
        """
        logprobs, entropy = _ChunkedLogprobs.apply(  # type: ignore[no-untyped-call]
            states, self.weight, self.bias, targets, self, temperature, chunk_tokens
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
    ) -> tuple[Tensor, Tensor]:
        dtype = _compute_dtype(weight)
        logprobs = torch.empty(len(states), dtype=torch.float32, device=states.device)
        entropy = torch.empty_like(logprobs)
        normaliser = torch.empty_like(logprobs)
        with _no_autocast(states):
            cast_weight = weight.to(dtype)
            for rows in _chunks(len(states), chunk_tokens):
                logits = _logits(states[rows].to(dtype), cast_weight, bias, layer)
                _scale_by(logits, 1 / temperature)
                # With m the largest logit, z = logits - m and s = sum exp(z):
                # log p_y = z_y - log s and H = log s - sum(z exp(z)) / s. In-place operations save
                # passes over N * V numbers, which take most of the time.
                largest = logits.amax(dim=1)
                logits -= largest[:, None]
                powers = logits.exp()
                total = powers.sum(dim=1)
                log_total = total.log()
                normaliser[rows] = largest + log_total
                logprobs[rows] = logits.gather(1, targets[rows, None])[:, 0] - log_total
                entropy[rows] = log_total - powers.mul_(logits).sum(dim=1) / total
        ctx.save_for_backward(states, weight, bias, targets, normaliser, entropy)
        ctx.layer, ctx.temperature, ctx.chunk_tokens, ctx.dtype = (
            layer,
            temperature,
            chunk_tokens,
            dtype,
        )
        ctx.set_materialize_grads(False)
        return logprobs, entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        # For z = logits / temperature, p = softmax(z), y the target, H the entropy:
        # d log p_y / dz_j = [j = y] - p_j and dH / dz_j = -p_j (log p_j + H).
        of_logprobs, of_entropy = gradients
        states, weight, bias, targets, normaliser, entropy = ctx.saved_tensors
        needs_states, needs_weight, needs_bias = ctx.needs_input_grad[:3]
        of_states = torch.empty_like(states) if needs_states else None
        of_weight = _float_zeros(weight) if needs_weight else None
        of_bias = _float_zeros(bias) if needs_bias else None
        cast_weight = weight.to(ctx.dtype)
        for rows in _chunks(len(states), ctx.chunk_tokens):
            chunk = states[rows].to(ctx.dtype)
            logp = _logits(chunk, cast_weight, bias, ctx.layer)
            capped = None if ctx.layer.softcap is None else logp.clone()
            _scale_by(logp, 1 / ctx.temperature)
            logp -= normaliser[rows, None]
            if of_entropy is not None:
                slope = -of_entropy[rows, None] * (logp + entropy[rows, None])
                if of_logprobs is not None:
                    slope -= of_logprobs[rows, None]
                slope *= logp.exp_()
            else:
                assert of_logprobs is not None  # one of both gradients started this backward pass
                slope = logp.exp_().mul_(-of_logprobs[rows, None])
            if of_logprobs is not None:
                slope.scatter_add_(1, targets[rows, None], of_logprobs[rows, None])
            _scale_by(slope, ctx.layer.scale / ctx.temperature)
            if capped is not None:
                slope *= 1 - (capped / ctx.layer.softcap) ** 2
            if of_bias is not None:
                of_bias += slope.sum(dim=0)
            slope = slope.to(ctx.dtype)
            if of_states is not None:
                of_states[rows] = (slope @ cast_weight).to(states.dtype)
            if of_weight is None:
                continue
            if ctx.dtype == torch.float32:
                of_weight.addmm_(slope.T, chunk)
            else:
                of_weight += slope.T @ chunk
        return (
            of_states,
            None if of_weight is None else of_weight.to(weight.dtype),
            None if of_bias is None else of_bias.to(bias.dtype),
            *(None,) * 4,
        )


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
