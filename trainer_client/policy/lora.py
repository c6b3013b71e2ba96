"""Low-rank adapters, through peft: the base model stays as it is and serves as reference."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from peft import LoraConfig as PeftLoraConfig
from peft import PeftModel, get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from trainer_client.config.model_section import LoraConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import first_line


def add_adapter(
    model: PreTrainedModel, config: LoraConfig, folder: Path | None = None
) -> PeftModel:
    """The model with an adapter: a saved one, or a new one, which does not change the model yet.

    Adapters have no dropout: with it, the policy that is trained would not be the policy that
    sampled.

    Args:
        model: the base model.
        config: rank, scale and layers of a new adapter.
        folder: a saved adapter; None: make a new one.

    Raises:
        ConfigError: the model has none of the layers.
    """
    if folder is not None:
        return PeftModel.from_pretrained(model, str(folder), is_trainable=True)
    modules = config.target_modules
    adapter = PeftLoraConfig(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=0.0,
        target_modules=modules if isinstance(modules, str) else list(modules),
        use_rslora=config.rank_stabilized,
        use_dora=config.dora,
    )
    try:
        return get_peft_model(model, adapter)
    except ValueError as error:  # peft's, for layers that are not there or of another kind
        layers = {
            name.rpartition(".")[2]
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear | Conv1D)
        }
        raise ConfigError(
            f"model.lora.target_modules: {first_line(error)}; linear layers of "
            f"{type(model).__name__} are {', '.join(sorted(layers))}"
        ) from error


def has_adapter(model: PreTrainedModel | PeftModel) -> bool:
    """Whether the model has an adapter, and so trains nothing else."""
    return isinstance(model, PeftModel)


def causal_model(model: PreTrainedModel | PeftModel) -> PreTrainedModel:
    """The causal language model itself, without peft's wrapper; an adapter lives in its layers."""
    return model.get_base_model() if has_adapter(model) else model


def merged(model: PeftModel) -> PreTrainedModel:
    """A copy of the base model with the adapter added to its weights."""
    return copy.deepcopy(model).merge_and_unload()


def merged_layer(layer: BaseTunerLayer, values: Mapping[str, Tensor]) -> nn.Module:
    """A layer of the base model with its adapter added; the layer itself is left as it is.

    Args:
        layer: a layer that has an adapter.
        values: the whole value of each of its parameters, by name; a sharded layer has parts.
    """
    # A parameter that is in the memo is taken from there and not copied.
    memo = {
        id(parameter): nn.Parameter(values[name], requires_grad=False)
        for name, parameter in layer.named_parameters()
    }
    whole: Any = copy.deepcopy(layer, memo)
    # Without `safe_merge` peft would add to `values` in place, which may be the layer's own memory.
    whole.merge(safe_merge=True)
    base: nn.Module = whole.get_base_layer()
    return base


def adapted_layers(model: PreTrainedModel | PeftModel) -> dict[str, BaseTunerLayer]:
    """The layers that have an adapter, by their names in the base model."""
    return {
        name: module
        for name, module in causal_model(model).named_modules()
        if isinstance(module, BaseTunerLayer)
    }


def is_quantized(model: PreTrainedModel | PeftModel) -> bool:
    """Whether weights of the model are stored as packed integers."""
    return any(not weight.is_floating_point() for weight in model.parameters())


@contextmanager
def base_model(model: PeftModel) -> Iterator[PeftModel]:
    """Inside, the model computes without its adapter."""
    layers = list(adapted_layers(model).values())
    # peft's own context also switches gradients off and on again. A sharded layer that is gathered
    # in between would get them back on its gathered copy alone, and would not be trained.
    for layer in layers:
        layer._disable_adapters = True
    try:
        yield model
    finally:
        for layer in layers:
            layer._disable_adapters = False
