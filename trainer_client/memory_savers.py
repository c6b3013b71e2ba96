"""Ways to train in less memory: recomputed layers, and what only updates need out of the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.optim import Optimizer
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer


def enable_recomputation(model: PreTrainedModel) -> None:
    """Keep only the inputs of layers and compute the rest again in the backward pass.

    It takes effect inside `recomputing`.
    """
    model.gradient_checkpointing_enable({"use_reentrant": False})


@contextmanager
def recomputing(model: PreTrainedModel) -> Iterator[None]:
    """Inside, layers recompute, if that is enabled.

    `transformers` asks whether a layer is in training mode. Only the layers themselves are, not the
    dropout in them, and only here: in generation they would do without their cache.
    """
    layers = [
        module
        for module in model.modules()
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing
    ]
    for layer in layers:
        layer.training = True
    try:
        yield
    finally:
        for layer in layers:
            layer.training = False


@contextmanager
def offloaded(optimizer: Optimizer, reference: PreTrainedModel | None) -> Iterator[None]:
    """Inside, optimizer state and reference policy lie in the CPU's memory."""
    devices = {
        (weight, name): value.device
        for weight, state in optimizer.state.items()
        for name, value in state.items()
        if torch.is_tensor(value)
    }
    for weight, name in devices:
        optimizer.state[weight][name] = optimizer.state[weight][name].cpu()
    reference_device = None if reference is None else reference.device
    if reference is not None:
        reference.cpu()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    try:
        yield
    finally:
        for (weight, name), device in devices.items():
            optimizer.state[weight][name] = optimizer.state[weight][name].to(device)
        if reference is not None:
            reference.to(reference_device)
