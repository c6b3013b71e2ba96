"""Training runs of a tiny model against the real service."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import LlamaForCausalLM

from reward_verifier.errors import VerifierUnavailable
from reward_verifier.verdict import Verdict
from tests.trainer_client.device import DEVICE
from trainer_client.config.run_config import Config, ConfigError, make_config
from trainer_client.errors import TrainingError
from trainer_client.learner import make_learner
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.reward.rewards import rewards_of
from trainer_client.rollout import Rollout, RolloutGroup
from trainer_client.row_files import DatasetError
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.sft import fine_tune
from trainer_client.train import train
from trainer_client.update.batch import batch_of, kept_groups, make_batch
from trainer_client.update.step import update_policy


def config(task: Path, run_dir: Path, url: str = "http://127.0.0.1:9", **sections: Any) -> Config:
    values: dict[str, Any] = {
        "output_dir": str(run_dir),
        "model": {"path": str(task / "model"), "device": DEVICE},
        "dataset": {"path": str(task / "data" / "train.jsonl"), "system_prompt": None},
        "rollout": {"prompts_per_step": 4, "group_size": 4, "max_completion_tokens": 8},
        "reward": {"url": url, "verifiers": [{"type": "tag_count"}]},
        "optimizer": {"learning_rate": 1e-3},
        "train": {"steps": 4},
    }
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    return make_config(values)


def weights(run_dir: Path) -> dict[str, torch.Tensor]:
    return load_file(run_dir / "model" / "model.safetensors")


def metrics(run_dir: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def finished_run(task: Path, service_url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four steps with a KL term and an evaluation, checkpoints after 2 and 4."""
    run_dir = tmp_path_factory.mktemp("runs") / "whole"
    train(
        config(
            task,
            run_dir,
            service_url,
            loss={"kl_coefficient": 0.1},
            train={"steps": 4, "checkpoint_every_steps": 2},
            evaluation={
                "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
                "verifier": "tag_count",
                "num_samples": 2,
                "k": [1, 2],
            },
        )
    )
    return run_dir


@pytest.mark.slow
def test_a_run_leaves_model_metrics_curves_and_checkpoints(finished_run: Path) -> None:
    assert (finished_run / "model" / "config.json").exists()
    assert list((finished_run / "tensorboard").iterdir())
    assert [checkpoint.step for checkpoint in list_checkpoints(finished_run)] == [2, 4]


def test_the_metrics_have_the_documented_names(finished_run: Path) -> None:
    lines = metrics(finished_run)
    assert [line["step"] for line in lines] == [0, 1, 2, 3, 4]
    assert {"evaluation/pass@1", "evaluation/pass@2"} < lines[0].keys()
    assert lines[1].keys() >= {
        "reward/tag_count",
        "reward/total",
        "reward/group_std",
        "reward/zero_variance_fraction",
        "advantage/mean",
        "advantage/std",
        "policy/kl_divergence",
        "policy/entropy",
        "policy/clip_fraction",
        "policy/grad_norm",
        "completion/length",
        "completion/truncated_fraction",
        "verifier/unverifiable_fraction",
        "verifier/failed_fraction",
        "verifier/seconds_p99",
        "time/generate",
        "time/scoring_exposed",
        "time/update",
        "time/step",
        "tokens/generated_per_second",
    }
    assert lines[1]["policy/kl_divergence"] == 0.0  # the policy still is its reference
    assert lines[4]["policy/kl_divergence"] > 0.0


def test_the_weights_change(finished_run: Path, task: Path) -> None:
    start = load_file(task / "model" / "model.safetensors")
    assert any(not start[name].equal(value) for name, value in weights(finished_run).items())


@pytest.mark.slow
def test_a_resumed_run_ends_with_the_same_weights_bit_for_bit(
    finished_run: Path, task: Path, service_url: str, tmp_path: Path
) -> None:
    run_dir = tmp_path / "resumed"
    sections: dict[str, Any] = {"loss": {"kl_coefficient": 0.1}}
    whole = config(task, run_dir, service_url, **sections)
    two_steps = config(task, run_dir, service_url, train={"steps": 2}, **sections)
    train(two_steps)
    train(whole, resume=True)
    assert [line["step"] for line in metrics(run_dir)] == [1, 2, 3, 4]
    for name, value in weights(finished_run).items():
        assert weights(run_dir)[name].equal(value), name


