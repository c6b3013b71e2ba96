"""Each step's completions, and how often each problem was solved, on disk.

`rollouts/step_000010.jsonl` has a line for each completion of step 10: reward hacking shows there.
`messages` is the whole chat that was sampled from, `prompt` the problem in it. A line of an episode
also has its `turns`: the policy's messages and the observations between them.
`solve_rates.jsonl` has a line for each problem of each step, for `dataset.solve_rates`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
    from trainer_client.rollout import Rollout

PASSING_SCORE = 0.99
"""Lowest score at which a completion counts as passed."""
MAX_REFERENCE_CHARACTERS = 2000
"""Longest reference in JSON that each completion's line repeats; of a longer one, the beginning."""


@dataclass(frozen=True)
class SolveRate:
    """How many of a problem's judged completions passed, by one source's score."""

    id: str
    passed: int
    judged: int
    dataset: str = ""
    """Label of the problem's data set, where a run has several."""

    @property
    def rate(self) -> float | None:
        """passed / judged; None when nothing was judged."""
        return self.passed / self.judged if self.judged else None

    @property
    def row(self) -> dict[str, Any]:
        """The rate as a line of `solve_rates.jsonl` without its step."""
        label = {"dataset": self.dataset} if self.dataset else {}
        return {**label, "id": self.id, "passed": self.passed, "judged": self.judged}


def solve_rate(group: ScoredGroup, source: str) -> SolveRate:
    """The solve rate of a group by one source: scores of at least `PASSING_SCORE` pass."""
    scores = [verdicts[source].score for verdicts in group.verdicts]
    judged = [score for score in scores if score is not None]
    passed = sum(score >= PASSING_SCORE for score in judged)
    problem = group.group.problem
    return SolveRate(problem.id, passed, len(judged), problem.dataset)


def write_rollouts(
    run_dir: Path,
    step: int,
    scored: ScoredGroups,
    rewards: torch.Tensor,
    advantages: torch.Tensor,
) -> None:
    """Write one step's completions; rewards and advantages are `[N, G]`, NaN is written as null."""
    folder = run_dir / "rollouts"
    folder.mkdir(exist_ok=True)
    path = rollouts_path(run_dir, step)
    partial = path.with_suffix(".partial")
    with partial.open("w") as file:
        for number, (item, group_rewards, group_advantages) in enumerate(
            zip(scored.groups, rewards.tolist(), advantages.tolist(), strict=True)
        ):
            problem = item.group.problem
            label = {"dataset": problem.dataset} if problem.dataset else {}
            reference = _bounded(problem.reference)
            for rollout, verdicts, value, advantage in zip(
                item.group.rollouts, item.verdicts, group_rewards, group_advantages, strict=True
            ):
                row = {
                    "step": step,
                    "group": number,
                    **label,
                    "id": problem.id,
                    "prompt": problem.text,
                    "messages": problem.messages,
                    "reference": reference,
                    "completion": rollout.text,
                    "verdicts": {name: verdict.facts for name, verdict in verdicts.items()},
                    "reward": None if math.isnan(value) else value,
                    "advantage": advantage,
                    "prompt_tokens": len(rollout.prompt_ids),
                    "completion_tokens": rollout.num_sampled,
                    "truncated": rollout.truncated,
                    **_weights(rollout),
                    **_episode(rollout),
                }
                file.write(json.dumps(row) + "\n")
    os.replace(partial, path)


def _weights(rollout: Rollout) -> dict[str, Any]:
    """The step of a replayed completion, or runs of tokens as [steps of their weights, tokens]."""
    if rollout.replayed_from is not None:
        return {"replayed_from": rollout.replayed_from}
    if rollout.weight_steps is None:
        return {}
    return {"weights": [[step, len(list(run))] for step, run in groupby(rollout.weight_steps)]}


def _episode(rollout: Rollout) -> dict[str, Any]:
    """The fields of an episode: what was said after the prompt, and its numbers."""
    episode = rollout.episode
    if episode is None:
        return {}
    return {
        "messages": episode.prompt,
        "turns": episode.messages,
        "observation_tokens": len(rollout.completion_ids) - rollout.num_sampled,
        "environment_seconds": episode.environment_seconds,
        "ended_by": episode.end,
        "extra": episode.extra,
    }


def _bounded(reference: dict[str, Any]) -> dict[str, Any] | str:
    """The reference, or the beginning of its JSON: tests of programs can be very long."""
    text = json.dumps(reference, ensure_ascii=False)
    if len(text) <= MAX_REFERENCE_CHARACTERS:
        return reference
    return f"{text[:MAX_REFERENCE_CHARACTERS]} ... ({len(text)} characters)"


def rollouts_path(run_dir: Path, step: int) -> Path:
    """The file of one step's completions."""
    return run_dir / "rollouts" / f"step_{step:06d}.jsonl"


def append_solve_rates(run_dir: Path, step: int, rates: Iterable[SolveRate]) -> None:
    """Add one step's problems to `solve_rates.jsonl`."""
    with (run_dir / "solve_rates.jsonl").open("a") as file:
        file.writelines(json.dumps({"step": step, **rate.row}) + "\n" for rate in rates)
