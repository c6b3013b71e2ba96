"""Model folders from checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import TrainerError
from trainer_client.export import export
from trainer_client.run.checkpoint_choice import best_step
from trainer_client.train import train


@pytest.fixture(scope="module")
def finished_run(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two steps, a checkpoint after each, both evaluated."""
    run_dir = tmp_path_factory.mktemp("export") / "run"
    held_out = {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None}
    evaluation = {"dataset": held_out, "every_steps": 1, "num_samples": 1, "k": [1]}
    train(
        run_config(
            task,
            run_dir,
            "accuracy",
            train={"steps": 2, "checkpoint_every_steps": 1},
            evaluation=evaluation,
        )
    )
    return run_dir


def test_the_last_checkpoint_is_the_trained_model(finished_run: Path, tmp_path: Path) -> None:
    assert export(finished_run, tmp_path / "out", checkpoint="last").step == 2
    assert same(weights(tmp_path / "out"), weights(finished_run / "model"))
    assert (tmp_path / "out" / "tokenizer.json").exists()


def test_the_best_checkpoint_is_the_one_that_evaluated_best(
    finished_run: Path, tmp_path: Path
) -> None:
    passed = [row["evaluation/pass@1"] for row in metrics(finished_run)[1:]]
    chosen = export(finished_run, tmp_path / "out", checkpoint="best")
    assert chosen.step == passed.index(max(passed)) + 1


def test_of_equally_good_steps_the_first_is_the_best(task: Path, tmp_path: Path) -> None:
    dataset = {"path": "held_out.jsonl"}
    config = run_config(task, tmp_path / "run", "accuracy", evaluation={"dataset": dataset})
    rows = [{"step": step, "evaluation/pass@1": 0.5} for step in (0.0, 2.0, 4.0)]
    assert best_step(rows, config.evaluation) == 2


def test_weights_are_written_in_the_format_that_is_asked_for(
    finished_run: Path, tmp_path: Path
) -> None:
    export(finished_run, tmp_path / "out", checkpoint="1", dtype="bfloat16")
    assert {tensor.dtype for tensor in weights(tmp_path / "out").values()} == {torch.bfloat16}


def test_a_checkpoint_that_is_not_there_is_named(finished_run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no checkpoint '7'.*one of \[1, 2\]"):
        export(finished_run, tmp_path / "out", checkpoint="7")


def test_a_folder_that_exists_is_not_written_over(finished_run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="exists; choose another folder"):
        export(finished_run, tmp_path, checkpoint="last")


def test_a_folder_that_cannot_be_made_is_named(finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TrainerError, match=r"cannot write .*/file/out: Not a directory"):
        export(finished_run, tmp_path / "file" / "out", checkpoint="last")
