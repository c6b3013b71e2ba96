"""The store of verdicts as the service has it: records go to a process, or are dropped and counted.

Nothing here waits for a disk. The queue to the process is bounded; while it is full, while the
process starts again, and beyond the allowed rate, records are dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.verdict_store.records import COUNT_BYTES, StoredTexts
from verifier_service.verdict_store.store_error import NEEDS_STORE
from verifier_service.verdict_store.writer_messages import WriterOptions, WriterReport

log = logging.getLogger(__name__)

WRITER_MODULE = "verifier_service.verdict_store.writer_process"
MAX_QUEUE_BYTES = 64 * 2**20
"""Most bytes of records that wait for the process."""
RESTART_SECONDS = 1.0
CLOSE_SECONDS = 10.0
"""Longest time that the end waits for the process, which still writes what it has received."""
BURST_SECONDS = 10.0
"""Seconds of the allowed rate that may come at once."""
LOG_SECONDS = 60.0
"""Shortest time between two lines of the log about lost verdicts."""

RESULTS = ("written", "lost", "queue_full", "rate", "no_writer")


@dataclass(frozen=True)
class StoreOptions:
    """The options of a store."""

    folder: Path
    texts: StoredTexts
    max_bytes: int
    max_days: float | None
    max_rate: float
    """Most verdicts in a second, on average."""
    flush_seconds: float


def check_folder(folder: Path) -> None:
    """Make the folder of a store. Raises ValueError where it cannot be used."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ValueError(f"a store of verdicts {NEEDS_STORE}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"the folder cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError("the folder cannot be written to")


class VerdictStore:
    """Sends records to the process that writes them, which is started again where it dies."""

    def __init__(self, options: StoreOptions) -> None:
        self.texts = options.texts
        self.num_verdicts: Counter[str] = Counter(dict.fromkeys(RESULTS, 0))
        """Verdicts by what became of them, of `RESULTS`."""
        self.stored_bytes = 0
        """Size of the folder's files when it was last looked at."""
        self._options = options
        self._writer: asyncio.StreamWriter | None = None
        self._num_waiting = 0
        """Verdicts that the process has been sent and has not reported."""
        self._allowance = options.max_rate * BURST_SECONDS
        self._allowed_at = time.monotonic()
        self._is_closing = False
        self._told_at = -LOG_SECONDS

    @asynccontextmanager
    async def running(self) -> AsyncIterator[VerdictStore]:
        """The store with its process; at the end, what was sent is written."""
        started = asyncio.Event()
        keeper = asyncio.create_task(self._keep_running(started))
        keeper.add_done_callback(lambda _: started.set())
        try:
            await started.wait()
            if keeper.done():  # by a bug, for which the start would wait forever
                keeper.result()
            yield self
        finally:
            self._is_closing = True
            if self._writer is not None:
                with contextlib.suppress(OSError, RuntimeError):
                    self._writer.write_eof()
            await asyncio.wait([keeper], timeout=CLOSE_SECONDS)
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)
            self._count_unreported()

    def _count_unreported(self) -> None:
        """Count what the process has not reported at the end, which it may write all the same."""
        if self._num_waiting:
            log.warning(
                "%d verdicts were not written within %g s of the end; their writer writes those "
                "that it has received",
                self._num_waiting,
                CLOSE_SECONDS,
            )
        self.num_verdicts["lost"] += self._num_waiting
        self._num_waiting = 0

    def put(self, record: bytes, num_verdicts: int) -> None:
        """Implements `Recorder.put`."""
        result = self._refusal(len(record), num_verdicts)
        if result is not None:
            self._drop(result, num_verdicts)
            return
        assert self._writer is not None
        self._num_waiting += num_verdicts
        self._writer.write(frames.pack(num_verdicts.to_bytes(COUNT_BYTES, "big") + record))

    def _refusal(self, num_bytes: int, num_verdicts: int) -> str | None:
        """Why a record is dropped; None if it is not."""
        if self._writer is None or self._writer.is_closing() or self._is_closing:
            return "no_writer"
        if self._writer.transport.get_write_buffer_size() + num_bytes > MAX_QUEUE_BYTES:
            return "queue_full"
        now = time.monotonic()
        earned = (now - self._allowed_at) * self._options.max_rate
        most = self._options.max_rate * BURST_SECONDS
        self._allowance = min(self._allowance + earned, most)
        self._allowed_at = now
        # A record larger than the burst passes when the burst is whole, or it never would.
        if self._allowance < min(num_verdicts, most):
            return "rate"
        self._allowance -= num_verdicts
        return None

    def _drop(self, result: str, num_verdicts: int, why: str = "") -> None:
        self.num_verdicts[result] += num_verdicts
        if time.monotonic() - self._told_at >= LOG_SECONDS:
            self._told_at = time.monotonic()
            log.warning("verdicts are not stored (%s) %s", result, why)

    async def _keep_running(self, started: asyncio.Event) -> None:
        while not self._is_closing:
            try:
                await self._run_once(started)
            except OSError as error:
                log.warning("the writer of the store does not start: %s", error)
                started.set()
            if self._num_waiting:
                self._drop("lost", self._num_waiting, "their writer died")
                self._num_waiting = 0
            if not self._is_closing:
                await asyncio.sleep(RESTART_SECONDS)

    async def _run_once(self, started: asyncio.Event) -> None:
        """Start the process and read its reports until it ends."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = self._start(theirs.fileno())
        except BaseException:
            ours.close()
            raise
        try:
            ours.setblocking(False)
            reader, self._writer = await asyncio.open_connection(sock=ours)
            started.set()
            await self._read_reports(reader)
        finally:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.transport.abort()
        # Not where this is cancelled, at the end of the service: the process would lose what it has
        # received. It ends by itself when it has written that.
        process.kill()
        await asyncio.to_thread(process.wait)

    def _start(self, descriptor: int) -> subprocess.Popen[bytes]:
        """Start the process. asyncio's own would be killed with the loop, with what it has."""
        return subprocess.Popen(
            [sys.executable, "-m", WRITER_MODULE, str(descriptor), self._encoded()],
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _encoded(self) -> str:
        given = self._options
        options = WriterOptions(
            str(given.folder), given.max_bytes, given.max_days, given.flush_seconds
        )
        return msgspec.json.encode(options).decode()

    async def _read_reports(self, reader: asyncio.StreamReader) -> None:
        while True:
            try:
                body = await frame_stream.read_frame(reader)
                report = msgspec.json.decode(body, type=WriterReport)
            except frame_stream.BROKEN:
                return
            self._num_waiting -= report.num_written + report.num_lost
            self.num_verdicts["written"] += report.num_written
            if report.stored_bytes is not None:
                self.stored_bytes = report.stored_bytes
            if report.num_lost or report.problem:
                self._drop("lost", report.num_lost, report.problem or "")
