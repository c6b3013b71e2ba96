"""Files of a store: what stands in them, and which are deleted."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.verdict_store.stores import (
    ACCURACY,
    RIGHT,
    WRONG,
    completion,
    record,
    stored_rows,
    write_store,
)
from verifier_service.verdict_store.record_columns import table_of
from verifier_service.verdict_store.record_schema import COLUMNS
from verifier_service.verdict_store.records import RequestRecord, StoredVerifier
from verifier_service.verdict_store.store_error import StoreError
from verifier_service.verdict_store.stored_files import (
    STALE_SECONDS,
    delete_beyond,
    read_rows,
    stored_files,
    time_of,
)
from verifier_service.verdict_store.writer_messages import StoreBounds

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
UNBOUNDED = StoreBounds(max_bytes=2**40, max_days=None)


def test_a_row_holds_everything_about_a_verdict(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
    folder = write_store(tmp_path, record(completion("It is 2.", RIGHT), moment=moment))
    [row] = stored_rows(folder)
    assert list(row) == list(COLUMNS)
    expected = {
        "time": moment,
        "verifier": "accuracy",
        "outcome": "scored",
        "score": 1.0,
        "reason": "equal",
        "milliseconds": 1.0,
        "reference": '{"answer":"2"}',
        "completion": "It is 2.",
        "extracted": "2",
    }
    assert {key: row[key] for key in expected} == expected


def hashes(*records: RequestRecord) -> list[str]:
    found: list[str] = table_of(records)["request_hash"].to_pylist()
    return found


def test_equal_questions_have_equal_hashes_and_others_have_not() -> None:
    one = hashes(record(completion("2", RIGHT), completion("3", WRONG)))
    again = hashes(record(completion("2", RIGHT)))
    other = hashes(record(completion("2", RIGHT), reference='{"answer":"4"}'))
    assert one[0] == again[0]
    assert len({*one, *other}) == 3


def test_a_verifier_of_groups_asks_another_question_in_another_group() -> None:
    pairwise = StoredVerifier("pairwise", "pairwise", "{}", True)
    one, other = (
        hashes(record(completion("2", RIGHT), *rest, verifiers=(pairwise,)))[0]
        for rest in ((), (completion("3", WRONG),))
    )
    assert one != other


def test_only_the_owner_can_read_a_file(tmp_path: Path) -> None:
    folder = write_store(tmp_path, record(completion("2", RIGHT)))
    [path] = stored_files(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    times = [NOW + timedelta(hours=hour) for hour in (2, 0, 1)]
    records = [record(completion("2", RIGHT), moment=moment) for moment in times]
    folder = write_store(tmp_path, *records)
    assert [time_of(path) for path in stored_files(folder)] == sorted(times)


def aged_store(folder: Path, days: int) -> list[Path]:
    records = [
        record(completion("2", RIGHT), moment=NOW - timedelta(days=age))
        for age in range(days, 0, -1)
    ]
    write_store(folder, *records)
    files = stored_files(folder)
    for path, age in zip(files, range(days, 0, -1), strict=True):
        finished = (NOW - timedelta(days=age)).timestamp()
        os.utime(path, (finished, finished))
    return files


def test_old_files_are_deleted(tmp_path: Path) -> None:
    files = aged_store(tmp_path, 10)
    delete_beyond(tmp_path, replace(UNBOUNDED, max_days=3.5), now=NOW)
    assert stored_files(tmp_path) == files[-3:]


def test_the_oldest_files_are_deleted_where_the_store_is_too_large(tmp_path: Path) -> None:
    files = aged_store(tmp_path, 5)
    newest = sum(path.stat().st_size for path in files[-2:])
    left = delete_beyond(tmp_path, replace(UNBOUNDED, max_bytes=newest), now=NOW)
    assert (stored_files(tmp_path), left) == (files[-2:], newest)


def test_within_the_bounds_nothing_is_deleted(tmp_path: Path) -> None:
    files = aged_store(tmp_path, 3)
    delete_beyond(tmp_path, UNBOUNDED, now=NOW)
    assert stored_files(tmp_path) == files


def test_the_unfinished_file_of_a_dead_writer_is_deleted_and_one_under_way_is_not(
    tmp_path: Path,
) -> None:
    dead, alive, another = (tmp_path / name for name in ("verdicts-1.part", "verdicts-2.part", "x"))
    for path in (dead, alive, another):
        path.write_bytes(b"")
    os.utime(dead, (0, alive.stat().st_mtime - 2 * STALE_SECONDS))
    os.utime(another, (0, 0))
    delete_beyond(tmp_path, UNBOUNDED, now=NOW)
    assert sorted(tmp_path.iterdir()) == [alive, another]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "verdicts-broken.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"verdicts-broken\.parquet: cannot be read"):
        list(read_rows(path))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder; a service keeps its verdicts"):
        stored_files(tmp_path / "none")


def test_hashes_alone_have_no_texts(tmp_path: Path) -> None:
    folder = write_store(tmp_path, record(completion("secret", RIGHT, keep=False), reference=None))
    [row] = stored_rows(folder)
    assert (row["completion"], row["reference"], len(row["completion_hash"])) == (None, None, 32)
    assert ACCURACY.type == row["verifier"]
