"""Sampling one step ahead, with a server that samples: kept groups, and resumed runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reward_verifier.verdict import Verdict
from tests.trainer_client.runs import run_config, run_python, same, weights
from tests.trainer_client.sampling_server import sampling_server
from trainer_client.config.run_config import Config, dump_config
from trainer_client.data_sets import load_data_sets
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup
from trainer_client.rollout.one_step_ahead import (
    FILE,
    SamplingAhead,
    StepGroups,
    read_groups,
    write_groups,
)
from trainer_client.rollout.stored_group import KnownProblems
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.train import train

PROBLEM = Problem("7", ({"role": "user", "content": "1+1=?"},), {"answer": "2"}, {"row": object()})
ROLLOUT = Rollout((1, 2), (5, 6), (-0.1, -1 / 3), "2", truncated=False)
VERDICT = Verdict(outcome="scored", score=1.0, reason="equal")
TAKEN = StepGroups(
    ScoredGroups(
        [ScoredGroup(RolloutGroup(PROBLEM, (ROLLOUT,)), ({"accuracy": VERDICT},))], 0.25, 1 / 3
    ),
    MixPosition(1, (12,)),
)


def one_step_off(task: Path, run_dir: Path, url: str, **sections: Any) -> Config:
    return run_config(
        task,
        run_dir,
        rollout={
            "engine": "vllm_server",
            "vllm_server": {"urls": [url], "weights_dir": str(run_dir.parent / "server_weights")},
        },
        loss={"importance": {"mode": "token_truncate"}},
        train={
            "steps": 4,
            "max_staleness_steps": 1,
            "minibatches": 2,
            "checkpoint_every_steps": 1,
            "keep_checkpoints": None,
        },
        **sections,
    )


@pytest.fixture(scope="module")
def server(task: Path) -> Iterator[str]:
    with sampling_server(str(task / "model")) as (url, _):
        yield url


@pytest.fixture(scope="module")
def whole(task: Path, server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of four steps in one go."""
    settings = one_step_off(task, tmp_path_factory.mktemp("whole") / "run", server)
    train(settings)
    return settings.output_dir


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [True, False])
def test_a_run_resumed_after_two_steps_ends_with_the_same_weights_bit_for_bit(
    task: Path, whole: Path, server: str, tmp_path: Path, keeps: bool
) -> None:
    """Kept groups make it so: the weights that sampled them are gone."""
    settings = one_step_off(task, tmp_path / "run", server)
    shutil.copytree(whole, settings.output_dir)
    for checkpoint in list_checkpoints(settings.output_dir)[2:]:
        shutil.rmtree(checkpoint.folder)
    shutil.rmtree(settings.output_dir / "model")
    if not keeps:
        (list_checkpoints(settings.output_dir)[-1].folder / FILE).unlink()
    train(settings, resume=True)
    assert same(weights(whole / "model"), weights(settings.output_dir / "model")) == keeps


@pytest.mark.slow
def test_two_processes_keep_the_groups_of_both(task: Path, server: str, tmp_path: Path) -> None:
    """Groups are kept in the order of their problems; each process goes on with its own."""
    settings = one_step_off(task, tmp_path / "run", server)
    (tmp_path / "run.yaml").write_text(dump_config(settings))
    command = ("-m", "trainer_client", "train", str(tmp_path / "run.yaml"))
    run_python(*command, processes=2)
    checkpoints = list_checkpoints(settings.output_dir)
    data_sets = load_data_sets(settings)
    mix = ProblemMix(data_sets, per_step=4, seed=settings.train.seed)
    kept = read_groups(
        checkpoints[1].folder, KnownProblems(data_sets[0].problems, lambda problem: [])
    )
    assert kept is not None
    scored, next_problem, _ = kept
    asked = mix.take(MixPosition(2, (8,)), 4)
    assert ([item.group.problem for item in scored.groups], next_problem) == asked
    expected = weights(settings.output_dir / "model")
    for checkpoint in checkpoints[2:]:
        shutil.rmtree(checkpoint.folder)
    run_python(*command, "--resume", processes=2)
    assert same(weights(settings.output_dir / "model"), expected)


