"""The process that writes a store: `python -m ...writer_process FD OPTIONS`.

    API process --socket--> this process --> verdicts-TIME-ID.parquet

It reads records until the service closes the socket or dies, then writes what it has and ends. So
neither the service's end nor a slow disk costs more than what was not yet read.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from verifier_service import frames
from verifier_service.verdict_store.record_columns import table_of
from verifier_service.verdict_store.records import COUNT_BYTES, RequestRecord, record_decoder
from verifier_service.verdict_store.store_error import arrow
from verifier_service.verdict_store.stored_files import delete_beyond, write_file
from verifier_service.verdict_store.writer_messages import WriterOptions, WriterReport

MAX_ROWS = 50_000
"""Verdicts after which a file is finished."""
MAX_BYTES = 64 * 2**20
"""Bytes of records after which a file is finished."""
MIN_SECONDS_BETWEEN_DELETIONS = 60.0
PRIORITY = 10
"""Niceness: judging goes first."""


class Writer:
    """Gathers verdicts and writes them to files.

    Args:
        options: of the writer.
        connection: to the service, which is told about each file.
    """

    def __init__(self, options: WriterOptions, connection: socket.socket) -> None:
        self._options = options
        self._folder = Path(options.folder)
        self._bad_record: tuple[type[Exception], ...] = (
            *(ValueError, TypeError, ArithmeticError, LookupError),
            arrow().ArrowException,  # imported now, and not with the first file
        )
        """Errors of making a table of a record."""
        self._connection = connection
        self._records: list[RequestRecord] = []
        self._num_rows = 0
        self._num_bytes = 0
        self._first_row_at = 0.0
        self._num_files = 0
        self._deleted_at: float | None = None

    def run(self) -> None:
        """Write until the service has closed the connection."""
        self._delete()
        # Not `select.select`: the descriptor has its number in the service, which may be over 1024.
        arrival = select.poll()
        arrival.register(self._connection, select.POLLIN)
        while True:
            is_there = arrival.poll(self._seconds_to_wait() * 1000)
            if self._records and self._seconds_left() <= 0:
                self.flush()
            if not is_there:
                self._delete()
                continue
            try:
                body = frames.receive_frame(self._connection)
            except (EOFError, ConnectionError):
                break
            self._add(body)
        self.flush()

    def _seconds_to_wait(self) -> float:
        left = self._seconds_left() if self._records else MIN_SECONDS_BETWEEN_DELETIONS
        return min(max(left, 0.0), MIN_SECONDS_BETWEEN_DELETIONS)

    def _seconds_left(self) -> float:
        return self._first_row_at + self._options.flush_seconds - time.monotonic()

    def _add(self, body: bytes) -> None:
        try:
            record = record_decoder.decode(memoryview(body)[COUNT_BYTES:])
        except (msgspec.MsgspecError, UnicodeError) as error:
            number = int.from_bytes(body[:COUNT_BYTES], "big")
            self._report(WriterReport(num_lost=number, problem=f"a malformed record: {error}"))
            return
        if not self._records:
            self._first_row_at = time.monotonic()
        self._records.append(record)
        self._num_rows += record.num_verdicts
        self._num_bytes += len(body)
        if self._num_rows >= MAX_ROWS or self._num_bytes >= MAX_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the gathered verdicts to a file; where that fails they are lost and counted."""
        if not self._records:
            return
        try:
            self._write(self._records)
        except self._bad_record:
            self._write_each(self._records)
        self._records, self._num_rows, self._num_bytes = [], 0, 0
        self._delete()

    def _write(self, records: list[RequestRecord]) -> None:
        """Write a file, and report on it. Raises an error of `_bad_record`."""
        number, self._num_files = _num_verdicts(records), self._num_files + 1
        try:
            write_file(self._folder, records, f"{os.getpid()}.{self._num_files}")
        except OSError as error:
            self._report(WriterReport(num_lost=number, problem=f"{self._folder}: {error}"))
        else:
            self._report(WriterReport(num_written=number))

    def _write_each(self, records: list[RequestRecord]) -> None:
        """Write the records that are parts of a table; the others alone are lost."""
        sound: list[RequestRecord] = []
        for record in records:
            try:
                table_of([record])
                sound.append(record)
            except self._bad_record as error:
                lost = WriterReport(num_lost=record.num_verdicts, problem=f"a bad record: {error}")
                self._report(lost)
        if not sound:
            return
        try:
            self._write(sound)
        except self._bad_record as error:
            problem = f"records that are sound alone: {error}"
            self._report(WriterReport(num_lost=_num_verdicts(sound), problem=problem))

    def _delete(self) -> None:
        """Delete files beyond the bounds, if it is a minute since the last time.

        A store that may be no larger than one file is looked through after each.
        """
        now = time.monotonic()
        waited = self._deleted_at is None or now - self._deleted_at > MIN_SECONDS_BETWEEN_DELETIONS
        if not waited and self._options.max_bytes > MAX_BYTES:
            return
        self._deleted_at = now
        try:
            size = delete_beyond(self._folder, self._options.bounds, now=datetime.now(UTC))
        except (OSError, ValueError) as error:
            self._report(WriterReport(problem=f"{self._folder}: {error}"))
        else:
            self._report(WriterReport(stored_bytes=size))

    def _report(self, report: WriterReport) -> None:
        # When the service is gone, what it sent is written all the same.
        with contextlib.suppress(OSError):
            self._connection.sendall(frames.pack(msgspec.json.encode(report)))


def _num_verdicts(records: list[RequestRecord]) -> int:
    return sum(record.num_verdicts for record in records)


def main() -> None:
    """Write the records that come by the descriptor of the first argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # CTRL+C ends the service, which ends this
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.nice(PRIORITY)
    gc.disable()  # records have no cycles, and passes over them cost more than reading them
    options = msgspec.json.decode(sys.argv[2], type=WriterOptions)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        Writer(options, connection).run()


if __name__ == "__main__":
    main()
