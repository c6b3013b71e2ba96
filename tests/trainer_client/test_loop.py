"""Settings beyond those of a plain step, and resumed runs, without a service."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from reward_verifier.verdict import Verdict
from tests.trainer_client.forked import fork_python
from tests.trainer_client.runs import (
    metrics,
    rollouts,
    run_config,
    run_that_judges_nothing_once,
    same,
    weights,
)
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.run_config import Config, ConfigError, dump_config
from trainer_client.data_sets import load_data_sets
from trainer_client.errors import TrainingError, TrainingStopped
from trainer_client.learner import make_learner
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.problems import Problem, load_problems, read_solve_rates
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups, open_scorer
from trainer_client.rollout import Rollout, RolloutGroup
from trainer_client.rollout.group_sampler import GroupSampler
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.run.console import CONSOLE
from trainer_client.run.json_lines import read_lines
from trainer_client.run.logged_run import STEP_OF_MODEL
from trainer_client.run.report import write_report
from trainer_client.train import train
from trainer_client.update.batch import Batch, batch_of, kept_groups
from trainer_client.update.step import update_on_rollouts


def scored(*groups: tuple[float, ...], truncated: bool = False) -> ScoredGroups:
    """Groups of completions of two tokens with these scores."""
    rollout = Rollout((1,), (5, 2), (-1.0, -1.0), "x", truncated=truncated)
    return ScoredGroups(
        [
            ScoredGroup(
                RolloutGroup(Problem(str(index), (), {}), (rollout,) * len(scores)),
                tuple(
                    {"digits": Verdict(outcome="scored", score=score, reason="function")}
                    for score in scores
                ),
            )
            for index, scores in enumerate(groups)
        ],
        1.0,
        0.0,
    )


def trained_on(
    groups: ScoredGroups, rewards: torch.Tensor, advantages: torch.Tensor, config: Config
) -> tuple[list[list[int]], Batch | None]:
    """The rows of each group and the batch that a step makes of these groups."""
    kept = kept_groups(groups, rewards, advantages, config.advantage)
    masks = config.loss.truncated == "mask"
    return batch_of(kept, make_learner(config).policy, mask_truncated=masks)


def test_rollouts_are_written_with_verdicts_rewards_and_advantages(
    task: Path, tmp_path: Path
) -> None:
    train(run_config(task, tmp_path / "run", train={"steps": 2}))
    rows = rollouts(tmp_path / "run", 2)
    assert len(rows) == 16
    for row in rows:
        digits = sum(character.isdigit() for character in row["completion"]) / 8
        assert row["verdicts"]["digits"] == {
            "outcome": "scored",
            "score": digits,
            "reason": "function",
        }
        assert row["reward"] == digits
        assert 1 <= row["completion_tokens"] <= 8
        assert row["messages"] == [{"role": "user", "content": row["prompt"]}]
    assert [row["group"] for row in rows] == [number for number in range(4) for _ in range(4)]
    answers = {row["prompt"]: row["reference"]["answer"] for row in rows}
    assert {
        prompt: str(sum(map(int, prompt.rstrip("=?").split("+")))) for prompt in answers
    } == answers
    by_problem: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_problem.setdefault(row["id"], []).append(row)
    for group in by_problem.values():
        assert math.fsum(row["advantage"] for row in group) == pytest.approx(0, abs=1e-6)


def test_of_a_long_reference_each_completion_has_the_beginning(task: Path, tmp_path: Path) -> None:
    rows = [{"problem": "1+1=?", "answer": "2" * 5000}]
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps(rows[0]) + "\n")
    dataset = {"path": str(path)}
    rollout = {"prompts_per_step": 1}
    train(run_config(task, tmp_path / "run", dataset=dataset, rollout=rollout, train={"steps": 1}))
    reference = rollouts(tmp_path / "run", 1)[0]["reference"]
    assert reference.startswith('{"answer": "222')
    assert reference.endswith("2 ... (5014 characters)")


@pytest.mark.slow
def test_each_start_of_a_run_notes_machine_and_version(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 1}))
    train(run_config(task, run_dir, train={"steps": 2}), resume=True)
    starts = read_lines(run_dir / "starts.jsonl")
    assert [start["step"] for start in starts] == [0, 1]
    assert starts[0]["torch"] == torch.__version__
    assert starts[0]["cores"] >= 1
    assert starts[0]["trained_weights"] > 400_000


@pytest.mark.slow
def test_rollouts_are_not_written_where_they_are_not_wanted(task: Path, tmp_path: Path) -> None:
    train(run_config(task, tmp_path / "run", train={"steps": 1, "write_rollouts": False}))
    assert not (tmp_path / "run" / "rollouts").exists()


@pytest.mark.slow
def test_solve_rates_select_the_problems_of_another_run(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, "accuracy", train={"steps": 2}))
    rates = read_solve_rates(run_dir / "solve_rates.jsonl")
    assert len(rates) == 8
    # A model without training may solve none; lines of another run make it half of them at least.
    others = sorted(rates)[:4]
    with (run_dir / "solve_rates.jsonl").open("a") as file:
        file.writelines(f'{{"id": "{name}", "passed": 1, "judged": 2}}\n' for name in others)
    solved = {name for name, rate in rates.items() if rate > 0} | set(others)
    config = DatasetConfig(
        path=str(task / "data" / "train.jsonl"),
        solve_rates=run_dir / "solve_rates.jsonl",
        solve_rate_range=(0.01, 1.0),
    )
    assert {problem.id for problem in load_problems(config)} == solved


def test_groups_that_do_not_differ_are_dropped(task: Path, tmp_path: Path) -> None:
    config = run_config(task, tmp_path / "run", advantage={"zero_variance": "drop"})
    groups = scored((0.0, 1.0), (0.5, 0.5), (1.0, 0.0))
    rewards = torch.tensor([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    rows, batch = trained_on(groups, rewards, rewards - 0.5, config)
    assert batch is not None
    assert rows == [[0, 1], [2, 3]]
    assert batch.advantages.tolist() == [-0.5, 0.5, 0.5, -0.5]


def test_dropped_groups_are_refilled_with_further_problems_a_bounded_number_of_times(
    task: Path, tmp_path: Path
) -> None:
    config = run_config(
        task,
        tmp_path / "run",
        "constant",
        advantage={"zero_variance": "drop"},
        rollout={"max_refills": 2},
    )
    learner = make_learner(config)
    mix = ProblemMix(load_data_sets(config), per_step=4, seed=0)
    with open_scorer(config.reward) as scorer:
        sampler = GroupSampler(learner, scorer, mix, config)
        groups, position, _ = sampler.sample(scorer, MixPosition(), step=1)
    assert len({group.group.problem.id for group in groups.groups}) == 4 * 3
    assert position == MixPosition(3, (12,))


def test_a_step_in_which_nothing_differs_leaves_the_weights_alone(
    task: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    config = run_config(
        task,
        run_dir,
        "constant",
        advantage={"zero_variance": "drop"},
        optimizer={"weight_decay": 0.1},
        train={"steps": 1},
    )
    train(config)
    assert same(weights(run_dir / "model"), weights(task / "model"))
    assert metrics(run_dir)[0]["policy/updates"] == 0


def test_truncated_completions_are_masked_and_still_count_as_sequences(
    task: Path, tmp_path: Path
) -> None:
    config = run_config(task, tmp_path / "run", loss={"truncated": "mask"})
    groups = ScoredGroups(
        scored((0.0, 1.0)).groups + scored((1.0, 0.0), truncated=True).groups, 1.0, 0.0
    )
    rewards = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    _, batch = trained_on(groups, rewards, rewards, config)
    assert batch is not None
    assert batch.completion_mask.sum(dim=1).tolist() == [2, 2, 0, 0]


def test_epochs_and_minibatches_are_optimizer_steps(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    config = run_config(
        task, run_dir, train={"steps": 1, "epochs_per_rollout": 3, "minibatches": 2}
    )
    train(config)
    (row,) = metrics(run_dir)
    assert row["policy/updates"] == 6
    assert row["policy/skipped_updates"] == 0
    assert row["policy/sampler_kl"] > 1e-6  # the later updates are off-policy


@pytest.mark.parametrize("minibatches", [1, 2])
def test_a_minibatch_has_whole_groups(task: Path, tmp_path: Path, minibatches: int) -> None:
    config = run_config(task, tmp_path / "run", train={"minibatches": minibatches})
    learner = make_learner(config)
    groups = scored((0.0, 1.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    rewards = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rows, batch = trained_on(groups, rewards, rewards - 0.5, config)
    assert batch is not None
    update = update_on_rollouts(learner, batch, rows, config)
    assert update["policy/updates"] == minibatches


def test_importance_correction_changes_the_update_only_off_policy(
    task: Path, tmp_path: Path
) -> None:
    """The sampler is the policy, so the weights are 1 and the first update is the plain one."""
    for name, loss in {"plain": {}, "corrected": {"importance": {"mode": "token_mask"}}}.items():
        train(run_config(task, tmp_path / name, loss=loss, train={"steps": 1}))
    one, other = (metrics(tmp_path / name)[0] for name in ("plain", "corrected"))
    assert one["policy/grad_norm"] == pytest.approx(other["policy/grad_norm"], rel=1e-4)


@pytest.mark.slow
def test_a_reference_that_is_synced_makes_the_kl_small_again(task: Path, tmp_path: Path) -> None:
    for name, every in {"fixed": None, "synced": 2}.items():
        train(
            run_config(
                task,
                tmp_path / name,
                loss={"kl_coefficient": 0.01, "reference_sync_steps": every},
                guards={"stop_if_kl_above": None},
            )
        )
    fixed, synced = (
        [row["policy/kl_divergence"] for row in metrics(tmp_path / name)]
        for name in ("fixed", "synced")
    )
    assert synced[:2] == fixed[:2]
    assert synced[2] == pytest.approx(0, abs=1e-7)  # just synced
    assert fixed[2] > 1e-6


@pytest.mark.slow
def test_a_synced_reference_survives_a_resumption(task: Path, tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "loss": {"kl_coefficient": 0.1, "reference_sync_steps": 1},
        "guards": {"stop_if_kl_above": None},
    }
    train(run_config(task, tmp_path / "whole", **sections))
    train(run_config(task, tmp_path / "parts", **sections, train={"steps": 2}))
    train(run_config(task, tmp_path / "parts", **sections), resume=True)
    assert same(weights(tmp_path / "whole" / "model"), weights(tmp_path / "parts" / "model"))


def test_a_finished_run_that_is_resumed_stays_as_it_is(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 2}))
    before = {path: path.stat().st_mtime_ns for path in run_dir.rglob("*")}
    again = run_config(task, run_dir, train={"steps": 2}, loss={"kl_coefficient": 0.5})
    result = train(again, resume=True)
    assert result.model_dir == run_dir / "model"
    assert {path: path.stat().st_mtime_ns for path in run_dir.rglob("*")} == before
    assert f"{run_dir} has all 2 steps: raise train.steps to go on" in capsys.readouterr().out


def test_a_finished_run_of_one_step_is_told_as_such(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = run_config(task, tmp_path / "run", train={"steps": 1})
    train(config)
    train(config, resume=True)
    assert f"{tmp_path / 'run'} has its one step: raise train.steps" in capsys.readouterr().out


def test_a_run_speaks_after_one_that_did_not_lead(
    task: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The terminal is one for all runs of a process."""
    monkeypatch.setattr(CONSOLE, "quiet", True)
    train(run_config(task, tmp_path / "run", train={"steps": 1}))
    assert "step 1 " in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_that_lacks_only_its_model_gets_it_when_it_is_resumed(
    task: Path, tmp_path: Path
) -> None:
    """The run was killed between its last checkpoint and the end of writing the model."""
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 1}))
    of_step_1 = (run_dir / STEP_OF_MODEL).read_text()
    train(run_config(task, run_dir, train={"steps": 2}), resume=True)
    expected = weights(run_dir / "model")
    (run_dir / "model" / "model.safetensors").unlink()
    (run_dir / STEP_OF_MODEL).write_text(of_step_1)
    train(run_config(task, run_dir, train={"steps": 2}), resume=True)
    assert same(weights(run_dir / "model"), expected)


