"""TRL's side of `benchmarks/grpo_step.py`, run by an interpreter that has TRL.

python -m benchmarks.step.theirs FOLDER [--liger]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
import trl
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

from benchmarks.step.phases import Phases, tell
from benchmarks.step.task import VERIFIERS, StepTask
from verifier_adapters.client import Verifier
from verifier_adapters.trl import RewardFunction


class _Timed(trl.GRPOTrainer):  # type: ignore[misc]
    """Keeps the seconds of generation and of rewards of the step at hand."""

    phases: Phases
    seconds: dict[str, float]
    lengths: list[int]

    def _generate(self, *args: Any, **options: Any) -> Any:
        with self.phases.generation():
            start = time.perf_counter()
            generated = super()._generate(*args, **options)
            self.phases.synchronize()
            self.seconds["generation"] += time.perf_counter() - start
        return generated

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, ids: Any) -> Any:
        start = time.perf_counter()
        rewards = super()._calculate_rewards(inputs, prompts, completions, ids)
        self.phases.synchronize()
        self.seconds["scoring"] += time.perf_counter() - start
        self.lengths = [len(completion) for completion in ids]
        return rewards


class _Steps(TrainerCallback):  # type: ignore[misc]
    """A row for each step; everything that is neither generation nor rewards is the update."""

    def __init__(self) -> None:
        self.trainer: _Timed
        self.rows: list[dict[str, float]] = []
        self._start = 0.0

    def on_step_begin(self, *args: Any, **options: Any) -> None:
        self.trainer.seconds = {"generation": 0.0, "scoring": 0.0}
        self.trainer.phases.take_cpu_seconds()
        self._start = time.perf_counter()

    def on_step_end(self, *args: Any, **options: Any) -> None:
        self.trainer.phases.synchronize()
        seconds = {"step": time.perf_counter() - self._start, **self.trainer.seconds}
        seconds["update"] = seconds["step"] - seconds["generation"] - seconds["scoring"]
        seconds |= self.trainer.phases.take_cpu_seconds()
        lengths = self.trainer.lengths
        self.rows.append({**seconds, "length": sum(lengths) / len(lengths)})


def main(folder: Path, *, liger: bool) -> None:
    """Run the steps and tell what they took; `liger` has TRL use Liger's kernels."""
    task = StepTask.read(folder)
    torch.set_num_threads(task.threads)
    with (folder / "prompts.jsonl").open() as lines:
        prompts = [{"prompt": json.loads(line)["problem"], "solution": "none"} for line in lines]
    phases = Phases(task.device)
    model = AutoModelForCausalLM.from_pretrained(
        folder / "model", dtype=getattr(torch, task.dtype)
    ).to(task.device)
    steps = _Steps()
    steps.trainer = _Timed(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(folder / "model"),
        reward_funcs=RewardFunction(Verifier(url=task.url, verifiers=VERIFIERS)),
        train_dataset=Dataset.from_list(prompts),
        args=_arguments(task, folder, liger=liger),
        callbacks=[steps],
    )
    steps.trainer.phases = phases
    steps.trainer.train()
    losses = [row["loss"] for row in steps.trainer.state.log_history if "loss" in row]
    rows = [{**row, "loss": loss} for row, loss in zip(steps.rows, losses, strict=True)]
    tell({"steps": rows[task.warm_up :], "first": rows[0], "peaks": phases.peaks(model)})


def _arguments(task: StepTask, folder: Path, *, liger: bool) -> Any:
    return trl.GRPOConfig(
        output_dir=str(folder / "trl"),
        max_steps=task.warm_up + task.steps,
        per_device_train_batch_size=task.micro_batch_rows,
        gradient_accumulation_steps=task.prompts * task.group // task.micro_batch_rows,
        num_generations=task.group,
        max_completion_length=task.completion_tokens,
        loss_type="grpo",
        beta=task.kl_coefficient,
        learning_rate=1e-6,
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        gradient_checkpointing=task.gradient_checkpointing,
        use_liger_kernel=liger,
        bf16=False,  # the weights themselves are, where the task says so
        use_cpu=task.device == "cpu",
        disable_tqdm=True,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), liger="--liger" in sys.argv[2:])
