"""The policy's weights, named as in a checkpoint of its architecture."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from trainer_client.errors import TrainingError, first_line
from trainer_client.policy.lora import adapted_layers, causal_model, merged_layer

Weights = Iterator[tuple[str, Tensor]]
"""Name and value of each weight, one after the other."""


def checkpoint_weights(model: PreTrainedModel) -> Weights:
    """Name and value of each weight, detached, on the model's device, one after the other.

    A tied output layer is listed under its own name too: otherwise a sampler that keeps a second,
    packed copy of it would keep the old values. A sharded weight is gathered, which is a collective
    call: every process has to iterate to the end. An adapter is merged, layer by layer.
    """
    yield from _unadapted_weights(model)
    for prefix, layer in adapted_layers(model).items():
        values = {name: _full_value(one) for name, one in layer.named_parameters()}
        for name, value in merged_layer(layer, values).named_parameters():
            yield f"{prefix}.{name}", value.detach()


def base_weights(model: PreTrainedModel) -> Weights:
    """The weights as in `checkpoint_weights`, without the adapter."""
    yield from _unadapted_weights(model)
    for prefix, layer in adapted_layers(model).items():
        for name, parameter in layer.get_base_layer().named_parameters():
            yield f"{prefix}.{name}", _full_value(parameter)


def adapter_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """The whole weights of the adapter, named as in the model with its adapter. Collective."""
    trained = (one for one in model.named_parameters() if one[1].requires_grad)
    return {name: _full_value(parameter) for name, parameter in trained}


@contextmanager
def writing_weights(folder: Path) -> Iterator[None]:
    """Inside, an error of the file system means that this new folder cannot be written.

    Raises:
        TrainingError: it cannot; what had been written there is removed, to leave its room.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        there = next(one for one in folder.absolute().parents if one.exists())
        free = shutil.disk_usage(there).free / 2**30
        raise TrainingError(
            f"cannot write {str(folder).removesuffix('.partial')}: {first_line(error)}; {there} "
            f"has {free:.1f} GiB left. Make room and run the command again, `train` with --resume"
        ) from error


def save_weights(
    model: PreTrainedModel,
    folder: Path,
    weights_of: Callable[[PreTrainedModel], Weights] = checkpoint_weights,
) -> bool:
    """Write weights and configuration as a model folder; returns whether this process wrote.

    Only the first process writes; where the model is sharded, all processes must call.
    """
    writes = leads_processes()
    weights = {}
    for name, value in weights_of(model):
        if writes:
            # Cloned, because safetensors refuses tensors that share memory, as tied ones do.
            weights[name] = value.cpu().clone(memory_format=torch.contiguous_format)
    if writes:
        folder.mkdir(parents=True, exist_ok=True)
        model.config.save_pretrained(folder)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return writes


def save_adapter(model: PreTrainedModel, folder: Path) -> bool:
    """Write the adapter alone, as `save_weights` writes a model."""
    weights = adapter_weights(model)
    if leads_processes():
        model.save_pretrained(folder, state_dict=weights)
    return leads_processes()


def leads_processes() -> bool:
    """Whether this is the first process of `torch.distributed`, or the only one."""
    return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0


def _unadapted_weights(model: PreTrainedModel) -> Weights:
    """The weights of all layers without an adapter."""
    adapted = tuple(f"{name}." for name in adapted_layers(model))
    for name, parameter in causal_model(model).named_parameters(remove_duplicate=False):
        if not name.startswith(adapted):
            yield name, _full_value(parameter)


def _full_value(parameter: Tensor) -> Tensor:
    value = parameter.detach()
    return value.full_tensor() if isinstance(value, DTensor) else value
