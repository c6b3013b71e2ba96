"""Optimizer steps on one batch of rollouts.

Shapes: B sequences, T token positions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from trainer_client.config.loss_section import LossConfig
from trainer_client.config.run_config import Config
from trainer_client.learner import Learner
from trainer_client.policy.memory_savers import activations_offloaded
from trainer_client.policy.sharding import clip_gradient
from trainer_client.processes import Processes, sum_over_processes
from trainer_client.run.step_progress import STEP
from trainer_client.update.batch import Batch, MicroBatch, as_placeholder
from trainer_client.update.covariance import selected_tokens
from trainer_client.update.forward import equal_micro_batches, logprobs_of
from trainer_client.update.loss import (
    StepTotals,
    entropy_bonus,
    policy_loss,
    token_weights,
)
from trainer_client.update.token_slopes import TokenSlopes

NO_UPDATE: Mapping[str, float] = {"policy/updates": 0, "policy/skipped_updates": 0}
"""Metrics of a step without an optimizer step; over several steps these counts are summed."""


@dataclass(frozen=True)
class StepExtras:
    """Parts of an optimizer step's loss that some settings add."""

    proximal_logprobs: Tensor | None
    """float `[B, T]`; None without `loss.importance`."""
    selected: Tensor | None
    """bool `[B, T]`; None without `loss.covariance`."""
    entropy_coefficient: float

    def proximal_of(self, part: MicroBatch) -> Tensor | None:
        """The micro-batch's rows of `proximal_logprobs`."""
        return None if self.proximal_logprobs is None else part.take(self.proximal_logprobs)

    def selected_of(self, part: MicroBatch) -> Tensor | None:
        """The micro-batch's rows of `selected`."""
        return None if self.selected is None else part.take(self.selected)


def update_on_rollouts(
    learner: Learner, batch: Batch | None, group_rows: Sequence[Sequence[int]], config: Config
) -> dict[str, float]:
    """`epochs_per_rollout` passes, each split into `minibatches` optimizer steps.

    Args:
        learner: holds the policy that is trained.
        batch: every sequence of the step; None: there is none, and nothing changes.
        group_rows: the rows of each group; a group is never split.
        config: configuration of the run.

    Returns:
        `policy/*` metrics: counts are summed over the optimizer steps, others averaged.
    """
    if batch is None:
        return dict(NO_UPDATE)
    own = group_rows if batch.counts.any() else []  # a placeholder has no group
    proximal = None if config.loss.importance is None else proximal_logprobs(learner, batch, config)
    updates = []
    for _ in range(config.train.epochs_per_rollout):
        for rows in _minibatches(own, config.train.minibatches, learner.processes):
            index = torch.tensor(rows or [0], device=batch.input_ids.device)
            part = batch.select(index)
            updates.append(
                update_policy(
                    learner,
                    part if rows else as_placeholder(part),
                    config,
                    proximal_logprobs=None if proximal is None else proximal[index],
                )
            )
    return _over_updates(updates)


def update_policy(
    learner: Learner, batch: Batch, config: Config, *, proximal_logprobs: Tensor | None = None
) -> dict[str, float]:
    """One optimizer step on the whole batch, its gradient summed over micro-batches.

    A loss or a gradient that is not finite changes nothing and counts as a skipped update. A batch
    without a token in the loss changes nothing and counts as no update.

    Returns:
        `policy/*` metrics, means over completion tokens; a skipped step has its counts alone.
        KL, entropy and clipped tokens leave out replayed completions.
    """
    totals = StepTotals.of(batch.completion_mask, batch.counts, batch.fresh_mask)
    totals = totals.over_processes(batch.completion_mask.device)
    if not totals.num_tokens:
        return dict(NO_UPDATE)
    selected = None
    if config.loss.covariance is not None:
        start = batch.sampler_logprobs if proximal_logprobs is None else proximal_logprobs
        selected = selected_tokens(
            start, batch.advantages, batch.completion_mask, config.loss.covariance
        )
    extras = StepExtras(proximal_logprobs, selected, learner.entropy_control.coefficient)
    sums = sum_over_processes(_backward(learner, batch, totals, config, extras))
    norm = clip_gradient(learner.policy.model, config.optimizer.max_grad_norm)
    if not math.isfinite(sums["loss"]) or not math.isfinite(norm):
        learner.optimizer.zero_grad()
        return {"policy/updates": 1, "policy/skipped_updates": 1}
    learning_rate = float(learner.scheduler.get_last_lr()[0])
    learner.optimizer.step()
    learner.scheduler.step()
    learner.optimizer.zero_grad()
    fresh = _fresh_means(sums, totals, config)
    if "policy/entropy" in fresh:
        learner.entropy_control.measured(fresh["policy/entropy"])
    metrics = {
        "policy/loss": sums["loss"],
        **fresh,
        "policy/sampler_kl": sums["sampler_kl"] / totals.num_tokens,
        "policy/grad_norm": norm,
        "policy/learning_rate": learning_rate,
        "policy/updates": 1,
        "policy/skipped_updates": 0,
    }
    if config.loss.entropy_target is not None:
        metrics["policy/entropy_coefficient"] = extras.entropy_coefficient
    return metrics


