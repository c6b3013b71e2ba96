"""Runs that go back to an earlier checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.trainer_client.runs import run_config
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import TrainingStopped
from trainer_client.learner import make_learner
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.run.checkpoint_choice import choose_checkpoint
from trainer_client.run.go_back import go_back_to
from trainer_client.run.json_lines import read_lines
from trainer_client.run.rollout_log import rollouts_path
from trainer_client.train import train

EVERY = {"checkpoint_every_steps": 1, "keep_checkpoints": None}


def weights(run_dir: Path) -> dict[str, torch.Tensor]:
    return load_file(run_dir / "model" / "model.safetensors")


@pytest.mark.slow
def test_a_run_goes_on_from_an_earlier_step_as_if_nothing_had_come_after(
    task: Path, tmp_path: Path
) -> None:
    """Weights, metrics and checkpoints are those of a run that never went on; the rest is kept."""
    run_dir = tmp_path / "run"
    config = run_config(task, run_dir, train={"steps": 4, **EVERY})
    train(config)
    before = weights(run_dir)
    later = rollouts_path(run_dir, 3).read_text()
    train(config, resume=True, resume_from="2")
    after = weights(run_dir)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert [row["step"] for row in read_lines(run_dir / "metrics.jsonl")] == [1, 2, 3, 4]
    assert [one.step for one in list_checkpoints(run_dir)] == [1, 2, 3, 4]
    kept = run_dir / "given_up" / "1"
    assert {path.name for path in (kept / "checkpoints").iterdir()} == {
        "step_000003",
        "step_000004",
    }
    assert (kept / "rollouts" / "step_000003.jsonl").read_text() == later
    assert len(read_lines(kept / "metrics.jsonl")) == 4


@pytest.mark.slow
def test_a_run_that_drifted_goes_on_from_its_last_good_step_with_other_settings(
    task: Path, tmp_path: Path
) -> None:
    """The message of the stop names the way; a lower rate leads past the step of the stop."""
    settings: dict[str, Any] = {
        "loss": {"kl_coefficient": 1e-6},
        "guards": {"stop_if_kl_above": 0.08},
    }
    run_dir = tmp_path / "run"
    config = run_config(task, run_dir, train={"steps": 20, **EVERY}, **settings)
    with pytest.raises(TrainingStopped, match="--resume --from last_good") as stopped:
        train(config)
    good = choose_checkpoint(run_dir, "last_good", config).step
    assert f"of step {good}:" in str(stopped.value)
    slower = run_config(
        task,
        run_dir,
        train={"steps": good + 3, **EVERY},
        optimizer={"learning_rate": 1e-6},
        **settings,
    )
    train(slower, resume=True, resume_from="last_good")
    assert list_checkpoints(run_dir)[-1].step == good + 3
    rows = read_lines(run_dir / "metrics.jsonl")
    assert [row["policy/learning_rate"] for row in rows] == [1e-3] * good + [1e-6] * 3


@pytest.mark.slow
def test_going_back_twice_keeps_both(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    config = run_config(task, run_dir, train={"steps": 2, **EVERY})
    train(config)
    for number in (1, 2):
        train(config, resume=True, resume_from="1")
        assert (run_dir / "given_up" / str(number) / "checkpoints" / "step_000002").is_dir()


@pytest.mark.slow
def test_going_back_to_the_newest_step_moves_nothing(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 2, **EVERY}))
    assert go_back_to(list_checkpoints(run_dir)[-1], run_dir) is None
    assert not (run_dir / "given_up").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("7", r"no checkpoint '7'.* last, best, last_good or one of \[1\]"),
        ("good", r"no checkpoint 'good'"),
        ("best", "never evaluated"),
        ("last_good", r"measured with loss\.kl_coefficient or guards\.measure_kl_every_steps"),
    ],
)
def test_a_checkpoint_that_is_not_there_is_named(
    task: Path, tmp_path: Path, name: str, message: str
) -> None:
    """Nothing is moved."""
    run_dir = tmp_path / "run"
    config = run_config(task, run_dir, train={"steps": 1, **EVERY})
    train(config)
    with pytest.raises(ConfigError, match=message):
        train(config, resume=True, resume_from=name)
    assert not (run_dir / "given_up").exists()


@pytest.mark.slow
def test_a_resumed_run_has_its_new_settings_of_the_optimizer(task: Path, tmp_path: Path) -> None:
    """The rate follows the new schedule at the place where the run stands; moments are kept."""
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 2}))
    optimizer = {
        "learning_rate": 0.004,
        "schedule": "linear",
        "weight_decay": 0.1,
        "betas": [0.8, 0.9],
    }
    config = run_config(task, run_dir, train={"steps": 4}, optimizer=optimizer)
    learner = make_learner(config, list_checkpoints(run_dir)[-1])
    (group,) = learner.optimizer.param_groups
    assert (group["weight_decay"], group["betas"]) == (0.1, (0.8, 0.9))
    assert all(state["step"] == 2 for state in learner.optimizer.state.values())
    learner.close()
    train(config, resume=True)
    rates = [row["policy/learning_rate"] for row in read_lines(run_dir / "metrics.jsonl")]
    assert rates == [0.001, 0.001, 0.002, 0.001]
