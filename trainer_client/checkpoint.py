"""Checkpoints: everything a run needs to go on as if it had not stopped.

A checkpoint is a folder `checkpoints/step_000050` that also is a Hugging Face model folder.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from trainer_client.policy import Policy

STATE_FILE = "trainer_state.pt"


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint on disk."""

    folder: Path
    step: int
    """Finished optimizer steps."""


def save_checkpoint(
    run_dir: Path,
    step: int,
    *,
    policy: Policy,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    keep: int | None,
) -> Checkpoint:
    """Write a checkpoint, whole or not at all, and remove all but the newest `keep`."""
    folder = run_dir / "checkpoints" / f"step_{step:06d}"
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    policy.save(partial)
    torch.save(
        {
            "step": step,
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "cpu_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        },
        partial / STATE_FILE,
    )
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(partial, folder)
    for old in list_checkpoints(run_dir)[: -keep if keep else 0]:
        shutil.rmtree(old.folder)
    return Checkpoint(folder, step)


def list_checkpoints(run_dir: Path) -> list[Checkpoint]:
    """The complete checkpoints of a run, oldest first."""
    folders = sorted((run_dir / "checkpoints").glob("step_" + "[0-9]" * 6))
    return [Checkpoint(folder, int(folder.name.removeprefix("step_"))) for folder in folders]


def restore_training_state(
    checkpoint: Checkpoint, *, optimizer: Optimizer, scheduler: LRScheduler
) -> None:
    """Put optimizer, schedule and random number generators back as they were."""
    state = torch.load(checkpoint.folder / STATE_FILE, map_location="cpu", weights_only=True)
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["cpu_rng"])
    if state["cuda_rng"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda_rng"])
