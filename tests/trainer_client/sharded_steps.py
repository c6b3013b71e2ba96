"""Run by torchrun: optimizer steps of several runs on given rollouts, split over the processes.

    torchrun --nproc-per-node N sharded_steps.py MODEL_DIR '[["RUN_DIR", STEPS, "FLAG", ...], ...]'

| flag | means |
|---|---|
| `--resume` | go on from the last checkpoint in RUN_DIR |
| `--keep-weights` | ZeRO-2 |
| `--drop` | only one of the four groups differs: of two processes one has nothing to train on |
| `--minibatches` | two optimizer steps on three groups: in one of them a process has no group |
| `--sync` | the reference becomes the policy after every second step |
| `--lora`, `--dora` | an adapter on a frozen base model in bfloat16; DoRA's, scaled as rsLoRA |
| `--offload` | optimizer state and reference are on the CPU between the steps |

Each run ends with a checkpoint. Process 0 writes a list of JSON: the losses and norms of each run.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from tests.trainer_client.runs import rollouts_of
from trainer_client.config.run_config import Config, make_config
from trainer_client.learner import make_learner, start_position
from trainer_client.problems import Problem
from trainer_client.processes import Processes, launched
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import RolloutGroup
from trainer_client.run.checkpoint import RandomState, list_checkpoints
from trainer_client.update.batch import batch_of, kept_groups
from trainer_client.update.step import update_on_rollouts, update_policy

# Unequal lengths and a number that two processes do not share evenly in micro-batches.
# No two log-probabilities are the same, so that the largest covariances are no matter of order.
ROLLOUTS = [
    replace(
        one,
        sampler_logprobs=tuple(
            -4 - 0.003 * (50 * row + n) for n, _ in enumerate(one.completion_ids)
        ),
    )
    for row, one in enumerate(rollouts_of(1, 7, 3, 30, 2, 40, 9, 4))
]
ADVANTAGES = [1.0, -1.0, 0.5, 0.0, 2.0, -0.7, 0.3, -0.2]
GROUPS = ScoredGroups(
    [
        ScoredGroup(
            RolloutGroup(Problem(str(first), (), {}), tuple(ROLLOUTS[first : first + 2])), ()
        )
        for first in range(0, len(ROLLOUTS), 2)
    ],
    0.0,
    0.0,
)
OBJECTIVES = {
    "type": "sapo",
    "covariance": {"mode": "kl", "share": 0.1},
    "entropy_target": 100.0,
    "entropy_step": 0.01,
}
ALL_DIFFER = [[1.0, 0.0]] * 4
THREE_DIFFER = [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
ONE_DIFFERS = [[0.5, 0.5], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


def main(model: Path, runs: list[list[Any]]) -> None:
    """Take the steps of each run, and write what they told."""
    torch.set_num_threads(1)
    with launched("cpu") as processes:
        histories = [
            take_steps(processes, model, Path(run_dir), num_steps, *flags)
            for run_dir, num_steps, *flags in runs
        ]
        if processes.leads:
            sys.stdout.write(json.dumps(histories))


def take_steps(
    processes: Processes, model: Path, run_dir: Path, num_steps: int, *flags: str
) -> list[dict[str, float]]:
    """Train and write a checkpoint; the losses and norms of each step."""
    config = config_of(model, run_dir, *flags)
    checkpoint = list_checkpoints(run_dir)[-1] if "--resume" in flags else None
    learner = make_learner(config, checkpoint, processes)
    position = start_position(checkpoint)
    rewards = torch.tensor(rewards_of(*flags))
    advantages = torch.tensor(ADVANTAGES).view(rewards.shape)
    kept = kept_groups(GROUPS, rewards, advantages, config.advantage)
    group_rows, batch = batch_of(kept, learner.policy, processes, mask_truncated=False)
    assert batch is not None
    history = []
    for step in range(num_steps):
        with learner.offloaded():
            pass
        if "--minibatches" in flags:
            # Each process has groups of its own in an order of its own; here it is that of all.
            with patch("torch.randperm", torch.arange):
                history.append(update_on_rollouts(learner, batch, group_rows, config))
        else:
            history.append(update_policy(learner, batch, config))
        if "--sync" in flags and step % 2:
            learner.sync_reference()
    position = replace(position, step=position.step + num_steps, random=RandomState.now())
    learner.save(run_dir, position)
    return history


def rewards_of(*flags: str) -> list[list[float]]:
    """The rewards of the four groups; those with equal ones are dropped."""
    if "--minibatches" in flags:
        return THREE_DIFFER
    return ONE_DIFFERS if "--drop" in flags else ALL_DIFFER


def adapter_of(*flags: str) -> dict[str, Any]:
    """Settings of `model` for an adapter; none where no flag asks for one."""
    dora = "--dora" in flags
    if not dora and "--lora" not in flags:
        return {}
    lora = {"rank": 4, "alpha": 8, "dora": dora, "rank_stabilized": dora}
    return {"lora": lora, "dtype": "bfloat16"}


def config_of(model: Path, run_dir: Path, *flags: str) -> Config:
    return make_config(
        {
            "output_dir": str(run_dir),
            "model": {"path": str(model), "device": "cpu", **adapter_of(*flags)},
            "dataset": {"path": "unused"},
            "loss": {
                # Of these, grpo alone counts sequences.
                "type": "grpo" if "--drop" in flags else "dapo",
                "kl_coefficient": 0.1,
                "clip_low": 10,
                "clip_high": 10,
                "reference_sync_steps": 2 if "--sync" in flags else None,
                **(OBJECTIVES if "--objectives" in flags else {}),
            },
            "advantage": {"zero_variance": "drop"},
            "optimizer": {"learning_rate": 1e-3},
            "train": {
                "micro_batch_tokens": 12,
                "steps": 100,
                "minibatches": 2 if "--minibatches" in flags else 1,
                "reshard_after_forward": "--keep-weights" not in flags,
                "offload": "--offload" in flags,
            },
        }
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
    sys.stdout.flush()
    # All is written. Threads of gloo have aborted an interpreter that was tearing itself down.
    os._exit(0)
