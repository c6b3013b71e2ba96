"""The parent's side of a worker process: its tasks, the watch on its limits, its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
import time
from dataclasses import dataclass
from enum import Enum, auto

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.workers.limits import NEAR_LIMIT, RECYCLE_SHARE, ItemLimits
from verifier_service.workers.shared_position import Position
from verifier_service.workers.shared_references import SharedReferences
from verifier_service.workers.sources import StartedWorker
from verifier_service.workers.tasks import (
    EncodedTask,
    SharedReference,
    TaskResult,
    TaskVerdicts,
    from_worker,
)

log = logging.getLogger(__name__)

MAX_FRAME_BYTES = 16 * 2**20
MAX_STAT_BYTES = 4096
PAGE_BYTES = resource.getpagesize()
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Ending(Enum):
    """How a worker's work on a task ended."""

    FINISHED = auto()
    TOO_SLOW = auto()
    TOO_LARGE = auto()
    DIED = auto()


@dataclass(frozen=True)
class TaskRun:
    """A worker's work on a task, after it has ended."""

    ending: Ending
    position: Position
    """The position in the task at which the worker ended."""
    near_memory_limit: bool
    item_seconds: float
    """Wall time of the unfinished item."""


class Worker:
    """The parent's side of a worker process, which works on one task at a time."""

    def __init__(
        self,
        started: StartedWorker,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.busy = False
        self.alive = True
        self._pid = started.pid
        self._pidfd = started.pidfd
        self._stat = started.stat
        self._reader = reader
        self._writer = writer
        self._shared_position = started.position
        self._ordered: Ending | None = None
        self._own_cause: str | None = None
        """Why the worker was killed, where neither its item nor its death is the reason."""
        self._num_tasks = 0
        self._watched: tuple[int, Position] | None = None
        """Number of the task and position in it, as `watch` last saw them."""
        self._position = Position(0, in_reference=True, has_begun=False)
        """Position in the task at which the worker was killed."""
        self._last_words = ""
        self._item_cpu_start = 0.0
        self._cpu_seconds = 0.0
        self._last_cpu_use = 0.0
        self._item_start = 0.0
        self._resident_bytes = 0
        self._shared: SharedReferences[None] = SharedReferences()
        """Names of the shared references that the worker keeps."""

    async def run(
        self,
        task: EncodedTask,
        limits: ItemLimits,
        verdicts: list[TaskResult],
    ) -> TaskRun:
        """Have the worker judge a task, and append its verdicts as they come.

        The worker is dead afterwards unless the run's ending is FINISHED.
        """
        end = len(verdicts) + task.num_completions
        ending = Ending.DIED
        self.busy = True
        self._num_tasks += 1
        self._item_start = time.monotonic()
        self._shared_position.clear()
        try:
            await self._send_shared_reference(task)
            self._writer.write(frames.pack(task.body))
            await self._writer.drain()
            while ending is not Ending.FINISHED:
                message = await self._read()
                if len(verdicts) + len(message.verdicts) > end:
                    raise msgspec.ValidationError("more verdicts than completions")
                verdicts += message.verdicts
                if message.finished:
                    if len(verdicts) < end:
                        raise msgspec.ValidationError("fewer verdicts than completions")
                    ending = Ending.FINISHED
        except frame_stream.BROKEN as error:
            ending = self._ordered or Ending.DIED
            self.kill()
            if ending is Ending.DIED:
                log.warning("worker %d died: %s", self._pid, self._last_words or error)
        except asyncio.CancelledError:
            self._own_cause = "given_up"
            self.kill()
            raise
        finally:
            self.busy = False
        near = self._resident_bytes >= NEAR_LIMIT * limits.memory_bytes
        return TaskRun(ending, self._position, near, time.monotonic() - self._item_start)

    @property
    def item_is_long(self) -> bool:
        """Whether the worker has said that its item takes long, see `SharedPosition.say_long`."""
        return self.alive and self._shared_position.is_long

    def watch(self, limits: ItemLimits) -> None:
        """Kill the worker if its item has used up its limits. Called every WATCH_SECONDS.

        The limit is on CPU time, so that verdicts do not depend on the load of the machine.
        """
        usage = _usage(self._stat)
        if usage is None:
            return
        cpu_seconds, self._resident_bytes = usage
        now = time.monotonic()
        item = (self._num_tasks, self._shared_position.read())
        if self._watched != item:
            self._watched = item
            self._item_start = now
            self._item_cpu_start = cpu_seconds
            self._last_cpu_use = now
        if cpu_seconds > self._cpu_seconds:
            self._cpu_seconds = cpu_seconds
            self._last_cpu_use = now
        if self._resident_bytes > limits.memory_bytes:
            self.kill(Ending.TOO_LARGE, item[1])
        elif cpu_seconds - self._item_cpu_start >= limits.cpu_seconds:
            self.kill(Ending.TOO_SLOW, item[1])
        elif now - self._last_cpu_use >= limits.stuck_seconds:
            log.warning("worker %d is stuck", self._pid)
            self.kill()

    @property
    def ending(self) -> str:
        """Why the worker was killed, as a label for `WorkerPool.restarts`."""
        return self._own_cause or (self._ordered or Ending.DIED).name.lower()

    @property
    def is_fresh(self) -> bool:
        """Whether the worker has not had a task yet."""
        return self._num_tasks == 0

    @property
    def has_hung_up(self) -> bool:
        """Whether the process has closed its connection, as it does when it dies."""
        return self._reader.at_eof() or self._reader.exception() is not None

    def is_worn(self, limits: ItemLimits) -> bool:
        """Whether the worker holds so much memory that too little is left for the next item."""
        usage = _usage(self._stat)
        return usage is None or usage[1] > RECYCLE_SHARE * limits.memory_bytes

    def make_way(self) -> None:
        """End a sound worker, in whose place a fresh one is needed."""
        self._own_cause = "not_fresh"
        self.kill()

    def kill(self, ending: Ending | None = None, position: Position | None = None) -> None:
        """End the process now. The first call decides the ending and the position to blame."""
        if not self.alive:
            return
        self.alive = False
        self._ordered = ending
        self._position = position or self._shared_position.read()
        self._last_words = self._shared_position.last_words
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        os.close(self._stat)
        self._shared_position.close()
        self._writer.close()

    async def wait_closed(self) -> None:
        """Wait until the connection of a killed worker is closed."""
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _send_shared_reference(self, task: EncodedTask) -> None:
        if task.shared_name is None or task.shared_name in self._shared:
            return
        self._shared.add(task.shared_name, None)
        message = msgspec.msgpack.encode(SharedReference(task.shared_name))
        num_bytes = sum(map(len, task.shared_reference))
        self._writer.write(frames.pack(message) + frames.make_header(num_bytes))
        for part in task.shared_reference:
            self._writer.write(part)
            await self._writer.drain()

    async def _read(self) -> TaskVerdicts:
        return from_worker.decode(
            await frame_stream.read_frame(self._reader, max_bytes=MAX_FRAME_BYTES)
        )


def _usage(stat: int) -> tuple[float, int] | None:
    """CPU seconds and resident bytes of a process, see proc(5); None if it has ended."""
    try:
        fields = os.pread(stat, MAX_STAT_BYTES, 0).rpartition(b")")[2].split()
    except ProcessLookupError:
        return None
    user_ticks, system_ticks, resident_pages = int(fields[11]), int(fields[12]), int(fields[21])
    if resident_pages == 0:  # a process that ends frees its memory before it closes its connection
        return None
    return (user_ticks + system_ticks) / TICKS_PER_SECOND, resident_pages * PAGE_BYTES
