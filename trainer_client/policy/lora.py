"""Low-rank adapters, through peft: the base model stays as it is and serves as reference."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peft import LoraConfig as PeftLoraConfig
from peft import PeftModel, get_peft_model
from transformers import PreTrainedModel

from trainer_client.config.sections import LoraConfig


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
    """
    if folder is not None:
        return PeftModel.from_pretrained(model, str(folder), is_trainable=True)
    modules = config.target_modules
    return get_peft_model(
        model,
        PeftLoraConfig(
            task_type="CAUSAL_LM",
            r=config.rank,
            lora_alpha=config.alpha,
            lora_dropout=0.0,
            target_modules=modules if isinstance(modules, str) else list(modules),
        ),
    )


def has_adapter(model: PreTrainedModel | PeftModel) -> bool:
    """Whether the model has an adapter, and so trains nothing else."""
    return isinstance(model, PeftModel)


def causal_model(model: PreTrainedModel | PeftModel) -> PreTrainedModel:
    """The causal language model itself, without peft's wrapper; an adapter lives in its layers."""
    return model.get_base_model() if has_adapter(model) else model


def merged(model: PeftModel) -> PreTrainedModel:
    """A copy of the base model with the adapter added to its weights."""
    return copy.deepcopy(model).merge_and_unload()


@contextmanager
def base_model(model: PeftModel) -> Iterator[PeftModel]:
    """Inside, the model computes without its adapter."""
    with model.disable_adapter():
        yield model