@pytest.mark.slow
def test_an_earlier_runs_model_in_the_same_folder_is_not_taken_for_this_runs(
    task: Path, tmp_path: Path
) -> None:
    """The earlier one had as many steps; this one was stopped before it wrote a model."""
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 1}))
    for checkpoint in list_checkpoints(run_dir):
        shutil.rmtree(checkpoint.folder)
    config = run_that_judges_nothing_once(task, run_dir, call=3, steps=2, every_steps=2)
    with pytest.raises(TrainingStopped, match="stopped after step 1"):
        train(config)
    shorter = config.model_copy(update={"train": config.train.model_copy(update={"steps": 1})})
    train(shorter, resume=True)
    (checkpoint,) = list_checkpoints(run_dir)
    assert same(weights(run_dir / "model"), weights(checkpoint.folder))


@pytest.mark.slow
def test_a_run_that_goes_on_with_other_settings_says_which(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    train(run_config(task, run_dir, train={"steps": 1}))
    longer: dict[str, Any] = {"train": {"steps": 2}, "optimizer": {"learning_rate": 0.002}}
    train(run_config(task, run_dir, **longer), resume=True)
    lines = (run_dir / "warnings.jsonl").read_text().splitlines()
    assert {
        "step": 1,
        "message": "goes on with other settings: optimizer.learning_rate: 0.001 -> 0.002, "
        "train.steps: 1 -> 2",
    } in map(json.loads, lines)


@pytest.mark.slow
def test_a_kl_that_is_too_high_saves_a_checkpoint_and_names_the_last_good_one(
    task: Path, tmp_path: Path
) -> None:
    config = run_config(
        task,
        tmp_path / "run",
        loss={"kl_coefficient": 1e-6},
        guards={"stop_if_kl_above": 0.08},
        train={"steps": 20, "checkpoint_every_steps": 1, "keep_checkpoints": None},
    )
    with pytest.raises(TrainingStopped, match=r"above guards.stop_if_kl_above 0\.08") as stopped:
        train(config)
    kls = [row["policy/kl_divergence"] for row in metrics(tmp_path / "run")]
    assert kls[-1] > 0.08
    assert max(kls[:-1]) <= 0.08
    # the policy that was measured too high is that of the step before
    assert f"within the KL limit is the one of step {len(kls) - 2}" in str(stopped.value)
    assert list_checkpoints(tmp_path / "run")[-1].step == len(kls)


@pytest.mark.slow
def test_the_best_checkpoint_by_evaluation_is_kept_beside_the_newest(
    task: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    config = run_config(
        task,
        run_dir,
        "accuracy",
        optimizer={"learning_rate": 1e-2},
        train={"steps": 5, "checkpoint_every_steps": 1, "keep_checkpoints": 1},
        evaluation={
            "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
            "every_steps": 1,
            "num_samples": 2,
            "k": [1],
        },
    )
    train(config)
    passed = {row["step"]: row["evaluation/pass@1"] for row in metrics(run_dir) if row["step"]}
    best = max(passed, key=lambda step: (passed[step], -step))
    assert {checkpoint.step for checkpoint in list_checkpoints(run_dir)} == {best, 5}


def evaluated_each_step(task: Path, run_dir: Path) -> Config:
    return run_config(
        task,
        run_dir,
        "accuracy",
        train={"steps": 2, "checkpoint_every_steps": 1},
        evaluation={
            "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
            "every_steps": 1,
            "num_samples": 2,
            "k": [1],
        },
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "steps"), [(None, [2]), (2, [0, 1, 2])])
def test_a_checkpoint_whose_row_is_lost_is_evaluated_as_its_own_step(
    task: Path, tmp_path: Path, kept: int | None, steps: list[int]
) -> None:
    """Evaluated as another step, it would make the wrong checkpoint the best."""
    config = evaluated_each_step(task, tmp_path / "run")
    train(config)
    path = tmp_path / "run" / "metrics.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    if kept is None:
        path.unlink()
    else:
        path.write_text("".join(lines[:kept]))
    (tmp_path / "run" / STEP_OF_MODEL).unlink()  # as of a run that was killed after its checkpoint
    result = train(config, resume=True)
    rows = metrics(tmp_path / "run")
    assert [row["step"] for row in rows] == steps
    assert rows[:-1] == [json.loads(line) for line in lines[: kept or 0]]
    assert result.after["evaluation/pass@1"] == rows[-1]["evaluation/pass@1"]
    assert f"2 of {config.train.steps} steps." in write_report(tmp_path / "run", tmp_path / "page")


@pytest.mark.parametrize("most_bytes", [200_000, 2_000_000], ids=["weights", "optimizer"])
def test_a_checkpoint_without_room_is_told_and_leaves_nothing(
    task: Path, tmp_path: Path, most_bytes: int
) -> None:
    """A bound on the size of a file stands for the full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        with pytest.raises(TrainingError, match=r"cannot write .*/step_000001: .* GiB left"):
            train(run_config(task, tmp_path / "run", train={"steps": 1}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "run" / "checkpoints").iterdir()) == []


@pytest.mark.parametrize("name", ["trainer_state.pt", "model.safetensors", "config.json"])
@pytest.mark.parametrize("num_bytes", [0, 100])
def test_a_damaged_checkpoint_is_named_and_an_earlier_one_goes_on(
    task: Path, tmp_path: Path, name: str, num_bytes: int
) -> None:
    every_step = {"checkpoint_every_steps": 1}
    train(run_config(task, tmp_path / "run", train={"steps": 2, **every_step}))
    newest = list_checkpoints(tmp_path / "run")[-1].folder
    os.truncate(newest / name, num_bytes)
    more = run_config(task, tmp_path / "run", train={"steps": 3, **every_step})
    with pytest.raises(ConfigError, match=rf"{newest} is damaged: {re.escape(name)}: "):
        train(more, resume=True)
    train(more, resume=True, resume_from="1")
    assert [row["step"] for row in metrics(tmp_path / "run")] == [1, 2, 3]


@pytest.mark.parametrize(("number", "is_saved"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_file_system_that_flushes_no_folders_keeps_checkpoints(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_saved: bool
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, "no flush")

    monkeypatch.setattr(os, "fsync", refuse)
    config = run_config(task, tmp_path / "run", train={"steps": 1})
    with contextlib.nullcontext() if is_saved else pytest.raises(TrainingError, match="no flush"):
        train(config)
    assert len(list_checkpoints(tmp_path / "run")) == is_saved


def test_a_full_disk_is_told_by_name(task: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "rollouts").mkdir(parents=True)
    (tmp_path / "run" / "rollouts" / "step_000001.partial").symlink_to("/dev/full")
    with pytest.raises(TrainingError, match=r"cannot write .*/run: No space left on device"):
        train(run_config(task, tmp_path / "run", train={"steps": 1}))


def test_a_finished_run_without_its_metrics_can_be_resumed(task: Path, tmp_path: Path) -> None:
    """The run has no steps left, and no evaluation to tell."""
    config = run_config(task, tmp_path / "run", train={"steps": 1})
    train(config)
    (tmp_path / "run" / "metrics.jsonl").unlink()
    assert train(config, resume=True).after == {}


@pytest.mark.slow
def test_a_run_whose_last_row_is_lost_goes_on_and_is_guarded(task: Path, tmp_path: Path) -> None:
    """The guards find a row without values."""
    config = run_config(task, tmp_path / "run", loss={"kl_coefficient": 1e-6}, train={"steps": 1})
    train(config)
    (tmp_path / "run" / "metrics.jsonl").unlink()
    more = config.model_copy(update={"train": config.train.model_copy(update={"steps": 3})})
    train(more, resume=True)
    assert [row["step"] for row in metrics(tmp_path / "run")] == [2, 3]


@pytest.mark.slow
def test_an_evaluation_that_nothing_was_judged_in_stops_with_a_checkpoint(
    task: Path, tmp_path: Path
) -> None:
    """A resumed run evaluates again and goes on."""
    run_dir = tmp_path / "run"
    config = run_that_judges_nothing_once(task, run_dir, call=4, steps=3, every_steps=2)
    with pytest.raises(TrainingStopped, match="stopped after step 2: no problem has 1 completions"):
        train(config)
    assert [checkpoint.step for checkpoint in list_checkpoints(run_dir)] == [2]
    train(config, resume=True)
    evaluated = [row["step"] for row in metrics(run_dir) if "evaluation/pass@1" in row]
    assert evaluated == [0, 2, 3]


def test_several_evaluations_are_logged_by_name_with_their_change(
    task: Path, tmp_path: Path
) -> None:
    held_out = {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None}
    train(
        run_config(
            task,
            tmp_path / "run",
            "accuracy",
            train={"steps": 2},
            evaluation=[
                {"name": "sums", "dataset": held_out, "num_samples": 2, "k": [1, 2]},
                {
                    "name": "retention",
                    "dataset": {**held_out, "split": "train[:5]"},
                    "num_samples": 2,
                    "k": [1],
                    "every_steps": 1,
                },
            ],
        )
    )
    before, first, last = metrics(tmp_path / "run")
    assert {"evaluation/sums/pass@2", "evaluation/retention/pass@1"} < before.keys()
    assert "evaluation/sums/pass@1" not in first
    for name in ("sums/pass@1", "sums/pass@2", "retention/pass@1"):
        key = f"evaluation/{name}"
        assert last[f"{key}_change"] == pytest.approx(last[key] - before[key])


def test_a_second_signal_ends_the_run_at_once() -> None:
    """Though the work under way, here a `finally` that waits for ever, does not end."""
    code = (
        "import threading\nfrom trainer_client.run.interruption import catch_interruptions\n"
        "with catch_interruptions():\n"
        "    print('caught', flush=True)\n"
        "    while True:\n"
        "        try:\n            threading.Event().wait()\n"
        "        finally:\n            threading.Event().wait()\n"
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "caught\n"
        process.send_signal(number)
        assert process.stderr.readline() == "\n"
        assert "once more ends it at once" in process.stderr.readline()
        process.send_signal(number)
        process.communicate(timeout=600)
        assert process.returncode == -number


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "Ctrl-C")]
)
def test_a_signal_finishes_the_step_saves_and_ends_with_its_status(
    task: Path, tmp_path: Path, number: signal.Signals, name: str
) -> None:
    run_dir = tmp_path / "run"
    config = run_config(task, run_dir, train={"steps": 100_000, "checkpoint_every_steps": None})
    path = tmp_path / "config.yaml"
    path.write_text(dump_config(config))
    reader, writer = os.pipe()
    with os.fdopen(reader) as output, (tmp_path / "errors").open("w+") as errors:
        process = fork_python(
            *("-m", "trainer_client", "train", str(path)),
            stdout=writer,
            stderr=errors.fileno(),
            environment={},
        )
        os.close(writer)
        for line in output:
            if "step      1" in line:
                break
        assert process.pid is not None
        os.kill(process.pid, number)
        output.read()
        process.join()
        said = (tmp_path / "errors").read_text()
    assert process.exitcode == 128 + number, said
    (checkpoint,) = list_checkpoints(run_dir)
    assert f"stopped after step {checkpoint.step}: {name}. Saved {checkpoint.folder}" in said
    assert [row["step"] for row in metrics(run_dir)] == list(range(1, checkpoint.step + 1))


def test_warnings_are_kept_in_a_file(task: Path, tmp_path: Path) -> None:
    train(run_config(task, tmp_path / "run", "constant", train={"steps": 1}))
    lines = (tmp_path / "run" / "warnings.jsonl").read_text().splitlines()
    assert "100% of the groups have equal rewards" in json.loads(lines[0])["message"]
