"""Ways to train in less memory: layers recomputed in the backward pass, and state offloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from trainer_client.config.run_config import ConfigError
from trainer_client.policy.transformers_names import enable_checkpointing


def enable_recomputation(model: PreTrainedModel) -> None:
    """Keep only the inputs of layers and compute the rest again in the backward pass.

    It takes effect inside `recomputing`. Raises ConfigError where the architecture cannot do it.
    """
    try:
        enable_checkpointing(model)
    except ValueError as error:
        raise ConfigError(f"train.gradient_checkpointing: {error}") from error
    for layer in _recomputed_layers(model):
        layer._gradient_checkpointing_func = partial(
            _in_evaluation, layer, layer._gradient_checkpointing_func
        )


@contextmanager
def recomputing(model: PreTrainedModel) -> Iterator[None]:
    """Inside, layers recompute if `enable_recomputation` was called and gradients are wanted.

    `transformers` recomputes a layer only in training mode, so layers are put into it here. Outside
    they stay in evaluation mode: generation in training mode would do without its cache. They
    return to evaluation mode while they compute: layers that call `functional.dropout` themselves
    would drop otherwise.
    """
    # Without gradients, `transformers` 5.24 runs a layer in training mode as it is, and it would
    # drop.
    layers = _recomputed_layers(model) if torch.is_grad_enabled() else []
    for layer in layers:
        layer.training = True
    try:
        yield
    finally:
        for layer in layers:
            layer.training = False


@contextmanager
def offloaded(optimizer: Optimizer, reference: PreTrainedModel | None) -> Iterator[None]:
    """Inside, optimizer state and reference policy are in the CPU's memory."""
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


def activations_offloaded(
    model: PreTrainedModel, *, enabled: bool, autocast: torch.dtype | None
) -> AbstractContextManager[Any]:
    """Inside, what a forward pass keeps for its backward pass waits for it in the CPU's memory.

    Weights, of which the forward pass keeps many, stay where they are, and so do the copies of
    matrices that autocast makes. Such a copy is told by its type and shape, so that an activation
    which happens to have both stays, too.

    Args:
        model: the policy's.
        enabled: False changes nothing.
        autocast: type that the forward pass computes in; None: the weights' type.
    """
    if not enabled:
        return nullcontext()
    weights = {one.untyped_storage().data_ptr() for one in model.parameters()}
    matrices = [one.shape for one in model.parameters() if one.dim() == 2 and one.dtype != autocast]
    copies = {shape for rows, columns in matrices for shape in ((rows, columns), (columns, rows))}

    def stays(tensor: Tensor) -> bool:
        is_copy = tensor.dtype == autocast and tuple(tensor.shape) in copies
        return is_copy or tensor.untyped_storage().data_ptr() in weights

    def move(tensor: Tensor) -> tuple[torch.device, Tensor]:
        if stays(tensor):
            return tensor.device, tensor
        held = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)
        return tensor.device, held.copy_(tensor)

    def move_back(kept: tuple[torch.device, Tensor]) -> Tensor:
        device, tensor = kept
        return tensor.to(device, non_blocking=True)

    return torch.autograd.graph.saved_tensors_hooks(move, move_back)


def _recomputed_layers(model: PreTrainedModel) -> list[GradientCheckpointingLayer]:
    return [
        module
        for module in model.modules()
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing
    ]


def _in_evaluation(
    layer: GradientCheckpointingLayer,
    checkpoint: Callable[..., Any],
    forward: Callable[..., Any],
    *arguments: Any,
) -> Any:
    """A layer's forward in evaluation mode; recomputation in the backward pass is in it anyway."""
    layer.training = False
    try:
        return checkpoint(forward, *arguments)
    finally:
        layer.training = True
