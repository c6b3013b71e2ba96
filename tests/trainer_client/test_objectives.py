"""Objectives beyond the clipped ones, each against a loop over its definition in floats."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import fmean, pstdev, stdev
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.config.advantage_section import AdvantageConfig
from trainer_client.config.loss_section import CovarianceConfig, LossConfig
from trainer_client.config.run_config import ConfigError, make_config
from trainer_client.train import train
from trainer_client.update.advantages import decoupled_advantages, decoupled_groups_that_differ
from trainer_client.update.covariance import covariances, selected_tokens
from trainer_client.update.entropy_control import EntropyControl
from trainer_client.update.loss import policy_loss, token_weights


def random_step(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Log-probabilities of policy and sampler, advantages and mask of 6 sequences."""
    generator = torch.Generator().manual_seed(seed)
    shape = (6, 7)
    sampler = -torch.rand(shape, generator=generator, dtype=torch.float64) * 3
    policy = sampler + 0.4 * torch.randn(shape, generator=generator, dtype=torch.float64)
    advantages = torch.randn(6, generator=generator, dtype=torch.float64)
    lengths = torch.tensor([7, 1, 4, 0, 6, 3])
    return policy, sampler, advantages, torch.arange(7) < lengths[:, None]


def loss_of(config: LossConfig, step: tuple[Tensor, ...], selected: Tensor | None = None) -> Tensor:
    policy, sampler, advantages, mask = step
    token_factors = token_weights(mask, config, max_completion_tokens=7).double()
    return policy_loss(
        policy, sampler, advantages, mask, token_factors, config, selected=selected
    ).loss


@pytest.mark.parametrize("seed", range(5))
def test_sapo_is_the_mean_of_its_gates(seed: int) -> None:
    config = LossConfig(type="sapo", sapo_temperature_positive=0.7, sapo_temperature_negative=1.9)
    policy, sampler, advantages, mask = step = random_step(seed)
    total = 0.0
    for row in range(6):
        gains = []
        for place in range(7):
            if mask[row, place]:
                ratio = math.exp(policy[row, place].item() - sampler[row, place].item())
                advantage = advantages[row].item()
                tau = 0.7 if advantage > 0 else 1.9
                gains.append(4 / tau / (1 + math.exp(-tau * (ratio - 1))) * advantage)
        total += fmean(gains) / 6 if gains else 0.0
    assert loss_of(config, step).item() == pytest.approx(-total, abs=1e-6)


def test_on_policy_sapo_has_the_gradient_of_the_ratio() -> None:
    """Its gate has slope 1 where the ratio is 1, whatever the temperature."""
    _, sampler, advantages, mask = random_step(0)
    grads = []
    for config in (LossConfig(type="sapo", sapo_temperature_negative=3.0), LossConfig()):
        policy = sampler.clone().requires_grad_()
        loss_of(config, (policy, sampler, advantages, mask)).backward()  # type: ignore[no-untyped-call]
        grads.append(policy.grad)
    torch.testing.assert_close(grads[0], grads[1])


def test_sapo_with_a_cap_is_refused() -> None:
    with pytest.raises(ValueError, match=r"leave loss\.ratio_cap out"):
        LossConfig(type="sapo", ratio_cap=2.0)


def covariance_loop(step: tuple[Tensor, ...]) -> dict[tuple[int, int], float]:
    _, sampler, advantages, mask = step
    tokens = [(row, place) for row in range(6) for place in range(7) if mask[row, place]]
    logprobs = fmean(sampler[token].item() for token in tokens)
    mean = fmean(advantages[row].item() for row, _ in tokens)
    return {
        token: (sampler[token].item() - logprobs) * (advantages[token[0]].item() - mean)
        for token in tokens
    }


def test_covariances_are_centred_over_the_tokens_of_the_step() -> None:
    step = random_step(3)
    found = covariances(step[1], step[2], step[3])
    expected = covariance_loop(step)
    for row in range(6):
        for place in range(7):
            assert found[row, place].item() == pytest.approx(expected.get((row, place), 0.0))


@pytest.mark.parametrize(("share", "count"), [(1e-4, 1), (0.2, 4), (1.0, 21)])
def test_kl_cov_penalises_the_tokens_of_the_largest_covariance(share: float, count: int) -> None:
    policy, sampler, _, mask = step = random_step(4)
    config = CovarianceConfig(mode="kl", share=share, kl_coefficient=0.5)
    selected = selected_tokens(sampler, step[2], mask, config)
    ranked = sorted(covariance_loop(step).items(), key=lambda item: -item[1])
    chosen = {token for token, _ in ranked[:count]}
    assert {(row, place) for row, place in selected.nonzero().tolist()} == chosen
    settings = LossConfig(type="dapo", covariance=config)
    plain = loss_of(LossConfig(type="dapo"), step).item()
    penalty = math.fsum(abs((policy - sampler)[token].item()) for token in chosen)
    expected = plain + 0.5 * penalty / int(mask.sum())
    assert loss_of(settings, step, selected).item() == pytest.approx(expected, abs=1e-6)


def test_clip_cov_takes_the_gradient_of_tokens_between_the_bounds() -> None:
    policy, sampler, advantages, mask = random_step(5)
    step = (policy, sampler, advantages, mask)
    config = CovarianceConfig(mode="clip", share=0.1, low=0.1, high=1.0)
    torch.manual_seed(0)
    selected = selected_tokens(sampler, advantages, mask, config)
    between = {token for token, value in covariance_loop(step).items() if 0.1 < value < 1.0}
    chosen = {(row, place) for row, place in selected.nonzero().tolist()}
    assert chosen < between
    assert len(chosen) == 2
    policy = policy.clone().requires_grad_()
    settings = LossConfig(type="unclipped", covariance=config)
    loss_of(settings, (policy, sampler, advantages, mask), selected).backward()  # type: ignore[no-untyped-call]
    assert policy.grad is not None
    assert (policy.grad[selected] == 0).all()
    assert (policy.grad[mask & ~selected] != 0).all()
    seen = {
        (row, place)
        for _ in range(200)
        for row, place in selected_tokens(sampler, advantages, mask, config).nonzero().tolist()
    }
    assert seen == between


