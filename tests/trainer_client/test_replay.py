"""Solved completions of earlier steps in groups that have none."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from reward_verifier.verdict import Outcome, Verdict
from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import (
    metrics,
    rollouts,
    rollouts_of,
    run_config,
    run_python,
    same,
    weights,
)
from trainer_client.config.rollout_section import ReplayConfig
from trainer_client.config.run_config import Config, ConfigError, dump_config, make_config
from trainer_client.learner import make_learner
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import RolloutGroup
from trainer_client.rollout.replay import SolvedCompletions
from trainer_client.rollout.stored_group import KnownProblems
from trainer_client.train import train
from trainer_client.update.batch import make_batch
from trainer_client.update.measured_kl import kl_to_reference
from trainer_client.update.step import update_policy

PROBLEMS = [Problem(name, ({"role": "user", "content": name},), {}) for name in ("a", "b")]


def verdict(score: float | None) -> Verdict:
    outcome: Outcome = "unverifiable" if score is None else "scored"
    return Verdict(outcome=outcome, score=score, reason="r")


def scored(*scores: list[float | None]) -> ScoredGroups:
    """A group of each problem with these scores; completions are as long as their place says."""
    groups = []
    for problem, given in zip(PROBLEMS, scores, strict=False):
        verdicts = tuple({"accuracy": verdict(score)} for score in given)
        group = RolloutGroup(problem, tuple(rollouts_of(*range(1, len(given) + 1))))
        groups.append(ScoredGroup(group, verdicts))
    return ScoredGroups(groups, 0.0, 0.0)


def scores_of(groups: ScoredGroups) -> list[list[float | None]]:
    return [[one["accuracy"].score for one in group.verdicts] for group in groups.groups]


def replay(
    kept: SolvedCompletions, step: int, *scores: list[float | None]
) -> tuple[ScoredGroups, dict[str, float]]:
    given = scored(*scores)
    rewards = torch.tensor([[math.nan if one is None else one for one in row] for row in scores])
    groups, found = kept.replay(given, rewards, lambda problem: "accuracy", step=step)
    return groups, dict(found)


def test_a_solved_completion_takes_the_place_of_a_failed_one_of_its_problem_alone() -> None:
    kept = SolvedCompletions(ReplayConfig())
    groups, found = replay(kept, 1, [0.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    assert scores_of(groups) == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert found == {"replay/completions": 0, "replay/age": 0.0, "replay/problems": 1}
    groups, found = replay(kept, 4, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert scores_of(groups) == [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    assert found == {"replay/completions": 1, "replay/age": 3.0, "replay/problems": 1}
    old = groups.groups[0].group.rollouts[-1]
    assert (len(old.completion_ids), old.replayed_from) == (2, 1)
    assert old.sampler_logprobs == (-4.0, -4.0)


def test_a_group_that_solves_its_problem_or_was_not_judged_stays_as_it_was_sampled() -> None:
    kept = SolvedCompletions(ReplayConfig())
    replay(kept, 1, [1.0, 0.0], [1.0, 0.0])
    groups, found = replay(kept, 2, [0.0, 1.0], [None, None])
    assert scores_of(groups) == [[0.0, 1.0], [None, None]]
    assert found["replay/completions"] == 0


@pytest.mark.parametrize(
    ("per_group", "scores", "expected"),
    [
        (1, [None, None, 0.0], [None, 1.0, 0.0]),
        (9, [None, 0.0, None], [1.0, 0.0, 1.0]),
        (2, [0.0, 0.0, None], [0.0, 1.0, 1.0]),
    ],
)
def test_a_completion_without_a_reward_goes_first_and_a_failed_one_stays(
    per_group: int, scores: list[float | None], expected: list[float | None]
) -> None:
    """The group teaches by the difference of what stays and what was solved."""
    kept = SolvedCompletions(ReplayConfig(per_group=per_group))
    replay(kept, 1, [1.0, 1.0, 1.0])
    groups, _ = replay(kept, 2, scores)
    assert scores_of(groups) == [expected]
    assert [one.replayed_from for one in groups.groups[0].group.rollouts] == [
        1 if score else None for score in expected
    ]


def test_a_solved_completion_without_a_reward_is_not_kept() -> None:
    """Another source did not judge it: in a later group it would have no reward either."""
    kept = SolvedCompletions(ReplayConfig())
    rewards = torch.tensor([[math.nan, 0.0]])
    kept.replay(scored([1.0, 0.0]), rewards, lambda problem: "accuracy", step=1)
    groups, found = replay(kept, 2, [0.0, 0.0])
    assert scores_of(groups) == [[0.0, 0.0]]
    assert found["replay/problems"] == 0


def test_one_completion_of_the_group_stays_and_no_more_are_replaced_than_asked() -> None:
    for per_group, expected in ((2, [0.0, 1.0, 1.0]), (9, [0.0, 1.0, 1.0])):
        kept = SolvedCompletions(ReplayConfig(per_group=per_group))
        replay(kept, 1, [1.0, 1.0, 1.0])
        groups, found = replay(kept, 2, [0.0, 0.0, 0.0])
        assert scores_of(groups) == [expected]
        assert found["replay/completions"] == 2


def test_what_is_too_old_is_forgotten() -> None:
    kept = SolvedCompletions(ReplayConfig(max_age_steps=2))
    replay(kept, 1, [1.0, 0.0])
    assert replay(kept, 3, [0.0, 0.0])[1]["replay/completions"] == 1
    groups, found = replay(kept, 4, [0.0, 0.0])
    assert scores_of(groups) == [[0.0, 0.0]]
    assert found["replay/problems"] == 0


@pytest.mark.parametrize(("sources", "count"), [(["accuracy"], 1), (["accuracy", "new"], 0)])
def test_a_checkpoint_keeps_them_unless_a_verdict_is_missing(
    tmp_path: Path, sources: list[str], count: int
) -> None:
    kept, again = SolvedCompletions(ReplayConfig()), SolvedCompletions(ReplayConfig())
    replay(kept, 1, [1.0, 0.0])
    kept.write(tmp_path)
    again.restore(tmp_path, KnownProblems(PROBLEMS, lambda problem: sources))
    groups, found = replay(again, 2, [0.0, 0.0])
    assert found["replay/completions"] == count
    if count:
        assert groups == replay(kept, 2, [0.0, 0.0])[0]


def test_kl_and_entropy_are_of_the_tokens_that_this_step_sampled(task: Path) -> None:
    """The policy has moved; guards and entropy control must not see what it moved away from."""
    fresh, old = rollouts_of(3, 5)
    old = replace(old, replayed_from=1)
    names = ("policy/kl_divergence", "policy/entropy", "policy/clip_fraction")
    config = make_config(
        {
            "output_dir": "unused",
            "model": {"path": str(task / "model"), "device": DEVICE},
            "dataset": {"path": "unused"},
            "loss": {"kl_coefficient": 0.1},
        }
    )
    measured = []
    for rows in ([fresh], [old, fresh], [old]):
        learner = make_learner(config)
        with torch.no_grad():
            for weight in learner.policy.model.parameters():
                weight.mul_(1.5)
        batch = make_batch(rows, [1.0] * len(rows), pad_id=0, device=learner.policy.device)
        kl = kl_to_reference(learner, batch, config)
        measured.append((kl, update_policy(learner, batch, config)))
    (kl, alone), (kl_beside, beside), (kl_of_none, none) = measured
    assert kl > 0.01
    assert alone["policy/kl_divergence"] == pytest.approx(kl, rel=1e-3)
    assert kl_beside == pytest.approx(kl, rel=1e-3)
    assert [beside[name] for name in names] == pytest.approx(
        [alone[name] for name in names], rel=1e-3
    )
    assert beside["policy/grad_norm"] != pytest.approx(alone["policy/grad_norm"], rel=1e-3)
    assert math.isnan(kl_of_none)
    assert not set(names) & set(none)
    assert none["policy/updates"] == 1


SOLVED_ONCE = """
import os
from pathlib import Path

