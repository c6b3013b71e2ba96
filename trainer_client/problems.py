"""Problems from a file, a saved data set or the Hugging Face hub, in a reproducible order."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from reward_verifier.completion_group import row_reference
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.reward_sections import VerifierConfig
from trainer_client.errors import did_you_mean
from trainer_client.reward.selection import ProblemReward, VerifierSelection
from trainer_client.row_files import DatasetError
from trainer_client.rows import Rows, StoredRow, load_rows
from trainer_client.run.console import say

T = TypeVar("T")

_VERIFIERS = TypeAdapter(tuple[VerifierConfig, ...])
MAX_SHOWN_CONFLICTS = 10
"""Pairs of rows with conflicting references that an error lists."""
MAX_SHOWN_BAD_ROWS = 5
"""Different mistakes of rows that an error lists."""


@dataclass(frozen=True)
class Problem:
    """One problem: the chat messages that pose it, and the reference that judges completions."""

    id: str
    """The row's `id`, or else a hash of its problem column; both where several rows have the id."""
    messages: tuple[dict[str, Any], ...]
    """Each has `role` and `content`, and the other fields that the row gives it."""
    reference: dict[str, Any]
    columns: Mapping[str, Any] = field(default_factory=dict)
    """All columns of the row, for reward functions; read again from the file each time."""
    template_variables: dict[str, Any] = field(default_factory=dict)
    """The data set's `chat_template_kwargs`."""
    own_verifiers: VerifierSelection | None = None
    """The verifiers that the row names for itself; None: it names none."""
    reward: ProblemReward | None = None
    """Judges of its completions; None: the run's section `reward`."""
    dataset: str = ""
    """The label of its data set, where a run has several."""
    row: int | None = field(default=None, compare=False)
    """Number of its row, from 0; None: it is not of a data set."""

    @property
    def row_number(self) -> int | None:
        """Number of its row, from 1, as messages tell it; None: it is not of a data set."""
        return None if self.row is None else self.row + 1

    @property
    def text(self) -> str:
        """The text of the last message that is not the beginning of the assistant's own."""
        posed = [one for one in self.messages if one["role"] != "assistant"] or self.messages
        text: str = posed[-1]["content"]
        return text


def load_problems(config: DatasetConfig) -> list[Problem]:
    """The problems of a data set, without repeated prompts.

    The console shows how many rows were left out, and why.

    Raises:
        DatasetError: the source cannot be read, a column is missing, a row cannot be used
            (`on_bad_row: error`), or one prompt has two different references, so that its
            completions cannot form one group (`on_conflict: error`).
    """
    rows = load_rows(config)
    missing = config.named_columns - set(rows.column_names)
    if missing and len(rows):
        raise DatasetError(_lacking(config, sorted(missing), rows.column_names))
    usable = read_rows(rows, config, partial(_problem, rows=rows, config=config))
    posed: dict[bytes, list[tuple[int, Problem]]] = {}
    for index, problem in usable:
        text = json.dumps(problem.messages, sort_keys=True).encode()
        posed.setdefault(hashlib.sha256(text).digest(), []).append((index, problem))
    conflicts = [same for same in posed.values() if _references_differ(same)]
    if conflicts and config.on_conflict == "error":
        raise DatasetError(_conflict_message(conflicts, config))
    problems = [same[0][1] for same in posed.values() if not _references_differ(same)]
    if not problems:
        raise DatasetError(f"{config.place} has no rows that can be used")
    problems = _with_ids_of_their_own(problems, config)
    _report(config, conflicts=conflicts, repeated=len(usable) - len(posed))
    return problems if config.solve_rates is None else _in_solve_rate_range(problems, config)


def _with_ids_of_their_own(problems: list[Problem], config: DatasetConfig) -> list[Problem]:
    """The problems; to an `id` that several have, a hash of the problem column is added.

    Solve rates and logs tell problems by their ids: those of one id would share a rate.
    """
    counts = Counter(problem.id for problem in problems)
    num_shared = sum(count for count in counts.values() if count > 1)
    if not num_shared:
        return problems
    one = next(name for name, count in counts.items() if count > 1)
    say(
        f"{config.path}: {num_shared} rows have an id that another one has ({_excerpt(one)}, "
        f"{counts[one]} rows); a hash of the problem is added to theirs"
    )
    return [
        replace(problem, id=f"{problem.id}-{_hash(problem.columns[config.problem_column])}")
        if counts[problem.id] > 1
        else problem
        for problem in problems
    ]