@pytest.mark.slow
def test_a_folder_with_checkpoints_is_not_written_over(
    finished_run: Path, task: Path, service_url: str
) -> None:
    with pytest.raises(ConfigError, match="holds checkpoints of a run; go on with --resume"):
        train(config(task, finished_run, service_url))


def test_there_must_be_something_to_resume(task: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no run to resume"):
        train(config(task, tmp_path / "run"), resume=True)


def test_a_service_that_is_down_stops_the_run_before_the_model_is_loaded(
    task: Path, tmp_path: Path
) -> None:
    unreachable = config(task, tmp_path / "run", reward={"max_attempts": 1})
    with pytest.raises(VerifierUnavailable, match="Is it running"):
        train(unreachable)


def test_references_that_no_verifier_can_use_stop_the_run(
    task: Path, service_url: str, tmp_path: Path
) -> None:
    wrong = config(
        task,
        tmp_path / "run",
        service_url,
        dataset={"reference_columns": {"solution": "answer"}},
        reward={"verifiers": [{"type": "accuracy"}]},
    )
    message = r"accuracy: unverifiable \(missing_reference: reference\.answer is needed"
    with pytest.raises(TrainingError, match=message):
        train(wrong)


def scored(*scores: float | None) -> ScoredGroups:
    rollouts = tuple(Rollout((1,), (5, 2), (-1.0, -1.0), "x", truncated=False) for _ in scores)
    verdicts = tuple(
        {"tag_count": Verdict(outcome="failed" if s is None else "scored", score=s, reason="r")}
        for s in scores
    )
    group = ScoredGroup(RolloutGroup(Problem("0", (), {}), rollouts), verdicts)
    return ScoredGroups([group], 1.0, 0.0)


def test_an_unjudged_completion_has_no_reward_rather_than_zero(task: Path, tmp_path: Path) -> None:
    rewards = rewards_of(scored(1.0, None, 0.0), config(task, tmp_path).reward)
    assert rewards[0, 0] == 1.0
    assert math.isnan(rewards[0, 1])


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("not_judged", "The function returned None for each"),
        ("missing_reference", "Check dataset.reference_columns and the service's log"),
    ],
)
def test_a_step_of_which_nothing_was_judged_says_what_to_look_at(
    task: Path, tmp_path: Path, reason: str, remedy: str
) -> None:
    (group,) = scored(None, None).groups
    verdict = Verdict(outcome="unverifiable", reason=reason)
    unjudged = dataclasses.replace(group, verdicts=({"tag_count": verdict},) * 2)
    with pytest.raises(TrainingError, match=rf"tag_count: unverifiable \({reason}\)\. {remedy}"):
        rewards_of(ScoredGroups([unjudged], 1.0, 0.0), config(task, tmp_path).reward)


def test_a_path_is_no_configuration() -> None:
    with pytest.raises(ConfigError, match=r"of load_config\(Path\(.*found 'run.yaml'"):
        train("run.yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("unjudged", "expected"), [("keep", [1.0, 0.0, -1.0]), ("drop", [1.0, -1.0])]
)
def test_unjudged_completions_are_kept_with_advantage_zero_or_dropped(
    task: Path, tmp_path: Path, unjudged: str, expected: list[float]
) -> None:
    settings = config(task, tmp_path, advantage={"unjudged": unjudged})
    groups = scored(1.0, None, 0.0)
    advantages = torch.tensor([[1.0, 0.0, -1.0]])
    rewards = rewards_of(groups, settings.reward)
    kept = kept_groups(groups, rewards, advantages, settings.advantage)
    _, batch = batch_of(kept, make_learner(settings).policy, mask_truncated=False)
    assert batch is not None
    assert batch.advantages.tolist() == expected


@pytest.mark.parametrize(
    "kind", ["grpo", "bnpo", "dr_grpo", "dapo", "gspo", "cispo", "sapo", "unclipped"]
)
def test_the_micro_batch_size_does_not_change_the_update(
    task: Path, tmp_path: Path, kind: str
) -> None:
    rollouts = [
        Rollout((1, 5), tuple(range(5, 5 + n)), (-4.0,) * n, "x", truncated=True)
        for n in (1, 7, 3, 5)
    ]
    norms = []
    for tokens in (9, 10_000):
        settings = config(
            task,
            tmp_path,
            loss={
                "type": kind,
                "kl_coefficient": 0.1,
                "ratio_cap": None if kind == "sapo" else 5.0,
            },
            train={"micro_batch_tokens": tokens},
        )
        learner = make_learner(settings)
        batch = make_batch(rollouts, [1.0, -1.0, 0.5, 0.0], pad_id=0, device=learner.policy.device)
        norms.append(update_policy(learner, batch, settings)["policy/grad_norm"])
    assert norms[0] == pytest.approx(norms[1], rel=1e-5)


