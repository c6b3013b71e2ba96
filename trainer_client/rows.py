"""Rows of a data set, with the types that its files have.

Rows stay on disk: a row of a file with one on each line, or of an Arrow table, is read when it is
asked for. Compressed files, arrays of JSON and CSV are held whole.
"""

from __future__ import annotations

import lzma
import zlib
from bisect import bisect_right
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huggingface_hub import constants

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.errors import first_line, or_local
from trainer_client.given_objects import given_object, is_given
from trainer_client.hub_reach import hub_obstacle
from trainer_client.row_files import DatasetError, read_file

if TYPE_CHECKING:
    import datasets

FILE_SUFFIXES = frozenset([".jsonl", ".json", ".parquet", ".csv", ".tsv", ".gz"])
"""Ends of the names of files; no data set of the hub has such a name."""


@dataclass(frozen=True)
class Rows:
    """The rows of one split."""

    column_names: tuple[str, ...]
    _parts: tuple[Sequence[Any], ...]
    _chosen: tuple[range, ...]
    """The rows of each part that the split has."""

    def __len__(self) -> int:
        return sum(map(len, self._chosen))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows with all columns; a value that a row does not have is None."""
        for index in range(len(self)):
            yield self[index]

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The row of this number, which is from 0 on, with all columns."""
        for part, chosen in zip(self._parts, self._chosen, strict=True):
            if index < len(chosen):
                row = part[chosen[index]]
                return {name: row.get(name) for name in self.column_names}
            index -= len(chosen)
        raise IndexError(index)


class StoredRow(Mapping[str, Any]):
    """A row that is read when one of its columns is asked for; a pickled one holds its values."""

    def __init__(self, rows: Rows, index: int) -> None:
        self._rows = rows
        self._index = index

    def __getitem__(self, name: str) -> Any:
        return self._rows[self._index][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows.column_names)

    def __len__(self) -> int:
        return len(self._rows.column_names)

    def items(self) -> ItemsView[str, Any]:
        """All columns with their values, read at once."""
        return self._rows[self._index].items()

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (self._rows[self._index],)


def load_rows(config: DatasetConfig) -> Rows:
    """The rows that a configuration names; raises DatasetError."""
    path = Path(config.path)
    if is_given(config.path):
        return _given_rows(config)
    if any(mark in config.path for mark in "*?[") and not path.exists():
        return _matching_rows(config)
    if path.suffix in FILE_SUFFIXES and not path.exists():
        where = f"relative paths start at {Path.cwd()}"
        raise DatasetError(f"cannot load {config.place}: there is no such file ({where})")
    try:
        if path.is_file():
            return _split({"train": _file_rows(path)}, config.split)
        if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
            library = _library()
            saved = library.load_from_disk(str(path))
            splits = saved if isinstance(saved, library.DatasetDict) else {"train": saved}
            return _split(splits, config.split)
        loaded = _load_from_hub(config)
        return Rows(tuple(loaded.column_names), (loaded,), (range(len(loaded)),))
    except DatasetError:
        raise
    except _read_errors() as error:
        raise DatasetError(
            f"cannot load {config.place}: {first_line(error)}. Expected a .jsonl, .parquet or .csv "
            "file, a folder written by save_to_disk, or the name of a Hugging Face data set"
            f"{or_local(config.path, 'dataset.path')}"
        ) from error


def _file_rows(path: Path) -> Sequence[Any]:
    if path.suffix == ".parquet":
        rows: Sequence[Any] = _library().Dataset.from_parquet(str(path))
        return rows
    return read_file(path)


def _matching_rows(config: DatasetConfig) -> Rows:
    """The rows of all files that match a pattern, in the order of their names."""
    paths = [Path(one) for one in sorted(glob(config.path, recursive=True)) if Path(one).is_file()]
    if not paths:
        raise DatasetError(
            f"cannot load {config.place}: no file matches (relative paths start at {Path.cwd()})"
        )
    files = []
    for path in paths:
        try:
            files.append(_file_rows(path))
        except DatasetError:
            raise
        except _read_errors() as error:
            raise DatasetError(f"cannot load {path}: {first_line(error)}") from error
    return _split({"train": _JoinedRows(files)}, config.split)


