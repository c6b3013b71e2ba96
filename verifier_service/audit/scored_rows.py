"""Scored completions of a file or folder, in the shapes in which runs log them.

| shape | rows |
|---|---|
| `trainer-client` | `rollouts/step_000010.jsonl`: `verdicts`, `reference`, `step`, `group` |
| TRL | `completions_00010.parquet`: a column of numbers for each reward function |
| verl | JSONL: `input`, `output`, `gts`, `score`, `step` |
| store | `verdicts-....parquet`: a row for each verdict, with texts |
| any | `completion`, `answer` or another name of the reference, and columns of numbers |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from verifier_service.console import BadInput
from verifier_service.inspection.columns import prompt_of
from verifier_service.inspection.sources import DataSource
from verifier_service.reference_formats.json_values import json_value

PASSING_SCORE = 0.99
"""Lowest score of an accepted completion."""
COMPLETIONS = ("completion", "output", "response", "completions")
REFERENCES = ("answer", "gold", "gts", "ground_truth", "reference_answer", "solution", "reference")
_NOT_SCORES = frozenset(
    (
        *("step", "index", "group", "advantage", "advantages", "prompt_tokens", "truncated"),
        *("completion_tokens", "num_tokens", "id", "seed", "group_index", "completion_index"),
        *("milliseconds", "label", *REFERENCES),
    )
)
_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".parquet")


@dataclass(frozen=True)
class SourceVerdict:
    """A score of one verifier or reward function."""

    score: float | None
    reason: str = ""
    options: str = ""
    """The verifier in JSON, its type and options; empty where that is not known."""


@dataclass(frozen=True)
class ScoredRow:
    """A completion with its scores."""

    index: int
    """Position in the data, from 0."""
    prompt: str
    answers: tuple[str, ...]
    """The accepted answers of the reference; empty where it has none."""
    completion: str
    verdicts: Mapping[str, SourceVerdict]
    """Verdicts by source."""
    group: tuple[Any, ...]
    """Key of the completions of one problem in one step."""
    step: int | None = None
    truncated: bool = False

    def is_accepted(self, source: str) -> bool | None:
        """Whether a source accepts the completion; None where it gives no score."""
        found = self.verdicts.get(source)
        return None if found is None or found.score is None else found.score >= PASSING_SCORE


def read_scored(data: Path, rows: Path | None = None) -> list[ScoredRow]:
    """The scored completions of a file, or of all files of a folder.

    Args:
        data: a file or folder.
        rows: the file that was scored, where `data` is what `verifier-service score` wrote.

    Raises:
        BadInput: there is no such file or folder, or nothing scored in it.
    """
    for path in (data, rows):
        if path is not None and not path.exists():
            raise BadInput(f"{path}: no such file or folder")
    found: list[ScoredRow] = []
    for columns in _with_rows(data, rows) if rows is not None else _columns(data):
        row = _row(len(found), columns)
        if row is not None:
            found.append(row)
    if not found:
        if _has_hashes_only(data):
            raise BadInput("the store has hashes only; VERIFIER_STORE_TEXTS=text keeps texts")
        raise BadInput(
            f"{data}: no scored completions: expected rows with one of {list(COMPLETIONS)} and "
            "with `verdicts` or columns of numbers; of `verifier-service score` also --rows"
        )
    return found


def main_source(rows: Iterable[ScoredRow], chosen: str | None) -> str:
    """The source whose verdicts are audited.

    Raises:
        BadInput: there is no such source, or none was named and there are several.
    """
    sources = sorted({name for row in rows for name in row.verdicts})
    if chosen is not None:
        if chosen not in sources:
            raise BadInput(f"--source: no scores of {chosen!r}; there are {sources}")
        return chosen
    if len(sources) == 1:
        return sources[0]
    known = [name for name in sources if "accuracy" in name] or [
        name for name in sources if name not in ("reward", "total")
    ]
    if len(known) != 1 and "score" not in sources:
        raise BadInput(f"--source: name one of {sources}")
    return known[0] if len(known) == 1 else "score"


def _files(data: Path) -> list[Path]:
    if not data.is_dir():
        return [data]
    folders = [data / name for name in ("rollouts", "completions") if (data / name).is_dir()]
    files = [
        path
        for folder in folders or [data]
        for path in sorted(folder.iterdir())
        if path.name.endswith(_SUFFIXES)
    ]
    if not files:
        raise BadInput(f"{data}: no files of {', '.join(_SUFFIXES)}")
    return files


def _columns(data: Path) -> Iterator[dict[str, Any]]:
    for path in _files(data):
        rows = (row.columns for row in DataSource(str(path)).rows() if not row.problem)
        yield from _merged(rows) if _is_stored(path) else rows


def _is_stored(path: Path) -> bool:
    return path.name.startswith("verdicts-")


def _has_hashes_only(data: Path) -> bool:
    """Whether data is a store of which no row has a text."""
    files = (path for path in _files(data) if _is_stored(path))
    rows = (row.columns for path in files for row in DataSource(str(path)).rows())
    return {row["completion"] is None and row["reference"] is None for row in rows} == {True}


def _merged(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each completion of a store, which has one for each verdict.

    A completion that was too long to keep has none.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        if row["completion"] is None:
            continue
        key = (row["record_id"], row["group_index"], row["completion_index"])
        one = found.setdefault(key, {**row, "verdicts": {}, "group": key[:2], "score": None})
        one["verdicts"][row["name"]] = {name: row[name] for name in ("score", "reason", "options")}
    yield from found.values()


def _with_rows(data: Path, rows: Path) -> Iterator[dict[str, Any]]:
    """The rows that were scored, each completion with its verdicts."""
    originals = [row.columns for row in DataSource(str(rows)).rows()]
    for scored in (row.columns for row in DataSource(str(data)).rows()):
        index = scored.get("index")
        if not isinstance(index, int) or not 0 <= index < len(originals):
            raise BadInput(f"{data}: it is no result of {rows}")
        original = originals[index]
        texts = original.get("completions", [original.get("completion")])
        for text, verdicts in zip_longest(texts, scored.get("completions", [])):
            if text is None or verdicts is None:
                raise BadInput(f"{data}: it is no result of {rows}: row {index + 1} differs")
            own = {key: value for key, value in original.items() if key != "completions"}
            yield own | {"completion": text, "group": index, "verdicts": verdicts["verdicts"]}


def _row(index: int, columns: dict[str, Any]) -> ScoredRow | None:
    text = next((_text(columns[name]) for name in COMPLETIONS if columns.get(name)), None)
    verdicts = _verdicts(columns)
    if text is None or not verdicts:
        return None
    step = columns.get("step")
    step = step if isinstance(step, int) else None
    prompt = prompt_of({"prompt": columns.get("input"), **columns})
    group = columns.get("group")
    key = (step, prompt or index) if group is None else (step, str(group))
    return ScoredRow(
        index,
        prompt,
        tuple(_answers(columns)),
        text,
        verdicts,
        key,
        step,
        truncated=columns.get("truncated") is True,
    )


def _text(value: Any) -> str:
    """The text of a completion: of a chat, its last message."""
    if isinstance(value, list) and value:
        last = value[-1]
        return str(last.get("content") or "") if isinstance(last, dict) else str(last)
    return str(value.get("text", "")) if isinstance(value, dict) else str(value)


def _verdicts(columns: Mapping[str, Any]) -> dict[str, SourceVerdict]:
    given = columns.get("verdicts")
    if isinstance(given, dict):
        return {
            str(name): SourceVerdict(
                _number(one.get("score")), str(one.get("reason", "")), str(one.get("options", ""))
            )
            for name, one in given.items()
            if isinstance(one, dict)
        }
    return {
        name: SourceVerdict(_number(value))
        for name, value in columns.items()
        if name not in _NOT_SCORES and isinstance(value, bool | int | float)
    }


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, bool | int | float) else None


def _answers(columns: Mapping[str, Any]) -> Iterator[str]:
    for name in REFERENCES:
        value = columns.get(name)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            found = json_value(value)
            value = found if isinstance(found, dict) else value
        if isinstance(value, dict):
            value = value.get("answer", value.get("ground_truth"))
        if value is None or value == "":
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int | float) and not isinstance(one, bool):
                yield str(one)
        return


def groups_of(rows: Iterable[ScoredRow]) -> list[list[ScoredRow]]:
    """The completions of each group."""
    found: defaultdict[tuple[Any, ...], list[ScoredRow]] = defaultdict(list)
    for row in rows:
        found[row.group].append(row)
    return list(found.values())
