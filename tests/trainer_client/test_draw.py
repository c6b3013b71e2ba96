"""Draws by inverse CDF are those of the distribution, to its last token."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from trainer_client.rollout.draw import BLOCK, draw


def draws(probabilities: Tensor, count: int, *, at_once: int) -> Tensor:
    """How often each token is drawn, float64 `[V]`."""
    rows = probabilities.float().expand(at_once, -1)
    counts = torch.zeros(len(probabilities), dtype=torch.float64)
    for _ in range(count // at_once):
        counts += torch.bincount(draw(rows), minlength=len(probabilities))
    return counts


def chi_square(counts: Tensor, probabilities: Tensor) -> float:
    """Chi-square over its degrees of freedom, as standard deviations from 1."""
    expected = probabilities.double() / probabilities.double().sum() * counts.sum()
    possible = expected > 0
    freedom = int(possible.sum()) - 1
    statistic = ((counts - expected) ** 2 / expected)[possible].sum().item()
    return (statistic - freedom) / math.sqrt(2 * freedom)


@pytest.mark.parametrize(
    ("size", "count"), [(3, 400_000), (40, 400_000), (BLOCK, 40_000), (2 * BLOCK + 7, 40_000)]
)
def test_tokens_are_drawn_as_often_as_they_are_probable(size: int, count: int) -> None:
    torch.manual_seed(0)
    probabilities = (1.5 * torch.randn(size, dtype=torch.float64)).softmax(0)
    probabilities[1::7] = 0
    counts = draws(probabilities, count, at_once=2000)
    assert counts.sum() == count
    assert not counts[probabilities == 0].any()
    assert abs(chi_square(counts, probabilities)) < 4


@pytest.mark.slow
@pytest.mark.parametrize("likely_first", [False, True])
def test_a_long_tail_is_drawn_as_often_as_its_sum(likely_first: bool) -> None:
    """A cumulative sum in float32 stands still at tokens of 5e-8 after one of 0.99."""
    torch.manual_seed(0)
    tail = 200_000
    probabilities = torch.full((tail + 1,), 0.01 / tail, dtype=torch.float64)
    likely = 0 if likely_first else tail
    probabilities[likely] = 0.99
    counts = draws(probabilities, 4_000, at_once=20)
    outside = 4_000 - counts[likely].item()
    assert abs(outside - 40) < 4 * math.sqrt(40)


@pytest.mark.parametrize("uniform", [0.0, 1 - 2.0**-53, 0.5])
@pytest.mark.parametrize("size", [5, BLOCK, 2 * BLOCK + 3])
def test_the_ends_of_the_distribution_are_never_tokens_without_probability(
    uniform: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        torch, "rand", lambda shape, **kind: torch.full(tuple(shape), uniform, dtype=kind["dtype"])
    )
    for only in (0, 1, size // 2, size - 1):
        probabilities = torch.zeros((3, size))
        probabilities[:, only] = 1.0
        assert draw(probabilities).tolist() == [only] * 3
        probabilities[:, only] = math.exp(-100)  # tiny, and alone
        assert draw(probabilities).tolist() == [only] * 3


def test_rows_are_drawn_each_from_its_own_distribution() -> None:
    torch.manual_seed(0)
    probabilities = torch.zeros((700, 1500))
    wanted = torch.randint(1500, (700,))
    probabilities[torch.arange(700), wanted] = 1.0
    assert draw(probabilities).equal(wanted)


def test_a_seed_gives_the_draws_again() -> None:
    probabilities = torch.randn(50, 3000).softmax(-1)
    torch.manual_seed(3)
    first = draw(probabilities)
    torch.manual_seed(3)
    assert draw(probabilities).equal(first)
    assert not draw(probabilities).equal(first)


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0])
def test_a_row_that_is_no_distribution_is_an_error(value: float) -> None:
    probabilities = torch.ones(2, 600)
    probabilities[1] = value
    with pytest.raises(ValueError, match="not finite"):
        draw(probabilities)
