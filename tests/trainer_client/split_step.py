"""Run by torchrun: the gradient of one step whose sequences are split over the processes.

    torchrun --nproc-per-node 2 split_step.py MODEL_DIR OUTPUT

Process 0 writes, for each loss type, the summed gradient of the output layer and its norm.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import distributed

from tests.trainer_client.runs import rollouts_of
from trainer_client.config.run_config import make_config
from trainer_client.learner import make_learner
from trainer_client.update.batch import make_batch
from trainer_client.update.loss import StepTotals
from trainer_client.update.step import StepExtras, _backward

KINDS = ("grpo", "dapo", "dr_grpo", "gspo", "cispo", "unclipped")
# Unequal lengths, so that no process has as many tokens as another.
ROLLOUTS = rollouts_of(1, 7, 3, 5, 2)
ADVANTAGES = [1.0, -1.0, 0.5, 0.0, 2.0]


def main(model: Path, output: Path) -> None:
    """Compute and write the gradients."""
    distributed.init_process_group("gloo")
    rank, size = distributed.get_rank(), distributed.get_world_size()
    gradients = {}
    for kind in KINDS:
        config = make_config(
            {
                "output_dir": "unused",
                "model": {"path": str(model), "device": "cpu"},
                "dataset": {"path": "unused"},
                "loss": {
                    "type": kind,
                    "ratio_cap": 2.0,
                    "kl_coefficient": 0.1,
                    "entropy_coefficient": 0.01,
                },
                "train": {"micro_batch_tokens": 12},
            }
        )
        learner = make_learner(config)
        whole = make_batch(ROLLOUTS, ADVANTAGES, pad_id=0, device=learner.policy.device)
        batch = whole.select(torch.arange(rank, len(ROLLOUTS), size))
        totals = StepTotals.of(batch.completion_mask).over_processes(learner.policy.device)
        _backward(learner, batch, totals, config, StepExtras(None, None, 0.01))
        flat = torch.cat([p.grad.flatten() for p in learner.policy.model.parameters()])
        distributed.all_reduce(flat)
        gradients[kind] = flat
    if rank == 0:
        torch.save(gradients, output)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
