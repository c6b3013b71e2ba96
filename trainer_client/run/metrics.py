"""Metrics of a run: how they are computed, and their log on console, disk and TensorBoard."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

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
from rich.text import Text

from reward_verifier.verdict import Verdict
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.reward.rewards import main_of, service_keys, sources_of
from trainer_client.rollout import Rollout
from trainer_client.run.boards import Board, TensorBoard
from trainer_client.run.console import CONSOLE
from trainer_client.run.json_lines import keep_lines, read_lines, write_lines
from trainer_client.run.rollout_log import SolveRate, solve_rate
from trainer_client.run.step_progress import STEP
from trainer_client.update.advantages import groups_that_differ

# The pass@k of an evaluation with a name: "evaluation/code/pass@1".
_NAMED_PASS_AT_K = re.compile(r"evaluation/(.+)/(pass@\d+)")
# The reward of one of several data sets: "dataset/code/reward/total".
_NAMED_REWARD = re.compile(r"dataset/(.+)/(reward)/total")


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
    """Writes each step's metrics to `metrics.jsonl`, to boards and, in short, the console.

    `history` has a row for every logged step, those before the run was resumed included.

    Args:
        run_dir: folder of the run.
        title: name of the progress bar.
        num_steps: number of steps of the whole run.
        first_step: the step that the run goes on after; rows of later steps are dropped.
        log_every_steps: distance of the steps that the console shows.
        console_keys: metrics that the console shows, each with the word it shows it with.
        boards: other places that show the metrics, by name; None: TensorBoard alone.
    """

    def __init__(
        self,
        run_dir: Path,
        *,
        title: str,
        num_steps: int,
        first_step: int = 0,
        log_every_steps: int,
        console_keys: Mapping[str, str],
        boards: Mapping[str, Board] | None = None,
    ) -> None:
        run_dir.mkdir(parents=True, exist_ok=True)
        keep_lines(run_dir / "metrics.jsonl", last_step=first_step)
        keep_lines(run_dir / "warnings.jsonl", last_step=first_step)
        _remove_stop(run_dir / "warnings.jsonl")
        self.history: list[dict[str, float]] = read_lines(run_dir / "metrics.jsonl")
        self._path = run_dir / "metrics.jsonl"
        self._warnings_path = run_dir / "warnings.jsonl"
        if boards is None:
            boards = {"tensorboard": TensorBoard(run_dir, first_step=first_step)}
        self._boards = dict(boards)
        self._progress = progress_bar()
        self._task = self._progress.add_task(title, total=num_steps, completed=first_step)
        self._num_steps = num_steps
        self._log_every_steps = log_every_steps
        self._console_keys = console_keys

    def __enter__(self) -> Self:
        self._progress.start()
        STEP.show_on(self._progress)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        STEP.end()
        STEP.show_on(None)
        for name in list(self._boards):
            self._on_board(name, lambda board: board.close())
        self._progress.stop()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Record a finished step, once; steps are counted from 1, and 0 is before the first.

        A value that is not finite is left out, because JSON has no such number.
        """
        STEP.end()
        row = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self.history.append({"step": step, **row})
        with self._path.open("a") as file:
            file.write(json.dumps(self.history[-1]) + "\n")
        self._draw(step, row)
        self._progress.update(self._task, completed=step)
        if step % self._log_every_steps == 0 or step in (1, self._num_steps):
            self._print(step, row, self._time_left())

    def add(self, metrics: Mapping[str, float]) -> None:
        """Add metrics to the newest step, such as those of an evaluation after it."""
        if not metrics:
            return
        step = int(self.history[-1]["step"])
        self.history[-1] |= metrics
        write_lines(self._path, self.history)
        self._draw(step, metrics)
        self._print(step, metrics)

    def warn(self, step: int, message: str) -> None:
        """Show a warning and keep it in `warnings.jsonl`."""
        self._keep_warning({"step": step, "message": message})
        self._progress.console.print(
            Text.assemble(("warning", "yellow"), f" after step {step}: {message}"),
            highlight=False,
            soft_wrap=True,
        )

    def note_stop(self, step: int, reason: str) -> None:
        """Keep in `warnings.jsonl` why the run ends before its last step."""
        self._keep_warning({"step": step, "message": f"stopped: {reason}", "stopped": True})

    def _keep_warning(self, warning: Mapping[str, Any]) -> None:
        with self._warnings_path.open("a") as file:
            file.write(json.dumps(warning) + "\n")

    def _draw(self, step: int, metrics: Mapping[str, float]) -> None:
        for name in list(self._boards):
            self._on_board(name, lambda board: board.draw(step, metrics))

    def show_rollouts(self, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Show completions of a step on the boards that have tables."""
        for name in list(self._boards):
            self._on_board(name, lambda board: board.show_rollouts(step, rows))

    def _on_board(self, name: str, work: Callable[[Board], None]) -> None:
        """Do work on a board; one that fails, as without its server, is left out from then on."""
        try:
            work(self._boards[name])
        # Each package has its own errors, and none of them is worth the run.
        except Exception as error:  # noqa: BLE001
            del self._boards[name]
            step = int(self.history[-1]["step"]) if self.history else 0
            self.warn(step, f"logging: {name} has failed and gets nothing more: {error}")

    def _time_left(self) -> str:
        """Words on the time that the run will take, where no bar shows it, as in a log file."""
        seconds = self._progress.tasks[self._task].time_remaining
        if self._progress.console.is_terminal or not seconds:
            return ""
        return f"  left {seconds / 60:.0f} min" if seconds >= 120 else f"  left {seconds:.0f} s"

    def _print(self, step: int, metrics: Mapping[str, float], end: str = "") -> None:
        parts = [
            f"{label} {metrics[key]:.4g}"
            for key, label in self._console_keys.items()
            if key in metrics
        ]
        parts += [
            f"{match[1]} {match[2]} {value:.4g}"
            for name, value in metrics.items()
            if (match := _NAMED_PASS_AT_K.fullmatch(name) or _NAMED_REWARD.fullmatch(name))
        ]
        if not parts:
            return
        line = f"step {step:>{len(str(self._num_steps))}}  " + "  ".join(parts) + end
        self._progress.console.print(line, highlight=False, soft_wrap=True)


def rollout_metrics(
    scored: ScoredGroups,
    rewards: torch.Tensor,
    advantages: torch.Tensor,
    config: RewardConfig,
) -> dict[str, float]:
    """Metrics of one step's completions; rewards are `[N, G]`, NaN where one was not judged.

    A mean over nothing is left out, not reported as 0. Of several data sets each has its own,
    which begin with `dataset/LABEL/`.
    """
    judged = [
        verdicts[key]
        for group in scored.groups
        for key in service_keys(group.group.problem, config)
        for verdicts in group.verdicts
    ]
    rollouts = [one for group in scored.groups for one in group.group.rollouts]
    generated = sum(rollout.num_sampled for rollout in rollouts)
    return {
        **_group_metrics(scored.groups, rewards, config),
        **_episode_metrics([one for one in rollouts if one.episode is not None]),
        **({"episode/lost_groups": len(scored.lost)} if scored.lost else {}),
        "advantage/mean": advantages.mean().item(),
        "advantage/std": advantages.std(correction=0).item(),
        **_data_set_metrics(scored.groups, rewards, config),
        **_verifier_metrics(judged),
        "time/generate": scored.generate_seconds,
        "time/scoring_exposed": scored.scoring_exposed_seconds,
        "tokens/generated_per_second": generated / max(scored.generate_seconds, 1e-9),
    }


def _data_set_metrics(
    groups: Sequence[ScoredGroup], rewards: torch.Tensor, config: RewardConfig
) -> dict[str, float]:
    """The metrics of each data set of a step, where a run has several."""
    labels = [group.group.problem.dataset for group in groups]
    metrics: dict[str, float] = {}
    for label in sorted({label for label in labels if label}):
        rows = [row for row, other in enumerate(labels) if other == label]
        own = _group_metrics([groups[row] for row in rows], rewards[rows], config)
        metrics |= {f"dataset/{label}/{name}": value for name, value in own.items()}
        metrics[f"dataset/{label}/problems"] = len(rows)
    return metrics


def _group_metrics(
    groups: Sequence[ScoredGroup], rewards: torch.Tensor, config: RewardConfig
) -> dict[str, float]:
    """Rewards, reasons, solve rates and lengths of some groups."""
    rollouts = [rollout for group in groups for rollout in group.group.rollouts]
    lengths = [rollout.num_sampled for rollout in rollouts]
    rates = [solve_rate(group, main_of(group.group.problem, config)) for group in groups]
    return {
        **_source_metrics(groups, config),
        **_reward_metrics(rewards),
        **_solve_metrics(rates),
        "completion/count": len(rollouts),
        "completion/length": sum(lengths) / len(lengths),
        "completion/truncated_fraction": sum(r.truncated for r in rollouts) / len(rollouts),
    }


def _episode_metrics(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Turns, observations, time in the environment and its own numbers; means over episodes."""
    episodes = [rollout.episode for rollout in rollouts if rollout.episode is not None]
    if not episodes:
        return {}
    names = sorted({name for episode in episodes for name in episode.extra})
    sums = {
        "turns": sum(episode.num_turns for episode in episodes),
        "observation_tokens": sum(len(one.completion_ids) - one.num_sampled for one in rollouts),
        "environment_seconds": sum(episode.environment_seconds for episode in episodes),
        **{name: sum(one.extra.get(name, 0.0) for one in episodes) for name in names},
    }
    ends = Counter(episode.end for episode in episodes)
    return {
        **{f"episode/{name}": value / len(episodes) for name, value in sums.items()},
        **{f"episode/ended_by/{end}": count / len(episodes) for end, count in ends.items()},
    }


def _source_metrics(groups: Sequence[ScoredGroup], config: RewardConfig) -> dict[str, float]:
    """The mean score of each source, and the share of its verdicts with each reason.

    Problems that a source does not judge are left out of its means.
    """
    verdicts: dict[str, list[Verdict]] = {}
    for group in groups:
        for source in sources_of(group.group.problem, config):
            verdicts.setdefault(source.key, []).extend(one[source.key] for one in group.verdicts)
    metrics = {}
    for key, own in verdicts.items():
        scores = [verdict.score for verdict in own if verdict.score is not None]
        if scores:
            metrics[f"reward/{key}"] = sum(scores) / len(scores)
        for reason, count in sorted(Counter(verdict.reason for verdict in own).items()):
            metrics[f"reason/{key}/{reason}"] = count / len(own)
    return metrics


def _reward_metrics(rewards: torch.Tensor) -> dict[str, float]:
    """The mean reward, and how much rewards differ within groups."""
    metrics: dict[str, float] = {}
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
    return metrics


def _solve_metrics(solve_rates: Sequence[SolveRate]) -> dict[str, float]:
    """The mean solve rate, and the shares of problems that are too hard or too easy to teach."""
    rates = [rate for item in solve_rates if (rate := item.rate) is not None]
    if not rates:
        return {}
    return {
        "reward/solve_rate": sum(rates) / len(rates),
        "reward/never_solved_fraction": rates.count(0.0) / len(rates),
        "reward/always_solved_fraction": rates.count(1.0) / len(rates),
    }


def _verifier_metrics(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Shares of verdicts without a score, and time, of the service's verifiers."""
    if not verdicts:
        return {}
    shares = {
        f"verifier/{outcome}_fraction": sum(verdict.outcome == outcome for verdict in verdicts)
        / len(verdicts)
        for outcome in ("unverifiable", "failed")
    }
    seconds = torch.tensor([verdict.seconds for verdict in verdicts])
    return {**shares, "verifier/seconds_p99": seconds.quantile(0.99).item()}


def _remove_stop(path: Path) -> None:
    """Remove the note of a stop, since the run goes on."""
    rows = read_lines(path)
    if any(row.get("stopped") for row in rows):
        write_lines(path, (row for row in rows if not row.get("stopped")))
