"""A run that is killed again and again ends as the one that was never touched."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, TextIO

import pytest
import torch

from tests.trainer_client.forked import fork_python
from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.config.run_config import Config, dump_config
from trainer_client.run.checkpoint import STATE_FILE, list_checkpoints

STEPS = 30
KILLS = 10


@dataclass
class Run:
    """A run in a process of its own, and its output as it comes."""

    process: ForkServerProcess
    output: TextIO

    def finish(self) -> None:
        """Wait for its end, which is a success."""
        said = self.output.read()
        self.output.close()
        self.process.join()
        assert self.process.exitcode == 0, said

    def kill_after(self, lines: int, seconds: float) -> bool:
        """Kill -9 some time after so many lines of steps, or at the next; False if it had ended.

        By time alone a run would end if the time was measured while the machine was busier.
        """
        self._read_steps(lines)
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        self._read_steps(1)
        timer.cancel()
        self.process.kill()
        self.process.join()
        self.output.close()
        return self.process.exitcode == -signal.SIGKILL

    def _read_steps(self, lines: int) -> None:
        """Read until so many lines of steps have come, or there are no more."""
        while lines > 0 and (line := self.output.readline()):
            lines -= line.startswith("step ")


def start(task: Path, run_dir: Path, *flags: str) -> Run:
    """The 30-step run: KL, evaluations, refills, minibatches, everything that has a state."""
    path = run_dir.parent / f"{run_dir.name}.yaml"
    path.write_text(dump_config(config_of(task, run_dir)))
    return started(path, *flags)


def started(path: Path, *flags: str) -> Run:
    """`trainer-client train` with this configuration."""
    command = ("-m", "trainer_client", "train", str(path), *flags)
    reader, writer = os.pipe()
    process = fork_python(*command, stdout=writer, stderr=writer, environment={})
    os.close(writer)
    return Run(process, os.fdopen(reader))


def config_of(task: Path, run_dir: Path) -> Config:
    return run_config(
        task,
        run_dir,
        "accuracy",
        loss={"kl_coefficient": 0.05, "reference_sync_steps": 4},
        advantage={"zero_variance": "drop"},
        rollout={"max_refills": 1},
        optimizer={"warmup_steps": 5, "schedule": "cosine"},
        guards={"stop_if_kl_above": None},
        train={"steps": STEPS, "minibatches": 2, "checkpoint_every_steps": 1},
        evaluation={
            "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
            "every_steps": 3,
            "num_samples": 2,
            "k": [1],
        },
    )


def without_times(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    return [
        {
            name: value
            for name, value in row.items()
            if not name.startswith(("time/", "tokens/", "memory/", "verifier/seconds"))
        }
        for row in rows
    ]


def state(run_dir: Path) -> dict[str, Any]:
    """Optimizer, schedule, random numbers and data position at the end."""
    folder = list_checkpoints(run_dir)[-1].folder
    loaded: dict[str, Any] = torch.load(folder / STATE_FILE, weights_only=True)
    return loaded


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return bool(one.equal(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


@pytest.mark.slow
def test_ten_kills_at_random_moments_leave_no_trace(task: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    start(task, whole).finish()
    two_steps = 2 * sum(row.get("time/step", 0) for row in metrics(whole)) / STEPS
    chosen = random.Random()
    run = start(task, killed)
    for kill in range(KILLS):
        lines = 0 if kill % 5 == 4 else 1  # sometimes before it has done anything
        assert run.kill_after(lines, chosen.uniform(0, two_steps)), "ended too early"
        run = start(task, killed, "--resume")
    run.finish()
    assert same(weights(whole / "model"), weights(killed / "model"))
    assert equal(state(whole), state(killed))
    assert [row["step"] for row in metrics(killed)] == list(range(STEPS + 1))
    assert without_times(metrics(killed)) == without_times(metrics(whole))
    for name in ("solve_rates.jsonl", *(f"rollouts/step_{n:06d}.jsonl" for n in (1, 15, 30))):
        texts = [(folder / name).read_text() for folder in (whole, killed)]
        assert texts[0] == texts[1], name
    assert [json.loads(line) for line in (killed / "warnings.jsonl").read_text().splitlines()] == [
        json.loads(line) for line in (whole / "warnings.jsonl").read_text().splitlines()
    ]
