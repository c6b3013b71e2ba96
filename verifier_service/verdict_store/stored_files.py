"""The files of a store: Parquet, each written whole and named by the time of its first verdict.

A file appears by renaming, so that a reader sees all of it or nothing. Files are never changed;
the oldest are deleted where the store is too large or they are too old.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from verifier_service.verdict_store.record_schema import COLUMNS
from verifier_service.verdict_store.records import RequestRecord
from verifier_service.verdict_store.store_error import StoreError, arrow
from verifier_service.verdict_store.writer_messages import StoreBounds

PREFIX, SUFFIX, PART_SUFFIX = "verdicts-", ".parquet", ".part"
STALE_SECONDS = 3600.0
"""Age from which an unfinished file is that of a writer that died."""
TIME_FORMAT = "%Y%m%dT%H%M%S.%fZ"


def write_file(folder: Path, records: Sequence[RequestRecord], writer_id: str) -> Path:
    """Write the verdicts of records, which hold at least one, to a new file; its path.

    Raises:
        OSError: the file cannot be written.
    """
    parquet = importlib.import_module("pyarrow.parquet")
    first = min(record.time for record in records)
    moment = datetime.fromtimestamp(first, UTC).strftime(TIME_FORMAT)
    path = folder / f"{PREFIX}{moment}-{writer_id}{SUFFIX}"
    part = path.with_suffix(PART_SUFFIX)
    # It needs numpy, for which commands that read stores would wait.
    from verifier_service.verdict_store.record_columns import table_of  # noqa: PLC0415

    table = table_of(records)
    try:
        with open(part, "xb", opener=_private) as file:
            parquet.write_table(
                table, file, compression=_compression(), use_dictionary=_dictionaries()
            )
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path


def _compression() -> dict[str, str]:
    """The compression of each column: long texts take the writer's time, so theirs is quick."""
    long = ("completion", "prompt", "reference")
    return {name: "snappy" if name in long else "zstd" for name in COLUMNS}


def _dictionaries() -> list[str]:
    return [name for name, kind in COLUMNS.items() if kind == "repeated"]


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner may read: it may hold texts of users."""
    return os.open(path, flags, 0o600)


def stored_files(folder: Path) -> list[Path]:
    """The finished files of a store, oldest first.

    Raises:
        StoreError: the folder is not there.
    """
    if not folder.is_dir():
        raise StoreError(
            f"{folder}: no such folder; a service keeps its verdicts in that of VERIFIER_STORE"
        )
    return sorted(folder.glob(f"{PREFIX}*{SUFFIX}"))


def time_of(path: Path) -> datetime | None:
    """The time of the first verdict of a file, from its name; None where it has another name."""
    text = path.name.removeprefix(PREFIX).partition("-")[0]
    try:
        return datetime.strptime(text, TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def delete_beyond(folder: Path, bounds: StoreBounds, *, now: datetime) -> int:
    """Delete the files beyond the bounds, and what dead writers left; the bytes that stay.

    A file goes when its last verdict is too old, which is when the file was finished.
    """
    _delete_stale_parts(folder)
    sizes: list[tuple[Path, int]] = []
    for path in stored_files(folder):
        with suppress(FileNotFoundError):  # another service deleted it
            found = path.stat()
            finished = datetime.fromtimestamp(found.st_mtime, UTC)
            if bounds.max_days is not None and finished < now - timedelta(days=bounds.max_days):
                path.unlink()
            else:
                sizes.append((path, found.st_size))
    total = sum(size for _, size in sizes)
    for path, size in sizes:
        if total <= bounds.max_bytes:
            break
        path.unlink(missing_ok=True)
        total -= size
    return total


def _delete_stale_parts(folder: Path) -> None:
    for part in folder.glob(f"{PREFIX}*{PART_SUFFIX}"):
        with suppress(FileNotFoundError):
            if time.time() - part.stat().st_mtime > STALE_SECONDS:
                part.unlink()


def read_rows(
    path: Path, columns: Iterable[str] | None = None, *, rows_at_once: int = 1024
) -> Iterator[list[dict[str, Any]]]:
    """The verdicts of a file in batches.

    Raises:
        StoreError: the file is no file of a store.
        FileNotFoundError: it has been deleted for its age.
    """
    pa, parquet = arrow(), importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(
                rows_at_once, columns=None if columns is None else list(columns)
            ):
                yield batch.to_pylist()
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{path}: cannot be read: {' '.join(str(error).split())[:300]}") from error
