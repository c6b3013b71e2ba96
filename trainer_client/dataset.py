"""Problems from a file, a saved data set or the Hugging Face hub, in a reproducible order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import datasets
import torch

from trainer_client.config.sections import DatasetConfig
from trainer_client.errors import TrainerError, or_local


class DatasetError(TrainerError):
    """The data cannot be used; the message names the row, the column and what was expected."""


@dataclass(frozen=True)
class Problem:
    """One problem: the chat messages that pose it, and the reference that judges completions."""

    id: str
    """The row's `id`, or else a hash of its problem column."""
    messages: tuple[dict[str, str], ...]
    reference: dict[str, Any]
    columns: dict[str, Any] = field(default_factory=dict)
    """All columns of the row, for reward functions."""

    @property
    def text(self) -> str:
        """The text of the last message."""
        return self.messages[-1]["content"]


def load_problems(config: DatasetConfig) -> list[Problem]:
    """The problems of a data set, without repeated prompts.

    Raises:
        DatasetError: the source cannot be read, a column or a cell is missing, or one prompt has
            two different references, so that its completions cannot form one group.
    """
    rows = load_rows(config)
    missing = {config.problem_column, *config.reference_columns.values()} - set(rows.column_names)
    if missing:
        raise DatasetError(
            f"{config.path} has no column {sorted(missing)}; its columns are {rows.column_names}. "
            "Set dataset.problem_column and dataset.reference_columns"
        )
    first_rows: dict[str, tuple[int, Problem]] = {}
    for index, row in enumerate(rows):
        problem = _problem(row, index, config)
        key = json.dumps(problem.messages)
        if key not in first_rows:
            first_rows[key] = (index, problem)
            continue
        first_index, first = first_rows[key]
        if first.reference != problem.reference:
            raise DatasetError(
                f"{config.path}: rows {first_index} and {index} pose the same problem with "
                f"different references ({_excerpt(first.reference)} and "
                f"{_excerpt(problem.reference)}); their completions cannot form one group"
            )
    if not first_rows:
        raise DatasetError(f"{config.path} [{config.split}] has no rows")
    problems = [problem for _, problem in first_rows.values()]
    return problems if config.solve_rates is None else _in_solve_rate_range(problems, config)


def read_solve_rates(path: Path) -> dict[str, float]:
    """Problem id -> share of its judged completions that passed, over all lines of the file.

    Raises:
        DatasetError: the file cannot be read, or a line is not as in `solve_rates.jsonl`.
    """
    counts: dict[str, tuple[int, int]] = {}
    line = ""
    try:
        with path.open(newline="\n") as lines:
            for line in lines:
                row = json.loads(line)
                passed, judged = counts.get(row["id"], (0, 0))
                counts[row["id"]] = (passed + row["passed"], judged + row["judged"])
    except OSError as error:
        raise DatasetError(f"dataset.solve_rates: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            f"dataset.solve_rates: {path} must have lines with id, passed and judged, found "
            f"{_excerpt(line)}"
        ) from error
    return {name: passed / judged for name, (passed, judged) in counts.items() if judged}


def _in_solve_rate_range(problems: list[Problem], config: DatasetConfig) -> list[Problem]:
    assert config.solve_rates is not None
    rates = read_solve_rates(config.solve_rates)
    low, high = config.solve_rate_range
    chosen = [p for p in problems if p.id in rates and low <= rates[p.id] <= high]
    if not chosen:
        raise DatasetError(
            f"no problem of {config.path} has a solve rate from {low} to {high} in "
            f"{config.solve_rates} ({len(rates)} rates, {len(problems)} problems)"
        )
    return chosen


