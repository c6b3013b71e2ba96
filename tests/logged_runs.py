"""Folders of runs as a training writes them, made without one: for the report and its page."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from trainer_client.config.run_config import dump_config, make_config

START = {
    "step": 0,
    "time": "2026-11-22T09:30:00+00:00",
    "version": "0.2.0",
    "python": "3.12.3",
    "torch": "2.13.0+cpu",
    "trained_weights": 1_009_280,
    "processes": 1,
    "processor": "AMD EPYC 7B13",
    "cores": 2,
    "memory_bytes": 16 * 2**30,
    "gpus": [],
}


def write_run(
    folder: Path,
    *,
    steps: int = 30,
    groups: int = 4,
    group_size: int = 8,
    completions: Sequence[str] = (),
    finished: bool = True,
    **sections: Any,
) -> Path:
    """A run of so many steps, whose accuracy rises and whose KL passes its limit once.

    Args:
        folder: folder to make.
        steps: finished steps; one more evaluation stands after the last.
        groups: groups of each step.
        group_size: completions of each group.
        completions: texts to use in turn; empty: sums, right and wrong ones.
        finished: whether its model is there.
        sections: sections of the configuration.
    """
    folder.mkdir(parents=True)
    values: dict[str, Any] = {
        "output_dir": str(folder),
        "model": {"path": "tiny-llama"},
        "dataset": {"path": "data/train.jsonl"},
        "rollout": {"prompts_per_step": groups, "group_size": group_size},
        "train": {"steps": max(steps, 1), "seed": 7},
        "loss": {"kl_coefficient": 0.01},
        "evaluation": {"dataset": {"path": "data/held_out.jsonl"}, "k": [1], "every_steps": 10},
    }
    (folder / "config.yaml").write_text(dump_config(make_config(values | sections)))
    write_lines(folder / "starts.jsonl", [START])
    chosen = random.Random(1)
    rows = [row_of(step, steps, groups * group_size, chosen) for step in range(steps + 1)]
    write_lines(folder / "metrics.jsonl", rows)
    warnings: list[dict[str, Any]] = [
        {"step": 0, "message": "rollout.group_size is small. Suggested: 16"},
        {"step": 12, "message": "policy/kl_divergence is 0.064, above guards.warn_if_kl_above"},
    ]
    write_lines(folder / "warnings.jsonl", [one for one in warnings if one["step"] <= steps])
    (folder / "rollouts").mkdir()
    rates = []
    for step in range(1, steps + 1):
        rates += write_step(folder, step, groups, group_size, completions, chosen)
    write_lines(folder / "solve_rates.jsonl", rates)
    if finished:
        (folder / "model").mkdir()
        (folder / "model" / "trained_steps").write_text(f"{steps}\n")
    return folder


def row_of(step: int, steps: int, completions: int, chosen: random.Random) -> dict[str, float]:
    """The line of one step; that of step 0 is an evaluation alone."""
    share = step / max(steps, 1)
    evaluation = {
        "evaluation/pass@1": round(0.4 + 0.45 * share, 3),
        "evaluation/problems": 100,
        "evaluation/unjudged_fraction": 0.0,
        "time/evaluation": 4.0,
    }
    if step == 0:
        return {"step": 0, **evaluation}
    accuracy = 0.45 + 0.4 * share + chosen.uniform(-0.06, 0.06)
    row = {
        "step": step,
        "reward/accuracy": accuracy,
        "reward/format": 1.0,
        "reward/tag_count": 0.98,
        "reward/total": accuracy + 0.149,
        "reward/solve_rate": accuracy,
        "reward/group_std": 0.35 - 0.2 * share,
        "reward/zero_variance_fraction": 0.1 + 0.3 * share,
        "reward/never_solved_fraction": 0.0,
        "reward/always_solved_fraction": 0.1 + 0.3 * share,
        "reason/accuracy/equal": accuracy,
        "reason/accuracy/different": 1 - accuracy,
        "reason/format/matched": 1.0,
        "advantage/std": 1 - 0.2 * share,
        "completion/count": completions,
        "completion/length": 21 + 3 * share + chosen.uniform(-0.5, 0.5),
        "completion/truncated_fraction": 0.0,
        "policy/kl_divergence": 0.064 if step == 12 else 0.03 * share,
        "policy/sampler_kl": 1e-13 * step,
        "policy/entropy": 0.05 + 0.01 * math.sin(step),
        "policy/clip_fraction": 0.0,
        "policy/grad_norm": 0.4 + chosen.uniform(0, 0.2),
        "policy/learning_rate": 1e-4,
        "verifier/unverifiable_fraction": 0.0,
        "verifier/failed_fraction": 0.0,
        "time/generate": 0.3,
        "time/step": 0.9 + chosen.uniform(0, 0.1),
        "tokens/generated_per_second": 1500.0 + step,
    }
    return {**row, **(evaluation if step % 10 == 0 or step == steps else {})}


def write_step(
    folder: Path,
    step: int,
    groups: int,
    group_size: int,
    completions: Sequence[str],
    chosen: random.Random,
) -> list[dict[str, Any]]:
    """Write the completions of a step; returns its lines of `solve_rates.jsonl`.

    Problems come again every third step.
    """
    rows, rates = [], []
    for group in range(groups):
        terms = [step % 3 + 1, group + 1, 9]
        passed = [chosen.random() < 0.6 for _ in range(group_size)]
        for number, right in enumerate(passed):
            text = completions[number % len(completions)] if completions else sum_of(terms, right)
            rows.append(row_of_completion(step, group, terms, text, right))
        rates.append(
            {"step": step, "id": name_of(terms), "passed": sum(passed), "judged": group_size}
        )
    write_lines(folder / "rollouts" / f"step_{step:06d}.jsonl", rows)
    return rates


def sum_of(terms: Sequence[int], right: bool) -> str:
    total = sum(terms) if right else sum(terms[:-1])
    return (
        f"<think>\n{terms[0]}+{terms[1]}={sum(terms[:2])}\n</think>\n<answer>\n{total}\n</answer>"
    )


def name_of(terms: Iterable[int]) -> str:
    return "p" + "-".join(map(str, terms))


def row_of_completion(
    step: int, group: int, terms: Sequence[int], text: str, right: bool
) -> dict[str, Any]:
    accuracy = {
        "outcome": "scored",
        "score": float(right),
        "reason": "equal" if right else "different",
        "extracted": str(sum(terms) if right else sum(terms[:-1])),
    }
    return {
        "step": step,
        "group": group,
        "id": name_of(terms),
        "prompt": f"{'+'.join(map(str, terms))}=?",
        "reference": {"answer": str(sum(terms))},
        "completion": text,
        "verdicts": {
            "accuracy": accuracy,
            "format": {"outcome": "scored", "score": 1.0, "reason": "matched"},
            "tag_count": {"outcome": "scored", "score": 0.75, "reason": "counted"},
        },
        "reward": float(right) + 0.1375,
        "advantage": 0.8 if right else -1.2,
        "prompt_tokens": 7,
        "completion_tokens": 24,
        "truncated": False,
    }


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def change_config(folder: Path, **sections: Any) -> None:
    """Change sections of a run's configuration."""
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | sections))
