"""A run that is killed again and again ends as the one that was never touched."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.config.run_config import dump_config
from trainer_client.run.checkpoint import STATE_FILE, list_checkpoints

STEPS = 30
KILLS = 10


def start(task: Path, run_dir: Path, *flags: str) -> subprocess.Popen[str]:
    """The 30-step run: KL, evaluations, refills, minibatches, everything that has a state."""
    path = run_dir.parent / f"{run_dir.name}.yaml"
    config = run_config(
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
    path.write_text(dump_config(config))
    return subprocess.Popen(
        [sys.executable, "-m", "trainer_client", "train", str(path), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finish(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output


def kill_after(process: subprocess.Popen[str], lines: int, seconds: float) -> bool:
    """Kill -9 some time after so many lines of steps, or at the next; False if it had ended before.

    By time alone a run would end if the time was measured while the machine was busier.
    """
    read_steps(process, lines)
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    read_steps(process, 1)
    timer.cancel()
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    return process.returncode < 0


def read_steps(process: subprocess.Popen[str], lines: int) -> None:
    """Read until so many lines of steps have come, or there are no more."""
    assert process.stdout is not None
    while lines > 0 and (line := process.stdout.readline()):
        lines -= line.startswith("step ")


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
    finish(start(task, whole))
    two_steps = 2 * sum(row.get("time/step", 0) for row in metrics(whole)) / STEPS
    chosen = random.Random()
    process = start(task, killed)
    for kill in range(KILLS):
        lines = 0 if kill % 5 == 4 else 1  # sometimes before it has done anything
        assert kill_after(process, lines, chosen.uniform(0, two_steps)), "ended too early"
        process = start(task, killed, "--resume")
    finish(process)
    assert same(weights(whole / "model"), weights(killed / "model"))
    assert equal(state(whole), state(killed))
    assert [row["step"] for row in metrics(killed)] == list(range(STEPS + 1))
    assert without_times(metrics(killed)) == without_times(metrics(whole))
    for name in ("solve_rates.jsonl", *(f"rollouts/step_{n:06d}.jsonl" for n in (1, 15, 30))):
        texts = [(run / name).read_text() for run in (whole, killed)]
        assert texts[0] == texts[1], name
    assert [json.loads(line) for line in (killed / "warnings.jsonl").read_text().splitlines()] == [
        json.loads(line) for line in (whole / "warnings.jsonl").read_text().splitlines()
    ]
