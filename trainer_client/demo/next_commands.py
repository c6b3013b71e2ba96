"""The commands that go on from a demonstration, as they are typed where it was started.

A container of compose has none of its host's paths and commands, so there they are compose's.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from trainer_client.config.reward_sections import RewardConfig
from trainer_client.demo.demo_task import SUMS, DemoTask

COMPOSE_SERVICE = "TRAINER_COMPOSE_SERVICE"
"""Variable of compose.yaml: the name of the service that the demonstration runs in."""
DEFAULT_URL = RewardConfig().url
"""Address of a service that is started without settings."""


@dataclass(frozen=True)
class NextCommands:
    """Commands on one demonstration."""

    folder: Path
    """Folder of the demonstration, absolute."""
    url: str | None
    """The service that was given to it; None: it started its own, which has ended."""
    compose_service: str | None
    """Name of the service in compose.yaml; None outside of compose."""
    task: DemoTask = SUMS

    @classmethod
    def here(cls, folder: Path, url: str | None, task: DemoTask = SUMS) -> NextCommands:
        """The commands where this process runs."""
        return cls(folder, url, os.environ.get(COMPOSE_SERVICE), task)

    def shown(self, path: Path) -> Path:
        """The path as it is typed: absolute in compose, elsewhere as short as it can be."""
        return path if self.compose_service else min(path, Path(os.path.relpath(path)), key=_length)

    @property
    def resume(self) -> str:
        """Words on how to go on with a run that was stopped."""
        train = f"`{self._trainer('train')} {self.shown(self.folder / 'grpo.yaml')} --resume`"
        return f"start `{self._serve}`, then {train}" if self._needs_service else train

    @property
    def after_the_end(self) -> dict[str, str]:
        """Commands on a finished demonstration, by what they do."""
        run_dir = self.shown(self.folder / "grpo")
        ask = f"{self._trainer('generate')} {run_dir} '{self.task.question}'"
        started = f", while {self._serve} is running" if self._needs_service else ""
        found = {
            "ask it": ask + (started if self.task.has_tools else ""),
            "have its answer scored": f"{ask} --answer {self.task.answer}{started}",
        }
        if self.compose_service is None:
            curves = f"{self._program('tensorboard')} --logdir {run_dir / 'tensorboard'}"
            return {**found, "curves": curves, "all of it on one page": f"{run_dir}/report.html"}
        copy = f"docker compose cp {self.compose_service}:"
        return {
            **found,
            "copy it all": f"{copy}{self.folder} {self.folder.name}",
            "all of it on one page": f"{copy}{run_dir}/report.html report.html",
        }

    @property
    def _needs_service(self) -> bool:
        return self.url is None

    @property
    def _serve(self) -> str:
        return f"{self._program('verifier-service')} serve"

    def _trainer(self, command: str) -> str:
        if self.compose_service:
            return f"docker compose run --rm {self.compose_service} {command}"
        return f"{self._program('trainer-client')} {command}"

    def _program(self, name: str) -> Path:
        return self.shown(Path(sys.executable).parent / name)


def _length(path: Path) -> int:
    return len(str(path))
