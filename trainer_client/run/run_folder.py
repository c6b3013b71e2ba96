"""The folder of a run before the run starts; no torch is needed to look at it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from trainer_client.config.run_config import Config, config_changes


def checkpoint_folders(run_dir: Path) -> list[Path]:
    """The folders of complete checkpoints, oldest first."""
    folder = run_dir / "checkpoints"
    return [folder / name for name in checkpoint_names(one.name for one in folder.glob("*"))]


def checkpoint_names(names: Iterable[str]) -> list[str]:
    """The names of checkpoints among others, oldest first.

    >>> checkpoint_names(["step_1000000", "step_999999", "step_000001.part"])
    ['step_999999', 'step_1000000']
    """
    numbers = {name: name.removeprefix("step_") for name in names if name.startswith("step_")}
    steps = {name: int(number) for name, number in numbers.items() if number.isdecimal()}
    return sorted(steps, key=lambda name: steps[name])


def checkpoint_folder(run_dir: Path, step: int) -> Path:
    """The folder of the checkpoint after so many steps."""
    return run_dir / "checkpoints" / f"step_{step:06d}"


def start_problem(run_dir: Path, *, resume: bool, has_store: bool = False) -> str | None:
    """The reason why a run cannot start in the folder; None: it can.

    Args:
        run_dir: the folder.
        resume: whether the run is meant to go on from its newest checkpoint.
        has_store: whether checkpoints are elsewhere too. Then a run that is not here may begin: a
            scheduler that starts it cannot know whether it had.
    """
    try:
        there = next(one for one in (run_dir, *run_dir.parents) if one.exists())
    except PermissionError as error:
        return f"{run_dir} cannot be reached: there is no permission for {error.filename}"
    if not there.is_dir():
        return f"{run_dir} needs a folder, and {there} is a file"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{run_dir} cannot be written: there is no permission for {there}"
    has_checkpoints = bool(checkpoint_folders(run_dir))
    if has_checkpoints and not resume:
        return (
            f"{run_dir} holds checkpoints of a run; go on with --resume (in Python resume=True) or "
            "choose another folder"
        )
    has_run = has_checkpoints or (run_dir / "config.yaml").exists()
    if resume and not has_run and not has_store:
        return f"{run_dir} holds no run to resume"
    return None


def adapter_problem(config: Config) -> str | None:
    """The reason why a run cannot go on with this `model.lora`; None: it can.

    A checkpoint holds the adapter in the form that it was trained in.
    """
    run_dir = config.output_dir
    if not checkpoint_folders(run_dir):
        return None
    changes = config_changes(run_dir / "config.yaml", config)
    changed = [one for one in changes if one.startswith("model.lora")]
    if not changed:
        return None
    return (
        f"{', '.join(changed)}: the checkpoints in {run_dir} are of the former value. Keep it, or "
        "start another run from the weights that `trainer-client export` writes"
    )
