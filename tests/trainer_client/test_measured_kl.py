"""The KL to the start policy, measured where it is not in the loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.errors import TrainingStopped
from trainer_client.train import train
from trainer_client.update import measured_kl

MEASURED: dict[str, Any] = {"guards": {"measure_kl_every_steps": 2, "stop_if_kl_above": None}}


def kls(run_dir: Path) -> dict[int, float]:
    """The measured KLs by their steps."""
    rows = metrics(run_dir)
    key = "policy/kl_divergence"
    return {int(row["step"]): row[key] for row in rows if key in row}


@pytest.mark.slow
def test_it_is_measured_every_so_many_steps_and_changes_nothing(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(run_config(task, tmp_path / "plain"))
    assert "the KL is not measured while loss.kl_coefficient is 0" in capsys.readouterr().out
    train(run_config(task, tmp_path / "measured", **MEASURED))
    assert "the KL is not measured" not in capsys.readouterr().out
    assert kls(tmp_path / "plain") == {}
    measured = kls(tmp_path / "measured")
    assert sorted(measured) == [2, 4]
    assert 0 < measured[2] < measured[4]
    assert same(weights(tmp_path / "plain" / "model"), weights(tmp_path / "measured" / "model"))


@pytest.mark.slow
def test_it_is_the_value_that_a_kl_in_the_loss_has(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All completions are measured here; a coefficient of 1e-30 moves no weight."""
    monkeypatch.setattr(measured_kl, "KL_SAMPLE_STRIDE", 1)
    train(run_config(task, tmp_path / "measured", **MEASURED))
    guards = {"stop_if_kl_above": None}
    train(run_config(task, tmp_path / "loss", loss={"kl_coefficient": 1e-30}, guards=guards))
    in_loss = kls(tmp_path / "loss")
    for number, value in kls(tmp_path / "measured").items():
        assert value == pytest.approx(in_loss[number], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("model", [{}, {"lora": {"rank": 4}}], ids=["all", "lora"])
def test_a_resumed_run_measures_to_the_same_start(
    task: Path, tmp_path: Path, model: dict[str, Any]
) -> None:
    train(run_config(task, tmp_path / "whole", model=model, **MEASURED))
    train(run_config(task, tmp_path / "parts", model=model, train={"steps": 3}, **MEASURED))
    train(run_config(task, tmp_path / "parts", model=model, **MEASURED), resume=True)
    assert kls(tmp_path / "parts") == kls(tmp_path / "whole")
    assert same(weights(tmp_path / "parts" / "model"), weights(tmp_path / "whole" / "model"))


def test_the_limit_acts_on_it(task: Path, tmp_path: Path) -> None:
    guards = {"measure_kl_every_steps": 2, "stop_if_kl_above": 1e-9}
    with pytest.raises(TrainingStopped, match=r"stopped after step 2: policy/kl_divergence is"):
        train(run_config(task, tmp_path / "run", guards=guards))
