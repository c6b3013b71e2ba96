"""TRL, which lives in an environment of its own, and its `accuracy_reward`.

Run there as `python -m benchmarks._trl REPEATS`, this judges the completions on standard input and
tells the seconds of each repeat, by the clock and of CPU time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

TRL_PYTHON = Path(".venv-interop/bin/python")
"""Python of the environment that `make test-interop` makes."""
HOW_TO = (
    "This benchmark compares with TRL and has nothing to say without it: "
    "`make .venv-interop/installed` makes an environment that has it"
)


@dataclass(frozen=True)
class LoopTime:
    """The time of one call of `accuracy_reward`, in seconds."""

    wall_seconds: float
    cpu_seconds: float


def trl_version(python: Path) -> str:
    """The version that the interpreter has; ends the script where it has none."""
    program = "import importlib.metadata as m; print(m.version('trl'))"
    try:
        found = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(f"--trl-python {python}: {error.strerror}. {HOW_TO}") from error
    if found.returncode:
        raise SystemExit(f"--trl-python {python} has no TRL. {HOW_TO}")
    return found.stdout.strip()


def accuracy_reward_rates(
    python: Path, judged: Sequence[tuple[str, str]], repeats: int
) -> list[float]:
    """Completions per second of one call of `trl.rewards.accuracy_reward`, for each repeat.

    Args:
        python: an interpreter that has TRL.
        judged: completions, each with its reference answer.
        repeats: how many calls.
    """
    return [
        len(judged) / one.wall_seconds for one in accuracy_reward_times(python, judged, repeats)
    ]


def accuracy_reward_times(
    python: Path, judged: Sequence[tuple[str, str]], repeats: int
) -> list[LoopTime]:
    """The time of one call of `trl.rewards.accuracy_reward`, for each repeat.

    Args:
        python: an interpreter that has TRL.
        judged: completions, each with its reference answer.
        repeats: how many calls.
    """
    result = subprocess.run(
        [python, "-m", "benchmarks._trl", str(repeats)],
        input=json.dumps(judged),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    if result.returncode:
        raise SystemExit(f"TRL ended with status {result.returncode}:\n{result.stderr}")
    return [LoopTime(*one) for one in json.loads(result.stdout.splitlines()[-1])]


def _measure(repeats: int) -> list[LoopTime]:
    from trl.rewards import accuracy_reward  # noqa: PLC0415

    judged = json.load(sys.stdin)
    completions = [[{"role": "assistant", "content": text}] for text, _ in judged]
    solutions = [f"${gold}$" for _, gold in judged]
    times = []
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        accuracy_reward(completions, solutions)
        times.append(LoopTime(time.perf_counter() - start, time.process_time() - cpu_start))
    return times


if __name__ == "__main__":
    print(json.dumps([astuple(one) for one in _measure(int(sys.argv[1]))]))