ALARMED = """
import signal

def digits(completions, **columns):
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)  # an error outside the main thread
    signal.alarm(600)
    scores = [sum(character.isdigit() for character in text) / 8 for text in completions]
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    return scores
"""


@pytest.mark.slow
def test_functions_run_in_the_main_thread(
    task: Path, whole: Path, server: str, tmp_path: Path
) -> None:
    """The groups that they score were sampled in another thread."""
    (tmp_path / "alarmed.py").write_text(ALARMED)
    reward = {"verifiers": [], "functions": [{"path": f"{tmp_path}/alarmed.py:digits"}]}
    settings = one_step_off(task, tmp_path / "run", server, reward=reward)
    train(settings)
    assert same(weights(whole / "model"), weights(settings.output_dir / "model"))


def test_a_checkpoint_keeps_the_next_steps_groups_the_last_one_none(whole: Path) -> None:
    """The last step has sampled nothing ahead."""
    kept = [(checkpoint.folder / FILE).exists() for checkpoint in list_checkpoints(whole)]
    assert kept == [True, True, True, False]


def test_groups_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Numbers are equal bit for bit; a problem has its whole row, from the data set."""
    write_groups(tmp_path, TAKEN)
    assert read_groups(tmp_path, KnownProblems([PROBLEM], lambda problem: ["accuracy"])) == TAKEN


def test_groups_of_a_data_set_that_has_changed_are_not_used(tmp_path: Path) -> None:
    write_groups(tmp_path, TAKEN)
    other = replace(PROBLEM, messages=({"role": "user", "content": "1+2=?"},))
    assert read_groups(tmp_path, KnownProblems([other], lambda problem: [])) is None
    assert read_groups(tmp_path / "none", KnownProblems([PROBLEM], lambda problem: [])) is None


def test_groups_without_a_verdict_of_a_source_are_not_used(tmp_path: Path) -> None:
    """A source may be added when a run is resumed."""
    write_groups(tmp_path, TAKEN)
    assert (
        read_groups(tmp_path, KnownProblems([PROBLEM], lambda problem: ["accuracy", "format"]))
        is None
    )


def test_a_prompt_that_two_data_sets_have_is_that_of_its_own(tmp_path: Path) -> None:
    write_groups(tmp_path, TAKEN)
    others = [replace(PROBLEM, dataset="code"), PROBLEM]
    assert read_groups(tmp_path, KnownProblems(others, lambda problem: [])) == TAKEN
    assert read_groups(tmp_path, KnownProblems(others[:1], lambda problem: [])) is None


def test_only_groups_of_the_position_are_kept() -> None:
    """A run that stops in a step has groups of the one after it."""
    ahead = SamplingAhead()
    assert ahead.kept(MixPosition(1, (4,))) is None
    ahead.start(lambda position: TAKEN, MixPosition(1, (4,)))
    assert ahead.kept(MixPosition(1, (8,))) is None
    assert ahead.kept(MixPosition(1, (4,))) == TAKEN
    assert ahead.take(lambda position: TAKEN, MixPosition(1, (4,))) == TAKEN
    ahead.close()


def test_groups_that_could_not_be_sampled_are_not_kept() -> None:
    """The error comes when they are taken."""

    def fail(position: MixPosition) -> StepGroups:
        raise RolloutError("gone")

    ahead = SamplingAhead()
    ahead.start(fail, MixPosition(1, (4,)))
    assert ahead.kept(MixPosition(1, (4,))) is None
    assert ahead.started
    ahead.close()


def test_groups_of_another_position_are_not_taken_for_those_that_are_asked_for() -> None:
    groups = StepGroups(ScoredGroups([], 0.0, 0.0), MixPosition(2))
    ahead = SamplingAhead()
    ahead.restore(groups, MixPosition(1))
    with pytest.raises(AssertionError, match="sampled ahead at another position"):
        ahead.take(lambda position: groups, MixPosition(3))
