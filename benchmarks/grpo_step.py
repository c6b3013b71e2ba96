"""A whole GRPO step (generate, score, update) beside TRL's `GRPOTrainer`: seconds and memory.

    python benchmarks/grpo_step.py --trl-python .venv-interop/bin/python

TRL lives in an environment of its own, which `make test-interop` makes. Both sides have the same
model shape with random weights, prompts, groups, limit of completion tokens, precision, loss and
tokens in a micro-batch, and the same verifier (`regex`) of one service that this script starts:
ours over the trainer's client, TRL's over `verifier_adapters.trl`. They run in processes of their
own, in turns; a figure is the median over the steps of all turns, the warm-up left out. On a
machine that does other work too, CPU seconds with `--threads 1` say more than the clock.

- **update** is the step without generation and without waiting for scores; log-probabilities of
  the reference policy, batching and the optimizer are in it on both sides.
- **memory** is the peak above the policy's weights: gradients, optimizer state, reference policy,
  activations; resident on the CPU, allocated on a GPU.
- **lengths**: one of the vocabulary's tokens ends a completion, and random weights sample each
  about as often, so nearly all completions have full length. With `--varied-lengths` so many
  tokens end it that lengths are geometric with a third of the limit as mean. The mean lengths of
  both sides are printed.

With `--form gpu`, the default where there is a GPU, a third side is TRL with Liger's kernels where
TRL's environment has them, and two tables before have our update computed in other ways and output
layers by themselves (`benchmarks/step/variants.py`, two and a half minutes on an H200);
`--skip-variants` leaves them out. TRL's sides take 14 s a step there, and half a minute to start.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks._readme_row import readme_row, spread
from benchmarks._trl import TRL_PYTHON, trl_version
from benchmarks.step.task import CPU, CPU_SHAPES, GPU, StepTask, write_inputs
from trainer_client.service_process import running_service

TRL_VERSION = "1.16.0"
TIMEOUT_SECONDS = 1200
WITH_LIGER = "TRL with Liger"


@dataclass(frozen=True)
class Side:
    """Times and memory of one trainer over all turns."""

    turns: Sequence[dict[str, Any]]

    def each(self, name: str) -> list[float]:
        """A figure of every step."""
        return [float(row[name]) for turn in self.turns for row in turn["steps"]]

    def median(self, name: str) -> float:
        """Over all steps."""
        return statistics.median(self.each(name))

    def scoring_share(self) -> float:
        """Share of the steps' time that scoring takes, in percent."""
        rows = [row for turn in self.turns for row in turn["steps"]]
        return 100 * statistics.median(float(row["scoring"] / row["step"]) for row in rows)

    def peak(self, phase: str | None = None) -> float:
        """MiB, of one phase or the larger one."""
        peaks = [turn["peaks"] for turn in self.turns]
        names = (phase,) if phase else ("generation", "update")
        return max(int(peak[name]) for peak in peaks for name in names) / 2**20


def main() -> None:
    """Measure both sides and print them with their ratios."""
    arguments = _arguments()
    version = trl_version(arguments.trl_python)
    console = Console(width=100)
    form = GPU if arguments.form == "gpu" else CPU
    task = replace(
        form,
        **(CPU_SHAPES[arguments.shape] if form is CPU else {}),
        kl_coefficient=arguments.kl,
        varied_lengths=arguments.varied_lengths,
        gradient_checkpointing=arguments.gradient_checkpointing,
        steps=arguments.steps or form.steps,
        prompt_tokens=arguments.prompt_tokens or form.prompt_tokens,
        threads=arguments.threads,
    )
    with (
        tempfile.TemporaryDirectory() as name,
        running_service(Path(name) / "service.log") as url,
    ):
        folder = Path(name)
        write_inputs(replace(task, url=url), folder)
        if form is GPU and not arguments.skip_variants:
            command = [sys.executable, "-m", "benchmarks.step.variants"]
            _print_variants(console, _measured(folder / "variants", command, folder, task))
        sides = _turns(console, folder, task, arguments, ("ours", "TRL"))
        _print(console, task, sides["ours"], sides["TRL"], version)
        if form is GPU and _has_liger(arguments.trl_python):
            theirs = _turns(console, folder, task, arguments, (WITH_LIGER,))[WITH_LIGER]
            _print(console, task, sides["ours"], theirs, f"{version} with Liger")