solved = Path(f"{__file__}.solved_{os.environ.get('RANK', '0')}")

def judge(completions, **columns):
    first = not solved.exists()
    solved.touch()
    return [float(first and place % 4 == 0) for place in range(len(completions))]
"""


def replaying_run(task: Path, run_dir: Path, *, steps: int) -> Config:
    """A run whose first step solves each problem once, and whose later steps solve none."""
    function = run_dir.with_name(f"{run_dir.name}_judge.py")
    function.write_text(SOLVED_ONCE)
    return run_config(
        task,
        run_dir,
        dataset={"split": "train[:4]"},
        rollout={"replay": {}},
        reward={"functions": [{"path": f"{function}:judge"}]},
        train={"steps": steps, "checkpoint_every_steps": 1},
    )


def test_a_run_learns_from_what_it_solved_before_it_was_stopped(task: Path, tmp_path: Path) -> None:
    """The metrics of rewards are those of what was sampled: replay does not flatter a run.

    A run that was not stopped ends with the same weights.
    """
    train(replaying_run(task, tmp_path / "whole", steps=3))
    train(replaying_run(task, tmp_path / "run", steps=2))
    train(replaying_run(task, tmp_path / "run", steps=3), resume=True)
    assert same(weights(tmp_path / "run" / "model"), weights(tmp_path / "whole" / "model"))
    rows = metrics(tmp_path / "run")
    assert [row["replay/completions"] for row in rows] == [0, 4, 4]
    assert [row["reward/total"] for row in rows] == [0.25, 0, 0]
    assert rows[2]["replay/age"] == 2
    assert all(row["policy/grad_norm"] > 0 for row in rows)
    third = rollouts(tmp_path / "run", 3)
    assert [row["reward"] for row in third] == [0, 0, 0, 1] * 4
    assert [row.get("replayed_from") for row in third] == [None, None, None, 1] * 4


@pytest.mark.slow
def test_two_processes_replay_what_either_solved(task: Path, tmp_path: Path) -> None:
    """A problem may be another process's when it comes again: each has what all have solved.

    A run that goes on from a checkpoint ends with the weights of one that was not stopped, and one
    process goes on with what two have solved.
    """

    def trained(name: str, steps: int, *flags: str, processes: int = 2) -> Path:
        config = replaying_run(task, tmp_path / name, steps=3)
        path = tmp_path / f"{name}.yaml"
        path.write_text(dump_config(config))
        command = ("-m", "trainer_client", "train", str(path), *flags, f"train.steps={steps}")
        run_python(*command, processes=processes)
        return tmp_path / name

    whole = trained("whole", 3)
    run = trained("run", 2)
    shutil.copytree(run, tmp_path / "alone")
    trained("run", 3, "--resume")
    assert same(weights(run / "model"), weights(whole / "model"))
    (tmp_path / "alone_judge.py.solved_0").touch()
    alone = trained("alone", 3, "--resume", processes=1)
    for run_dir in (run, alone):
        rows = metrics(run_dir)
        assert [row["replay/completions"] for row in rows] == [0, 4, 4]
        assert [row["reward/total"] for row in rows] == [0.25, 0, 0]
        assert all(row["policy/grad_norm"] > 0 for row in rows)
        third = rollouts(run_dir, 3)
        assert [row.get("replayed_from") for row in third] == [None, None, None, 1] * 4


@pytest.mark.parametrize(
    ("rollout", "message"),
    [
        ({"environment": {"path": "python_tool"}}, "replay does not go with rollout.environment"),
        ({"max_refills": 1}, "replay does not go with rollout.max_refills"),
    ],
)
def test_settings_that_contradict_replay_are_named(
    rollout: dict[str, object], message: str
) -> None:
    minimal = {"output_dir": "r", "model": {"path": "m"}, "dataset": {"path": "unused"}}
    with pytest.raises(ConfigError, match=message):
        make_config({**minimal, "rollout": {"replay": {}, **rollout}})
