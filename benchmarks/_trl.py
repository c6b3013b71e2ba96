"""TRL, which lives in an environment of its own, and its `accuracy_reward`.

Run there as `python -m benchmarks._trl REPEATS`, this judges the completions on standard input and
tells how many it judged per second in each repeat.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TRL_PYTHON = Path(".venv-interop/bin/python")
"""Python of the environment that `make test-interop` makes."""
HOW_TO = (
    "This benchmark compares with TRL and has nothing to say without it: "
    "`make .venv-interop/installed` makes an environment that has it"
)


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
    rates: list[float] = json.loads(result.stdout.splitlines()[-1])
    return rates


def _measure(repeats: int) -> list[float]:
    from trl.rewards import accuracy_reward  # noqa: PLC0415

    judged = json.load(sys.stdin)
    completions = [[{"role": "assistant", "content": text}] for text, _ in judged]
    solutions = [f"${gold}$" for _, gold in judged]
    rates = []
    for _ in range(repeats):
        start = time.perf_counter()
        accuracy_reward(completions, solutions)
        rates.append(len(judged) / (time.perf_counter() - start))
    return rates


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