def _references_differ(same: Sequence[tuple[int, Problem]]) -> bool:
    """Whether rows with one prompt disagree; as JSON, in which true is not 1."""
    judged_by = [
        [p.reference, None if p.own_verifiers is None else p.own_verifiers.weighted_wire]
        for _, p in same
    ]
    return len({json.dumps(one, sort_keys=True) for one in judged_by}) > 1


def _conflict_message(
    conflicts: Sequence[Sequence[tuple[int, Problem]]], config: DatasetConfig
) -> str:
    pairs = []
    for (index, first), *others in conflicts[:MAX_SHOWN_CONFLICTS]:
        other_index, other = next(
            one for one in others if _references_differ([(index, first), one])
        )
        pairs.append(
            f"rows {index + 1} and {other_index + 1} pose the same problem with different "
            f"references ({_excerpt(first.reference)} and {_excerpt(other.reference)})"
        )
    more = len(conflicts) - len(pairs)
    return (
        f"{config.path}: {'; '.join(pairs)}{f'; and {more} more' if more else ''}. Completions of "
        "such a problem cannot form one group; dataset.on_conflict=drop leaves it out"
    )


def _lacking(config: DatasetConfig, missing: Sequence[str], names: Sequence[str]) -> str:
    """The error for columns that a data set does not have, with the settings that name them."""
    settings = {config.problem_column: "problem_column"}
    settings |= {column: f"reference_columns.{k}" for k, column in config.reference_columns.items()}
    if config.verifiers_column is not None:
        settings[config.verifiers_column] = "verifiers_column"
    near = did_you_mean(missing[0], names)
    return (
        f"{config.path} has no column {', '.join(map(repr, missing))}; its columns are "
        f"{', '.join(map(repr, names))}{near or '.'} Set "
        f"{' and '.join(settings[one] for one in missing)} of this data set: under dataset, or of "
        "held-out problems under evaluation.dataset"
    )


def _report(config: DatasetConfig, *, conflicts: Sequence[Any], repeated: int) -> None:
    """Say how many rows were dropped for their prompts."""
    dropped = sum(map(len, conflicts))
    # A repeated row of a dropped problem is counted there.
    repeated -= dropped - len(conflicts)
    parts = [
        f"{dropped} rows of {len(conflicts)} problems with different references" if dropped else "",
        f"{repeated} repeated row{'s' * (repeated > 1)}" if repeated else "",
    ]
    if any(parts):
        say(f"{config.path}: dropped {' and '.join(filter(None, parts))}")


def read_rows(
    rows: Rows, config: DatasetConfig, read: Callable[[dict[str, Any], int], T]
) -> list[tuple[int, T]]:
    """The number of each row that can be used, with what is read from it.

    Args:
        rows: the rows.
        config: `on_bad_row` decides about the others; the console shows how many are skipped.
        read: called with a row and its number; raises DatasetError where it cannot be used.

    Raises:
        DatasetError: a row cannot be used, and none is to be skipped.
    """
    usable: list[tuple[int, T]] = []
    errors = []
    for index, row in enumerate(rows):
        try:
            usable.append((index, read(row, index)))
        except DatasetError as error:
            errors.append(str(error))
    if errors and config.on_bad_row == "error":
        shown = list(dict.fromkeys(errors))[:MAX_SHOWN_BAD_ROWS]
        others = [one.removeprefix(f"{config.path}: ") for one in shown[1:]]
        raise DatasetError(
            f"{'; '.join([shown[0], *others])}. {len(errors)} of {len(rows)} rows cannot be used; "
            "dataset.on_bad_row=skip leaves them out"
        )
    if errors:
        say(f"skipped {len(errors)} of {len(rows)} rows, which cannot be used; {errors[0]}")
    return usable


