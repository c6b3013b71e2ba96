"""Metrics of a step, and which completions they are taken over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from reward_verifier.verdict import Verdict, Verdicts
from trainer_client.config.reward_sections import RewardConfig, RewardFunctionConfig, VerifierConfig
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import Rollout, RolloutGroup
from trainer_client.run.json_lines import read_lines
from trainer_client.run.metrics import MetricsLog, rollout_metrics

FUNCTION = RewardFunctionConfig(path="rewards.py:brief")
BRIEF = Verdict(outcome="unverifiable", reason="not_judged")
RIGHT = Verdict(outcome="scored", score=1.0, reason="equal", seconds=2.0)
FAILED = Verdict(outcome="failed", reason="deadline", seconds=2.0)


def step_metrics(config: RewardConfig, *verdicts: Verdicts) -> dict[str, float]:
    rollout = Rollout((1,), (2,), (0.0,), "x", truncated=False)
    problem = Problem("p", ({"role": "user", "content": "1+1=?"},), {})
    group = ScoredGroup(RolloutGroup(problem, (rollout,) * len(verdicts)), verdicts)
    values = torch.zeros(1, len(verdicts))
    return rollout_metrics(ScoredGroups([group], 1.0, 0.0), values, values, config)


def test_metrics_of_the_service_leave_functions_out() -> None:
    """Their verdicts take no seconds of it and are not its failures."""
    config = RewardConfig(verifiers=(VerifierConfig(type="accuracy"),), functions=(FUNCTION,))
    found = step_metrics(
        config, {"brief": BRIEF, "accuracy": RIGHT}, {"brief": BRIEF, "accuracy": FAILED}
    )
    assert found["verifier/failed_fraction"] == 0.5
    assert found["verifier/unverifiable_fraction"] == 0.0
    assert found["verifier/seconds_p99"] == pytest.approx(2.0)


def test_reasons_of_verdicts_are_counted_for_each_source() -> None:
    config = RewardConfig(verifiers=(VerifierConfig(type="accuracy"),), functions=(FUNCTION,))
    found = step_metrics(
        config, {"brief": BRIEF, "accuracy": RIGHT}, {"brief": BRIEF, "accuracy": FAILED}
    )
    assert {name: value for name, value in found.items() if name.startswith("reason/")} == {
        "reason/accuracy/deadline": 0.5,
        "reason/accuracy/equal": 0.5,
        "reason/brief/not_judged": 1.0,
    }


def test_without_a_service_there_are_no_metrics_of_it() -> None:
    config = RewardConfig(verifiers=(), functions=(FUNCTION,))
    found = step_metrics(config, {"brief": BRIEF}, {"brief": BRIEF})
    assert not [name for name in found if name.startswith("verifier/")]


def test_only_a_line_feed_ends_a_line_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text('{"completion": "a\u2028\u2029\x85b"}\n{"completion": "cut')
    assert read_lines(path) == [{"completion": "a\u2028\u2029\x85b"}]


def test_an_evaluation_with_a_name_has_its_pass_at_k_on_the_console(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line without any metric is not printed."""
    keys = {"reward/total": "reward"}
    log = MetricsLog(tmp_path, title="x", num_steps=9, log_every_steps=1, console_keys=keys)
    log.log(1, {"evaluation/code/pass@1": 0.25, "evaluation/code/pass@1_change": 0.125})
    log.add({"evaluation/code/unjudged_fraction": 0.0})
    log.log(2, {"time/step": 1.0})
    log.log(3, {"reward/total": 0.5})
    shown = capsys.readouterr().out.splitlines()
    assert [one.split("  left ")[0] for one in shown] == [
        "step 1  code pass@1 0.25",
        "step 3  reward 0.5",
    ]


def test_a_log_file_tells_the_time_that_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = {"reward/total": "reward"}
    with MetricsLog(
        tmp_path, title="x", num_steps=999, log_every_steps=3, console_keys=keys
    ) as log:
        for step in range(1, 4):
            log.log(step, {"reward/total": 0.5})
    first, third = re.findall(r"step .*", capsys.readouterr().out)
    assert first == "step   1  reward 0.5"
    assert re.fullmatch(r"step   3  reward 0\.5  left \d+ (s|min)", third)
