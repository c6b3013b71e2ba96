"""One self-contained HTML page about a run: curves, configuration, warnings, rollouts.

The page is `report.html` beside this file with the data put in; it loads nothing from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trainer_client.config.reward_sections import RewardSource
from trainer_client.config.run_config import Config, load_config
from trainer_client.config.sections import GuardConfig
from trainer_client.errors import TrainerError
from trainer_client.run.guards import History
from trainer_client.run.metrics import read_lines

TEMPLATE = Path(__file__).with_name("report_template.html")
PLACEHOLDER = "/*DATA*/null"
ROLLOUTS_PER_STEP = 3
"""Number of best completions of each step in the page, and of worst ones."""
MAX_TEXT = 4000
"""Longest prompt or completion in the page, in characters; the rest is cut off."""
EARLY_STEP = 10
"""The step whose accuracy the summary compares the last one with."""


class ReportError(TrainerError):
    """The folder holds no run to report on."""


def write_report(run_dir: Path, output: Path) -> list[str]:
    """Write the page; returns its summary, one sentence each.

    Raises:
        ReportError: the folder holds no run, or a run without a finished step.
        ConfigError: its configuration cannot be read.
    """
    history = read_lines(run_dir / "metrics.jsonl")
    steps = [row for row in history if row["step"] > 0]
    if not steps or not (run_dir / "config.yaml").exists():
        raise ReportError(
            f"{run_dir} holds no run with a finished step: expected config.yaml and metrics.jsonl"
        )
    config = load_config(run_dir / "config.yaml")
    summary = summarise_run(history, config)
    data = {
        "title": run_dir.resolve().name,
        "summary": summary,
        "charts": charts(history, config.guards, config.reward.sources),
        "warnings": read_lines(run_dir / "warnings.jsonl"),
        "config": (run_dir / "config.yaml").read_text(),
        "rollouts": _rollouts(run_dir),
    }
    # Unescaped, "</script" in a completion would end the element that holds the data, and
    # "<!--<script" would hide its end.
    text = json.dumps(data).replace("<", "\\u003c")
    output.write_text(TEMPLATE.read_text().replace(PLACEHOLDER, text))
    return summary


def summarise_run(history: History, config: Config) -> list[str]:
    """Sentences on the number of steps, accuracy early and late, advantage std, and KL."""
    steps = [row for row in history if row["step"] > 0]
    last = int(steps[-1]["step"])
    sentences = [f"{last} of {config.train.steps} steps."]
    early = EARLY_STEP if last > EARLY_STEP else int(steps[0]["step"])
    names = [
        f"{evaluation.prefix}/pass@{k}" for evaluation in config.evaluation for k in evaluation.k
    ]
    for name in (f"reward/{config.reward.main.key}", *names):
        values = {int(row["step"]): row[name] for row in history if name in row}
        if not values:
            continue
        first = early if early in values else min(values)
        newest = max(values)
        sentences.append(
            f"{name}: {values[first]:.3f} at step {first}, {values[newest]:.3f} at step {newest} "
            f"({values[newest] - values[first]:+.3f})."
        )
    stds = [row["advantage/std"] for row in steps if "advantage/std" in row]
    if stds:
        sentences.append(f"Mean advantage std: {sum(stds) / len(stds):.3f}.")
    kls = [row["policy/kl_divergence"] for row in steps if "policy/kl_divergence" in row]
    return [*sentences, _kl_sentence(kls, config.guards.warn_if_kl_above)]


def _kl_sentence(kls: Sequence[float], limit: float | None) -> str:
    if not kls:
        return "KL was not measured: loss.kl_coefficient and guards.measure_kl_every_steps are 0."
    most = f"at most {max(kls):.4f} nats per token."
    if limit is None:
        return f"KL was {most}"
    return f"KL {'stayed' if max(kls) < limit else 'did not stay'} below {limit:g}: {most}"


def charts(
    history: History, guards: GuardConfig, sources: Sequence[RewardSource]
) -> list[dict[str, Any]]:
    """Title, unit, series and limits of each chart that has data; a point is [step, value]."""
    limits = {
        "warns": guards.warn_if_kl_above,
        "stops": guards.stop_if_kl_above,
    }
    scores = [f"reward/{source.key}" for source in sources]
    present = list(dict.fromkeys(name for row in history for name in row))
    planned: list[tuple[str, str, Sequence[str], Mapping[str, float | None]]] = [
        ("Reward, weighted sum", "reward", ["reward/total"], {}),
        ("Score per source", "mean score", scores, {}),
        ("Held-out pass@k", "share of problems", _matching(present, "evaluation/", "pass@"), {}),
        ("Advantage std", "advantage", ["advantage/std"], {}),
        ("Reward std within groups", "reward", ["reward/group_std"], {}),
        ("KL to the reference", "nats per token", ["policy/kl_divergence"], limits),
        ("KL between sampler and policy", "nats per token", ["policy/sampler_kl"], {}),
        ("Entropy", "nats per token", ["policy/entropy"], {}),
        ("Completion length", "tokens", ["completion/length"], {}),
        (
            "Shares",
            "share",
            [
                "completion/truncated_fraction",
                "reward/zero_variance_fraction",
                "policy/clip_fraction",
                "verifier/unverifiable_fraction",
                "verifier/failed_fraction",
            ],
            {},
        ),
        ("Solve rate", "share of completions", ["reward/solve_rate"], {}),
        ("Gradient norm", "norm", ["policy/grad_norm"], {}),
        ("Learning rate", "per update", ["policy/learning_rate"], {}),
        ("Time per stage", "seconds", _matching(present, "time/", ""), {}),
        ("Throughput", "tokens per second", _matching(present, "tokens/", ""), {}),
    ]
    result = []
    for title, unit, names, marks in planned:
        series = [
            {
                "name": name,
                "points": [[row["step"], row[name]] for row in history if name in row],
            }
            for name in names
            if name in present
        ]
        if series:
            lines = {name: value for name, value in marks.items() if value is not None}
            result.append({"title": title, "unit": unit, "series": series, "limits": lines})
    return result


def _matching(names: Sequence[str], start: str, part: str) -> list[str]:
    """The names of metrics that begin and contain these; changes since the start are left out."""
    return [
        name
        for name in names
        if name.startswith(start) and part in name and not name.endswith("_change")
    ]


def _rollouts(run_dir: Path) -> list[dict[str, Any]]:
    """The best and the worst completions of each step, by reward."""
    chosen = []
    for path in sorted((run_dir / "rollouts").glob("step_*.jsonl")):
        rows = [row for row in read_lines(path) if row["reward"] is not None]
        rows.sort(key=lambda row: row["reward"], reverse=True)
        best = rows[:ROLLOUTS_PER_STEP]
        worst = rows[ROLLOUTS_PER_STEP:][-ROLLOUTS_PER_STEP:]
        for rank, part in (("best", best), ("worst", worst)):
            chosen += [{**row, "rank": rank, **_shortened(row)} for row in part]
    return chosen


def _shortened(row: Mapping[str, Any]) -> dict[str, str]:
    """Prompt and completion of a row, each cut to `MAX_TEXT` characters."""
    texts = {name: row[name] for name in ("prompt", "completion")}
    return {
        name: text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ... ({len(text)} characters)"
        for name, text in texts.items()
    }