def _fresh_means(sums: Mapping[str, float], totals: StepTotals, config: Config) -> dict[str, float]:
    """The metrics that are of the policy's own tokens; none where all tokens are replayed."""
    if not totals.num_fresh_tokens:
        return {}
    means = {
        "policy/entropy": sums["entropy"] / totals.num_fresh_tokens,
        "policy/clip_fraction": sums["clipped"] / totals.num_fresh_tokens,
    }
    if config.loss.kl_coefficient:
        # Guards limit the KL to the start policy; that to a teacher begins high and falls.
        name = "policy/kl_divergence" if config.loss.teacher is None else "policy/teacher_kl"
        means[name] = sums["kl"] / totals.num_fresh_tokens
    return means


def proximal_logprobs(learner: Learner, batch: Batch, config: Config) -> Tensor:
    """The trainer's own log-probabilities before the first update, float32 `[B, T]`."""
    result = torch.zeros_like(batch.sampler_logprobs)
    for part in equal_micro_batches(learner, batch, config.train.micro_batch_tokens):
        with torch.no_grad():
            logprobs = logprobs_of(learner, batch, part, config)(learner.policy.model).logprobs
        if not part.empty:
            result[part.rows, : part.width] = logprobs
    return result


def _backward(
    learner: Learner,
    batch: Batch,
    totals: StepTotals,
    config: Config,
    extras: StepExtras,
) -> Mapping[str, float]:
    """Add up the gradient of the step's loss; returns sums over its tokens, and the loss."""
    weights = token_weights(
        batch.completion_mask,
        config.loss,
        max_completion_tokens=config.rollout.max_completion_tokens,
        totals=totals,
    )
    sums: dict[str, float] = defaultdict(float)
    parts = equal_micro_batches(learner, batch, config.train.micro_batch_tokens)
    STEP.begin("update", len(parts), "micro-batches")
    for part in parts:
        mask = part.take_mask(batch.completion_mask)
        fresh = part.take_mask(batch.fresh_mask)
        logprobs_under = logprobs_of(learner, batch, part, config)
        reference_logprobs = None
        if config.loss.kl_coefficient:
            with learner.reference_model() as reference:
                reference_logprobs = logprobs_under(reference).logprobs
        slopes_of = _slopes_of(
            part, batch, weights, reference_logprobs, totals, config.loss, extras
        )
        with activations_offloaded(
            learner.policy.model,
            enabled=config.train.offload_activations,
            autocast=learner.policy.autocast,
        ):
            current = logprobs_under(learner.policy.model, slopes_of=slopes_of)
        terms = policy_loss(
            current.logprobs,
            part.take(batch.sampler_logprobs),
            part.take(batch.advantages),
            mask,
            part.take(weights) * mask,
            config.loss,
            reference_logprobs=reference_logprobs,
            proximal_logprobs=extras.proximal_of(part),
            selected=extras.selected_of(part),
            fresh=fresh,
        )
        loss = terms.loss
        if extras.entropy_coefficient:
            loss = loss - extras.entropy_coefficient * entropy_bonus(current.entropy, fresh, totals)
        loss.backward()  # type: ignore[no-untyped-call]
        sums["loss"] += loss.item()
        sums["kl"] += terms.kl_sum.item()
        sums["sampler_kl"] += terms.sampler_kl_sum.item()
        sums["clipped"] += terms.clipped_sum.item()
        sums["entropy"] += current.entropy.detach()[fresh].sum().item()
        STEP.advance()
    return sums


def _slopes_of(
    part: MicroBatch,
    batch: Batch,
    weights: Tensor,
    reference_logprobs: Tensor | None,
    totals: StepTotals,
    config: LossConfig,
    extras: StepExtras,
) -> TokenSlopes | None:
    """The derivatives of a micro-batch's loss; None where they hang on whole sequences."""
    if not config.is_by_token:
        return None
    mask = part.take_mask(batch.completion_mask)

    def tokens(tensor: Tensor | None) -> Tensor | None:
        return None if tensor is None else tensor[mask]

    return TokenSlopes(
        config=config,
        sampler_logprobs=part.take(batch.sampler_logprobs)[mask],
        advantages=part.take(batch.advantages)[:, None].expand_as(mask)[mask],
        weights=part.take(weights)[mask],
        fresh=part.take(batch.fresh_mask)[mask],
        reference_logprobs=tokens(reference_logprobs),
        proximal_logprobs=tokens(extras.proximal_of(part)),
        selected=tokens(extras.selected_of(part)),
        entropy_weight=-extras.entropy_coefficient / max(totals.num_fresh_tokens, 1),
    )


def _minibatches(
    group_rows: Sequence[Sequence[int]], count: int, processes: Processes
) -> list[list[int]]:
    """The rows of each optimizer step of one pass: groups in random order, evenly split.

    Steps and their sizes are those of one process that has all groups. A process without a group
    in a step has no rows there. Collective.
    """
    if count == 1:
        return [[row for rows in group_rows for row in rows]]
    own = torch.randperm(len(group_rows)).tolist()
    sizes = processes.gather(len(group_rows))
    # Dealt out like cards, so that the processes have equally much to do in each step.
    dealt = sorted((place, rank) for rank, size in enumerate(sizes) for place in range(size))
    bounds = [number * len(dealt) // count for number in range(count + 1)]
    return [
        [
            row
            for place, rank in dealt[start:end]
            if rank == processes.rank
            for row in group_rows[own[place]]
        ]
        for start, end in pairwise(bounds)
        if start < end
    ]


def _over_updates(updates: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One value of each metric: counts summed, others averaged over the updates that have them."""
    names = dict.fromkeys(name for update in updates for name in update)
    result = {}
    for name in names:
        values = [update[name] for update in updates if name in update]
        result[name] = sum(values) if name in NO_UPDATE else sum(values) / len(values)
    return result
