"""The policy's weights by the names that a checkpoint of its architecture has."""

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

    A tied output layer is listed under its own name too: a sampler that keeps a second, packed
    copy of it would go on with the old one. A sharded weight is gathered, which is a collective
    call: every process has to iterate to the end. LoRA's product is added to the weight it adapts.
    """
    whole = merged(model) if has_adapter(model) else model
    for name, parameter in whole.named_parameters(remove_duplicate=False):
        yield name, _whole(parameter)


def save_weights(model: PreTrainedModel, folder: Path) -> bool:
    """Write the weights and the configuration as a model folder; whether this process did.

    Collective where the model is sharded; only the first process writes.
    """
    writes = not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0
    weights = {}
    for name, value in checkpoint_weights(model):
        if writes:
            # A clone: safetensors refuses tensors that share memory, as tied ones do.
            weights[name] = value.cpu().clone(memory_format=torch.contiguous_format)
    if writes:
        folder.mkdir(parents=True, exist_ok=True)
        model.config.save_pretrained(folder)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return writes


def _whole(parameter: Tensor) -> Tensor:
    value = parameter.detach()
    return value.full_tensor() if isinstance(value, DTensor) else value