def _turns(
    console: Console,
    folder: Path,
    task: StepTask,
    arguments: argparse.Namespace,
    names: Sequence[str],
) -> dict[str, Side]:
    """The measurements of each side, one after the other in each turn."""
    measured: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(arguments.turns or (1 if task.device == "cuda" else 2)):
        for name, turns in measured.items():
            command = _command(name, arguments.trl_python)
            turns.append(_measured(folder / f"{name}_{turn}", command, folder, task))
            seconds = ", ".join(f"{row['step']:.1f}" for row in turns[-1]["steps"])
            console.print(f"turn {turn + 1}, {name}: steps of {seconds} s")
    return {name: Side(turns) for name, turns in measured.items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A GRPO step of ours beside one of TRL.")
    parser.add_argument("--trl-python", type=Path, default=TRL_PYTHON)
    parser.add_argument(
        "--form", choices=("cpu", "gpu"), default="gpu" if torch.cuda.is_available() else "cpu"
    )
    parser.add_argument(
        "--shape", choices=list(CPU_SHAPES), default="small", help="of the model, on the CPU"
    )
    parser.add_argument("--prompt-tokens", type=int, help="of each prompt")
    parser.add_argument("--kl", type=float, default=0.0, help="coefficient of the KL term")
    parser.add_argument("--varied-lengths", action="store_true")
    parser.add_argument("--gradient-checkpointing", action="store_true")
    parser.add_argument(
        "--skip-variants", action="store_true", help="on a GPU, measure whole steps alone"
    )
    parser.add_argument("--steps", type=int, help="measured, in each turn")
    parser.add_argument("--turns", type=int, help="of each side; default: 2, on a GPU 1")
    parser.add_argument("--threads", type=int, default=2, help="on the CPU")
    return parser.parse_args()


def _has_liger(python: Path) -> bool:
    return not subprocess.run([python, "-c", "import liger_kernel"], capture_output=True).returncode


def _command(side: str, trl_python: Path) -> list[str | Path]:
    if side == "ours":
        return [sys.executable, "-m", "benchmarks.step.ours"]
    flags = ["--liger"] if side == WITH_LIGER else []
    return [trl_python, "-m", "benchmarks.step.theirs", *flags]


def _measured(
    work: Path, command: Sequence[str | Path], inputs: Path, task: StepTask
) -> dict[str, Any]:
    """The figures of a command that measures in a folder of its own."""
    work.mkdir()
    for name in ("model", "prompts.jsonl", "task.json"):
        (work / name).symlink_to(inputs / name)
    result = subprocess.run(
        [*command[:3], str(work), *command[3:]],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env={
            **os.environ,
            "OMP_NUM_THREADS": str(task.threads),
            "OMP_WAIT_POLICY": "passive",  # a thread that spins would count as CPU time
        },
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if result.returncode:
        raise SystemExit(f"{command[2]} ended with status {result.returncode}:\n{result.stderr}")
    measured: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return measured


def _print(console: Console, task: StepTask, ours: Side, theirs: Side, version: str) -> None:
    if not version.startswith(TRL_VERSION):
        console.print(f"TRL is {version}, not {TRL_VERSION}, which this was written for")
    parameters = f"{task.layers} layers of {task.hidden}, vocabulary {task.vocabulary:,}"
    table = Table(
        "",
        "ours",
        f"TRL {version}",
        "ours / TRL",
        title=f"{parameters}, {task.dtype}, {task.device}; {task.prompts} prompts x {task.group} "
        f"completions x {task.completion_tokens} tokens; KL coefficient {task.kl_coefficient}",
    )

    def row(title: str, left: float, right: float, digits: int = 2) -> None:
        table.add_row(title, f"{left:,.{digits}f}", f"{right:,.{digits}f}", f"{left / right:.2f}")

    for title, name in (("step", "step"), ("generation", "generation"), ("update", "update")):
        row(f"seconds of {title}", ours.median(name), theirs.median(name))
    if task.device == "cpu":
        for phase in ("generation", "update"):
            name = f"{phase} CPU"
            row(f"CPU seconds of {phase}", ours.median(name), theirs.median(name))
    row("waiting for scores, % of the step", ours.scoring_share(), theirs.scoring_share())
    row("MiB above the model", ours.peak(), theirs.peak(), 0)
    row("MiB in the update", ours.peak("update"), theirs.peak("update"), 0)
    if task.device == "cuda":
        row("MiB reserved", ours.peak("reserved"), theirs.peak("reserved"), 0)
    row("mean completion tokens", ours.median("length"), theirs.median("length"), 1)
    console.print(table)
    ratio = theirs.median("step") / ours.median("step")
    readme_row(
        "GRPO step of a small model, seconds",
        f"TRL {version}: {spread(theirs.each('step'), 2)}",
        f"{spread(ours.each('step'), 2)} ({ratio:.2f} x)",
    )
    readme_row(
        "memory of that step above the model",
        f"TRL {version}: {theirs.peak():.0f} MiB",
        f"{ours.peak():.0f} MiB",
    )


def _print_variants(console: Console, measured: dict[str, Any]) -> None:
    table = Table(
        "our update",
        "seconds",
        "times as it is",
        "MiB, all",
        "estimated",
        "gradient",
        title="one optimizer step on completions of uniform lengths",
    )
    base = statistics.median(measured["updates"][0]["seconds"])
    for row in measured["updates"]:
        if "error" in row:
            table.add_row(row["name"], row["error"])
            continue
        seconds = statistics.median(row["seconds"])
        sizes = (f"{row[name] / 2**20:,.0f}" for name in ("peak", "estimate"))
        table.add_row(
            row["name"], f"{seconds:.3f}", f"{seconds / base:.2f}", *sizes, f"{row['gradient']:.4g}"
        )
    console.print(table)
    layers = Table("output layer alone", "milliseconds", "MiB")
    for row in measured["output_layers"]:
        milliseconds = statistics.median(row["seconds"]) * 1000
        layers.add_row(row["name"], f"{milliseconds:.1f}", f"{row['peak'] / 2**20:,.0f}")
    console.print(layers)


if __name__ == "__main__":
    main()
