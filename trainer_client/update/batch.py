"""Rollouts as tensors, and the micro-batches one optimizer step is split into.

Shapes: N problems, G completions of each; B sequences, T token positions: prompt and completion,
then padding on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice

import torch
from torch import Tensor

from trainer_client.config.advantage_section import AdvantageConfig
from trainer_client.policy.policy import Policy
from trainer_client.processes import Processes
from trainer_client.reward.group_scoring import ScoredGroups
from trainer_client.rollout import Rollout
from trainer_client.update.advantages import groups_that_differ

KeptGroup = list[tuple[Rollout, float]]
"""The completions of one group that are trained on, each with its advantage."""


@dataclass(frozen=True)
class Batch:
    """Every sequence of one optimizer step; `[B, T]` tensors are aligned to tokens."""

    input_ids: Tensor
    """int64 `[B, T]`."""
    attention_mask: Tensor
    """bool `[B, T]`, True on prompt, completion and the observations in it."""
    completion_mask: Tensor
    """bool `[B, T]`, True on the tokens that the policy sampled, ends of its turns included."""
    sampler_logprobs: Tensor
    """float32 `[B, T]`, 0 off the completion mask."""
    advantages: Tensor
    """float32 `[B]`."""
    counts: Tensor
    """bool `[B]`, True on a row that counts as a sequence, False on a placeholder."""
    replayed: Tensor
    """bool `[B]`, True on a completion of an earlier step (`rollout.replay`)."""

    @property
    def fresh_mask(self) -> Tensor:
        """bool `[B, T]`, the completion mask without replayed rows."""
        return self.completion_mask & ~self.replayed[:, None]

    def select(self, rows: Tensor) -> Batch:
        """The rows of int64 indices, in their order."""
        return Batch(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def kept_groups(
    scored: ScoredGroups,
    rewards: Tensor,
    advantages: Tensor,
    config: AdvantageConfig,
    teaches: Tensor | None = None,
) -> list[KeptGroup]:
    """The groups that a step trains on, without dropped completions; none of them is empty.

    Args:
        scored: the groups of all processes.
        rewards: float `[N, G]`, NaN where a completion was not judged.
        advantages: float `[N, G]`.
        config: says whether groups with equal rewards and unjudged completions are dropped.
        teaches: bool `[N]`, True where completions are judged differently; None: by the rewards.
    """
    differs = groups_that_differ(rewards) if teaches is None else teaches
    teaches = differs | (config.zero_variance == "keep")
    keeps = ~rewards.isnan() | (config.unjudged == "keep")
    groups = []
    for index, group in enumerate(scored.groups):
        rows = zip(group.group.rollouts, advantages[index].tolist(), keeps[index], strict=True)
        groups.append(
            [(rollout, value) for rollout, value, kept in rows if kept and teaches[index]]
        )
    return [group for group in groups if group]


def batch_of(
    kept: list[KeptGroup],
    policy: Policy,
    processes: Processes = Processes(),  # noqa: B008 - frozen
    *,
    mask_truncated: bool,
    oldest_weights: int = 0,
) -> tuple[list[list[int]], Batch | None]:
    """The sequences that this process trains on.

    Args:
        kept: the groups of all processes.
        policy: pads the batch and has it on its device.
        processes: the processes that share the groups out among themselves.
        mask_truncated: leave the tokens of truncated completions out of the loss.
        oldest_weights: see `make_batch`.

    Returns:
        The rows of each group, and the batch; None when no process has a sequence.
    """
    if not kept:
        return [], None
    own = processes.share(kept)
    groups = own or kept[:1]
    rollouts, advantages = zip(*(row for group in groups for row in group), strict=True)
    batch = make_batch(
        rollouts,
        advantages,
        pad_id=policy.pad_id,
        device=policy.device,
        oldest_weights=oldest_weights,
    )
    if mask_truncated:
        ended = torch.tensor([not rollout.truncated for rollout in rollouts], device=policy.device)
        batch = replace(batch, completion_mask=batch.completion_mask & ended[:, None])
    row_numbers = iter(range(len(rollouts)))
    group_rows = [list(islice(row_numbers, len(group))) for group in groups]
    return group_rows, batch if own else as_placeholder(batch)


def make_batch(
    rollouts: Sequence[Rollout],
    advantages: Sequence[float],
    *,
    pad_id: int,
    device: torch.device,
    oldest_weights: int = 0,
) -> Batch:
    """Right-padded tensors of these rollouts, in their order.

    Args:
        rollouts: completions.
        advantages: of each.
        pad_id: token on the right of the shorter ones.
        device: of the tensors.
        oldest_weights: tokens that weights of fewer steps have sampled are off the completion mask:
            context, and not in the loss.
    """
    input_ids, attention_mask, completion_mask = pad(
        [(r.prompt_ids, r.completion_ids) for r in rollouts], pad_id=pad_id
    )
    logprobs = torch.tensor([value for r in rollouts for value in r.sampler_logprobs])
    sampler_logprobs = torch.zeros(input_ids.shape).masked_scatter(completion_mask, logprobs)
    if any(r.sampled is not None for r in rollouts):
        completion_mask = completion_mask.masked_scatter(completion_mask, _sampled(rollouts))
    if any(r.weight_steps is not None for r in rollouts):
        young = _not_older(rollouts, oldest_weights)
        completion_mask = completion_mask.masked_scatter(completion_mask, young)
    sampler_logprobs = sampler_logprobs.masked_fill(~completion_mask, 0.0)
    return Batch(
        input_ids.to(device),
        attention_mask.to(device),
        completion_mask.to(device),
        sampler_logprobs.to(device),
        torch.tensor(advantages, dtype=torch.float32, device=device),
        torch.ones(len(rollouts), dtype=torch.bool, device=device),
        torch.tensor([r.replayed_from is not None for r in rollouts], device=device),
    )


def _sampled(rollouts: Sequence[Rollout]) -> Tensor:
    """Bool `[N]` for the N tokens of all completions, True where the policy sampled them."""
    return torch.tensor(
        [one for r in rollouts for one in r.sampled or (True,) * len(r.completion_ids)],
        dtype=torch.bool,
    )


def _not_older(rollouts: Sequence[Rollout], oldest_weights: int) -> Tensor:
    """Bool `[N]` for the N tokens that the policy sampled, False on those of older weights."""
    return torch.tensor(
        [
            step >= oldest_weights
            for r in rollouts
            for step in r.weight_steps or (oldest_weights,) * r.num_sampled
        ],
        dtype=torch.bool,
    )


def as_placeholder(batch: Batch) -> Batch:
    """The batch of a process that has no sequence and still takes part in the others' updates.

    A forward needs rows, so it has some; they add nothing to loss, gradient or totals.
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
    """Positions of the longest row, padding excluded."""
    empty: bool = False
    """True when it has no sequence; its row is a placeholder, because a forward needs one."""

    def take(self, tensor: Tensor) -> Tensor:
        """These rows of a `[B]` or `[B, T]` tensor, cut to the width."""
        rows = tensor[self.rows]
        return rows[:, : self.width] if rows.dim() > 1 else rows

    def take_mask(self, mask: Tensor) -> Tensor:
        """These rows of a bool `[B, T]` mask; all False in an empty micro-batch."""
        rows = self.take(mask)
        return torch.zeros_like(rows) if self.empty else rows


def micro_batches(
    attention_mask: Tensor, *, max_tokens: int, packed: bool = False
) -> list[MicroBatch]:
    """Micro-batches of rows of like length, each with at most max_tokens tokens.

    Padding counts, rows * longest, unless the rows will be packed. A row longer than max_tokens
    gets a micro-batch of its own. Every row is in exactly one micro-batch.
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
