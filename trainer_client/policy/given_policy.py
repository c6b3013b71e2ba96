"""A policy's model that a script gives instead of a path."""

from __future__ import annotations

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from transformers import PreTrainedModel

from trainer_client.config.run_config import ConfigError
from trainer_client.given_objects import given_pair


def given_policy(
    path: str, dtype: torch.dtype | None = None, *, quantized: bool = False
) -> PreTrainedModel:
    """The model that a path names, without gradients; it is trained in place.

    Args:
        path: begins with `given:`.
        dtype: type that the weights must have; None: any.
        quantized: whether `model.quantization` is set.

    Raises:
        ConfigError: it is no model of transformers, or not as the section `model` says.
    """
    model = given_pair(path, "model.path")[0]
    if not isinstance(model, PreTrainedModel):
        raise ConfigError(
            f"model.path: the first of the pair {path!r} must be a PreTrainedModel, found "
            f"{type(model).__name__}; adapters are made by model.lora"
        )
    if quantized:
        raise ConfigError(f"model.quantization: {path!r} is loaded already")
    if dtype is not None and model.dtype != dtype:
        raise ConfigError(
            f"model.dtype: is {_name(dtype)}, but the weights of {path!r} are {_name(model.dtype)}"
        )
    if any(isinstance(module, BaseTunerLayer) for module in model.modules()):
        raise ConfigError(
            f"model.path: the model {path!r} has layers of an adapter, as a run with model.lora "
            "leaves them. Load it again, or what that run has written to its folder `model`"
        )
    model.zero_grad()  # a run that failed within its update leaves some
    return model


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
