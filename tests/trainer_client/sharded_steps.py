"""Run by torchrun: optimizer steps on given rollouts, split over the processes.

    torchrun --nproc-per-node N sharded_steps.py MODEL_DIR RUN_DIR STEPS [--resume] [--keep-weights]

Writes a checkpoint at the end, and process 0 the losses and norms as JSON on its output.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import torch

from tests.trainer_client.runs import rollouts_of
from trainer_client.batch import make_batch
from trainer_client.checkpoint import RandomState, list_checkpoints
from trainer_client.config import make_config
from trainer_client.learner import make_learner, start_position
from trainer_client.processes import launched
from trainer_client.update import update_policy

# Unequal lengths and a number that two processes do not share evenly in micro-batches.
ROLLOUTS = rollouts_of(1, 7, 3, 30, 2, 40, 9, 4)
ADVANTAGES = [1.0, -1.0, 0.5, 0.0, 2.0, -0.7, 0.3, -0.2]


def main(model: Path, run_dir: Path, num_steps: int, *flags: str) -> None:
    """Train, write, tell."""
    torch.set_num_threads(1)
    config = make_config(
        {
            "output_dir": str(run_dir),
            "model": {"path": str(model), "device": "cpu"},
            "dataset": {"path": "unused"},
            "loss": {"type": "dapo", "kl_coefficient": 0.1, "clip_low": 10, "clip_high": 10},
            "optimizer": {"learning_rate": 1e-3},
            "train": {
                "micro_batch_tokens": 12,
                "steps": 100,
                "reshard_after_forward": "--keep-weights" not in flags,
            },
        }
    )
    checkpoint = list_checkpoints(run_dir)[-1] if "--resume" in flags else None
    with launched() as processes:
        learner = make_learner(config, checkpoint, processes)
        position = start_position(checkpoint)
        share = processes.share(list(range(len(ROLLOUTS))))
        batch = make_batch(
            [ROLLOUTS[row] for row in share],
            [ADVANTAGES[row] for row in share],
            pad_id=0,
            device=learner.policy.device,
        )
        history = [update_policy(learner, batch, config) for _ in range(num_steps)]
        position = replace(position, step=position.step + num_steps, random=RandomState.now())
        learner.save(position, config)
        if processes.leads:
            sys.stdout.write(json.dumps(history))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
    sys.stdout.flush()
    # All is written. Threads of gloo have aborted an interpreter that was tearing itself down.
    os._exit(0)
