"""Hand-worked losses, and that splitting or padding a step never changes its gradient."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from trainer_client.config.loss_section import ImportanceConfig, LossConfig
from trainer_client.update.loss import (
    StepTotals,
    entropy_bonus,
    importance_weights,
    kl_divergence,
    policy_loss,
    token_weights,
)

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


def test_replayed_tokens_are_in_the_policy_loss_and_out_of_kl_and_clip_count() -> None:
    """The second completion is replayed; its tokens still count in the denominators."""
    config = LossConfig(kl_coefficient=0.5, kl_estimator="k3")
    token_factors = token_weights(MASK, config, max_completion_tokens=10)
    policy = (SAMPLER + RATIO.log()).requires_grad_()
    # d = 1 on every token of the mask: k3 = e - 2.
    fresh = MASK & torch.tensor([[True], [False]])
    terms = policy_loss(
        policy,
        SAMPLER,
        ADVANTAGES,
        MASK,
        token_factors,
        config,
        reference_logprobs=policy.detach() + 1,
        fresh=fresh,
    )
    k3 = math.e - 2
    assert terms.loss.item() == pytest.approx(loss_of(LossConfig()) + 0.5 * 2 * k3 * 0.25)
    assert terms.kl_sum.item() == pytest.approx(2 * k3)
    assert terms.clipped_sum.item() == 1
    terms.loss.backward()  # type: ignore[no-untyped-call]
    assert policy.grad is not None
    assert policy.grad[1].tolist() == [0.0, 0.0, 0.0]  # the clip; a KL would pull here


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


def test_gspo_weighs_a_sequence_by_the_geometric_mean_of_its_ratios() -> None:
    # sequence ratios sqrt(1.5) and 0.5; clipped to 1.2 and, since A < 0, 0.8; mean over sequences
    assert loss_of(LossConfig(type="gspo")) == pytest.approx((-1.2 + 0.8) / 2)
    unclipped = LossConfig(type="gspo", clip_low=0.9, clip_high=0.9)
    assert loss_of(unclipped) == pytest.approx((-math.sqrt(1.5) + 0.5) / 2)


def test_cispo_weighs_log_probabilities_by_capped_ratios_without_gradient() -> None:
    config = LossConfig(type="cispo", ratio_cap=1.2)
    policy = (SAMPLER + RATIO.log()).requires_grad_()
    weights = token_weights(MASK, config, max_completion_tokens=10)
    terms = policy_loss(policy, SAMPLER, ADVANTAGES, MASK, weights, config)
    terms.loss.backward()  # type: ignore[no-untyped-call]
    assert policy.grad is not None
    # -min(r, 1.2) A / 3 tokens: the gradient passes where the clip of grpo would stop it
    expected = torch.tensor([[0.0, -1.2, -1.0], [0.0, 0.5, 0.0]]) / 3
    torch.testing.assert_close(policy.grad, expected)
    assert terms.clipped_sum.item() == 1


def test_a_ratio_cap_bounds_the_loss_where_the_clip_does_not() -> None:
    # A < 0 and r = 3: the clip lets -r A grow without bound, the cap stops it at 2
    policy, sampler = torch.tensor([[math.log(3.0)]]), torch.tensor([[0.0]])
    mask, advantage = torch.tensor([[True]]), torch.tensor([-1.0])
    losses = []
    for cap in (None, 2.0):
        config = LossConfig(ratio_cap=cap)
        weights = token_weights(mask, config, max_completion_tokens=1)
        losses.append(policy_loss(policy, sampler, advantage, mask, weights, config).loss.item())
    assert losses == pytest.approx([3.0, 2.0])


@pytest.mark.parametrize(
    ("mode", "low", "high", "expected"),
    [
        ("token_truncate", None, 3.0, [[3.0, 0.5], [1.0, 1.0]]),
        ("token_truncate", 0.6, None, [[4.0, 0.6], [1.0, 1.0]]),
        ("token_mask", 0.4, 3.0, [[0.0, 0.5], [1.0, 1.0]]),
        ("sequence_truncate", None, 3.0, [[2.0], [1.0]]),  # 4 * 0.5, a product
        ("sequence_mask", None, 1.5, [[0.0], [1.0]]),
    ],
)
def test_importance_weights_are_bounded_or_masked(
    mode: Any, low: float | None, high: float | None, expected: list[list[float]]
) -> None:
    proximal = torch.tensor([[4.0, 0.5], [2.0, 9.0]]).log()
    sampler = torch.tensor([[0.0, 0.0], [math.nan, 0.0]])  # NaN: the sampler did not say
    mask = torch.tensor([[True, True], [True, False]])
    config = ImportanceConfig(mode=mode, low=low, high=high)
    torch.testing.assert_close(
        importance_weights(proximal, sampler, mask, config), torch.tensor(expected)
    )


def test_with_importance_correction_the_ratio_starts_from_the_trainers_own_policy() -> None:
    # r = policy / proximal = 1 and w = proximal / sampler = 2 for every token
    config = LossConfig(importance=ImportanceConfig(mode="token_truncate"))
    weights = token_weights(MASK, config, max_completion_tokens=10)
    policy = SAMPLER + math.log(2)
    terms = policy_loss(
        policy, SAMPLER, ADVANTAGES, MASK, weights, config, proximal_logprobs=policy
    )
    assert terms.loss.item() == pytest.approx((-2.0 + 2.0) / 2)
    assert terms.clipped_sum.item() == 0


def test_importance_correction_needs_the_proximal_log_probabilities() -> None:
    config = LossConfig(importance=ImportanceConfig(mode="token_mask"))
    with pytest.raises(ValueError, match="give both or neither"):
        loss_of(config)


def test_a_ratio_weighted_kl_is_multiplied_by_the_ratio() -> None:
    reference = torch.where(MASK, SAMPLER + RATIO.log() + 0.5, 0.0)
    plain = loss_of(LossConfig())
    config = LossConfig(kl_coefficient=0.1, kl_ratio_weighted=True)
    k3 = math.exp(0.5) - 1.5
    expected = 0.1 * k3 * ((1.5 + 1.0) / 2 + 0.5) / 2
    assert loss_of(config, reference_logprobs=reference) - plain == pytest.approx(expected)


def test_the_logged_kl_is_k3_whatever_is_in_the_loss() -> None:
    config = LossConfig(kl_coefficient=0.1, kl_estimator="k1")
    weights = token_weights(MASK, config, max_completion_tokens=10)
    policy = SAMPLER + RATIO.log()
    terms = policy_loss(
        policy, SAMPLER, ADVANTAGES, MASK, weights, config, reference_logprobs=policy + 0.5
    )
    assert terms.kl_sum.item() == pytest.approx(3 * (math.exp(0.5) - 1.5))
    # k3 of exp(d) = ratio: 1.5, 1 and 0.5
    expected = sum(r - 1 - math.log(r) for r in (1.5, 1.0, 0.5))
    assert terms.sampler_kl_sum.item() == pytest.approx(expected)


def test_the_entropy_bonus_is_a_mean_over_the_tokens_of_the_whole_step() -> None:
    entropy = torch.tensor([[9.0, 1.0, 2.0], [9.0, 3.0, 9.0]])
    totals = StepTotals.of(MASK)
    parts = [entropy_bonus(entropy[row : row + 1], MASK[row : row + 1], totals) for row in (0, 1)]
    assert sum(part.item() for part in parts) == pytest.approx((1 + 2 + 3) / 3)


def test_a_sequence_without_tokens_in_the_loss_still_counts_in_the_mean_over_sequences() -> None:
    mask = torch.cat([MASK, torch.zeros(2, 3, dtype=torch.bool)])
    config = LossConfig()
    weights = token_weights(mask, config, max_completion_tokens=10)
    assert weights.sum().item() == pytest.approx(2 / 4)


@pytest.mark.slow
@given(st.data())
def test_padding_its_side_and_the_order_of_rows_never_change_loss_or_gradient(
    data: st.DataObject,
) -> None:
    kind = data.draw(st.sampled_from(["grpo", "dapo", "dr_grpo", "gspo", "cispo", "unclipped"]))
    config = LossConfig(type=kind, ratio_cap=2.0, kl_coefficient=0.1, kl_ratio_weighted=True)
    lengths = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 1000)))
    count, width = len(lengths), max([*lengths, 1])
    values = torch.randn((3, count, width), generator=generator, dtype=torch.float64)
    advantages = torch.randn(count, generator=generator, dtype=torch.float64)
    order = torch.randperm(count, generator=generator)
    extra = data.draw(st.integers(0, 3))

    def gradients(*, left: int, right: int, rows: Tensor) -> list[list[float]]:
        total = left + width + right
        mask = torch.zeros((count, total), dtype=torch.bool)
        padded = torch.full((3, count, total), math.nan, dtype=torch.float64)
        for row, length in enumerate(lengths):
            start = total - length if left else 0
            mask[row, start : start + length] = True
            padded[:, row, start : start + length] = values[:, row, :length]
        policy = padded[0][rows].requires_grad_()
        weights = token_weights(mask[rows], config, max_completion_tokens=7)
        policy_loss(
            policy,
            padded[1][rows],
            advantages[rows],
            mask[rows],
            weights,
            config,
            reference_logprobs=padded[2][rows],
        ).loss.backward()  # type: ignore[no-untyped-call]
        assert policy.grad is not None
        by_row = dict(zip(rows.tolist(), range(count), strict=True))
        return [policy.grad[by_row[row]][mask[row]].tolist() for row in range(count)]

    plain = gradients(left=0, right=0, rows=torch.arange(count))
    for other in (
        gradients(left=extra + 1, right=0, rows=torch.arange(count)),
        gradients(left=0, right=extra, rows=order),
    ):
        for ours, theirs in zip(plain, other, strict=True):
            assert ours == pytest.approx(theirs, abs=1e-9)