def read_solve_rates(path: Path, label: str | None = None) -> dict[str, float]:
    """Problem id -> share of its judged completions that passed, over the lines of the file.

    Args:
        path: the file.
        label: of a data set. Where lines of a run with several data sets have it, those of the
            others are left out: problems of two data sets may have the same id.

    Raises:
        DatasetError: the file cannot be read, or a line is not as in `solve_rates.jsonl`.
    """
    counts: dict[tuple[str | None, str], tuple[int, int]] = {}
    line = ""
    try:
        with path.open(newline="\n") as lines:
            for line in lines:
                row = json.loads(line)
                key = row.get("dataset"), row["id"]
                passed, judged = counts.get(key, (0, 0))
                counts[key] = (passed + row["passed"], judged + row["judged"])
    except OSError as error:
        raise DatasetError(f"dataset.solve_rates: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            f"dataset.solve_rates: {path} must have lines with id, passed and judged, found "
            f"{_excerpt(line)}"
        ) from error
    if label is not None and any(name == label for name, _ in counts):
        counts = {key: count for key, count in counts.items() if key[0] in (label, None)}
    totals: dict[str, tuple[int, int]] = {}
    for (_, problem), (passed, judged) in counts.items():
        before = totals.get(problem, (0, 0))
        totals[problem] = (before[0] + passed, before[1] + judged)
    return {problem: passed / judged for problem, (passed, judged) in totals.items() if judged}


def _in_solve_rate_range(problems: list[Problem], config: DatasetConfig) -> list[Problem]:
    assert config.solve_rates is not None
    rates = read_solve_rates(config.solve_rates, config.name_in_metrics)
    low, high = config.solve_rate_range
    chosen = [p for p in problems if p.id in rates and low <= rates[p.id] <= high]
    if not chosen:
        num_known = sum(one.id in rates for one in problems)
        why = (
            f"{num_known} of the {len(problems)} problems have one there"
            if num_known
            else (
                "none of its rates is of these problems: measure them by evaluate --solve-rates "
                "with evaluation.dataset.path set to this data set"
            )
        )
        raise DatasetError(
            f"no problem of {config.path} has a solve rate from {low} to {high} in "
            f"{config.solve_rates}: {why}"
        )
    return chosen


def _problem(row: dict[str, Any], index: int, *, rows: Rows, config: DatasetConfig) -> Problem:
    messages = messages_of(row, index, config)
    return Problem(
        _id(row, config),
        tuple(messages),
        _reference(row, index, config),
        StoredRow(rows, index),
        config.chat_template_kwargs,
        _own_verifiers(row, index, config),
        row=index,
    )


def _reference(row: dict[str, Any], index: int, config: DatasetConfig) -> dict[str, Any]:
    """The reference in the columns of a row; raises DatasetError."""
    if config.reference_format is not None:
        left_out = {"id", *config.named_columns}
        if "entry_point" in row:
            left_out.discard("prompt")  # it may define functions that the tests call
        kept = {name: row[name] for name in row if name not in left_out}
        for column, value in kept.items():
            _check_is_json(value, index, column, config)
        return row_reference(kept, config.reference_format)
    reference = {}
    for key, column in config.reference_columns.items():
        value = row[column]
        if value is None:
            raise DatasetError(f"{config.path}: row {index + 1} has no value in column {column!r}")
        _check_is_json(value, index, column, config)
        # The text of a number or a truth value is that of JSON: true, not True.
        reference[key] = json.dumps(value) if isinstance(value, int | float) else value
    return reference


def _own_verifiers(
    row: dict[str, Any], index: int, config: DatasetConfig
) -> VerifierSelection | None:
    """The verifiers that a row names for itself; raises DatasetError."""
    if config.verifiers_column is None or (value := row[config.verifiers_column]) is None:
        return None
    if isinstance(value, str) and value and not value.startswith("["):
        return VerifierSelection(profile=value)
    try:
        verifiers = _VERIFIERS.validate_python(_listed(value))
    except (ValueError, RecursionError):
        verifiers = ()
    if not verifiers:
        raise DatasetError(
            f"{config.path}: row {index + 1}, column {config.verifiers_column!r} must be the name "
            "of a profile or a list of verifiers, such as "
            f'[{{"type": "accuracy", "weight": 1.0}}]; found {_excerpt(value)}'
        )
    return VerifierSelection(verifiers)