def load_rows(config: DatasetConfig) -> Any:
    """The `datasets.Dataset` that a configuration names; raises DatasetError."""
    path = Path(config.path)
    try:
        if path.suffix in (".jsonl", ".json") or path.is_file():
            return datasets.load_dataset("json", data_files=str(path), split=config.split)
        if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
            return _saved(path, config.split)
        return datasets.load_dataset(config.path, config.name, split=config.split)
    except DatasetError:
        raise
    except (OSError, ValueError, AssertionError, datasets.exceptions.DatasetsError) as error:
        raise DatasetError(
            f"cannot load {config.path} [{config.split}]: {error}. Expected a .jsonl file, a "
            "folder written by save_to_disk, or the name of a Hugging Face data set"
            f"{or_local(config.path, 'dataset.path')}"
        ) from error


def _saved(path: Path, split: str) -> Any:
    """A `save_to_disk` folder, with split expressions as `load_dataset` takes them."""
    saved = datasets.load_from_disk(str(path))
    splits = saved if isinstance(saved, datasets.DatasetDict) else {"train": saved}
    lengths = {name: rows.num_rows for name, rows in splits.items()}
    parts = datasets.ReadInstruction.from_spec(split).to_absolute(lengths)
    selected = [
        splits[part.splitname].select(
            range(*slice(part.from_, part.to).indices(lengths[part.splitname]))
        )
        for part in parts
    ]
    return datasets.concatenate_datasets(selected)


def _problem(row: dict[str, Any], index: int, config: DatasetConfig) -> Problem:
    reference = {}
    for key, column in config.reference_columns.items():
        if row[column] is None:
            raise DatasetError(f"{config.path}: row {index} has no value in column {column!r}")
        value = row[column]
        reference[key] = str(value) if isinstance(value, int | float) else value
    messages = messages_of(row, index, config)
    return Problem(_id(row, config), tuple(messages), reference, dict(row))


def _id(row: dict[str, Any], config: DatasetConfig) -> str:
    """The row's own id, or else one that is the same in every split, order and configuration."""
    if row.get("id") is not None:
        return str(row["id"])
    problem = json.dumps(row[config.problem_column], sort_keys=True)
    return hashlib.sha256(problem.encode()).hexdigest()[:16]


def messages_of(row: dict[str, Any], index: int, config: DatasetConfig) -> list[dict[str, str]]:
    """The chat that poses a row's problem; raises DatasetError."""
    value = row[config.problem_column]
    if isinstance(value, str) and value.strip():
        messages = [{"role": "user", "content": value}]
    elif isinstance(value, list) and value and all(_is_message(item) for item in value):
        messages = [{"role": item["role"], "content": item["content"]} for item in value]
    else:
        raise DatasetError(
            f"{config.path}: row {index}, column {config.problem_column!r} must be a text or a "
            f"list of messages with role and content, found {_excerpt(value)}"
        )
    if config.system_prompt is not None and messages[0]["role"] != "system":
        messages.insert(0, {"role": "system", "content": config.system_prompt})
    return messages


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("role", "content")
    )


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class ProblemOrder:
    """The order in which problems are taken: each pass has a new one, a function of the seed.

    Raises:
        DatasetError: the data set has fewer problems than one step takes.
    """

    def __init__(self, problems: Sequence[Problem], *, per_step: int, seed: int) -> None:
        if len(problems) < per_step:
            raise DatasetError(
                f"the data set has {len(problems)} different problems, but one step takes "
                f"rollout.prompts_per_step = {per_step}"
            )
        self._problems = problems
        self._seed = seed

    def take(self, position: int, count: int) -> tuple[list[Problem], int]:
        """The next problems and the position after them.

        A position counts problems from the start of the run. Problems that are taken together are
        always of one pass, so all are different; the rest of a pass is skipped but counted.

        Args:
            position: 0 at first, then the position that the last call returned.
            count: number of problems to take, at most `per_step`.
        """
        pass_index, start = divmod(position, len(self._problems))
        if start + count > len(self._problems):
            pass_index, start = pass_index + 1, 0
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + pass_index)
        order = torch.randperm(len(self._problems), generator=generator).tolist()
        chosen = [self._problems[index] for index in order[start : start + count]]
        return chosen, pass_index * len(self._problems) + start + count
