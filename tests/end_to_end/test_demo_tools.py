"""The demonstration of tools: its data, its lying tool, and a short form of the whole."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainer_client.demo.demo_task import LYING_TOOLS, TOOLS, DemoTask
from trainer_client.demo.lying_tool import LyingTool
from trainer_client.demo.run_demo import run_demo, write_grpo_config
from trainer_client.demo.tools_task import CALL_CLOSING, CALL_OPENING, make_tokenizer, write_data
from trainer_client.problems import Problem


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_held_out_products_are_in_no_training_set(tmp_path: Path) -> None:
    write_data(tmp_path / "data", num_held_out=100, seed=0)
    held_out = {row["problem"] for row in rows(tmp_path / "data" / "held_out.jsonl")}
    train = {row["problem"] for row in rows(tmp_path / "data" / "train.jsonl")}
    shown = rows(tmp_path / "data" / "demonstrations.jsonl")
    asked = {row["problem"][0]["content"] for row in shown}
    assert len(held_out) == 100
    assert asked == train
    assert held_out & train == set()
    calls = sum(str(row["completion"]).startswith(CALL_OPENING) for row in shown)
    assert 0.2 < calls / len(train) < 0.3


def test_an_estimate_is_never_the_product(tmp_path: Path) -> None:
    write_data(tmp_path / "data", num_held_out=0, seed=0)
    answers = {row["problem"]: row["answer"] for row in rows(tmp_path / "data" / "train.jsonl")}
    estimates = {
        row["problem"][0]["content"]: row["completion"]
        for row in rows(tmp_path / "data" / "demonstrations.jsonl")
        if len(row["problem"]) == 1 and CALL_OPENING not in str(row["completion"])
    }
    right = sum(text == f"<answer>{answers[asked]}</answer>" for asked, text in estimates.items())
    assert len(estimates) > 5000
    assert right == 0


def test_the_frame_of_a_call_is_two_tokens() -> None:
    tokenizer = make_tokenizer()
    text = f"{CALL_OPENING}12*34{CALL_CLOSING}"
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert len(ids) == 2 + len("12*34")
    assert tokenizer.decode(ids) == text


def test_the_lying_tool_is_wrong_each_time_and_the_same_each_time() -> None:
    tool = LyingTool()
    problem = Problem("1", ({"role": "user", "content": "12*34=?"},), {"answer": "408"})
    assert tool.reset(problem) == problem.messages
    for one, other in ((12, 34), (99, 99), (57, 20)):
        message = {"role": "assistant", "content": f"{CALL_OPENING}{one}*{other}{CALL_CLOSING}"}
        observation, done, extra = tool.step(message)
        assert observation[0]["content"] != str(one * other)
        assert tool.step(message)[0] == observation
        assert (done, extra) == (False, {"calls": 1, "failed_calls": 0})
    assert tool.step({"role": "assistant", "content": "<answer>1</answer>"}) == (None, True, {})


@pytest.mark.parametrize("task", [TOOLS, LYING_TOOLS])
def test_the_configuration_of_the_run_is_valid(tmp_path: Path, task: DemoTask) -> None:
    config = write_grpo_config(tmp_path, url="http://127.0.0.1:1", seed=0, task=task)
    assert config.rollout.environment is not None
    assert [one.weight for one in config.reward.verifiers] == [1.0, 0.1]


def test_the_lying_tool_is_of_the_demonstration_of_tools() -> None:
    command = [sys.executable, "-m", "trainer_client", "demo", "--lying-tool"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "--lying-tool is of the demonstration tools" in refused.stderr


@pytest.mark.slow
def test_the_model_learns_to_call_the_tool(tmp_path: Path) -> None:
    """A short form, compared over 384 episodes of training, which say more than 100 held out."""
    task = replace(TOOLS, sft_steps=160, learning_rate=5e-4, steps=8, num_samples=1)
    run_demo(tmp_path / "demo", seed=0, task=task)
    steps = [row for row in rows(tmp_path / "demo/grpo/metrics.jsonl") if "episode/calls" in row]
    assert len(steps) == 8
    rises = {
        name: mean_of(name, steps[-3:]) - mean_of(name, steps[:3])
        for name in ("episode/calls", "reward/accuracy")
    }
    assert {name for name, rise in rises.items() if rise < 0.1} == set(), rises


def mean_of(name: str, steps: list[dict[str, Any]]) -> float:
    return float(sum(step[name] for step in steps) / len(steps))
