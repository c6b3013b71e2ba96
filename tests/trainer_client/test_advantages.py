"""Hand-worked advantages, and what holds for any rewards."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.config.advantage_section import AdvantageConfig
from trainer_client.update.advantages import group_advantages, groups_that_differ

NAN = math.nan


def advantages(*groups: list[float], **options: object) -> list[list[float]]:
    rewards = torch.tensor(groups, dtype=torch.float64)
    result = group_advantages(rewards, AdvantageConfig.model_validate(options))
    return [[round(value, 3) for value in row] for row in result.tolist()]


def test_a_group_is_divided_by_its_population_std() -> None:
    # std of (1, .5, .5, 0) is sqrt(1/8) = 0.3536
    assert advantages([1.0, 0.5, 0.5, 0.0]) == [[1.414, 0.0, 0.0, -1.414]]


def test_binary_rewards_become_plus_and_minus_one() -> None:
    assert advantages([0.0, 1.0, 1.0, 0.0]) == [[-1.0, 1.0, 1.0, -1.0]]


def test_bessel_divides_squares_by_one_less() -> None:
    assert advantages([1.0, 0.5, 0.5, 0.0], std="bessel") == [[1.225, 0.0, 0.0, -1.225]]


def test_without_scale_the_mean_is_subtracted() -> None:
    assert advantages([0.9, 0.7, 0.8, 0.4], scale="none") == [[0.2, 0.0, 0.1, -0.3]]


def test_batch_std_divides_by_the_std_of_all_rewards() -> None:
    # all rewards (1, 0, 1, 1): mean 0.75, population std sqrt(3)/4
    assert advantages([1.0, 0.0], [1.0, 1.0], scale="batch_std") == [[1.155, -1.155], [0.0, 0.0]]


def test_leave_one_out_compares_with_the_mean_of_the_others() -> None:
    assert advantages([1.0, 0.0, 0.5], scale="none", baseline="leave_one_out") == [
        [0.75, -0.75, 0.0]
    ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", ["group_std", "batch_std", "none"])
def test_equal_rewards_give_exactly_zero(dtype: torch.dtype, scale: str) -> None:
    rewards = torch.full((1, 7), 0.15, dtype=dtype)
    config = AdvantageConfig.model_validate({"scale": scale, "epsilon": 1e-8})
    result = group_advantages(rewards, config)
    assert result.tolist() == [[0.0] * 7]


def test_the_naive_formula_makes_noise_of_seven_equal_float32_rewards() -> None:
    rewards = torch.full((7,), 0.15)
    naive = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-8)
    assert naive.abs().max() > 0.1  # which is why equality is tested before dividing


def test_an_unjudged_completion_stays_out_of_mean_and_std() -> None:
    assert advantages([0.0, NAN, 1.0]) == [[-1.0, 0.0, 1.0]]


def test_a_group_with_fewer_than_two_judged_completions_teaches_nothing() -> None:
    assert advantages([NAN, NAN, 1.0], [NAN, NAN, NAN]) == [[0.0] * 3, [0.0] * 3]


def test_groups_that_differ_are_those_that_teach() -> None:
    rewards = torch.tensor([[0.0, 1.0], [1.0, 1.0], [NAN, 1.0]])
    assert groups_that_differ(rewards).tolist() == [True, False, False]


@pytest.mark.parametrize("shape", [(4,), (2, 1), (2, 2, 2)])
def test_rewards_that_are_no_groups_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least 2 completions of each problem"):
        group_advantages(torch.zeros(shape), AdvantageConfig())


def test_an_infinite_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        group_advantages(torch.tensor([[math.inf, 0.0]]), AdvantageConfig())


rewards_of_a_group = st.lists(st.one_of(st.floats(-10, 10), st.just(NAN)), min_size=5, max_size=5)


@given(st.lists(rewards_of_a_group, min_size=1, max_size=4), st.sampled_from(["group_std", "none"]))
def test_advantages_of_a_group_sum_to_zero(groups: list[list[float]], scale: str) -> None:
    config = AdvantageConfig.model_validate({"scale": scale, "epsilon": 1e-3})
    result = group_advantages(torch.tensor(groups, dtype=torch.float64), config)
    assert not result.isnan().any()
    assert result.sum(dim=1).abs().max() < 1e-6


@given(st.lists(st.integers(0, 4), min_size=4, max_size=4), st.floats(-3, 3))
def test_a_constant_added_to_every_reward_changes_nothing(values: list[int], c: float) -> None:
    rewards = torch.tensor([values], dtype=torch.float64)
    torch.testing.assert_close(
        group_advantages(rewards, AdvantageConfig()),
        group_advantages(rewards + round(c, 2), AdvantageConfig()),
        atol=1e-6,
        rtol=1e-6,
    )
