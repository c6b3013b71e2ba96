"""`trainer-client memory` against a measurement: peak resident memory of updates on the CPU.

    python benchmarks/memory.py

A Llama with random weights makes two optimizer steps on made-up rollouts in a process of its own;
the growth of its peak resident memory is compared with the estimate for updating. Generation is not
measured: on a CPU its cache is small beside the weights.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from trainer_client.config.run_config import Config, make_config
from trainer_client.demo import sums_task
from trainer_client.learner import make_learner
from trainer_client.memory_estimate import estimate_memory
from trainer_client.rollout import Rollout
from trainer_client.update.batch import make_batch
from trainer_client.update.step import update_policy

PROMPT_TOKENS, COMPLETION_TOKENS, GROUP = 64, 192, 16
SETUPS: dict[str, dict[str, Any]] = {
    "all weights": {},
    "all weights, KL": {"loss": {"kl_coefficient": 0.01}},
    "LoRA, KL": {"loss": {"kl_coefficient": 0.01}, "lora": True},
    "all weights, checkpointing": {"train": {"gradient_checkpointing": True}},
}


def main() -> None:
    """Print a row for each set-up."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        tokenizer = sums_task.make_tokenizer()
        LlamaForCausalLM(
            LlamaConfig(
                vocab_size=32_000,
                hidden_size=512,
                intermediate_size=1408,
                num_hidden_layers=8,
                num_attention_heads=8,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
            )
        ).save_pretrained(model)
        tokenizer.save_pretrained(model)
        print(f"{'set-up':<28} {'estimate':>10} {'measured':>10}  estimate / measured")
        for name in SETUPS:
            estimate = estimate_memory(config(model, name), prompt_tokens=PROMPT_TOKENS).updating
            result = subprocess.run(
                [sys.executable, __file__, str(model), name],
                capture_output=True,
                text=True,
                check=True,
            )
            measured = int(result.stdout.split()[-1])
            print(
                f"{name:<28} {estimate / 2**20:>6.0f} MiB {measured / 2**20:>6.0f} MiB"
                f"  {estimate / measured:.2f}"
            )


def config(model: Path, name: str) -> Config:
    """A run whose whole step is one micro-batch of 16 completions."""
    setup = SETUPS[name]
    return make_config(
        {
            "output_dir": "unused",
            "model": {
                "path": str(model),
                "device": "cpu",
                **({"lora": {"rank": 16}} if setup.get("lora") else {}),
            },
            "dataset": {"path": "unused"},
            "rollout": {
                "prompts_per_step": 1,
                "group_size": GROUP,
                "max_completion_tokens": COMPLETION_TOKENS,
            },
            "loss": setup.get("loss", {}),
            "train": {
                "micro_batch_tokens": GROUP * (PROMPT_TOKENS + COMPLETION_TOKENS),
                **setup.get("train", {}),
            },
        }
    )


def measure(model: Path, name: str) -> None:
    """Print by how many bytes two updates raise this process's peak resident memory."""
    settings = config(model, name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    learner = make_learner(settings)
    rollout = Rollout(
        tuple(range(5, 5 + PROMPT_TOKENS)),
        tuple(range(100, 100 + COMPLETION_TOKENS)),
        (-10.0,) * COMPLETION_TOKENS,
        "",
        truncated=True,
    )
    advantages = torch.linspace(-1, 1, GROUP).tolist()
    batch = make_batch([rollout] * GROUP, advantages, pad_id=0, device=learner.policy.device)
    for _ in range(2):
        update_policy(learner, batch, settings)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) * 1024)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
