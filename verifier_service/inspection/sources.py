"""Rows of a data set: of a file, of a folder, or streamed from the Hugging Face hub."""

from __future__ import annotations

import gzip
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from verifier_service import strict_json
from verifier_service.console import BadInput

PARQUET_ROWS_AT_ONCE = 64
MAX_LINE_BYTES = 2**28
"""Longest line of a file; a longer one would fill the memory."""
MAX_SHOWN_COLUMNS = 20
READ_BYTES = 4096
"""Bytes at the begin of a file that tell whether it has rows."""
MAX_DEPTH = 100
"""Most levels of lists and objects in a row."""
# The place in an error about a row of one line: `: line 1 column 52 (char 51)`.
_PLACE_IN_LINE = re.compile(r": line 1 column (\d+) \(char \d+\)$")
_SUFFIXES = (".jsonl", ".json", ".parquet", ".jsonl.gz", ".json.gz")
_SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")
"""Files of a folder that `save_to_disk` wrote; of these, the first is one of several splits."""


@dataclass(frozen=True)
class SourceRow:
    """A row, or why it is none."""

    index: int
    """Position in the data, from 0."""
    columns: dict[str, Any]
    problem: str = ""
    """Why the row cannot be read; then it has no columns."""


@dataclass(frozen=True)
class DataSource:
    """Data that is read from its begin each time."""

    data: str
    """A file, a folder, or the name of a data set on the hub."""
    split: str = "train"
    subset: str | None = None
    """Name of a subset on the hub."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Names for columns: (`answer`, `gold`) has the column `gold` read as `answer`."""
    max_rows: int | None = None

    def check(self) -> None:
        """Raise BadInput where there is no such data."""
        self._values()

    def rows(self) -> Iterator[SourceRow]:
        """The rows, one after the other; a row that cannot be read is one with a problem.

        Raises:
            BadInput: the data is not there, cannot be read, or lacks a column that was named.
        """
        seen: set[str] = set()
        index = -1
        for index, value in enumerate(self._values()):
            if index == self.max_rows:
                return
            row = _row(index, value)
            seen |= row.columns.keys()
            yield self._with_names(row)
        missing = sorted({column for _, column in self.renamed} - seen)
        if index >= 0 and missing:
            raise BadInput(
                f"--column: no row has a column {missing[0]!r}; there are "
                f"{sorted(seen)[:MAX_SHOWN_COLUMNS]}"
            )

    def _with_names(self, row: SourceRow) -> SourceRow:
        named = {key: row.columns[name] for key, name in self.renamed if name in row.columns}
        if not named:
            return row
        moved = {name for _, name in self.renamed}
        kept = {key: value for key, value in row.columns.items() if key not in moved}
        return SourceRow(row.index, kept | named, row.problem)

    def _values(self) -> Iterable[Any]:
        path = Path(self.data)
        if path.is_dir():
            return self._in_folder(path)
        if not path.exists() and self.data.endswith(_SUFFIXES):
            raise BadInput(f"{self.data}: no such file")
        if not path.is_file():
            return self._on_hub(self.data)
        if self.data.endswith(".parquet"):
            return _parquet_rows(path)
        if not self.data.endswith(_SUFFIXES) and not _begins_as_object(path):
            raise BadInput(
                f"{self.data}: no rows in JSON; files of {', '.join(_SUFFIXES)} are read"
            )
        return _array(path) if self.data.endswith((".json", ".json.gz")) else _lines(path)

    def _in_folder(self, path: Path) -> Iterable[Any]:
        if not any((path / name).exists() for name in _SAVED):
            return self._on_hub(str(path))
        saved = _datasets(lambda datasets: datasets.load_from_disk(str(path)), str(path))
        if not (path / _SAVED[0]).exists():
            return _iterated(saved, str(path))
        if self.split not in saved:
            raise BadInput(f"{path}: no split {self.split!r}; there are {sorted(saved)}")
        return _iterated(saved[self.split], str(path))

    def _on_hub(self, name: str) -> Iterable[Any]:
        """The rows of a data set on the hub, or of a folder of files, as they come."""
        streamed = _datasets(
            lambda datasets: datasets.load_dataset(
                name, self.subset, split=self.split, streaming=True
            ),
            name,
        )
        return _iterated(streamed, name)


def _datasets(load: Callable[[Any], Any], name: str) -> Any:
    """The value that the package `datasets` loads. Raises BadInput."""
    try:
        datasets = importlib.import_module("datasets")
    except ModuleNotFoundError as error:
        raise BadInput(
            f"{name}: no such file; folders and data sets of the hub need `pip install datasets`"
        ) from error
    try:
        return load(datasets)
    except _errors_of(datasets) as error:
        raise _unloadable(name, error) from error