class _JoinedRows(Sequence[Any]):
    """The rows of several files, one after the other."""

    def __init__(self, files: Sequence[Sequence[Any]]) -> None:
        self._files = files
        self._ends = list(accumulate(map(len, files)))
        self.column_names = _column_names(files)

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        file = bisect_right(self._ends, index)
        return self._files[file][index - (self._ends[file - 1] if file else 0)]


def _library() -> Any:
    """The package `datasets`, which takes two seconds of processor time to import.

    A local JSON file needs it only for a part of its rows.
    """
    import datasets  # noqa: PLC0415

    return datasets


def _read_errors() -> tuple[type[Exception], ...]:
    """Errors of a source that is missing, broken or of another kind."""
    broken = (EOFError, ValueError, AssertionError, lzma.LZMAError, zlib.error)
    return OSError, *broken, _library().exceptions.DatasetsError


def _load_from_hub(config: DatasetConfig) -> datasets.Dataset:
    """Rows of the hub or its cache, or of a folder; raises DatasetError and `_read_errors`."""
    load_dataset = _library().load_dataset
    obstacle = None if Path(config.path).exists() else hub_obstacle()
    if obstacle is None:
        return load_dataset(config.path, config.name, split=config.split)
    with _hub_offline():  # else its library tries for half a minute
        try:
            return load_dataset(config.path, config.name, split=config.split)
        except ConnectionError as error:  # the cache does not have it
            raise DatasetError(
                f"cannot load {config.place}: there is no such file or folder here, and the "
                f"Hugging Face hub cannot be reached ({first_line(obstacle)}). Set dataset.path to "
                "a local folder, written by save_to_disk, or to a .jsonl or .parquet file"
            ) from error


@contextmanager
def _hub_offline() -> Iterator[None]:
    """The libraries ask nothing of the hub, as with HF_HUB_OFFLINE when they are imported."""
    settings = ((constants, "HF_HUB_OFFLINE"), (_library().config, "HF_HUB_OFFLINE"))
    before = [getattr(module, name) for module, name in settings]
    for module, name in settings:
        setattr(module, name, True)
    try:
        yield
    finally:
        for (module, name), value in zip(settings, before, strict=True):
            setattr(module, name, value)


def _given_rows(config: DatasetConfig) -> Rows:
    """The rows of an object that a script gives; raises ConfigError, DatasetError."""
    given = given_object(config.path, "dataset.path")
    if _holds_rows(given) or isinstance(given, _library().Dataset):
        given = {"train": given}
    elif not isinstance(given, _library().DatasetDict):
        raise DatasetError(
            f"dataset.path: {config.path!r} must be a datasets.Dataset, a DatasetDict or a list of "
            f"dicts, found {type(given).__name__}"
        )
    try:
        return _split(given, config.split)
    except _read_errors() as error:
        raise DatasetError(f"cannot take {config.place}: {error}") from error


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _split(splits: dict[str, Any], split: str) -> Rows:
    """The part of the splits that an expression names, such as `train[:40%]+test`."""
    lengths = {name: len(rows) for name, rows in splits.items()}
    if split in splits:
        rows = splits[split]
        return Rows(_column_names([rows]), (rows,), (range(len(rows)),))
    parts, ranges = [], []
    for part in _library().ReadInstruction.from_spec(split).to_absolute(lengths):
        parts.append(splits[part.splitname])
        ranges.append(range(*slice(part.from_, part.to).indices(lengths[part.splitname])))
    return Rows(_column_names(parts), tuple(parts), tuple(ranges))


def _column_names(parts: Sequence[Any]) -> tuple[str, ...]:
    """The names of all columns, in the order in which they first occur."""
    names: dict[str, None] = {}
    for part in parts:
        if isinstance(part, list):
            for row in part:
                names |= dict.fromkeys(row)
        else:
            names |= dict.fromkeys(part.column_names)
    return tuple(names)
