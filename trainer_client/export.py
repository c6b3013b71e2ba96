"""A model folder from a checkpoint, with adapters merged, in the number format for serving."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch

from trainer_client.config.run_config import ConfigError, load_config
from trainer_client.evaluate import best_step
from trainer_client.policy.lora import has_adapter
from trainer_client.policy.policy import load_policy
from trainer_client.run.checkpoint import Checkpoint, list_checkpoints
from trainer_client.run.json_lines import read_lines

Dtype = Literal["float32", "bfloat16"]


def export(
    run_dir: Path, output: Path, *, checkpoint: str, dtype: Dtype | None = None
) -> Checkpoint:
    """Write a checkpoint's model and tokenizer in Hugging Face format (safetensors).

    Args:
        run_dir: folder of a run that has a checkpoint.
        output: folder to make. A LoRA run's gets the merged model and, in `adapter/`, the adapter
            alone.
        checkpoint: `last`, `best` (by evaluation), or the number of a step.
        dtype: number format of the weights; None: the one they were trained in.

    Returns:
        The checkpoint that was exported.

    Raises:
        ConfigError: the run or the checkpoint does not exist, or the output does.
    """
    if output.exists():
        raise ConfigError(f"{output} exists; choose another folder")
    config = load_config(run_dir / "config.yaml")
    chosen = _choose(
        run_dir, checkpoint, best_step(read_lines(run_dir / "metrics.jsonl"), config.evaluation)
    )
    policy = load_policy(
        config.model.model_copy(update={"device": "cpu", "quantization": None}), chosen.folder
    )
    if has_adapter(policy.model):
        policy.model.save_pretrained(output / "adapter")
    if dtype is not None:
        policy.model.to(getattr(torch, dtype))
    policy.save_merged(output)
    return chosen


def _choose(run_dir: Path, name: str, best: int | None) -> Checkpoint:
    checkpoints = list_checkpoints(run_dir)
    steps = [checkpoint.step for checkpoint in checkpoints]
    if not checkpoints:
        raise ConfigError(f"{run_dir} has no checkpoint")
    if name == "last":
        return checkpoints[-1]
    if name == "best" and best is None:
        raise ConfigError(f"{run_dir} was never evaluated, so none of {steps} is the best")
    wanted = best if name == "best" else int(name) if name.isdecimal() else None
    if wanted not in steps:
        raise ConfigError(
            f"there is no checkpoint {name!r} in {run_dir}: expected last, best or one of {steps}"
        )
    return checkpoints[steps.index(wanted)]
