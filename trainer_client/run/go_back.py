"""A run that goes back to an earlier checkpoint: what it did after that is moved aside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from trainer_client.run.checkpoint import Checkpoint, list_checkpoints
from trainer_client.run.json_lines import read_lines
from trainer_client.run.rollout_log import rollouts_path


def go_back_to(checkpoint: Checkpoint, run_dir: Path) -> Path | None:
    """Move what a run did after a checkpoint aside, so that the run can go on from it.

    Returns:
        The folder with the later checkpoints, the later rollouts and all metrics; None: there was
        nothing later.
    """
    later = [one for one in list_checkpoints(run_dir) if one.step > checkpoint.step]
    history = read_lines(run_dir / "metrics.jsonl")
    last_step = max((int(row["step"]) for row in history), default=0)
    if not later and last_step <= checkpoint.step:
        return None
    parent = run_dir / "given_up"
    folder = parent / str(1 + len(list(parent.glob("*"))))
    (folder / "checkpoints").mkdir(parents=True)
    shutil.copy(run_dir / "metrics.jsonl", folder)
    for step in range(checkpoint.step + 1, last_step + 1):
        path = rollouts_path(run_dir, step)
        if path.exists():
            (folder / path.parent.name).mkdir(exist_ok=True)
            os.replace(path, folder / path.parent.name / path.name)
    # Newest first: a run that is killed in between goes on from the newest that is left.
    for one in reversed(later):
        os.replace(one.folder, folder / "checkpoints" / one.folder.name)
    return folder