def test_an_update_whose_gradient_is_not_finite_is_skipped_and_counted(
    task: Path, tmp_path: Path
) -> None:
    settings = config(task, tmp_path)
    learner = make_learner(settings)
    before = {name: value.clone() for name, value in learner.policy.model.state_dict().items()}
    rollout = Rollout((1,), (5,), (math.inf,), "x", truncated=True)
    batch = make_batch([rollout], [math.nan], pad_id=0, device=learner.policy.device)
    metrics = update_policy(learner, batch, settings)
    assert metrics == {"policy/updates": 1, "policy/skipped_updates": 1}
    for name, value in learner.policy.model.state_dict().items():
        assert before[name].equal(value)


def test_supervised_fine_tuning_learns_its_demonstrations(task: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "sft"
    fine_tune(
        config(
            task,
            run_dir,
            dataset={"path": str(task / "data" / "demonstrations.jsonl")},
            sft={"steps": 30, "batch_size": 8, "learning_rate": 3e-3},
        )
    )
    losses = [line["sft/loss"] for line in metrics(run_dir)]
    assert losses[-1] < 0.5 * losses[0]
    assert (run_dir / "model" / "tokenizer.json").exists()


def test_supervised_fine_tuning_warns_where_it_trains_bfloat16_weights(
    task: Path, tmp_path: Path
) -> None:
    model = {"path": str(task / "model"), "device": DEVICE, "dtype": "bfloat16"}
    dataset = {"path": str(task / "data" / "demonstrations.jsonl")}
    sft = {"steps": 1, "batch_size": 2}
    fine_tune(config(task, tmp_path / "sft", model=model, dataset=dataset, sft=sft))
    assert "model.dtype is bfloat16" in (tmp_path / "sft" / "warnings.jsonl").read_text()


def test_supervised_fine_tuning_computes_in_the_type_of_autocast(
    task: Path, tmp_path: Path
) -> None:
    """Near the loss of float32, not equal to it."""
    losses = []
    for autocast in (None, "bfloat16"):
        settings = config(
            task,
            tmp_path / str(autocast),
            model={"path": str(task / "model"), "device": DEVICE, "autocast": autocast},
            dataset={"path": str(task / "data" / "demonstrations.jsonl")},
            sft={"steps": 1, "batch_size": 8},
        )
        fine_tune(settings)
        losses += [line["sft/loss"] for line in metrics(settings.output_dir)]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
    assert losses[1] != losses[0]


def test_supervised_fine_tuning_refuses_an_unknown_output_layer(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its log-probabilities would not be the model's; GRPO refuses it, too."""
    forward = LlamaForCausalLM.forward

    def changed(self: LlamaForCausalLM, *arguments: Any, **options: Any) -> Any:
        output = forward(self, *arguments, **options)
        output.logits = output.logits + 1
        return output

    monkeypatch.setattr(LlamaForCausalLM, "forward", changed)
    with pytest.raises(ConfigError, match="changes its logits"):
        fine_tune(config(task, tmp_path / "sft"))


def test_supervised_fine_tuning_lists_what_each_data_set_lacks(task: Path, tmp_path: Path) -> None:
    """Reading one mistake for each start of a model would take long."""
    lacking = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text('{"question": "1+1=?"}\n')
        lacking.append({"path": str(path), "share": 1})
    settings = make_config(
        {
            "output_dir": str(tmp_path / "sft"),
            "model": {"path": str(task / "model"), "device": DEVICE},
            "dataset": lacking,
            "reward": {"verifiers": [{"type": "tag_count"}]},
        }
    )
    with pytest.raises(DatasetError, match=r"first.jsonl has no column(.|\n)*second.jsonl has no"):
        fine_tune(settings)


def test_the_python_of_the_documentation_trains(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "demo" / "sft").mkdir(parents=True)
    (tmp_path / "runs" / "demo" / "sft" / "model").symlink_to(task / "model")
    (tmp_path / "runs" / "demo" / "data").symlink_to(task / "data")
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["result"].model_dir == Path("runs/notebook/model")
    assert len(metrics(tmp_path / "runs" / "notebook")) == 2
    assert names["trained"].num_parameters() == names["model"].num_parameters()
