"""Rows of a data set, with the types that its file has.

A JSON file is read as JSON. The reader of `datasets` would infer one type for a whole column: texts
that look like dates become dates, and a 3 beside a 2.5 becomes 3.0.

Rows stay on disk: a row of a file with one on each line, or of an Arrow table, is read when it is
asked for. Compressed files and arrays of JSON are held whole.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import zlib
from array import array
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload
from weakref import finalize

from huggingface_hub import constants

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.errors import TrainerError, first_line, or_local
from trainer_client.given_objects import given_object, is_given
from trainer_client.hub_reach import hub_obstacle

if TYPE_CHECKING:
    import datasets

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 4096
"""Bytes in which the first value of a JSON file begins; a file that begins later is held whole."""
FILE_SUFFIXES = frozenset([".jsonl", ".json", ".parquet", ".csv", ".gz"])
"""Ends of the names of files; no data set of the hub has such a name."""

_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""First bytes of a compressed file -> the function that opens it."""


class DatasetError(TrainerError):
    """The data cannot be used; the message names the row, the column and what was expected."""


class JsonLines(Sequence[dict[str, Any]]):
    """The objects of a file with one on each line; only their places are kept in memory.

    Args:
        path: the file. It is opened once: a file that takes its place later is not read.

    Raises:
        DatasetError: a line is no object.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts, self._numbers = array("q"), array("q")
        names: dict[str, None] = {}
        with path.open("rb") as file:
            self._descriptor = os.dup(file.fileno())
            finalize(self, os.close, self._descriptor)
            start = len(BYTE_ORDER_MARK) if file.read(3) == BYTE_ORDER_MARK else 0
            file.seek(start)
            # Only line feeds end a line: texts may hold the other line ends of Unicode.
            for number, line in enumerate(file, 1):
                if line.strip():
                    names |= dict.fromkeys(self._parse(line, number))
                    self._starts.append(start)
                    self._numbers.append(number)
                start += len(line)
        self.column_names = tuple(names)
        self._size = start

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """A row, read again; raises DatasetError where the file has changed since."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        start = self._starts[index]
        after = index + 1 if index >= 0 else index + 1 + len(self)
        end = self._starts[after] if after < len(self) else self._size
        # Not a memory map: a file that is cut off while it is mapped kills the process.
        line = os.pread(self._descriptor, end - start, start).split(b"\n", 1)[0]
        return self._parse(line, self._numbers[index])

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        value = _parse(line, f"{self._path}: line {number}")
        return _object(value, number, self._path)


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
    if path.suffix in FILE_SUFFIXES and not path.exists():
        where = f"relative paths start at {Path.cwd()}"
        raise DatasetError(f"cannot load {config.place}: there is no such file ({where})")
    try:
        if path.suffix == ".parquet" and path.is_file():
            return _split({"train": _library().Dataset.from_parquet(str(path))}, config.split)
        if path.suffix in (".jsonl", ".json") or path.is_file():
            return _split({"train": _read_json(path)}, config.split)
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
            f"cannot load {config.place}: {first_line(error)}. Expected a .jsonl or .parquet file, "
            "a folder written by save_to_disk, or the name of a Hugging Face data set"
            f"{or_local(config.path, 'dataset.path')}"
        ) from error


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


def _read_json(path: Path) -> Sequence[dict[str, Any]]:
    """The objects of a file with one on each line, or with an array of them."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), open)
    if opener is open and head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"{":
        return JsonLines(path)
    with opener(path, "rb") as file:
        text = file.read().decode("utf-8-sig")
    return [_object(value, number, path) for number, value in _values(text, path)]


def _object(value: Any, number: int, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DatasetError(f"{path}: row {number} must be an object, found {repr(value)[:80]}")
    return value


def _values(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file, each with the number, from 1, of its line or of its place."""
    if text.lstrip().startswith("["):
        yield from enumerate(_parse(text, f"{path}"), 1)
        return
    # Only line feeds end a line: texts may hold the other line ends of Unicode.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _parse(line, f"{path}: line {number}")


def _parse(text: str | bytes, place: str) -> Any:
    try:
        # Of bytes `json` would guess the encoding, and UTF-16 was cut into lines as if it were not.
        return json.loads(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{place} is not valid JSON: {_json_problem(error)}. Expected one object on each line, "
            "or an array"
        ) from error


def _json_problem(error: ValueError | RecursionError) -> str:
    """The problem and its place; in a single line, which the message names, only the column."""
    if isinstance(error, json.JSONDecodeError) and "\n" not in error.doc.rstrip("\n"):
        return f"{error.msg}: column {error.pos + 1}"
    return str(error)
