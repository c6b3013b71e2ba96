"""Rollouts as tensors, and the micro-batches one optimizer step is split into.

Shapes: B sequences, T token positions; prompt and completion, then padding on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trainer_client.rollout import Rollout


@dataclass(frozen=True)
class Batch:
    """Every sequence of one optimizer step; `[B, T]` tensors are aligned to tokens."""

    input_ids: Tensor
    """int64 `[B, T]`."""
    attention_mask: Tensor
    """bool `[B, T]`, True on prompt and completion."""
    completion_mask: Tensor
    """bool `[B, T]`, True on the completion, its end-of-sequence token included."""
    sampler_logprobs: Tensor
    """float32 `[B, T]`, 0 off the completion."""
    advantages: Tensor
    """float32 `[B]`."""
    counts: Tensor
    """bool `[B]`, False on a row that stands for no sequence (`standing_for_none`)."""


def make_batch(
    rollouts: Sequence[Rollout], advantages: Sequence[float], *, pad_id: int, device: torch.device
) -> Batch:
    """Right-padded tensors of these rollouts, in their order."""
    input_ids, attention_mask, completion_mask = pad(
        [(r.prompt_ids, r.completion_ids) for r in rollouts], pad_id=pad_id
    )
    logprobs = torch.tensor([value for r in rollouts for value in r.sampler_logprobs])
    sampler_logprobs = torch.zeros(input_ids.shape).masked_scatter(completion_mask, logprobs)
    return Batch(
        input_ids.to(device),
        attention_mask.to(device),
        completion_mask.to(device),
        sampler_logprobs.to(device),
        torch.tensor(advantages, dtype=torch.float32, device=device),
        torch.ones(len(rollouts), dtype=torch.bool, device=device),
    )


def standing_for_none(batch: Batch) -> Batch:
    """The batch for a process that has no sequence and still takes part in the others' updates.

    Its rows are there because a forward needs some; they add nothing to loss, gradient or totals.
    """
    return replace(
        batch,
        completion_mask=torch.zeros_like(batch.completion_mask),
        counts=torch.zeros_like(batch.counts),
    )


def pad(
    sequences: Sequence[tuple[Sequence[int], Sequence[int]]], *, pad_id: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Prompts with their completions, as token ids, padded on the right.

    Returns:
        input_ids int64, attention mask bool and completion mask bool, each `[B, T]`.
    """
    width = max(len(prompt) + len(completion) for prompt, completion in sequences)
    input_ids = torch.full((len(sequences), width), pad_id)
    attention_mask = torch.zeros(input_ids.shape, dtype=torch.bool)
    completion_mask = torch.zeros_like(attention_mask)
    for row, (prompt, completion) in enumerate(sequences):
        start, end = len(prompt), len(prompt) + len(completion)
        input_ids[row, :end] = torch.tensor([*prompt, *completion])
        attention_mask[row, :end] = True
        completion_mask[row, start:end] = True
    return input_ids, attention_mask, completion_mask


@dataclass(frozen=True)
class MicroBatch:
    """Some rows of a batch and how many positions they need."""

    rows: Tensor
    """int64 `[b]`, row numbers of the batch."""
    width: int
    empty: bool = False
    """Stands for no sequence at all; its row is there because a forward needs one."""

    def take(self, tensor: Tensor) -> Tensor:
        """These rows of a `[B]` or `[B, T]` tensor, without the positions that only others use."""
        rows = tensor[self.rows]
        return rows[:, : self.width] if rows.dim() > 1 else rows

    def take_mask(self, mask: Tensor) -> Tensor:
        """These rows of a bool `[B, T]` mask; all False in an empty micro-batch."""
        rows = self.take(mask)
        return torch.zeros_like(rows) if self.empty else rows


def micro_batches(
    attention_mask: Tensor, *, max_tokens: int, packed: bool = False
) -> list[MicroBatch]:
    """Rows sorted by length and cut so that their tokens stay within max_tokens.

    Padding counts, rows * longest, unless the rows will be packed. A row longer than max_tokens
    gets a micro-batch of its own. Every row is in exactly one.
    """
    lengths = attention_mask.sum(dim=1).tolist()
    chunks: list[list[int]] = []
    tokens = 0
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        tokens += lengths[row] if packed or not chunks else lengths[chunks[-1][0]]
        if not chunks or tokens > max_tokens:
            chunks.append([])
            tokens = lengths[row]
        chunks[-1].append(row)
    return [
        MicroBatch(torch.tensor(rows, device=attention_mask.device), lengths[rows[0]])
        for rows in chunks
    ]
