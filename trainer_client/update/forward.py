"""Forwards of a batch in micro-batches, the same number on every process."""

from __future__ import annotations

from functools import partial

from trainer_client.config.run_config import Config
from trainer_client.learner import Learner
from trainer_client.policy.logprobs import TokenLogprobs, token_logprobs
from trainer_client.processes import max_over_processes
from trainer_client.update.batch import Batch, MicroBatch, micro_batches


def equal_micro_batches(learner: Learner, batch: Batch, max_tokens: int) -> list[MicroBatch]:
    """Micro-batches, as many as every other process has; the last ones may be empty.

    All processes take part in each forward of a sharded model, so they need equally many.
    """
    parts = micro_batches(batch.attention_mask, max_tokens=max_tokens, packed=learner.packs)
    shortest = parts[-1]
    missing = max_over_processes(len(parts)) - len(parts)
    return parts + [MicroBatch(shortest.rows[-1:], shortest.width, empty=True)] * missing


def logprobs_of(
    learner: Learner, batch: Batch, part: MicroBatch, config: Config
) -> partial[TokenLogprobs]:
    """Log-probabilities of a micro-batch's completions, to be called with a model."""
    return partial(
        token_logprobs,
        input_ids=part.take(batch.input_ids),
        attention_mask=part.take(batch.attention_mask),
        mask=part.take_mask(batch.completion_mask),
        temperature=config.rollout.temperature,
        entropy_gradient=config.loss.needs_entropy_gradient,
        packed=learner.packs,
        autocast=learner.policy.autocast,
    )
