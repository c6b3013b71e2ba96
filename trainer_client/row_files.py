"""Files of rows: JSON, one object on each line or an array, and CSV.

A JSON file is read as JSON. The reader of `datasets` would infer one type for a whole column: texts
that look like dates become dates, and a 3 beside a 2.5 becomes 3.0. For the same reason all values
of a CSV file are texts: an answer `007` stays one.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload
from weakref import finalize

from trainer_client.errors import TrainerError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 4096
"""Bytes in which the first value of a JSON file begins; a file that begins later is held whole."""
MAX_FIELD_CHARS = 2**27
"""Longest value of a CSV file, in characters. Python's own limit, 128 Ki, is less than a test
suite."""
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_COMPRESSED = frozenset([".gz", ".bz2", ".xz"])

_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""First bytes of a compressed file -> the function that opens it."""


class DatasetError(TrainerError):
    """The data cannot be used; the message names the row, the column and what was expected."""


def read_file(path: Path) -> Sequence[dict[str, Any]]:
    """The rows of a file, by its name: `.csv` and `.tsv`, perhaps compressed; any other is JSON.

    Raises:
        DatasetError: a row is no object, or has more values than the file has columns.
        OSError, ValueError, EOFError, lzma.LZMAError, zlib.error: the file cannot be read.
    """
    name = Path(path.stem) if path.suffix in _COMPRESSED else path
    delimiter = _DELIMITERS.get(name.suffix)
    return _json_rows(path) if delimiter is None else _csv_rows(path, delimiter)


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


def _json_rows(path: Path) -> Sequence[dict[str, Any]]:
    """The objects of a file with one on each line, or with an array of them."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    opener = _opener(head)
    if opener is open and head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"{":
        return JsonLines(path)
    with opener(path, "rb") as file:
        text = file.read().decode("utf-8-sig")
    return [_object(value, number, path) for number, value in _values(text, path)]


def _opener(head: bytes) -> Callable[..., Any]:
    """The function that opens a file which begins with these bytes."""
    return next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), open)


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


def _csv_rows(path: Path, delimiter: str) -> list[dict[str, Any]]:
    """The rows of a file whose first line names the columns; an empty value is None."""
    csv.field_size_limit(MAX_FIELD_CHARS)
    with path.open("rb") as file:
        opener = _opener(file.read(HEAD_BYTES))
    with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines, delimiter=delimiter, strict=True)
        try:
            return [_csv_row(row, number, path) for number, row in enumerate(reader, 1)]
        except csv.Error as error:
            message = f"{path} is not valid CSV after line {reader.line_num}: {error}"
            raise DatasetError(message) from error


def _csv_row(row: dict[str | Any, Any], number: int, path: Path) -> dict[str, Any]:
    if None in row:
        raise DatasetError(
            f"{path}: row {number} has more values than there are columns "
            f"({', '.join(name for name in row if name is not None)}): put quotation marks around "
            "values with commas"
        )
    return {name: value or None for name, value in row.items()}
