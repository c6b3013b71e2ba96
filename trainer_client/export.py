"""A model folder from a checkpoint, with adapters merged, in the number format for serving."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch

from trainer_client.config.run_config import ConfigError, load_config
from trainer_client.errors import writing
from trainer_client.policy.lora import has_adapter
from trainer_client.policy.policy import load_policy
from trainer_client.policy.weights import writing_weights
from trainer_client.run.checkpoint import Checkpoint
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
    policy = load_policy(
        config.model.model_copy(update={"device": "cpu", "quantization": None}), chosen.folder
    )
    with writing(output):
        output.mkdir(parents=True)
    with writing_weights(output):
        if has_adapter(policy.model):
            policy.model.save_pretrained(output / "adapter")
        if dtype is not None:
            policy.model.to(getattr(torch, dtype))
        policy.save_merged(output)
    return chosen
