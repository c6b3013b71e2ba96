"""The KL to the start policy where it is not in the loss."""

from __future__ import annotations

import math

import torch

from trainer_client.config.run_config import Config
from trainer_client.learner import Learner
from trainer_client.processes import sum_over_processes
from trainer_client.update.batch import Batch
from trainer_client.update.forward import equal_micro_batches, logprobs_of
from trainer_client.update.loss import kl_divergence

KL_SAMPLE_STRIDE = 4
"""The KL is measured on one of so many completions."""


def kl_to_reference(learner: Learner, batch: Batch, config: Config) -> float:
    """Mean k3 per token between the policy as it is and the reference; changes nothing.

    It is estimated from every fourth completion of each process that is not replayed.
    """
    rows = (~batch.replayed).nonzero()[::KL_SAMPLE_STRIDE, 0]
    # A process without a fresh completion takes part in the others' forwards with its first row.
    sample = batch.select(rows if len(rows) else torch.zeros_like(batch.input_ids[:1, 0]))
    sums = {"kl": 0.0, "tokens": 0.0}
    for part in equal_micro_batches(learner, sample, config.train.micro_batch_tokens):
        logprobs_under = logprobs_of(learner, sample, part, config)
        with learner.reference_model() as reference:
            reference_logprobs = logprobs_under(reference).logprobs
        with torch.no_grad():
            logprobs = logprobs_under(learner.policy.model).logprobs
        mask = part.take_mask(sample.fresh_mask)
        sums["kl"] += kl_divergence(logprobs, reference_logprobs, mask, "k3").sum().item()
        sums["tokens"] += mask.sum().item()
    sums = dict(sum_over_processes(sums))
    return sums["kl"] / sums["tokens"] if sums["tokens"] else math.nan
