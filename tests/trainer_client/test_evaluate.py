"""pass@k."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from reward_verifier.verdict import Verdict
from tests.trainer_client.runs import run_config
from trainer_client import cli
from trainer_client.cli import app
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.reward_sections import EvaluationConfig
from trainer_client.config.run_config import ConfigError, dump_config
from trainer_client.errors import TrainerError
from trainer_client.evaluate import NothingJudged, summarise
from trainer_client.pass_at_k import pass_at_k
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup
from trainer_client.rollout import RolloutGroup


def group(*scores: float | None) -> ScoredGroup:
    verdicts = tuple(
        {
            "accuracy": Verdict(
                outcome="failed" if score is None else "scored", score=score, reason="r"
            )
        }
        for score in scores
    )
    return ScoredGroup(RolloutGroup(Problem("0", (), {}), ()), verdicts)


@pytest.mark.slow
@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_pass(n: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    samples = [True] * passed + [False] * (n - passed)
    expected = mean(any(subset) for subset in itertools.combinations(samples, k))
    assert pass_at_k(n, passed, k) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "c", "k"), [(2, 3, 1), (2, 1, 3), (2, 1, 0)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@"):
        pass_at_k(n, c, k)


def test_a_completion_passes_at_a_score_of_at_least_099() -> None:
    assert summarise([group(1.0, 0.99, 0.98, 0.0)], verifier="accuracy", ks=[1]).pass_at_k == {
        1: 0.5
    }


def test_unjudged_completions_count_neither_way_and_are_reported() -> None:
    result = summarise([group(1.0, None), group(0.0, 0.0)], verifier="accuracy", ks=[1])
    assert (result.pass_at_k, result.unjudged_fraction) == ({1: 0.5}, 0.25)


def test_a_metric_of_nothing_is_an_error_and_no_zero() -> None:
    with pytest.raises(NothingJudged, match="no problem has 2 completions judged"):
        summarise([group(1.0, None)], verifier="accuracy", ks=[2])


@pytest.mark.slow
def test_the_command_gives_the_same_figures_each_time(task: Path, tmp_path: Path) -> None:
    """Samples follow from the run's seed; another seed gives other samples."""
    held_out = {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None}
    evaluation = {"dataset": held_out, "num_samples": 4, "k": [1]}
    config = run_config(task, tmp_path / "run", "accuracy", evaluation=evaluation)
    (tmp_path / "config.yaml").write_text(dump_config(config))

    def evaluated(name: str, *overrides: str) -> tuple[str, str]:
        file = tmp_path / name
        command = ["evaluate", str(tmp_path / "config.yaml"), *overrides]
        result = CliRunner().invoke(app, [*command, "--solve-rates", str(file)])
        assert result.exit_code == 0, result.output
        return result.stdout, file.read_text()

    first = evaluated("first.jsonl")
    assert "evaluation/pass@1" in first[0]
    assert evaluated("second.jsonl") == first
    assert evaluated("third.jsonl", "train.seed=1")[1] != first[1]


def test_k_of_the_command_comes_before_that_of_the_configuration(
    task: Path, tmp_path: Path
) -> None:
    """It takes as many completions as the largest k needs."""
    held_out = {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None}
    evaluation = {"dataset": held_out, "num_samples": 1, "k": [1]}
    config = run_config(task, tmp_path / "run", "accuracy", evaluation=evaluation)
    (tmp_path / "config.yaml").write_text(dump_config(config))
    command = ["evaluate", str(tmp_path / "config.yaml"), "--k", "1", "--k", "2"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "evaluation/pass@2" in result.stdout
    assert "2 completions each" in result.stdout
    assert "not judged; model " in result.stdout


def test_solve_rates_of_several_evaluations_name_their_data_set(task: Path, tmp_path: Path) -> None:
    evaluations = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps({"id": 0, "problem": "1+1+1=?", "answer": "3"}))
        held_out = {"path": str(path), "system_prompt": None}
        evaluations.append({"name": name, "dataset": held_out, "num_samples": 1, "k": [1]})
    config = run_config(task, tmp_path / "run", "accuracy", evaluation=evaluations)
    (tmp_path / "config.yaml").write_text(dump_config(config))
    rates = tmp_path / "rates.jsonl"
    command = ["evaluate", str(tmp_path / "config.yaml"), "--solve-rates", str(rates)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in rates.read_text().splitlines()]
    assert [(row["dataset"], row["id"]) for row in rows] == [("first", "0"), ("second", "0")]


def test_a_file_of_solve_rates_that_cannot_be_written_is_named_before_sampling(
    task: Path, tmp_path: Path
) -> None:
    evaluation = {"dataset": {"path": "not-read.jsonl"}}
    config = run_config(task, tmp_path / "run", "accuracy", evaluation=evaluation)
    (tmp_path / "config.yaml").write_text(dump_config(config))
    command = ["evaluate", str(tmp_path / "config.yaml"), "--solve-rates", str(tmp_path)]
    found = CliRunner().invoke(app, command).exception
    assert isinstance(found, TrainerError)
    assert str(found) == f"cannot write {tmp_path}: Is a directory"


@pytest.mark.slow
def test_at_temperature_0_an_evaluation_is_greedy(task: Path, tmp_path: Path) -> None:
    """Every seed gives the same completions, and several of one problem are refused."""
    held_out = {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None}
    greedy = {"dataset": held_out, "num_samples": 1, "k": [1], "temperature": 0}
    config = run_config(task, tmp_path / "run", "accuracy", evaluation=greedy)
    (tmp_path / "config.yaml").write_text(dump_config(config))

    def evaluated(name: str, *arguments: str) -> str:
        command = ["evaluate", str(tmp_path / "config.yaml"), *arguments]
        result = CliRunner().invoke(app, [*command, "--solve-rates", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        return (tmp_path / name).read_text()

    assert evaluated("one.jsonl", "train.seed=1") == evaluated("two.jsonl", "train.seed=2")
    command = ["evaluate", str(tmp_path / "config.yaml"), "--k", "2"]
    with pytest.raises(ConfigError, match="--k: at temperature 0 all completions"):
        CliRunner().invoke(app, command, catch_exceptions=False)


def test_several_completions_at_temperature_0_are_refused() -> None:
    data = DatasetConfig(path="held_out.jsonl")
    with pytest.raises(ValueError, match=r"set num_samples to 1 and k to .*found 10 completions"):
        EvaluationConfig(dataset=data, temperature=0)
    assert EvaluationConfig(dataset=data, temperature=0, num_samples=1, k=(1,)).temperature == 0


def test_an_evaluation_of_no_k_is_refused() -> None:
    with pytest.raises(ValueError, match=r"k is empty; \[1\] measures pass@1"):
        EvaluationConfig(dataset=DatasetConfig(path="held_out.jsonl"), k=())


def test_a_run_or_configuration_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.run(["evaluate", str(tmp_path / "nope")])
    wanted = f"error: there is no folder of a run and no configuration {tmp_path / 'nope'} (relat"
    assert capsys.readouterr().err.startswith(wanted)
