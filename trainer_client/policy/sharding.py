"""A policy whose weights, gradients and optimizer state are split over the processes (FSDP2).

Gradients are summed over the processes, not averaged: each process has already divided its loss by
the totals of all processes. Functions that are collective must be called by every process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import Any

import torch
from torch import distributed
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from trainer_client.policy.logprobs import LOGPROBS_METHOD, masked_logprobs
from trainer_client.policy.lora import causal_model

OPTIMIZER_FOLDER = "optimizer"
RESHARDS = "reshards_after_forward"


def shard(model: PreTrainedModel, *, reshard_after_forward: bool) -> None:
    """Split the model in place, layer by layer; collective.

    An adapter is split with the layers that it is on. Weights in 4 bits stay whole in every
    process: their packed form says nothing without the scales beside it, which are no weights.

    Args:
        model: equal in every process.
        reshard_after_forward: free the gathered weights between forward and backward (ZeRO-3);
            False keeps them (ZeRO-2): more memory, less communication.
    """
    mesh = init_device_mesh(model.device.type, (distributed.get_world_size(),))
    model = causal_model(model)
    packed = {weight for weight in model.parameters() if not weight.is_floating_point()}
    for layer in model.get_decoder().layers:
        fully_shard(
            layer, mesh=mesh, reshard_after_forward=reshard_after_forward, ignored_params=packed
        )
    fully_shard(model, mesh=mesh, reshard_after_forward=False, ignored_params=packed)
    for module in _parts(model):
        module.set_gradient_divide_factor(1.0)
        # Without it FSDP may choose a reduction other than the sum, which gloo does not have.
        module.set_force_sum_reduction_for_comms(True)
    setattr(model, RESHARDS, reshard_after_forward)
    setattr(model, LOGPROBS_METHOD, MethodType(masked_logprobs, model))
    register_fsdp_forward_method(model, LOGPROBS_METHOD)


def is_sharded(model: PreTrainedModel) -> bool:
    """Whether `shard` was called on the model."""
    return isinstance(causal_model(model), FSDPModule)


@contextmanager
def unsharded(model: PreTrainedModel) -> Iterator[None]:
    """Inside, every process has all weights and may run the model on its own; collective."""
    model = causal_model(model)
    parts = _parts(model)
    for part in parts:
        part.unshard()
        part.set_reshard_after_forward(False, recurse=False)
    try:
        yield
    finally:
        for part in parts:
            reshards = getattr(model, RESHARDS) and part is not model
            part.set_reshard_after_forward(reshards, recurse=False)
            part.reshard()


def clip_gradient(model: PreTrainedModel, max_norm: float) -> float:
    """Scale the gradient down to at most this norm and return the norm it had; collective.

    The norm is over the gradients of all processes.
    """
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    return float(norm.full_tensor() if isinstance(norm, DTensor) else norm)


def save_optimizer(model: PreTrainedModel, optimizer: Optimizer, folder: Path) -> None:
    """Write the optimizer's state, each process its own shard; collective."""
    state = get_optimizer_state_dict(model, optimizer)
    save(state, checkpoint_id=folder / OPTIMIZER_FOLDER)


def load_optimizer(model: PreTrainedModel, optimizer: Optimizer, folder: Path) -> None:
    """Read a state that `save_optimizer` wrote in any number of processes; collective."""
    state = get_optimizer_state_dict(model, optimizer)
    load(
        state,
        checkpoint_id=folder / OPTIMIZER_FOLDER,
        no_dist=not distributed.is_initialized(),
    )
    set_optimizer_state_dict(model, optimizer, state)


def spread_optimizer(model: PreTrainedModel, optimizer: Optimizer, state: dict[str, Any]) -> None:
    """Load the state dict of an unsharded optimizer, which names weights by numbers."""
    names = [name for name, weight in model.named_parameters() if weight.requires_grad]
    named: dict[str, Any] = {
        "state": {names[index]: values for index, values in state["state"].items()},
        "param_groups": [
            {**group, "params": [names[index] for index in group["params"]]}
            for group in state["param_groups"]
        ],
    }
    options = StateDictOptions(full_state_dict=True)
    set_optimizer_state_dict(model, optimizer, named, options=options)


def _parts(model: PreTrainedModel) -> list[FSDPModule]:
    return [module for module in model.modules() if isinstance(module, FSDPModule)]
