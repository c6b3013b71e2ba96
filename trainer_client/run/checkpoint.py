"""Checkpoints: the state from which a run goes on as if it had not stopped.

A checkpoint is a folder `checkpoints/step_000050`. It is a Hugging Face model folder too; under
LoRA, an adapter's folder.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch
from safetensors import SafetensorError, safe_open
from torch import distributed
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from transformers import PreTrainedModel

from trainer_client.config.run_config import ConfigError
from trainer_client.errors import first_line
from trainer_client.policy.policy import Policy
from trainer_client.policy.sharding import (
    is_sharded,
    load_optimizer,
    save_optimizer,
    spread_optimizer,
)
from trainer_client.policy.weights import save_weights, writing_weights
from trainer_client.problem_mix import MixPosition
from trainer_client.run.console import say
from trainer_client.run.run_folder import checkpoint_folder, checkpoint_folders, start_problem
from trainer_client.update.optimizer import resume_schedule

STATE_FILE = "trainer_state.pt"
REFERENCE_FOLDER = "reference"

WriteFiles = Callable[[Path], None]
"""Writes files into a folder."""


@dataclass(frozen=True)
class RandomState:
    """State of torch's generators, which sample completions and shuffle minibatches."""

    cpu: torch.Tensor
    cuda: list[torch.Tensor]

    @classmethod
    def now(cls) -> RandomState:
        """The state at this moment."""
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        return cls(torch.get_rng_state(), cuda)

    def restore(self) -> None:
        """Make the generators go on from this state."""
        torch.set_rng_state(self.cpu)
        if self.cuda and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(self.cuda)


