"""Hand-worked losses, and that splitting or padding a step never changes its gradient."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from trainer_client.config import LossConfig
from trainer_client.loss import kl_divergence, policy_loss, token_weights

# Two completions of 2 and 1 tokens: ratios 1.5, 1 and 0.5; advantages +1 and -1.
MASK = torch.tensor([[False, True, True], [False, True, False]])
SAMPLER = torch.tensor([[0.0, -1.0, -2.0], [0.0, -1.0, 0.0]])
RATIO = torch.tensor([[1.0, 1.5, 1.0], [1.0, 0.5, 1.0]])
ADVANTAGES = torch.tensor([1.0, -1.0])


def loss_of(config: LossConfig, **options: Tensor) -> float:
    weights = token_weights(MASK, config, max_completion_tokens=10)
    policy = SAMPLER + RATIO.log()
    return policy_loss(policy, SAMPLER, ADVANTAGES, MASK, weights, config, **options).loss.item()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # token losses after the clip: -1.2, -1.0 and +0.8 (the clip keeps 0.8 > 0.5)
        ("grpo", ((-1.2 - 1.0) / 2 + 0.8 / 1) / 2),
        ("bnpo", (-1.2 - 1.0 + 0.8) / 3),
        ("dapo", (-1.2 - 1.0 + 0.8) / 3),
        ("dr_grpo", (-1.2 - 1.0 + 0.8) / (2 * 10)),
        # without a clip: -1.5, -1.0 and +0.5
        ("unclipped", ((-1.5 - 1.0) / 2 + 0.5 / 1) / 2),
    ],
)
def test_each_loss_equals_its_hand_worked_value(kind: str, expected: float) -> None:
    assert loss_of(LossConfig(type=kind)) == pytest.approx(expected)


def test_the_clip_counts_the_tokens_on_which_it_acts() -> None:
    config = LossConfig()
    weights = token_weights(MASK, config, max_completion_tokens=10)
    terms = policy_loss(SAMPLER + RATIO.log(), SAMPLER, ADVANTAGES, MASK, weights, config)
    assert terms.clipped_sum.item() == 2  # 1.5 with A > 0 and 0.5 with A < 0


def test_the_clip_stops_the_gradient_only_where_it_would_improve() -> None:
    config = LossConfig()
    policy = (SAMPLER + RATIO.log()).requires_grad_()
    weights = token_weights(MASK, config, max_completion_tokens=10)
    policy_loss(policy, SAMPLER, ADVANTAGES, MASK, weights, config).loss.backward()  # type: ignore[no-untyped-call]
    assert policy.grad is not None
    assert policy.grad.tolist() == [[0.0, 0.0, -0.25], [0.0, 0.0, 0.0]]


def test_a_wide_clip_bounds_only_from_above() -> None:
    # clip 10: ratios up to 11; the lower bound, -9, never acts
    assert loss_of(LossConfig(clip_low=10.0, clip_high=10.0)) == pytest.approx(
        loss_of(LossConfig(type="unclipped"))
    )


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [("k1", -0.5), ("k2", 0.125), ("k3", math.exp(0.5) - 0.5 - 1)],
)
def test_kl_estimators_equal_their_formulas(estimator: str, expected: float) -> None:
    policy, reference = torch.tensor([[-1.0]]), torch.tensor([[-0.5]])
    kl = kl_divergence(policy, reference, torch.tensor([[True]]), estimator)
    assert kl.item() == pytest.approx(expected)


def test_kl_is_added_with_its_coefficient() -> None:
    reference = torch.where(MASK, SAMPLER + RATIO.log() + 0.5, 0.0)
    plain = loss_of(LossConfig())
    with_kl = loss_of(LossConfig(kl_coefficient=0.1), reference_logprobs=reference)
    assert with_kl - plain == pytest.approx(0.1 * (math.exp(0.5) - 1.5))


def test_padding_that_holds_nan_never_reaches_loss_or_gradient() -> None:
    config = LossConfig(kl_coefficient=0.1)
    policy = torch.where(MASK, SAMPLER + RATIO.log(), math.nan).requires_grad_()
    broken = torch.where(MASK, SAMPLER, math.nan)
    weights = token_weights(MASK, config, max_completion_tokens=10)
    terms = policy_loss(
        policy, broken, ADVANTAGES, MASK, weights, config, reference_logprobs=broken
    )
    terms.loss.backward()  # type: ignore[no-untyped-call]
    assert policy.grad is not None
    assert terms.loss.isfinite()
    assert policy.grad.isfinite().all()


@pytest.mark.parametrize("kind", ["grpo", "bnpo", "dr_grpo", "dapo", "gspo", "cispo", "unclipped"])
def test_micro_batches_add_up_to_the_whole(kind: str) -> None:
    config = LossConfig(type=kind, ratio_cap=5.0)
    weights = token_weights(MASK, config, max_completion_tokens=10)
    parts = [
        policy_loss(
            (SAMPLER + RATIO.log())[row],
            SAMPLER[row],
            ADVANTAGES[row],
            MASK[row],
            weights[row],
            config,
        ).loss.item()
        for row in (slice(0, 1), slice(1, 2))
    ]
    assert sum(parts) == pytest.approx(loss_of(config))
