"""A run as the files of its folder tell it, finished or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_client.config.run_config import Config, load_config
from trainer_client.errors import TrainerError
from trainer_client.run.json_lines import read_lines

STEP_OF_MODEL = Path("model", "trained_steps")
"""File with the number of steps that `model/` was trained; the last file of the folder to appear.

A folder without it holds no model, or one that was not written to its end.
"""


class ReportError(TrainerError):
    """The folder holds no run to report on."""


@dataclass(frozen=True)
class LoggedRun:
    """The configuration and the records of a run."""

    folder: Path
    config: Config
    config_text: str
    history: list[dict[str, float]]
    """Rows of `metrics.jsonl`, oldest first; step 0 is the evaluation before training."""
    warnings: list[dict[str, Any]]
    """`step` and `message` of each; that of a stop has `stopped`."""
    starts: list[dict[str, Any]]
    """Rows of `starts.jsonl`; empty for a run of an older version."""
    finished: bool
    """Whether its model has been written."""

    @classmethod
    def read(cls, folder: Path) -> LoggedRun:
        """The run in a folder.

        Raises:
            ReportError: the folder holds no run.
            ConfigError: its configuration cannot be read.
        """
        path = folder / "config.yaml"
        if not path.exists() or not (folder / "metrics.jsonl").exists():
            raise ReportError(f"{folder} holds no run: expected config.yaml and metrics.jsonl")
        return cls(
            folder,
            load_config(path),
            path.read_text(),
            history=read_lines(folder / "metrics.jsonl"),
            warnings=read_lines(folder / "warnings.jsonl"),
            starts=read_lines(folder / "starts.jsonl"),
            finished=(folder / STEP_OF_MODEL).exists(),
        )

    @property
    def steps(self) -> list[dict[str, float]]:
        """The rows of finished steps."""
        return [row for row in self.history if row["step"] > 0]

    @property
    def last_step(self) -> int:
        """The newest finished step; 0 before the first."""
        return int(self.history[-1]["step"]) if self.history else 0

    @property
    def stop(self) -> str | None:
        """Why the run ended before its last step; None while it may still be going on."""
        if self.finished or not self.warnings:
            return None
        last = self.warnings[-1]
        is_newest = last.get("stopped", False) and last["step"] >= self.last_step
        return str(last["message"]) if is_newest else None

    def values(self, name: str) -> dict[int, float]:
        """The values of a metric by step."""
        return {int(row["step"]): row[name] for row in self.history if name in row}
