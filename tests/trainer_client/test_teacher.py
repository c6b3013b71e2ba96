"""Distillation on policy: the loss against exact divergences, runs with a teacher, refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.config.loss_section import LossConfig
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.demo import sums_task
from trainer_client.policy.policy import load_policy
from trainer_client.policy.teacher import load_teacher
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.train import train
from trainer_client.update.loss import policy_loss


@pytest.mark.parametrize("estimator", ["k2", "k3"])
def test_the_gradient_is_that_of_the_exact_divergence(estimator: str) -> None:
    """Every token of a vocabulary of 11 as a sequence of its own, weighted by its probability:
    the expectation over the policy's samples, in float64."""
    generator = torch.Generator().manual_seed(0)
    teacher = torch.randn(11, generator=generator, dtype=torch.float64).log_softmax(-1)
    scores = torch.randn(11, generator=generator, dtype=torch.float64, requires_grad=True)
    policy = scores.log_softmax(-1)
    terms = policy_loss(
        policy[:, None],
        policy.detach()[:, None],
        torch.zeros(11, dtype=torch.float64),
        torch.ones(11, 1, dtype=torch.bool),
        policy.detach().exp()[:, None],
        LossConfig(teacher="teacher", kl_coefficient=1.0, kl_estimator=estimator),
        reference_logprobs=teacher[:, None],
    )
    (found,) = torch.autograd.grad(terms.loss, scores)
    again = scores.log_softmax(-1)
    reverse = (again.exp() * (again - teacher)).sum()
    forward = (teacher.exp() * (teacher - again)).sum()
    (expected,) = torch.autograd.grad(reverse if estimator == "k2" else forward, scores)
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model with the tokenizer of the task."""
    folder = tmp_path_factory.mktemp("teacher")
    torch.manual_seed(1)
    tokenizer = sums_task.make_tokenizer()
    sums_task.make_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def distilled(task: Path, run_dir: Path, teacher: Path, **sections: Any) -> Config:
    """A run that the teacher alone leads: all rewards are equal."""
    return run_config(
        task,
        run_dir,
        "constant",
        loss={"teacher": str(teacher), "kl_coefficient": 1.0, "kl_estimator": "k2"},
        guards={"warn_if_zero_variance_above": None, "warn_if_spread_below": None},
        train={"steps": 6, "checkpoint_every_steps": 3, "keep_checkpoints": None},
        **sections,
    )


@pytest.mark.slow
def test_a_policy_comes_nearer_to_its_teacher_and_a_resumed_one_as_near(
    task: Path, teacher: Path, tmp_path: Path
) -> None:
    """No guard of the KL to the start policy stops it, however far the teacher is."""
    settings = distilled(task, tmp_path / "run", teacher)
    train(settings)
    rows = metrics(settings.output_dir)
    kls = [row["policy/teacher_kl"] for row in rows]
    assert kls[-1] < kls[0] / 2
    assert all("policy/kl_divergence" not in row for row in rows)
    assert all(row["advantage/std"] == 0 for row in rows)
    whole = weights(settings.output_dir / "model")
    shutil.rmtree(list_checkpoints(settings.output_dir)[-1].folder)
    shutil.rmtree(settings.output_dir / "model")
    train(settings, resume=True)
    assert same(weights(settings.output_dir / "model"), whole)


@pytest.mark.slow
def test_an_adapter_has_a_teacher_of_its_own(task: Path, teacher: Path, tmp_path: Path) -> None:
    """The reference under LoRA is the base model otherwise, and the first KL is 0."""
    settings = distilled(
        task,
        tmp_path / "run",
        teacher,
        model={"path": str(task / "model"), "device": DEVICE, "lora": {"rank": 2}},
    )
    train(settings.model_copy(update={"train": settings.train.model_copy(update={"steps": 1})}))
    assert metrics(settings.output_dir)[0]["policy/teacher_kl"] > 0.01


def test_a_teacher_with_other_tokens_is_refused(task: Path, teacher: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(teacher, other)
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    first, second = list(vocabulary)[-2:]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    config = ModelConfig(path=str(task / "model"), device=DEVICE)
    with pytest.raises(ConfigError, match=r"loss\.teacher: .* has another tokenizer"):
        load_teacher(str(other), config, load_policy(config))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"loss": {"teacher": "m"}}, "teacher needs a kl_coefficient other than 0"),
        (
            {"loss": {"teacher": "m", "kl_coefficient": 1.0, "kl_estimator": "k1"}},
            "teacher needs kl_estimator k2 or k3",
        ),
        (
            {"loss": {"teacher": "m", "kl_coefficient": 1.0, "reference_sync_steps": 2}},
            "does not go with reference_sync_steps",
        ),
        (
            {
                "loss": {"teacher": "m", "kl_coefficient": 1.0},
                "guards": {"measure_kl_every_steps": 2},
            },
            r"measure_kl_every_steps measures the KL to the start policy",
        ),
    ],
)
def test_settings_that_a_teacher_does_not_go_with_are_named(
    task: Path, tmp_path: Path, sections: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run_config(task, tmp_path / "run", **sections)
