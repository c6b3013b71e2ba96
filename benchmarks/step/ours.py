"""Our side of `benchmarks/grpo_step.py`.

python -m benchmarks.step.ours FOLDER
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch

from benchmarks.step.phases import Phases, tell
from benchmarks.step.task import VERIFIERS, StepTask
from trainer_client.config.run_config import Config, make_config
from trainer_client.data_sets import load_data_sets
from trainer_client.learner import make_learner, start_position
from trainer_client.problem_mix import ProblemMix
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import open_scorer
from trainer_client.rollout import RolloutEngine, RolloutGroup, Sampling
from trainer_client.rollout.group_sampler import GroupSampler
from trainer_client.train import train_step

T = TypeVar("T")


class _Watched:
    """An engine, with its generation as a phase."""

    def __init__(self, engine: RolloutEngine, phases: Phases) -> None:
        self._engine, self._phases = engine, phases
        self.update_weights, self.close = engine.update_weights, engine.close

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        with self._phases.generation():
            self._engine.generate(problems, sampling, on_group)


def main(folder: Path) -> None:
    """Run the steps and tell what they took."""
    task = StepTask.read(folder)
    torch.set_num_threads(task.threads)
    config = config_of(task, folder)
    phases = Phases(task.device)
    mix = ProblemMix(load_data_sets(config), per_step=task.prompts, seed=config.train.seed)
    with open_scorer(config.reward) as scorer:
        learner = make_learner(config)
        learner = replace(learner, engine=_Watched(learner.engine, phases))
        sampler = GroupSampler(learner, scorer, mix, config)
        config.output_dir.mkdir()
        position = start_position(None)
        rows = []
        with closing(learner):
            phases.take_cpu_seconds()  # of loading
            for step in range(task.warm_up + task.steps):
                one_step = partial(train_step, learner, sampler, position, config)
                (metrics, next_problem), seconds = timed(phases, one_step)
                position = replace(position, step=step + 1, next_problem=next_problem)
                rows.append(_row(metrics, seconds) | phases.take_cpu_seconds())
        peaks = phases.peaks(learner.policy.model)
    tell({"steps": rows[task.warm_up :], "first": rows[0], "peaks": peaks})


def timed(phases: Phases, work: Callable[[], T]) -> tuple[T, float]:
    """The work's result and its seconds, those of all kernels that it has launched included."""
    phases.synchronize()
    start = time.perf_counter()
    result = work()
    phases.synchronize()
    return result, time.perf_counter() - start


def _row(metrics: dict[str, float], step_seconds: float) -> dict[str, float]:
    # Not `time/step`: on a GPU its clock is read while the optimizer's kernels still run.
    seconds = {
        "step": step_seconds,
        "generation": metrics["time/generate"],
        "scoring": metrics["time/scoring_exposed"],
    }
    seconds["update"] = seconds["step"] - seconds["generation"] - seconds["scoring"]
    return {**seconds, "length": metrics["completion/length"], "loss": metrics["policy/loss"]}


def config_of(
    task: StepTask, folder: Path, changes: Mapping[str, Mapping[str, Any]] | None = None
) -> Config:
    """The task's run in a folder; settings of some sections may be changed."""
    values: dict[str, Any] = {
        "output_dir": str(folder / "run"),
        "model": {"path": str(folder / "model"), "dtype": task.dtype, "device": task.device},
        "dataset": {"path": str(folder / "prompts.jsonl"), "system_prompt": None},
        "reward": {"url": task.url, "verifiers": list(VERIFIERS)},
        "rollout": {
            "prompts_per_step": task.prompts,
            "group_size": task.group,
            "max_completion_tokens": task.completion_tokens,
            "batch_size": task.prompts * task.group,
        },
        "loss": {"type": "grpo", "kl_coefficient": task.kl_coefficient},
        "train": {
            "steps": 1000,
            "micro_batch_tokens": task.micro_batch_rows * task.row_tokens,
            "gradient_checkpointing": task.gradient_checkpointing,
            "write_rollouts": False,
        },
    }
    for name, section in (changes or {}).items():
        values[name] = {**values.get(name, {}), **section}
    return make_config(values)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
