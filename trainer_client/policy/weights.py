"""The policy's weights, named as in a checkpoint of its architecture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from trainer_client.policy.lora import has_adapter, merged


def checkpoint_weights(model: PreTrainedModel) -> Iterator[tuple[str, Tensor]]:
    """Name and value of each weight, detached, on the model's device, one after the other.

    A tied output layer is listed under its own name too: otherwise a sampler that keeps a second,
    packed copy of it would keep the old values. A sharded weight is gathered, which is a collective
    call: every process has to iterate to the end. An adapter is merged into the weights.
    """
    complete = merged(model) if has_adapter(model) else model
    for name, parameter in complete.named_parameters(remove_duplicate=False):
        yield name, _gathered(parameter)


def save_weights(model: PreTrainedModel, folder: Path) -> bool:
    """Write weights and configuration as a model folder; returns whether this process wrote.

    Only the first process writes; where the model is sharded, all processes must call.
    """
    writes = not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0
    weights = {}
    for name, value in checkpoint_weights(model):
        if writes:
            # Cloned, because safetensors refuses tensors that share memory, as tied ones do.
            weights[name] = value.cpu().clone(memory_format=torch.contiguous_format)
    if writes:
        folder.mkdir(parents=True, exist_ok=True)
        model.config.save_pretrained(folder)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return writes


def _gathered(parameter: Tensor) -> Tensor:
    value = parameter.detach()
    return value.full_tensor() if isinstance(value, DTensor) else value
