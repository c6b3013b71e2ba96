"""Pools of worker processes, and the limits on each item of their work.

A worker that uses up an item's time or memory is killed and replaced. The item gets a verdict, and
the rest of its task goes on in another worker. If a worker dies by itself, its item is tried alone
in up to three fresh workers. The item is blamed only if all of them die near the memory limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import TracebackType
from typing import Self

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict, failed, unverifiable
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.shared_references import SharedReferences
from verifier_service.workers.sources import (
    ForkServer,
    StartedWorker,
    WorkerSource,
    WorkerStartError,
)
from verifier_service.workers.tasks import EncodedTask, SharedReference, TaskVerdicts, from_worker

log = logging.getLogger(__name__)

WATCH_SECONDS = 0.02
NEAR_LIMIT = 0.8
"""Share of the memory limit above which memory is taken for the cause of an unexplained death."""
RECYCLE_SHARE = 0.5
"""Share of the memory limit above which a worker is replaced after its task."""
TRIES_ALONE = 3
RESTART_SECONDS = 1.0
MAX_FRAME_BYTES = 16 * 2**20
MAX_STAT_BYTES = 4096
PAGE_BYTES = resource.getpagesize()
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ItemLimits:
    """Limits on judging one completion, or on reading one reference."""

    cpu_seconds: float
    memory_bytes: int
    """Resident memory of the worker, its inherited part included."""
    stuck_seconds: float = 20.0
    """A busy worker that has not used the CPU for so long is killed. The item is not blamed."""


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
    index: int
    """Index in the task of the completion that the worker was at."""
    in_reference: bool
    """Whether the worker was still reading that completion's reference."""
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
        self._progress = started.progress
        self._ordered: Ending | None = None
        self._given_up = False
        self._num_tasks = 0
        self._watched: tuple[int, tuple[int, bool]] | None = None
        """Number of the task and position in it, as `watch` last saw them."""
        self._position = (0, True)
        """Position in the task at which the worker was killed."""
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
        verdicts: list[Verdict | OpenQuestion],
    ) -> TaskRun:
        """Have the worker judge a task, and append its verdicts as they come.

        The worker is dead afterwards unless the run's ending is FINISHED.
        """
        end = len(verdicts) + task.num_completions
        ending = Ending.DIED
        self.busy = True
        self._num_tasks += 1
        self._item_start = time.monotonic()
        self._progress.write(0, in_reference=True)
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
            if ending is Ending.DIED:
                log.warning("worker %d died: %s", self._pid, error)
            self.kill()
        except asyncio.CancelledError:
            self._given_up = True
            self.kill()
            raise
        finally:
            self.busy = False
        near = self._resident_bytes >= NEAR_LIMIT * limits.memory_bytes
        return TaskRun(ending, *self._position, near, time.monotonic() - self._item_start)

    def watch(self, limits: ItemLimits) -> None:
        """Kill the worker if its item has used up its limits. Called every WATCH_SECONDS.

        The limit is on CPU time, so that verdicts do not depend on the load of the machine.
        """
        usage = _usage(self._stat)
        if usage is None:
            return
        cpu_seconds, self._resident_bytes = usage
        now = time.monotonic()
        item = (self._num_tasks, self._progress.read())
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
        return "given_up" if self._given_up else (self._ordered or Ending.DIED).name.lower()

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

    def kill(self, ending: Ending | None = None, position: tuple[int, bool] | None = None) -> None:
        """End the process now. The first call decides the ending and the position to blame."""
        if not self.alive:
            return
        self.alive = False
        self._ordered = ending
        self._position = position or self._progress.read()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        os.close(self._stat)
        self._progress.close()
        self._writer.close()

    async def wait_closed(self) -> None:
        """Wait until the connection of a killed worker is closed."""
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _send_shared_reference(self, task: EncodedTask) -> None:
        if task.shared_name is None or task.shared_name in self._shared:
            return
        self._shared.add(task.shared_name, None)
        message = SharedReference.encode(task.shared_name, task.shared_reference)
        self._writer.write(frames.make_header(sum(map(len, message))))
        for part in message:
            self._writer.write(part)
            await self._writer.drain()

    async def _read(self) -> TaskVerdicts:
        return from_worker.decode(
            await frame_stream.read_frame(self._reader, max_bytes=MAX_FRAME_BYTES)
        )


