"""Rows of a data set, with the types that its file has.

A JSON file is read as JSON. The reader of `datasets` would infer one type for a whole column: texts
that look like dates become dates, and a 3 beside a 2.5 becomes 3.0.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets

from trainer_client.config.sections import DatasetConfig
from trainer_client.errors import TrainerError, or_local
from trainer_client.given_objects import given_object, is_given

READ_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    AssertionError,
    lzma.LZMAError,
    zlib.error,
    datasets.exceptions.DatasetsError,
)
"""Errors of a source that is missing, broken or of another kind."""

_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""First bytes of a compressed file -> the function that opens it."""


class DatasetError(TrainerError):
    """The data cannot be used; the message names the row, the column and what was expected."""


@dataclass(frozen=True)
class Rows:
    """The rows of one split."""

    column_names: tuple[str, ...]
    _parts: tuple[Sequence[Any], ...]

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows with all columns; a value that a row does not have is None."""
        for part in self._parts:
            for row in part:
                yield {name: row.get(name) for name in self.column_names}


def load_rows(config: DatasetConfig) -> Rows:
    """The rows that a configuration names; raises DatasetError."""
    path = Path(config.path)
    if is_given(config.path):
        return _given_rows(config)
    try:
        if path.suffix in (".jsonl", ".json") or path.is_file():
            return _split({"train": _read_json(path)}, config.split)
        if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
            saved = datasets.load_from_disk(str(path))
            splits = saved if isinstance(saved, datasets.DatasetDict) else {"train": saved}
            return _split(splits, config.split)
        loaded = datasets.load_dataset(config.path, config.name, split=config.split)
        return Rows(tuple(loaded.column_names), (loaded,))
    except DatasetError:
        raise
    except READ_ERRORS as error:
        raise DatasetError(
            f"cannot load {config.place}: {error}. Expected a .jsonl file, a "
            "folder written by save_to_disk, or the name of a Hugging Face data set"
            f"{or_local(config.path, 'dataset.path')}"
        ) from error


def _given_rows(config: DatasetConfig) -> Rows:
    """The rows of an object that a script gives; raises ConfigError, DatasetError."""
    given = given_object(config.path, "dataset.path")
    if isinstance(given, datasets.Dataset) or _holds_rows(given):
        given = {"train": given}
    elif not isinstance(given, datasets.DatasetDict):
        raise DatasetError(
            f"dataset.path: {config.path!r} must be a datasets.Dataset, a DatasetDict or a list of "
            f"dicts, found {type(given).__name__}"
        )
    try:
        return _split(given, config.split)
    except READ_ERRORS as error:
        raise DatasetError(f"cannot take {config.place}: {error}") from error


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _split(splits: dict[str, Any], split: str) -> Rows:
    """The part of the splits that an expression names, such as `train[:40%]+test`."""
    lengths = {name: len(rows) for name, rows in splits.items()}
    parts = []
    for part in datasets.ReadInstruction.from_spec(split).to_absolute(lengths):
        chosen = range(*slice(part.from_, part.to).indices(lengths[part.splitname]))
        rows = splits[part.splitname]
        if isinstance(rows, datasets.Dataset):
            parts.append(rows.select(chosen))
        else:
            parts.append([rows[index] for index in chosen])
    return Rows(_column_names(parts), tuple(parts))


def _column_names(parts: Sequence[Any]) -> tuple[str, ...]:
    """The names of all columns, in the order in which they first occur."""
    names: dict[str, None] = {}
    for part in parts:
        if isinstance(part, datasets.Dataset):
            names |= dict.fromkeys(part.column_names)
        else:
            for row in part:
                names |= dict.fromkeys(row)
    return tuple(names)


def _read_json(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one on each line, or with an array of them."""
    with path.open("rb") as file:
        head = file.read(8)
    opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), open)
    with opener(path, "rb") as file:
        text = file.read().decode("utf-8-sig")
    rows = []
    for number, value in _values(text, path):
        if not isinstance(value, dict):
            raise DatasetError(f"{path}: row {number} must be an object, found {repr(value)[:80]}")
        rows.append(value)
    return rows


def _values(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file, each with the number, from 1, of its line or of its place."""
    if text.lstrip().startswith("["):
        yield from enumerate(_parse(text, f"{path}"), 1)
        return
    # Only line feeds end a line: texts may hold the other line ends of Unicode.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _parse(line, f"{path}: line {number}")


def _parse(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{place} is not valid JSON: {error}. Expected one object on each line, or an array"
        ) from error