def _listed(value: Any) -> Any:
    """A list of verifiers from a table: JSON in a text, or objects with null for what is unset."""
    items = json.loads(value) if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        return items
    return [
        {key: option for key, option in one.items() if option is not None}
        if isinstance(one, dict)
        else one
        for one in items
    ]


def _check_is_json(value: Any, index: int, column: str, config: DatasetConfig) -> None:
    """Raise DatasetError where a request could not hold the value."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(
            f"{config.path}: row {index + 1}, column {column!r} holds what JSON cannot express "
            f"({error}): {_excerpt(value)}"
        ) from error


def _id(row: dict[str, Any], config: DatasetConfig) -> str:
    """The row's own id, or else one that is the same in every split, order and configuration."""
    if row.get("id") is not None:
        return str(row["id"])
    return _hash(row[config.problem_column])


def _hash(value: Any) -> str:
    """The beginning of the hash of a value of JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def messages_of(row: dict[str, Any], index: int, config: DatasetConfig) -> list[dict[str, Any]]:
    """The chat that poses a row's problem; raises DatasetError.

    Where its last message is the assistant's, completions go on from there.
    """
    value = row[config.problem_column]
    if isinstance(value, str) and value.strip():
        _check_is_json(value, index, config.problem_column, config)
        return with_system_prompt([{"role": "user", "content": value}], config)
    return with_system_prompt(chat_messages(row, index, config, config.problem_column), config)


def chat_messages(
    row: dict[str, Any], index: int, config: DatasetConfig, column: str
) -> list[dict[str, Any]]:
    """The messages in a column of a row; raises DatasetError."""
    value = row[column]
    _check_is_json(value, index, column, config)
    messages = [_message(item) for item in value] if isinstance(value, list) else []
    chat = [message for message in messages if message is not None]
    if not chat or len(chat) < len(messages) or not (chat[-1]["content"] or "").strip():
        raise DatasetError(
            f"{config.path}: row {index + 1}, column {column!r} must be a text or a "
            "list of messages with role and content, a text or parts of type text, the last one "
            f"not empty; found {_excerpt(value)}"
        )
    return chat


def with_system_prompt(
    messages: Sequence[dict[str, Any]], config: DatasetConfig
) -> list[dict[str, Any]]:
    """The chat after the data set's system prompt, unless it has a system message of its own."""
    if config.system_prompt is None or messages[0]["role"] == "system":
        return list(messages)
    return [{"role": "system", "content": config.system_prompt}, *messages]


def _message(item: Any) -> dict[str, Any] | None:
    """A chat message with all of its fields, its content as one text; None: it is not one.

    A field that is null is left out: a table has one wherever another row's message has the field.
    """
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        return None
    message = {key: value for key, value in item.items() if value is not None}
    content = message.get("content")
    if isinstance(content, list):
        content = _joined_text(content)
    elif content is None and message.get("tool_calls"):
        return {**message, "content": ""}
    return {**message, "content": content} if isinstance(content, str) else None


def _joined_text(parts: list[Any]) -> str | None:
    """The text of a content in parts; None: a part is not of type text."""
    texts = []
    for part in parts:
        if not isinstance(part, dict) or part.get("type") != "text":
            return None
        if not isinstance(part.get("text"), str):
            return None
        texts.append(part["text"])
    return "".join(texts)


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def require_enough(problems: Sequence[Problem], *, per_step: int, name: str | None = None) -> None:
    """Raise DatasetError where the data set has fewer problems than one step takes.

    Args:
        problems: those of the data set.
        per_step: number of problems that one step takes.
        name: the data set's, where there are several.
    """
    if len(problems) >= per_step:
        return
    if name is None:
        raise DatasetError(
            f"the data set has {len(problems)} different problems, but one step takes "
            f"rollout.prompts_per_step = {per_step}"
        )
    raise DatasetError(
        f"the data set {name} has {len(problems)} different problems, but its share of "
        f"rollout.prompts_per_step is up to {per_step}"
    )