class WorkerPool:
    """A fixed number of workers; each one killed is replaced.

    | call | result |
    |---|---|
    | `async with WorkerPool(size, limits) as pool` | starts and ends the processes |
    | `await pool.judge(task, verdicts)` | appends a verdict for each completion, in order |
    | `pool.problem` | why the pool cannot judge, or None |

    Cancelling `judge` kills the worker of the task. The verdicts so far stay in the list.
    """

    def __init__(
        self, size: int, limits: ItemLimits, source: Callable[[], WorkerSource] | None = None
    ) -> None:
        self.size = size
        self._limits = limits
        self._new_source = source or (
            lambda: ForkServer("verifier_service.workers.text_worker", 2 * limits.memory_bytes)
        )
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._workers: set[Worker] = set()
        self._num_waiting = 0
        self._start_error: str | None = None
        self._bug: str | None = None
        self._fork_lock = asyncio.Lock()
        self._source: WorkerSource | None = None
        self._background: set[asyncio.Task[None]] = set()
        self.restarts: Counter[str] = Counter()
        """Number of replaced workers by cause: an `Ending` in lower case, `worn` or `given_up`."""

    @property
    def num_running(self) -> int:
        """Number of running workers."""
        return len(self._workers)

    @property
    def num_busy(self) -> int:
        """Number of workers that work on a task."""
        return sum(worker.busy for worker in self._workers)

    @property
    def num_waiting(self) -> int:
        """Number of tasks that wait for a worker."""
        return self._num_waiting

    async def __aenter__(self) -> Self:
        async with asyncio.TaskGroup() as group:
            for _ in range(self.size):
                group.create_task(self._start_first_worker())
        self._in_background(self._watch())
        return self

    async def _start_first_worker(self) -> None:
        if not await self._has_started_worker():
            self._in_background(self._replace_worker())

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        async with self._fork_lock:  # cancelling a start under way would lose its descriptors
            for task in self._background:
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)
        for worker in self._workers:
            worker.kill()
        await asyncio.gather(*(worker.wait_closed() for worker in self._workers))
        if self._source is not None:
            await asyncio.to_thread(self._source.close)

    @property
    def problem(self) -> str | None:
        """Why workers do not run or are not watched; None while they do, or are being started."""
        return self._bug or (None if self._workers else self._start_error)

    async def judge(self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion]) -> None:
        """Append a verdict for each completion of the task, in order, as they come.

        Every completion gets a verdict, whatever happens to workers.
        """
        before, num_completions = len(verdicts), task.num_completions
        while (start := len(verdicts) - before) < num_completions:
            rest = task.slice(start, num_completions) if start else task
            run = await self._run(rest, verdicts)
            if run.ending is Ending.FINISHED:
                continue
            culprit = start + run.index
            if len(verdicts) - before > culprit:  # judged and received before the worker died
                continue
            unsent = task.slice(
                len(verdicts) - before, culprit
            )  # judged before the worker died, but not received
            if unsent.num_completions:
                await self.judge(unsent, verdicts)
            if run.ending is Ending.DIED:
                run = await self._run_alone(task.slice(culprit, culprit + 1), verdicts)
            if run.ending is not Ending.FINISHED:
                part = task.decode().slice(culprit, num_completions).parts[0]
                verdicts += [_blame(run)] * (len(part.completions) if run.in_reference else 1)

    async def _run(
        self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion], *, fresh: bool = False
    ) -> TaskRun:
        while True:
            async with self._worker() as worker:
                if self._is_running(worker) and (worker.is_fresh or not fresh):
                    return await worker.run(task, self._limits, verdicts)
                worker.kill()

    def _is_running(self, worker: Worker) -> bool:
        # Workers end with their fork server. A worker that died idle must not count as a try of an
        # item, which would be blamed for it.
        return self._source is not None and self._source.alive and not worker.has_hung_up

    async def _run_alone(
        self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion]
    ) -> TaskRun:
        """Try a task of one completion in fresh workers, until a run ends otherwise than DIED."""
        near_memory_limit = True
        before = len(verdicts)
        for _ in range(TRIES_ALONE):
            run = await self._run(task, verdicts, fresh=True)
            if len(verdicts) > before:
                return replace(run, ending=Ending.FINISHED)
            if run.ending is not Ending.DIED:
                return run
            near_memory_limit = near_memory_limit and run.near_memory_limit
        return replace(run, ending=Ending.TOO_LARGE) if near_memory_limit else run

    @contextlib.asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        self._num_waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self._num_waiting -= 1
        try:
            yield worker
        finally:
            if worker.alive and not worker.is_worn(self._limits):
                self._idle.put_nowait(worker)
            else:
                self.restarts["worn" if worker.alive else worker.ending] += 1
                worker.kill()
                self._workers.discard(worker)
                self._in_background(self._replace_worker())

    async def _start_worker(self) -> None:
        """Start a worker and add it to the pool. Raises WorkerStartError."""
        async with self._fork_lock:
            if self._source is None or not self._source.alive:
                if self._source is not None:
                    await asyncio.to_thread(self._source.close)
                self._source = self._new_source()
            started = await asyncio.to_thread(self._source.start_worker)
            started.connection.setblocking(False)
            reader, writer = await asyncio.open_connection(sock=started.connection)
        worker = Worker(started, reader, writer)
        self._workers.add(worker)
        self._idle.put_nowait(worker)

    async def _replace_worker(self) -> None:
        while True:
            if await self._has_started_worker():
                return
            await asyncio.sleep(RESTART_SECONDS)

    async def _has_started_worker(self) -> bool:
        """Start a worker. False if that failed: the caller tries again."""
        try:
            await self._start_worker()
        except (WorkerStartError, OSError) as error:
            self._start_error = f"no worker process can be started: {error}"
            log.error("%s; trying again", self._start_error)
            return False
        self._start_error = None
        return True

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for worker in self._workers:
                if worker.busy and worker.alive:
                    worker.watch(self._limits)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._has_ended)

    def _has_ended(self, task: asyncio.Task[None]) -> None:
        """Report a background task that failed: without it the pool hangs, or limits no worker."""
        self._background.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._bug = f"the pool of workers has a bug: {type(error).__name__}"
            log.error("%s", self._bug, exc_info=error)


def _blame(run: TaskRun) -> Verdict:
    """The verdict on the item at which a run ended."""
    if run.ending is Ending.DIED:
        return failed(EngineReason.WORKER_DIED, run.item_seconds)
    if run.in_reference:
        message = "reading the reference took more than an item may take"
        return unverifiable(EngineReason.BAD_REFERENCE, run.item_seconds, message)
    too_slow = run.ending is Ending.TOO_SLOW
    reason = EngineReason.TOO_SLOW if too_slow else EngineReason.TOO_LARGE
    return Verdict(Outcome.SCORED, 0.0, reason, run.item_seconds)


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
