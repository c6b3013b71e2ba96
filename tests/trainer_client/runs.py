"""Configurations of short runs, rewarded by a function, so that no service is needed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from tests.trainer_client.device import DEVICE
from tests.trainer_client.forked import fork_python
from trainer_client.config.run_config import Config, make_config
from trainer_client.rollout import Rollout, Sampling

REWARDS = """
def digits(completions, **columns):
    return [sum(character.isdigit() for character in text) / 8 for text in completions]

def accuracy(completions, **columns):
    return [float("1" in text) for text in completions]

def constant(completions, **columns):
    return [0.5] * len(completions)
"""


def run_config(task: Path, run_dir: Path, function: str = "digits", **sections: Any) -> Config:
    """Four steps of 4 problems and 4 completions of at most 8 tokens on the tiny task."""
    path = run_dir.parent / f"{run_dir.name}_rewards.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(REWARDS)
    values: dict[str, Any] = {
        "output_dir": str(run_dir),
        "model": {"path": str(task / "model"), "device": DEVICE},
        "dataset": {"path": str(task / "data" / "train.jsonl"), "system_prompt": None},
        "rollout": {"prompts_per_step": 4, "group_size": 4, "max_completion_tokens": 8},
        "reward": {"verifiers": [], "functions": [{"path": f"{path}:{function}"}]},
        "optimizer": {"learning_rate": 1e-3},
        "train": {"steps": 4},
    }
    for name, section in sections.items():
        if isinstance(section, dict):
            section = {**values.get(name, {}), **section}
        values[name] = section
    return make_config(values)


JUDGES_NOTHING_ONCE = """
calls = 0

def judge(completions, **columns):
    global calls
    calls += 1
    return [None if calls == {call} else len(text) % 3 / 2 for text in completions]
"""


def run_that_judges_nothing_once(
    task: Path, run_dir: Path, *, call: int, steps: int, every_steps: int
) -> Config:
    """A run with evaluations, whose function of rewards gives None for all of its n-th call.

    Calls are the evaluation before training, each step, and each evaluation after one.
    """
    function = run_dir.parent / "judge.py"
    function.write_text(JUDGES_NOTHING_ONCE.format(call=call))
    return run_config(
        task,
        run_dir,
        reward={"functions": [{"path": f"{function}:judge"}]},
        train={"steps": steps},
        evaluation={
            "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
            "verifier": "judge",
            "every_steps": every_steps,
            "num_samples": 2,
            "k": [1],
        },
    )


def run_python(*arguments: str, processes: int = 1) -> str:
    """The output of a script, or of a module after `-m`, that so many processes run together."""
    ended = run_together([arguments] * processes)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def run_together(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """How processes ended that each run a command of their own, and find each other.

    Args:
        commands: of each process a script, or a module after `-m`, with its arguments.
        environment: variables of all besides those of torchrun on one machine.

    Returns:
        The output of all, and the status of the first one that failed.
    """
    if DEVICE == "cuda" and len(commands) > torch.cuda.device_count():
        pytest.skip("several processes need a GPU each")
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors, _rendezvous() as meeting:
        started = [
            fork_python(
                *command,
                stdout=output.fileno(),
                stderr=errors.fileno(),
                environment={
                    **_of_rank(rank, len(commands)),
                    **meeting,
                    **(environment or {}),
                },
            )
            for rank, command in enumerate(commands)
        ]
        status = _wait_for_all(started)
        said = []
        for file in (output, errors):
            file.seek(0)
            said.append(file.read())
    return CompletedProcess(list(commands[0]), status, *said)


def torchrun(*arguments: str, processes: int) -> None:
    """Run a module after `-m` as a user does who has several GPUs."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    result = subprocess.run([sys.executable, *launcher, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def torchrun_on_nodes(commands: Sequence[Sequence[str]]) -> None:
    """Run a module after `-m` on as many nodes: a launcher on each, as a scheduler starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = ("-m", "torch.distributed.run", f"--nnodes={len(commands)}", "--nproc-per-node=1")
    meeting = ("--master-addr=127.0.0.1", f"--master-port={port}")
    ended = run_together(
        [
            (*launcher, f"--node-rank={rank}", *meeting, *command)
            for rank, command in enumerate(commands)
        ]
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@contextmanager
def _rendezvous() -> Iterator[dict[str, str]]:
    """Variables that tell processes where they find each other, as torchrun sets them."""
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    yield {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": "0",
    }
    del store


def _of_rank(rank: int, processes: int) -> dict[str, str]:
    return {
        **dict.fromkeys(("RANK", "LOCAL_RANK"), str(rank)),
        **dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE"), str(processes)),
    }


def _wait_for_all(started: list[ForkServerProcess]) -> int:
    """Wait for their ends; one that fails is the end of all, as under torchrun."""
    waiting, status = list(started), 0
    while waiting:
        connection.wait([process.sentinel for process in waiting])
        ended = [process for process in waiting if process.exitcode is not None]
        waiting = [process for process in waiting if process not in ended]
        failed = [process.exitcode for process in ended if process.exitcode]
        if failed:
            status = status or failed[0]
            for process in waiting:
                process.terminate()
    return status


def metrics(run_dir: Path) -> list[dict[str, float]]:
    """The rows of `metrics.jsonl`."""
    return [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]


def rollouts(run_dir: Path, step: int) -> list[dict[str, Any]]:
    """The completions of one step."""
    path = run_dir / "rollouts" / f"step_{step:06d}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def rollouts_of(*lengths: int) -> list[Rollout]:
    """Made-up completions of so many tokens, each with a log-probability of -4."""
    return [
        Rollout((1, 5), tuple(range(5, 5 + n)), (-4.0,) * n, "x", truncated=True) for n in lengths
    ]


def plain_sampling(
    group_size: int, max_completion_tokens: int, temperature: float = 1.0, seed: int | None = None
) -> Sampling:
    """Sampling from the whole distribution."""
    return Sampling(group_size, max_completion_tokens, temperature, top_p=1.0, seed=seed)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of a model folder."""
    return load_file(folder / "model.safetensors")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Whether all tensors are equal bit for bit."""
    return one.keys() == other.keys() and all(other[name].equal(v) for name, v in one.items())
