"""The example of docs/environments.md runs as it stands, on the tiny model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.trainer_client.runs import metrics, rollouts
from trainer_client.config.rollout_section import EnvironmentConfig
from trainer_client.config.run_config import load_config
from trainer_client.train import train

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text()
MAX_LINES = 40


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.slow
def test_the_example_is_short_and_trains(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(block("python").splitlines()) < MAX_LINES
    (tmp_path / "guess.py").write_text(block("python"))
    (tmp_path / "guess.yaml").write_text(block("yaml"))
    stops = "rollout.stop=[" + ",".join(f'"{digit}"' for digit in range(10)) + "]"
    overrides = [f"model.path={task}/model", f"dataset.path={task}/data/train.jsonl", stops]
    config = load_config(tmp_path / "guess.yaml", overrides)
    train(config)
    (row,) = (row for row in metrics(tmp_path / "runs" / "guess") if row["step"])
    lines = rollouts(tmp_path / "runs" / "guess", 1)
    assert len(lines) == 8
    assert 0 <= row["reward/environment"] <= 1
    hints = [turn["content"] for line in lines for turn in line["turns"] if turn["role"] == "user"]
    assert {"The number is higher.", "The number is lower."} & set(hints)


def test_every_setting_of_the_page_exists() -> None:
    named = set(re.findall(r"`(?:rollout\.)?environment\.(\w+)`", PAGE))
    assert named
    assert named <= EnvironmentConfig.model_fields.keys()