def test_clip_cov_without_a_token_between_the_bounds_changes_nothing() -> None:
    _, sampler, advantages, mask = random_step(6)
    config = CovarianceConfig(mode="clip", share=0.5, low=1e6, high=2e6)
    assert not selected_tokens(sampler, advantages, mask, config).any()


def test_the_entropy_coefficient_follows_its_target() -> None:
    config = LossConfig(
        entropy_coefficient=0.1, entropy_target=1.0, entropy_step=0.04, entropy_max=0.15
    )
    control = EntropyControl(config)
    seen = []
    for entropy in (0.9, 1.0, 1.1, 1.2, 0.5):
        seen.append(control.coefficient)
        control.measured(entropy)
    assert seen == pytest.approx([0.0, 0.14, 0.15, 0.0, 0.0])
    assert control.coefficient == pytest.approx(0.11)
    other = EntropyControl(config)
    other.restore(control.state)
    assert other.coefficient == control.coefficient


def test_without_a_target_the_entropy_coefficient_is_constant() -> None:
    control = EntropyControl(LossConfig(entropy_coefficient=0.02))
    control.measured(5.0)
    assert control.coefficient == 0.02


def gdpo_loop(
    scores: Tensor, factors: Tensor, *, bessel: bool, epsilon: float
) -> list[list[float]]:
    """GDPO's advantages by its definition; a completion without a needed score is left out."""
    spread = (lambda x: stdev(x) if len(x) > 1 else 0.0) if bessel else pstdev
    groups, _, sources = scores.shape
    judged = [
        [
            place
            for place in range(scores.shape[1])
            if not any(factors[g, k] != 0 and scores[g, place, k].isnan() for k in range(sources))
        ]
        for g in range(groups)
    ]
    sums = [[0.0] * scores.shape[1] for _ in range(groups)]
    teaches = [False] * groups
    for g in range(groups):
        for k in range(sources):
            own = [scores[g, place, k].item() for place in judged[g]]
            if factors[g, k] == 0 or len(set(own)) < 2:
                continue
            teaches[g] = True
            for place, value in zip(judged[g], own, strict=True):
                normalised = (value - fmean(own)) / (spread(own) + epsilon)
                sums[g][place] += factors[g, k].item() * normalised
    every = [sums[g][place] for g in range(groups) for place in judged[g]]
    return [
        [
            (sums[g][place] - fmean(every)) / (spread(every) + epsilon)
            if place in judged[g] and teaches[g]
            else 0.0
            for place in range(scores.shape[1])
        ]
        for g in range(groups)
    ]


@pytest.mark.parametrize("std", ["bessel", "population"])
@pytest.mark.parametrize("seed", range(8))
def test_gdpo_equals_the_loop_over_its_definition(seed: int, std: Any) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(0, 4, (5, 4, 3), generator=generator).double() / 3
    scores[torch.rand(scores.shape, generator=generator) < 0.1] = torch.nan
    scores[0] = 1.0
    factors = torch.tensor([1.0, 0.1, 0.5], dtype=torch.float64).repeat(5, 1)
    factors[3, 2] = 0.0
    config = AdvantageConfig(aggregation="normalize_first", std=std, epsilon=1e-4)
    found = decoupled_advantages(scores, factors, config)
    expected = gdpo_loop(scores, factors, bessel=std == "bessel", epsilon=1e-4)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))
    assert (found[0] == 0).all()


def test_equal_sums_of_different_scores_teach_where_sources_are_normalised_first() -> None:
    scores = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])
    factors = torch.tensor([[1.0, 1.0], [1.0, 1.0]])
    assert decoupled_groups_that_differ(scores, factors).tolist() == [True, False]


def test_gdpo_with_another_scale_is_refused() -> None:
    values = {"output_dir": "r", "model": {"path": "m"}, "dataset": {"path": "d"}}
    with pytest.raises(ConfigError, match="normalize_first goes with scale group_std"):
        make_config({**values, "advantage": {"aggregation": "normalize_first", "scale": "none"}})


@pytest.mark.slow
def test_a_run_with_all_of_them_resumes_as_if_it_had_not_stopped(
    task: Path, tmp_path: Path
) -> None:
    """The entropy coefficient goes on where it was, and the tokens of clip-cov are the same."""

    def config(name: str, steps: int) -> Any:
        made = run_config(
            task,
            tmp_path / name,
            loss={
                "type": "sapo",
                "entropy_target": 100.0,
                "covariance": {"mode": "clip", "share": 0.2, "low": -1.0, "high": 5.0},
            },
            advantage={"aggregation": "normalize_first"},
            train={"steps": steps},
        )
        first = made.reward.functions[0].path
        functions = [{"path": first}, {"path": first.replace("digits", "accuracy"), "weight": 0.2}]
        values = made.model_dump(mode="json")
        return make_config({**values, "reward": {**values["reward"], "functions": functions}})

    train(config("whole", 4))
    train(config("part", 2))
    train(config("part", 4), resume=True)
    assert same(weights(tmp_path / "whole" / "model"), weights(tmp_path / "part" / "model"))
    coefficients = [row["policy/entropy_coefficient"] for row in metrics(tmp_path / "part")]
    assert coefficients == pytest.approx([0, 0.005, 0.01, 0.015])
