"""Layers that `torch.compile` has made kernels for; a policy that samples runs them as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from transformers import PreTrainedModel

from trainer_client.policy.lora import causal_model


def enable_compilation(model: PreTrainedModel) -> None:
    """Compile each layer at its next call, for sequences and batches of any size.

    `saver_checks.compile_layers` does so and looks at the result.
    """
    for layer in _layers(model):
        layer.compile(dynamic=True)


@contextmanager
def not_compiled(model: PreTrainedModel) -> Iterator[None]:
    """Inside, layers run as they are.

    Sampling computes one token after the other, each with a longer cache: layers would be compiled
    again and again, and a call of compiled ones costs more than so few numbers.
    """
    compiled = {layer: layer._compiled_call_impl for layer in _layers(model)}
    for layer in compiled:
        layer._compiled_call_impl = None
    try:
        yield
    finally:
        for layer, implementation in compiled.items():
            layer._compiled_call_impl = implementation


def _layers(model: PreTrainedModel) -> list[nn.Module]:
    return list(getattr(causal_model(model).get_decoder(), "layers", ()))