@dataclass(frozen=True)
class Position:
    """The point between two steps at which a run stands."""

    step: int
    """Number of finished steps."""
    next_problem: MixPosition
    """Position of the first problem that has not been taken."""
    random: RandomState


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint on disk."""

    folder: Path
    step: int
    """Number of finished steps."""

    @property
    def reference_folder(self) -> Path | None:
        """Folder of the reference policy; None when that is the start model."""
        folder = self.folder / REFERENCE_FOLDER
        return folder if folder.exists() else None


def save_checkpoint(
    run_dir: Path,
    position: Position,
    *,
    policy: Policy,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    reference: PreTrainedModel | None = None,
    groups: Sequence[WriteFiles] = (),
    entropy_control: dict[str, float] | None = None,
) -> Checkpoint:
    """Write a checkpoint, whole or not at all; an earlier one of the same step is kept instead.

    Args:
        run_dir: folder of the run.
        position: becomes the start of a run that is resumed.
        policy: its weights are kept.
        optimizer: its state is kept.
        scheduler: its state is kept.
        reference: the reference policy; None when it is the start model.
        groups: each writes groups of completions into the folder, for later steps.
        entropy_control: state of the entropy coefficient.

    Raises:
        TrainingError: it cannot be written, as where the disk is full.
    """
    folder = checkpoint_folder(run_dir, position.step)
    if _is_saved(folder):
        return Checkpoint(folder, position.step)
    partial = folder.with_suffix(".partial")
    if is_sharded(policy.model):
        with writing_weights(partial):
            return _save_sharded(
                folder,
                position,
                policy=policy,
                optimizer=optimizer,
                scheduler=scheduler,
                reference=reference,
                groups=groups,
                entropy_control=entropy_control,
            )
    with writing_weights(partial):
        shutil.rmtree(partial, ignore_errors=True)
        policy.save(partial)
        if reference is not None:
            reference.save_pretrained(partial / REFERENCE_FOLDER)
        for write in groups:
            write(partial)
        _save_state(partial, position, scheduler, optimizer, entropy_control)
        _flush(partial)
        os.replace(partial, folder)
    return Checkpoint(folder, position.step)


def _is_saved(folder: Path) -> bool:
    """Whether the first process has saved the checkpoint: others may not see its folder."""
    found = [folder.exists()]
    if distributed.is_initialized():
        distributed.broadcast_object_list(found)
    return found[0]


def _save_sharded(
    folder: Path,
    position: Position,
    *,
    policy: Policy,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    reference: PreTrainedModel | None,
    groups: Sequence[WriteFiles],
    entropy_control: dict[str, float] | None,
) -> Checkpoint:
    """Write a checkpoint of sharded models. Collective.

    The first process writes the whole weights, each process its part of the optimizer's state.
    """
    partial = folder.with_suffix(".partial")
    leads = distributed.get_rank() == 0
    if leads:
        shutil.rmtree(partial, ignore_errors=True)
    policy.save(partial)
    if reference is not None:
        save_weights(reference, partial / REFERENCE_FOLDER)
    save_optimizer(policy.model, optimizer, partial)
    if leads:
        for write in groups:
            write(partial)
        _save_state(partial, position, scheduler, optimizer, entropy_control, sharded=True)
        _flush(partial)
        os.replace(partial, folder)
    distributed.barrier()
    return Checkpoint(folder, position.step)


def _save_state(
    folder: Path,
    position: Position,
    scheduler: LRScheduler,
    optimizer: Optimizer,
    entropy_control: dict[str, float] | None,
    *,
    sharded: bool = False,
) -> None:
    """Write the state of a run; that of a sharded optimizer stands in files of its own."""
    state = {
        "step": position.step,
        "next_problem": [position.next_problem.takes, *position.next_problem.positions],
        "optimizer": None if sharded else optimizer.state_dict(),
        "optimizer_type": type(optimizer).__name__,
        "scheduler": scheduler.state_dict(),
        "entropy_control": entropy_control,
        "cpu_rng": position.random.cpu,
        "cuda_rng": position.random.cuda,
    }
    try:
        torch.save(state, folder / STATE_FILE)
    except RuntimeError as error:  # torch's own form of an error of the file system
        raise OSError(f"{STATE_FILE}: {first_line(error)}") from error


def check_whole(checkpoint: Checkpoint) -> None:
    """Raise ConfigError where files of a checkpoint are missing or cut off.

    A power failure, or a copy that was broken off, leaves such ones.
    """
    folder = checkpoint.folder
    path = folder / STATE_FILE
    try:
        ZipFile(path).close()
        for path in folder.glob("*.safetensors"):
            with safe_open(path, "pt"):
                pass
        for path in folder.glob("*.json"):
            json.loads(path.read_bytes())
    except (OSError, BadZipFile, SafetensorError, ValueError) as error:
        raise ConfigError(
            f"the checkpoint {folder} is damaged: {path.name}: {first_line(error)}. `train "
            "--resume --from STEP` goes on from an earlier one; without any, remove its folder"
        ) from error


def _flush(folder: Path) -> None:
    """Wait until the files are on the disk: a power failure must not empty a whole checkpoint."""
    for path in (*folder.rglob("*"), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            # File systems over a network may have nothing to flush, folders above all.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def remove_checkpoints(run_dir: Path, *, keep: int | None, also: Collection[int] = ()) -> None:
    """Remove all but the newest `keep` (None: all stay) and those of the steps in `also`."""
    old = list_checkpoints(run_dir)[: -keep if keep else 0]
    for checkpoint in old:
        if checkpoint.step not in also:
            # Without the new name, a folder that is half removed when the process is killed would
            # count as a complete checkpoint.
            doomed = checkpoint.folder.with_suffix(".partial")
            shutil.rmtree(doomed, ignore_errors=True)
            os.replace(checkpoint.folder, doomed)
            shutil.rmtree(doomed)


def list_checkpoints(run_dir: Path) -> list[Checkpoint]:
    """The complete checkpoints of a run, oldest first."""
    return [
        Checkpoint(folder, int(folder.name.removeprefix("step_")))
        for folder in checkpoint_folders(run_dir)
    ]


def checkpoint_to_resume(
    run_dir: Path, *, resume: bool, has_store: bool = False
) -> Checkpoint | None:
    """The newest checkpoint of a run that goes on; None: the run starts at its first step.

    Raises:
        ConfigError: the folder holds checkpoints that a new run would mix with its own, or no run
            to resume.
    """
    problem = start_problem(run_dir, resume=resume, has_store=has_store)
    if problem is not None:
        raise ConfigError(f"output_dir {problem}")
    checkpoints = list_checkpoints(run_dir)
    if resume and not checkpoints:
        say(f"{run_dir} holds no checkpoint yet: starting from the beginning")
    return checkpoints[-1] if checkpoints else None


def restore_training_state(
    checkpoint: Checkpoint,
    *,
    model: PreTrainedModel,
    optimizer: Optimizer,
    scheduler: LRScheduler,
) -> None:
    """Restore the optimizer's moments and the schedule's place, for any number of processes.

    Learning rate, schedule and the other settings stay those that the two were made with: a run
    that goes on may have new ones.
    """
    state = _state(checkpoint)
    settings = [
        {name: value for name, value in group.items() if name != "params"}
        for group in optimizer.param_groups
    ]
    rates = [float(rate) for rate in scheduler.base_lrs]
    kept_by = state.get("optimizer_type", "AdamW")
    if kept_by != type(optimizer).__name__:
        raise ConfigError(
            f"optimizer.type: {checkpoint.folder} has the state of {kept_by}, which "
            f"{type(optimizer).__name__} cannot go on from: keep the type, or start another run "
            "from the trained weights"
        )
    if state["optimizer"] is None:
        load_optimizer(model, optimizer, checkpoint.folder)
    elif is_sharded(model):
        spread_optimizer(model, optimizer, state["optimizer"])
    else:
        optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    for group, own in zip(optimizer.param_groups, settings, strict=True):
        group.update(own)
    resume_schedule(scheduler, rates)


def position_of(checkpoint: Checkpoint) -> Position:
    """The position at which the checkpoint was written."""
    state = _state(checkpoint)
    random = RandomState(state["cpu_rng"], state["cuda_rng"])
    takes, *positions = state["next_problem"]
    return Position(checkpoint.step, MixPosition(takes, tuple(positions)), random)


def entropy_state(checkpoint: Checkpoint) -> dict[str, float] | None:
    """State of the entropy coefficient when the checkpoint was written."""
    state: dict[str, float] | None = _state(checkpoint)["entropy_control"]
    return state


def _state(checkpoint: Checkpoint) -> dict[str, Any]:
    state: dict[str, Any] = torch.load(
        checkpoint.folder / STATE_FILE, map_location="cpu", weights_only=True
    )
    return state
