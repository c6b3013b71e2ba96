"""Checkpoints by name: the last, the best, the last good one, or that of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trainer_client.config.reward_sections import EvaluationConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.run.checkpoint import Checkpoint, list_checkpoints
from trainer_client.run.guards import History, last_step_below_kl_limit
from trainer_client.run.json_lines import read_lines

NAMES = "last, best, last_good"


def best_step(
    history: Sequence[Mapping[str, float]], evaluations: Sequence[EvaluationConfig]
) -> int | None:
    """The step with the highest pass@k of the first evaluation and its first k; None: none yet."""
    if not evaluations:
        return None
    first = evaluations[0]
    key = f"{first.prefix}/pass@{first.k[0]}"
    rows = [row for row in history if key in row and row["step"] > 0]
    return int(max(rows, key=lambda row: row[key])["step"]) if rows else None


def choose_checkpoint(run_dir: Path, name: str, config: Config) -> Checkpoint:
    """The checkpoint of a run that has this name.

    Args:
        run_dir: folder of the run.
        name: `last`; `best`, by evaluation; `last_good`, the newest whose KL is within
            `guards.stop_if_kl_above`; or the number of a step.
        config: the run's; says what is best and good.

    Raises:
        ConfigError: there is none, or what the name needs was never measured.
    """
    checkpoints = list_checkpoints(run_dir)
    steps = [checkpoint.step for checkpoint in checkpoints]
    if not checkpoints:
        raise ConfigError(f"{run_dir} has no checkpoint")
    if name == "last":
        return checkpoints[-1]
    history = read_lines(run_dir / "metrics.jsonl")
    wanted = int(name) if name.isdecimal() else None
    if name == "best":
        wanted = best_step(history, config.evaluation)
        if wanted is None:
            raise ConfigError(f"{run_dir} was never evaluated, so none of {steps} is the best")
    elif name == "last_good":
        wanted = _last_good(run_dir, history, steps, config)
    if wanted not in steps:
        raise ConfigError(
            f"there is no checkpoint {name!r} in {run_dir}: expected {NAMES} or one of {steps}"
        )
    return checkpoints[steps.index(wanted)]


def _last_good(run_dir: Path, history: History, steps: list[int], config: Config) -> int:
    limit = config.guards.stop_if_kl_above
    if limit is None:
        raise ConfigError("guards.stop_if_kl_above is null, so no checkpoint is good or bad")
    found = last_step_below_kl_limit(history, steps, limit)
    if found is None:
        raise ConfigError(
            f"none of the checkpoints {steps} of {run_dir} has a measured KL within {limit}; it is "
            "measured with loss.kl_coefficient or guards.measure_kl_every_steps, in the step after"
        )
    return found
