"""A model folder from a checkpoint, with adapters merged, in the number format for serving."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from transformers.utils import ADAPTER_CONFIG_NAME

from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import ConfigError, load_config
from trainer_client.errors import writing
from trainer_client.given_objects import is_given
from trainer_client.policy.chat import load_tokenizer
from trainer_client.policy.lora import has_adapter
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.policy.weights import writing_weights
from trainer_client.run.checkpoint import Checkpoint, check_whole
from trainer_client.run.checkpoint_choice import choose_checkpoint

Dtype = Literal["float32", "bfloat16"]


def export(
    run_dir: Path, output: Path, *, checkpoint: str, dtype: Dtype | None = None
) -> Checkpoint:
    """Write a checkpoint's model and tokenizer in Hugging Face format (safetensors).

    Args:
        run_dir: folder of a run that has a checkpoint.
        output: folder to make. A LoRA run's gets the merged model and, in `adapter/`, the adapter
            alone.
        checkpoint: its name, see `choose_checkpoint`.
        dtype: number format of the weights; None: the one they were trained in.

    Returns:
        The checkpoint that was exported.

    Raises:
        ConfigError: the run or the checkpoint does not exist, or the output does.
        TrainerError: the output cannot be made or written.
    """
    if output.exists():
        raise ConfigError(f"{output} exists; choose another folder")
    config = load_config(run_dir / "config.yaml")
    chosen = choose_checkpoint(run_dir, checkpoint, config)
    check_whole(chosen)
    policy = _policy_of(config.model, chosen)
    with writing(output):
        output.mkdir(parents=True)
    with writing_weights(output):
        if has_adapter(policy.model):
            policy.model.save_pretrained(output / "adapter")
        if dtype is not None:
            policy.model.to(getattr(torch, dtype))
        policy.save_merged(output)
    return chosen


def _policy_of(config: ModelConfig, checkpoint: Checkpoint) -> Policy:
    """The policy of a checkpoint, on the CPU; raises ConfigError.

    A model that a script gave is no longer there. The checkpoint is a whole model, or it names the
    base of its adapter; the tokenizer is in it.
    """
    config = config.model_copy(update={"device": "cpu", "quantization": None})
    if not is_given(config.path):
        return load_policy(config, checkpoint.folder)
    whole = config.model_copy(update={"path": str(checkpoint.folder)})
    if config.lora is None:
        return load_policy(whole, checkpoint.folder)
    adapter = json.loads((checkpoint.folder / ADAPTER_CONFIG_NAME).read_text())
    base = config.model_copy(update={"path": adapter["base_model_name_or_path"] or config.path})
    return replace(load_policy(base, checkpoint.folder), tokenizer=load_tokenizer(whole))