def _iterated(rows: Iterable[Any], name: str) -> Iterator[Any]:
    """The rows, whose loading may fail under way. Raises BadInput."""
    errors = _errors_of(importlib.import_module("datasets"))
    try:
        yield from rows
    except errors as error:
        raise _unloadable(name, error) from error


def _errors_of(datasets: Any) -> tuple[type[Exception], ...]:
    return (OSError, EOFError, ValueError, datasets.exceptions.DatasetsError)


def _unloadable(name: str, error: Exception) -> BadInput:
    why = " ".join(str(error).split())[:300]
    return BadInput(
        f"{name}: cannot be loaded: {why}. Expected a .jsonl, .json or .parquet file, a folder of "
        "`datasets`, or the name of a data set on the hub; see --split and --subset"
    )


def _parquet_rows(path: Path) -> Iterator[Any]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
        arrow = importlib.import_module("pyarrow")
    except ModuleNotFoundError as error:
        raise BadInput(f"{path}: Parquet needs `pip install pyarrow`") from error
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=PARQUET_ROWS_AT_ONCE):
                yield from batch.to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())[:300]}") from error


def check_outputs(*paths: Path | None, read: Iterable[str | Path | None]) -> None:
    """Raise BadInput for a file that cannot be written, before any row is judged.

    Args:
        paths: files to write; None for each that is not wanted.
        read: files and folders that the command reads, which it may not write over.
    """
    given = [path.resolve() for path in paths if path is not None]
    for one in read:
        if one is not None and Path(one).resolve() in given:
            raise BadInput(f"{one} is read by this command: choose another file to write")
    if len(set(given)) < len(given):
        raise BadInput("two files to write have the same name: give each its own")
    for path in given:
        if not path.parent.is_dir():
            raise BadInput(f"{path.parent}: no such folder to write {path.name} in")
        if path.is_dir():
            raise BadInput(f"{path} is a folder: name a file in it to write")


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _begins_as_object(path: Path) -> bool:
    """Whether a file begins as a row in JSON does, behind white space and a byte order mark."""
    with path.open("rb") as file:
        return file.read(READ_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _lines(path: Path) -> Iterator[Any]:
    """The values of a file with one on each line; a line that is none is a ValueError.

    Raises:
        BadInput: the file cannot be read.
    """
    try:
        with _opened(path) as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise BadInput(f"{path}: a line of more than {MAX_LINE_BYTES} bytes")
                if line.strip():
                    yield _parsed(line.rstrip())
    except (OSError, EOFError) as error:
        raise BadInput(f"{path}: {error}") from error


def _parsed(line: bytes) -> Any:
    try:
        return strict_json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        return error if isinstance(error, ValueError) else ValueError("nested too deeply")


def _array(path: Path) -> Iterable[Any]:
    """The values of a file with an array; of one with a value on each line, these."""
    try:
        with _opened(path) as file:
            text = file.read()
    except (OSError, EOFError) as error:
        raise BadInput(f"{path}: {error}") from error
    if not text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return _lines(path)
    found = _parsed(text)
    if isinstance(found, ValueError):
        raise BadInput(f"{path}: no JSON: {found}") from found
    return found if isinstance(found, list) else []


def _row(index: int, value: Any) -> SourceRow:
    if isinstance(value, ValueError):
        problem = _PLACE_IN_LINE.sub(r" at column \1", str(value))
        return SourceRow(index, {}, f"no JSON: {problem}")
    if not isinstance(value, dict):
        return SourceRow(index, {}, f"found {type(value).__name__}, expected an object")
    try:
        encoded = msgspec.json.encode(value)
        # Dates, decimals and bytes of Parquet become what JSON has for them.
        columns = value if _is_plain(value) else msgspec.json.decode(encoded)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        # Half of a surrogate pair, for example, which no UTF-8 has and no worker can be sent.
        return SourceRow(index, {}, f"it cannot be written as JSON: {error}")
    if _depth(columns) > MAX_DEPTH:
        return SourceRow(index, {}, f"it is nested more than {MAX_DEPTH} levels deep")
    return SourceRow(index, columns)


def _is_plain(value: Any) -> bool:
    """Whether a value is made of what JSON has, and nothing else."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            waiting += one.values()
        elif type(one) is list:
            waiting += one
        elif one is not None and type(one) not in (str, int, float, bool):
            return False
    return True


def _depth(value: Any) -> int:
    """The levels of lists and objects in each other; no recursion, which these could exhaust."""
    level, depth = [value], 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        level = [
            inner for one in level for inner in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1
    return depth
