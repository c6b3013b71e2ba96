"""The output layer's gradient is made with the logits that are there, whatever the loss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import rollouts_of, run_config
from trainer_client.learner import make_learner
from trainer_client.policy.output_layer import _EarlyGradients
from trainer_client.update import step as update_step
from trainer_client.update.batch import make_batch
from trainer_client.update.step import update_on_rollouts

ROLLOUTS = rollouts_of(1, 7, 3, 5, 2, 6)
GROUP_ROWS = [[0, 1, 2], [3, 4, 5]]
ADVANTAGES = [1.0, -1.0, 0.5, 0.0, 2.0, -0.3]

LOSSES: dict[str, dict[str, Any]] = {
    **{
        name: {"type": name, "kl_coefficient": 0.1}
        for name in ("grpo", "bnpo", "dr_grpo", "dapo", "sapo", "unclipped")
    },
    "cispo": {"type": "cispo", "ratio_cap": 2.0},
    "k2 of another weight": {"kl_coefficient": 0.3, "kl_estimator": "k2"},
    "KL times the ratio": {"kl_coefficient": 0.3, "kl_ratio_weighted": True},
    "entropy": {"entropy_coefficient": 0.02},
    "entropy and KL": {"entropy_coefficient": 0.02, "kl_coefficient": 0.1},
    "entropy target": {"entropy_target": 9.0},
    "importance": {"importance": {"mode": "token_truncate"}},
    "Clip-Cov": {"covariance": {"mode": "clip", "share": 0.5, "low": -9.0, "high": 9.0}},
    "KL-Cov": {"covariance": {"mode": "kl", "share": 0.5}},
    "ratio cap": {"type": "unclipped", "ratio_cap": 1.1},
}
BY_SEQUENCE: dict[str, dict[str, Any]] = {
    "gspo": {"type": "gspo"},
    "importance of sequences": {"importance": {"mode": "sequence_mask"}},
}


@pytest.fixture
def accepted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each backward pass used the gradient that its forward pass had made."""
    found: list[bool] = []

    def noted(self: _EarlyGradients, arrived: Any) -> bool:
        found.append(are_of(self, arrived))
        return found[-1]

    are_of = _EarlyGradients.are_of
    monkeypatch.setattr(_EarlyGradients, "are_of", noted)
    return found


def gradients(task: Path, folder: Path, loss: dict[str, Any]) -> list[torch.Tensor]:
    """The gradients of two optimizer steps, which change nothing, in micro-batches of two rows.

    One row is replayed, one truncated and masked; ratios are not 1, so clips and caps act.
    """
    train = {"micro_batch_tokens": 24, "minibatches": 2}
    config = run_config(task, folder, loss=loss, train=train)
    torch.manual_seed(0)
    learner = make_learner(config)
    rows = [replace(ROLLOUTS[0], replayed_from=1), *ROLLOUTS[1:]]
    batch = make_batch(rows, ADVANTAGES, pad_id=0, device=learner.policy.device)
    ended = torch.tensor([True, True, False, True, True, True], device=learner.policy.device)
    batch = replace(batch, completion_mask=batch.completion_mask & ended[:, None])
    found: list[torch.Tensor] = []

    def take(*_: Any) -> None:
        for weight in learner.policy.model.parameters():
            assert weight.grad is not None
            found.append(weight.grad.clone())
            weight.grad.zero_()

    learner.optimizer.register_step_pre_hook(take)
    metrics = update_on_rollouts(learner, batch, GROUP_ROWS, config)
    assert (metrics["policy/updates"], metrics["policy/skipped_updates"]) == (2, 0)
    return found


@pytest.mark.parametrize("name", LOSSES)
def test_an_update_is_that_of_logits_computed_twice(
    task: Path,
    tmp_path: Path,
    name: str,
    accepted: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each loss that is a sum over tokens says its slopes exactly: none is computed anew."""
    early = gradients(task, tmp_path / "early", LOSSES[name])
    assert accepted
    assert all(accepted)
    monkeypatch.setattr(update_step, "_slopes_of", lambda *arguments: None)
    late = gradients(task, tmp_path / "late", LOSSES[name])
    assert max(one.abs().max() for one in late) > 1e-3
    for one, other in zip(early, late, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", BY_SEQUENCE)
def test_a_loss_of_whole_sequences_says_nothing_early(
    task: Path, tmp_path: Path, name: str, accepted: list[bool]
) -> None:
    gradients(task, tmp_path / "run", BY_SEQUENCE[name])
    assert not accepted


def test_a_gradient_that_is_not_finite_is_skipped_as_before(
    task: Path, tmp_path: Path, accepted: list[bool]
) -> None:
    """An advantage that is no number is no derivative that could have been foretold."""
    config = run_config(task, tmp_path / "run", train={"steps": 1})
    learner = make_learner(config)
    before = [weight.clone() for weight in learner.policy.model.parameters()]
    advantages = [float("nan"), *ADVANTAGES[1:]]
    batch = make_batch(ROLLOUTS, advantages, pad_id=0, device=torch.device(DEVICE))
    metrics = update_on_rollouts(learner, batch, GROUP_ROWS, config)
    assert (metrics["policy/updates"], metrics["policy/skipped_updates"]) == (1, 1)
    assert accepted == [False]
    for weight, old in zip(learner.policy.model.parameters(), before, strict=True):
        assert weight.equal(old)
