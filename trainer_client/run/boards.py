"""Places beside `metrics.jsonl` where a run shows its metrics: TensorBoard, W&B, Trackio, MLflow.

Each package reads its own environment variables (`WANDB_MODE=offline`, `MLFLOW_TRACKING_URI`, ...).
A run that is resumed goes on in the same run of each of them: `boards.json` has their ids.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from torch.utils.tensorboard import SummaryWriter

from trainer_client.config.run_config import BoardName, Config, ConfigError

PROJECT = "reward-verifier"
"""The project or experiment, unless the environment names another."""
MAX_TABLE_ROWS = 64
"""Completions of a step that a table shows."""
IDS_FILE = "boards.json"

Row = Mapping[str, Any]


class Board(Protocol):
    """A place that shows metrics by step."""

    def draw(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add the metrics of a step; further ones of the same step may follow."""
        ...

    def show_rollouts(self, step: int, rows: Sequence[Row]) -> None:
        """Show completions of a step as a table."""
        ...

    def close(self) -> None:
        """Write what is left."""
        ...


class TensorBoard:
    """Files in `tensorboard/` of the run's folder; it has no tables."""

    def __init__(self, run_dir: Path, *, first_step: int) -> None:
        self._writer = SummaryWriter(str(run_dir / "tensorboard"), purge_step=first_step + 1)

    def draw(self, step: int, metrics: Mapping[str, float]) -> None:
        """See `Board`."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def show_rollouts(self, step: int, rows: Sequence[Row]) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """See `Board`."""
        self._writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases; the account is that of `wandb login`."""

    def __init__(self, run_dir: Path, config: Config, known_id: str | None) -> None:
        self._wandb = _imported("wandb")
        self._run = self._wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=os.environ.get("WANDB_NAME", run_dir.name),
            dir=str(run_dir),
            id=known_id,
            resume="allow",
            config=config.model_dump(mode="json"),
        )
        self.id: str = self._run.id
        # W&B's own step must not fall, and the metrics of an evaluation come after those of the
        # step: with an axis of our own both belong to the same step.
        self._run.define_metric("step")
        self._run.define_metric("*", step_metric="step")

    def draw(self, step: int, metrics: Mapping[str, float]) -> None:
        """See `Board`."""
        self._run.log({"step": step, **metrics})

    def show_rollouts(self, step: int, rows: Sequence[Row]) -> None:
        """See `Board`."""
        columns, data = _table(rows)
        self._run.log({"step": step, "rollouts": self._wandb.Table(columns=columns, data=data)})

    def close(self) -> None:
        """See `Board`."""
        self._run.finish()


class Trackio:
    """A run of Trackio, on this machine or in a space (`TRACKIO_SPACE_ID`)."""

    def __init__(self, run_dir: Path, config: Config, known_id: str | None) -> None:
        self._trackio = _imported("trackio")
        self.id = known_id or run_dir.name
        self._run = self._trackio.init(
            project=os.environ.get("TRACKIO_PROJECT", PROJECT),
            name=self.id,
            resume="allow",
            config=config.model_dump(mode="json"),
        )

    def draw(self, step: int, metrics: Mapping[str, float]) -> None:
        """See `Board`."""
        self._run.log(dict(metrics), step=step)

    def show_rollouts(self, step: int, rows: Sequence[Row]) -> None:
        """See `Board`."""
        columns, data = _table(rows)
        table = self._trackio.Table(columns=columns, data=data)
        self._run.log({"rollouts": table}, step=step)

    def close(self) -> None:
        """See `Board`."""
        self._run.finish()


class MLflow:
    """A run of MLflow; tables are JSON files of its artifacts, `rollouts/step_000010.json`."""

    def __init__(self, run_dir: Path, config: Config, known_id: str | None) -> None:
        mlflow = _imported("mlflow")
        self._client = mlflow.MlflowClient()
        if known_id is not None:
            self.id: str = known_id
            self._client.update_run(known_id, status="RUNNING")
            return
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        experiment = self._client.get_experiment_by_name(name)
        experiment_id = (
            self._client.create_experiment(name) if experiment is None else experiment.experiment_id
        )
        run = self._client.create_run(experiment_id, run_name=run_dir.name)
        self.id = run.info.run_id
        self._client.log_dict(self.id, config.model_dump(mode="json"), "config.json")

    def draw(self, step: int, metrics: Mapping[str, float]) -> None:
        """See `Board`."""
        for name, value in metrics.items():
            # "pass@1" has a character that MLflow's names may not have.
            self._client.log_metric(self.id, name.replace("@", "_at_"), value, step=step)

    def show_rollouts(self, step: int, rows: Sequence[Row]) -> None:
        """See `Board`."""
        columns, data = _table(rows)
        table = {"columns": columns, "data": data}
        self._client.log_dict(self.id, table, f"rollouts/step_{step:06d}.json")

    def close(self) -> None:
        """See `Board`."""
        self._client.set_terminated(self.id)


_OTHERS: dict[BoardName, type[WeightsAndBiases] | type[Trackio] | type[MLflow]] = {
    "wandb": WeightsAndBiases,
    "trackio": Trackio,
    "mlflow": MLflow,
}


def open_boards(config: Config, run_dir: Path, *, first_step: int) -> dict[str, Board]:
    """The boards that `logging` names, by name.

    Args:
        config: configuration of the run; each board keeps it.
        run_dir: folder of the run.
        first_step: the step that the run goes on after.

    Raises:
        ConfigError: a package is not installed, or cannot begin, as where nobody is logged in.
    """
    path = run_dir / IDS_FILE
    ids: dict[str, str] = json.loads(path.read_text()) if first_step and path.exists() else {}
    boards: dict[str, Board] = {}
    for name in config.logging:
        if name == "tensorboard":
            boards[name] = TensorBoard(run_dir, first_step=first_step)
            continue
        try:
            board = _OTHERS[name](run_dir, config, ids.get(name))
        except ConfigError:
            raise
        # Each package has its own errors, and they differ by version.
        except Exception as error:
            raise ConfigError(f"logging: {name} cannot begin: {error}") from error
        boards[name], ids[name] = board, board.id
    if ids:
        path.write_text(json.dumps(ids))
    return boards


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"logging needs the package {name}, which cannot be imported ({error}): "
            f"pip install {name}, or leave it out of `logging`"
        ) from error


def _table(rows: Sequence[Row]) -> tuple[list[str], list[list[Any]]]:
    """Names of columns, and a line for each completion, with a column for each source's score."""
    shown = rows[:MAX_TABLE_ROWS]
    sources = list(dict.fromkeys(name for row in shown for name in row["verdicts"]))
    columns = ["step", "id", "prompt", "completion", "reward", "advantage", *sources]
    data = [
        [
            *(row[name] for name in columns[:6]),
            *(row["verdicts"].get(name, {}).get("score") for name in sources),
        ]
        for row in shown
    ]
    return columns, data
