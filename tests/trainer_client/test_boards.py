"""Places beside `metrics.jsonl` where a run shows its metrics, without a network."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import metrics, run_config
from trainer_client.config.run_config import ConfigError
from trainer_client.run.boards import MLflow, _table, open_boards
from trainer_client.run.json_lines import read_lines
from trainer_client.run.metrics import MetricsLog
from trainer_client.train import train


class Recorder:
    """A board in a list; it fails in the step that is asked for."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.steps: list[int] = []
        self._fails_at = fails_at

    def draw(self, step: int, metrics: Mapping[str, float]) -> None:
        """See `Board`."""
        if step == self._fails_at:
            raise ConnectionError("no route to host")
        self.steps.append(step)

    def show_rollouts(self, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `Board`."""

    def close(self) -> None:
        """See `Board`."""


def test_a_board_that_fails_ends_no_run(tmp_path: Path) -> None:
    """The others go on, and the warning says which one and why."""
    good, bad = Recorder(), Recorder(fails_at=2)
    with MetricsLog(
        tmp_path,
        title="t",
        num_steps=3,
        log_every_steps=1,
        console_keys={},
        boards={"mlflow": bad, "wandb": good},
    ) as log:
        for step in (1, 2, 3):
            log.log(step, {"reward/total": 1.0})
    assert (good.steps, bad.steps) == ([1, 2, 3], [1])
    (warning,) = read_lines(tmp_path / "warnings.jsonl")
    assert warning == {
        "step": 2,
        "message": "logging: mlflow has failed and gets nothing more: no route to host",
    }


def test_a_package_that_is_missing_is_named_before_anything_is_sampled(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    config = run_config(task, tmp_path / "run", logging=["tensorboard", "wandb"])
    with pytest.raises(ConfigError, match=r"logging needs the package wandb, .* pip install wandb"):
        train(config)


def test_tensorboard_is_left_out_where_it_is_not_named(task: Path, tmp_path: Path) -> None:
    train(run_config(task, tmp_path / "run", logging=[], train={"steps": 1}))
    assert not (tmp_path / "run" / "tensorboard").exists()
    assert len(metrics(tmp_path / "run")) == 1


def test_one_board_needs_no_list_and_none_is_opened_twice(task: Path, tmp_path: Path) -> None:
    assert run_config(task, tmp_path / "a", logging="mlflow").logging == ("mlflow",)
    twice = run_config(task, tmp_path / "b", logging=["wandb", "wandb"])
    assert twice.logging == ("wandb",)
    with pytest.raises(ConfigError, match=r"logging\.0: Input should be 'tensorboard', 'wandb'"):
        run_config(task, tmp_path / "c", logging=["wand"])


def test_a_table_has_a_column_for_each_source() -> None:
    row = {"step": 1, "id": "a", "prompt": "p", "completion": "c", "reward": None, "advantage": 0.0}
    rows = [
        {**row, "verdicts": {"accuracy": {"score": 1.0}}},
        {**row, "verdicts": {"code": {"outcome": "failed"}}},
    ]
    columns, data = _table(rows)
    assert columns[-2:] == ["accuracy", "code"]
    assert [line[-2:] for line in data] == [[1.0, None], [None, None]]


def resumed(task: Path, run_dir: Path, board: str) -> dict[str, str]:
    """A run of two steps and one more; the ids of its boards."""
    train(run_config(task, run_dir, logging=[board], train={"steps": 2}))
    first = json.loads((run_dir / "boards.json").read_text())
    train(run_config(task, run_dir, logging=[board], train={"steps": 3}), resume=True)
    assert json.loads((run_dir / "boards.json").read_text()) == first
    assert read_lines(run_dir / "warnings.jsonl") == [
        row for row in read_lines(run_dir / "warnings.jsonl") if "logging:" not in row["message"]
    ]
    return {name: str(value) for name, value in first.items()}


@pytest.mark.filterwarnings("default")
def test_mlflow_has_every_step_and_the_completions(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlflow", reason="pip install mlflow-skinny")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{tmp_path}/mlruns")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    ids = resumed(task, tmp_path / "run", "mlflow")
    board = open_boards(
        run_config(task, tmp_path / "run", logging=["mlflow"]), tmp_path / "run", first_step=3
    )["mlflow"]
    assert isinstance(board, MLflow)
    client = board._client
    history = client.get_metric_history(ids["mlflow"], "reward/total")
    assert [(one.step, one.value) for one in history] == [
        (row["step"], row["reward/total"]) for row in metrics(tmp_path / "run")
    ]
    artifacts = tmp_path / "mlruns"
    (table,) = artifacts.rglob("rollouts/step_000003.json")
    assert len(json.loads(table.read_text())["data"]) == 16
    board.close()


@pytest.mark.filterwarnings("default")
def test_wandb_keeps_a_run_without_a_network(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb", reason="pip install wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    ids = resumed(task, tmp_path / "run", "wandb")
    files = list((tmp_path / "run" / "wandb").rglob(f"run-{ids['wandb']}.wandb"))
    assert len(files) == 2
    assert all(b"reward/total" in file.read_bytes() for file in files)
    assert any(b"rollouts" in file.read_bytes() for file in files)


@pytest.mark.filterwarnings("default")
def test_trackio_keeps_a_run_on_this_machine(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))  # read when it is imported
    pytest.importorskip("trackio", reason="pip install trackio")
    assert resumed(task, tmp_path / "run", "trackio") == {"trackio": "run"}
    (database,) = (tmp_path / "trackio").rglob("*.db")
    with sqlite3.connect(database) as connection:
        rows = connection.execute("select step, metrics from metrics order by id").fetchall()
    logged: dict[int, dict[str, Any]] = {step: {} for step, _ in rows}
    for step, text in rows:
        logged[step] |= json.loads(text)
    assert [logged[int(row["step"])]["reward/total"] for row in metrics(tmp_path / "run")] == [
        row["reward/total"] for row in metrics(tmp_path / "run")
    ]
    assert all("rollouts" in row for row in logged.values())
