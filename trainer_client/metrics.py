"""What a run tells while it trains: console, `metrics.jsonl` and TensorBoard."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import torch
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from torch.utils.tensorboard import SummaryWriter

from trainer_client.advantages import groups_that_differ
from trainer_client.config import VerifierConfig
from trainer_client.scoring import ScoredGroups

CONSOLE = Console()


def progress_bar(console: Console = CONSOLE) -> Progress:
    """A bar with a count, the time it took and the time it will take."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


class MetricsLog:
    """Writes each step's metrics to `metrics.jsonl`, TensorBoard and, in short, the console."""

    def __init__(
        self,
        run_dir: Path,
        *,
        title: str,
        num_steps: int,
        first_step: int = 0,
        log_every_steps: int = 1,
        console_keys: Mapping[str, str],
    ) -> None:
        run_dir.mkdir(parents=True, exist_ok=True)
        path = run_dir / "metrics.jsonl"
        kept = _lines_up_to(first_step, path) if first_step else []
        path.write_text("".join(kept))
        self._file = path.open("a")
        self._board = SummaryWriter(str(run_dir / "tensorboard"), purge_step=first_step + 1)
        self._progress = progress_bar()
        self._task = self._progress.add_task(title, total=num_steps, completed=first_step)
        self._num_steps = num_steps
        self._log_every_steps = log_every_steps
        self._console_keys = console_keys

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()
        self._board.close()
        self._file.close()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Record a finished step; steps are counted from 1."""
        self.record(step, metrics)
        self._progress.update(self._task, completed=step)
        if step % self._log_every_steps == 0 or step in (1, self._num_steps):
            self._progress.console.print(self._line(step, metrics), highlight=False, soft_wrap=True)

    def record(self, step: int, metrics: Mapping[str, float]) -> None:
        """Record metrics to the files only, such as those of an evaluation."""
        self._file.write(json.dumps({"step": step, **metrics}) + "\n")
        self._file.flush()
        for name, value in metrics.items():
            self._board.add_scalar(name, value, step)

    def _line(self, step: int, metrics: Mapping[str, float]) -> str:
        parts = [
            f"{label} {metrics[key]:.4g}"
            for key, label in self._console_keys.items()
            if key in metrics
        ]
        return f"step {step:>{len(str(self._num_steps))}}  " + "  ".join(parts)


def _lines_up_to(step: int, path: Path) -> list[str]:
    """The lines of a run that is resumed after this step: later ones will be written again."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if json.loads(line)["step"] <= step]


def rollout_metrics(
    scored: ScoredGroups,
    rewards: torch.Tensor,
    advantages: torch.Tensor,
    verifiers: Sequence[VerifierConfig],
) -> dict[str, float]:
    """Metrics of one step's completions; rewards `[N, G]` with NaN where there is none.

    A mean over nothing is left out, not reported as 0.
    """
    rollouts = [rollout for group in scored.groups for rollout in group.group.rollouts]
    all_verdicts = [verdicts for group in scored.groups for verdicts in group.verdicts]
    metrics: dict[str, float] = {}
    for verifier in verifiers:
        scores = [score for item in all_verdicts if (score := item[verifier.key].score) is not None]
        if scores:
            metrics[f"reward/{verifier.key}"] = sum(scores) / len(scores)
    judged = rewards[~rewards.isnan()]
    if judged.numel():
        metrics["reward/total"] = judged.mean().item()
    group_stds = [
        values.std(correction=0).item()
        for group in rewards
        if (values := group[~group.isnan()]).numel()
    ]
    if group_stds:
        metrics["reward/group_std"] = sum(group_stds) / len(group_stds)
    metrics["reward/zero_variance_fraction"] = 1 - groups_that_differ(rewards).float().mean().item()
    metrics["advantage/mean"] = advantages.mean().item()
    metrics["advantage/std"] = advantages.std(correction=0).item()
    lengths = [len(rollout.completion_ids) for rollout in rollouts]
    metrics["completion/length"] = sum(lengths) / len(lengths)
    truncated = sum(rollout.truncated for rollout in rollouts)
    metrics["completion/truncated_fraction"] = truncated / len(rollouts)
    verdicts = [verdict for item in all_verdicts for verdict in item.values()]
    for outcome in ("unverifiable", "failed"):
        count = sum(verdict.outcome == outcome for verdict in verdicts)
        metrics[f"verifier/{outcome}_fraction"] = count / len(verdicts)
    seconds = torch.tensor([verdict.seconds for verdict in verdicts])
    metrics["verifier/seconds_p99"] = seconds.quantile(0.99).item()
    metrics["time/generate"] = scored.generate_seconds
    metrics["time/scoring_exposed"] = scored.scoring_exposed_seconds
    metrics["tokens/generated_per_second"] = sum(lengths) / max(scored.generate_seconds, 1e-9)
    return metrics
