"""TRL, which lives in an environment of its own, and its `accuracy_reward`.

Run there as `python -m benchmarks._trl`, this reads a list of completions in JSON from each line of
standard input, judges them, and tells the seconds, by the clock and of CPU time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Self

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


class TrlLoop:
    """A process that calls `trl.rewards.accuracy_reward` once for all completions it is given.

    Args:
        python: an interpreter that has TRL.
    """

    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks._trl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def judge(self, judged: Sequence[tuple[str, str]]) -> LoopTime:
        """The time of one call.

        Args:
            judged: completions, each with its reference answer.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(judged) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"TRL ended with status {self._process.wait()}")
        return LoopTime(*json.loads(line))


def accuracy_reward_rates(
    python: Path, judged: Sequence[tuple[str, str]], repeats: int
) -> list[float]:
    """Completions per second of one call of `trl.rewards.accuracy_reward`, for each repeat.

    Args:
        python: an interpreter that has TRL.
        judged: completions, each with its reference answer.
        repeats: how many calls.
    """
    with TrlLoop(python) as loop:
        return [len(judged) / loop.judge(judged).wall_seconds for _ in range(repeats)]


def _judge(judged: Sequence[tuple[str, str]]) -> LoopTime:
    from trl.rewards import accuracy_reward  # noqa: PLC0415

    completions = [[{"role": "assistant", "content": text}] for text, _ in judged]
    solutions = [f"${gold}$" for _, gold in judged]
    start, cpu_start = time.perf_counter(), time.process_time()
    accuracy_reward(completions, solutions)
    return LoopTime(time.perf_counter() - start, time.process_time() - cpu_start)


if __name__ == "__main__":
    answers = sys.stdout
    sys.stdout = sys.stderr  # libraries greet on it
    for line in sys.stdin:
        print(json.dumps(astuple(_judge(json.loads(line)))), file=answers, flush=True)
