"""Rollouts as tensors, and micro-batches."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.trainer_client.device import DEVICE
from trainer_client.rollout import Rollout
from trainer_client.update.batch import make_batch, micro_batches

ROLLOUTS = [
    Rollout((1, 2), (3, 4), (-0.1, -0.2), "ab", truncated=False),
    Rollout((1,), (5,), (-0.3,), "c", truncated=True),
]


def test_prompt_and_completion_are_padded_on_the_right() -> None:
    batch = make_batch(ROLLOUTS, [1.0, -1.0], pad_id=0, device=torch.device(DEVICE))
    assert batch.input_ids.tolist() == [[1, 2, 3, 4], [1, 5, 0, 0]]
    assert batch.attention_mask.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.completion_mask.tolist() == [
        [False, False, True, True],
        [False, True, False, False],
    ]
    expected = torch.tensor([[0.0, 0.0, -0.1, -0.2], [0.0, -0.3, 0.0, 0.0]])
    assert batch.sampler_logprobs.cpu().equal(expected)
    assert batch.advantages.tolist() == [1.0, -1.0]


def test_tokens_of_weights_that_are_too_old_are_context_and_not_in_the_loss() -> None:
    """Observations have no weights; a completion outside a stream is of the step's own."""
    rollouts = [
        Rollout(
            (1,),
            (3, 4, 5),
            (-0.1, 0.0, -0.2),
            "ab",
            truncated=False,
            sampled=(True, False, True),
            weight_steps=(3, 4),
        ),
        *ROLLOUTS,
    ]
    masks = {
        oldest: make_batch(
            rollouts,
            [1.0] * 3,
            pad_id=0,
            device=torch.device(DEVICE),
            oldest_weights=oldest,
        )
        for oldest in (3, 4, 5)
    }
    expected = {3: [False, True, False, True], 4: [False, False, False, True], 5: [False] * 4}
    for oldest, batch in masks.items():
        assert batch.completion_mask[0].tolist() == expected[oldest]
        assert batch.completion_mask[1:].sum(1).tolist() == [2, 1]
        assert batch.attention_mask[0].tolist() == [True] * 4
        assert not batch.sampler_logprobs[~batch.completion_mask].any()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 100))
def test_every_row_is_in_one_micro_batch_within_the_budget(
    lengths: list[int], max_tokens: int
) -> None:
    mask = torch.arange(30)[None] < torch.tensor(lengths)[:, None]
    parts = micro_batches(mask, max_tokens=max_tokens)
    assert sorted(row for part in parts for row in part.rows.tolist()) == list(range(len(lengths)))
    for part in parts:
        assert part.width == max(lengths[row] for row in part.rows.tolist())
        assert len(part.rows) == 1 or part.width * len(part.rows) <= max_tokens


def test_a_micro_batch_takes_its_rows_without_foreign_padding() -> None:
    batch = make_batch(ROLLOUTS, [1.0, -1.0], pad_id=0, device=torch.device(DEVICE))
    short = micro_batches(batch.attention_mask, max_tokens=4)[1]
    assert short.take(batch.input_ids).tolist() == [[1, 5]]
    assert short.take(batch.advantages).tolist() == [-1.0]
