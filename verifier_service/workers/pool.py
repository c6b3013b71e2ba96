"""Pools of worker processes, and the limits on each item of their work.

A worker that uses up an item's time or memory is killed and replaced. The item gets a verdict, and
the rest of its task goes on in another worker. If a worker dies by itself, its item is tried alone
in up to three fresh workers. The item is blamed only if all of them die near the memory limit.
A worker that dies before it has begun with its task is no try of an item.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from types import TracebackType
from typing import Self

from verifier_service.current_call import call_times
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict, failed, unverifiable
from verifier_service.workers.limits import WATCH_SECONDS, ItemLimits
from verifier_service.workers.server_process import WorkerStartError
from verifier_service.workers.sources import ForkServer, WorkerSource
from verifier_service.workers.tasks import EncodedTask, TaskResult
from verifier_service.workers.worker import Ending, TaskRun, Worker

log = logging.getLogger(__name__)

TRIES_ALONE = 3
MAX_DEATHS_BEFORE_TASK = 8
"""Most workers that die in a row before they begin with a task, and are no tries of its item."""
RESTART_SECONDS = 1.0
BEGIN_SECONDS = 0.002
"""Time between two looks whether an item takes long, while tasks wait to begin."""


class WorkerPool:
    """A fixed number of workers; each one killed is replaced.

    | call | result |
    |---|---|
    | `async with WorkerPool(size, limits) as pool` | starts and ends the processes |
    | `await pool.judge(task, verdicts)` | appends a verdict for each completion, in order |
    | `pool.problem` | why the pool cannot judge, or None |

    Cancelling `judge` kills the worker of the task. The verdicts so far stay in the list.

    Args:
        size: most workers, and most tasks under way.
        limits: limits on an item.
        source: starts the workers; default: text workers.
        num_first: workers that are started at once, and tasks under way whose item is not yet known
            to take long (`SharedPosition.say_long`). The other workers are started when long items
            hold these. None: all.
    """

    def __init__(
        self,
        size: int,
        limits: ItemLimits,
        source: Callable[[], WorkerSource] | None = None,
        *,
        num_first: int | None = None,
    ) -> None:
        self.size = size
        self._num_first = size if num_first is None else num_first
        self._num_starting = 0
        self._begins = asyncio.Semaphore(self._num_first)
        """Room for tasks whose item is not yet known to take long."""
        self._beginning: set[Worker] = set()
        """The workers of these tasks."""
        self._limits = limits
        self._new_source = source or (
            lambda: ForkServer("verifier_service.workers.text_worker", 2 * limits.memory_bytes)
        )
        # The last to become idle is the next to work: it has what it works with at hand.
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self._workers: set[Worker] = set()
        self._num_waiting = 0
        self._start_error: str | None = None
        self._bug: str | None = None
        self._source_lock = asyncio.Lock()
        self._source: WorkerSource | None = None
        self._starts: set[asyncio.Task[None]] = set()
        """Starts of workers under way. Cancelling one would lose its descriptors."""
        self._background: set[asyncio.Task[None]] = set()
        self.restarts: Counter[str] = Counter()
        """Number of replaced workers by cause: an `Ending` in lower case, `worn`, `given_up` or
        `not_fresh`."""

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
            for _ in range(self._num_first):
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
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await asyncio.gather(*self._starts, return_exceptions=True)
        for worker in self._workers:
            worker.kill()
        await asyncio.gather(*(worker.wait_closed() for worker in self._workers))
        if self._source is not None:
            await asyncio.to_thread(self._source.close)

    @property
    def problem(self) -> str | None:
        """Why workers do not run or are not watched; None while they do, or are being started."""
        return self._bug or (None if self._workers else self._start_error)

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append a verdict for each completion of the task, in order, as they come.

        Every completion gets a verdict, whatever happens to workers.
        """
        before, num_completions = len(verdicts), task.num_completions
        while (start := len(verdicts) - before) < num_completions:
            rest = task.slice(start, num_completions) if start else task
            run = await self._run(rest, verdicts)
            if run.ending is Ending.FINISHED:
                continue
            culprit = start + run.position.index
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
                num_blamed = len(part.completions) if run.position.in_reference else 1
                verdicts += [_blame(run)] * num_blamed

    async def _run(
        self, task: EncodedTask, verdicts: list[TaskResult], *, fresh: bool = False
    ) -> TaskRun:
        """Have a worker judge a task; another one where a worker dies before it has begun."""
        num_deaths = 0
        asked = time.time_ns()
        while True:
            async with self._worker() as worker:
                if not self._is_running(worker):
                    worker.kill()
                    continue
                if fresh and not worker.is_fresh:
                    worker.make_way()
                    continue
                run = await self._timed_run(worker, task, verdicts, asked)
            if run.ending is not Ending.DIED or run.position.has_begun:
                return run
            num_deaths += 1
            if num_deaths > MAX_DEATHS_BEFORE_TASK:
                return run

    async def _timed_run(
        self, worker: Worker, task: EncodedTask, verdicts: list[TaskResult], asked: int
    ) -> TaskRun:
        times = call_times()
        if times is None:
            return await worker.run(task, self._limits, verdicts)
        started = time.time_ns()
        try:
            return await worker.run(task, self._limits, verdicts)
        finally:
            times.add(_names(task), asked=asked, started=started, ended=time.time_ns())

    def _is_running(self, worker: Worker) -> bool:
        # Workers end with their fork server. A worker that died idle must not count as a try of an
        # item, which would be blamed for it.
        return self._source is not None and self._source.alive and not worker.has_hung_up

    async def _run_alone(self, task: EncodedTask, verdicts: list[TaskResult]) -> TaskRun:
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
            await self._begins.acquire()
            try:
                worker = await self._idle.get()
            except BaseException:
                self._begins.release()
                raise
        finally:
            self._num_waiting -= 1
        self._beginning.add(worker)
        try:
            yield worker
        finally:
            self._let_another_begin(worker)
            if worker.alive and not worker.is_worn(self._limits):
                self._idle.put_nowait(worker)
            else:
                self.restarts["worn" if worker.alive else worker.ending] += 1
                worker.kill()
                self._workers.discard(worker)
                self._in_background(self._replace_worker())

    def _let_another_begin(self, worker: Worker) -> None:
        """Make room for another task: that of this worker has ended, or its item takes long."""
        if worker in self._beginning:
            self._beginning.discard(worker)
            self._begins.release()

    def _start_spare(self) -> None:
        """Start a worker in the place of those that long items hold, if there is room for one."""
        num_workers = len(self._workers) + self._num_starting
        num_to_come = self._idle.qsize() + self._num_starting
        if num_workers < self.size and num_to_come < self._num_first:
            self._num_starting += 1
            self._in_background(self._add_worker())

    async def _add_worker(self) -> None:
        try:
            await self._has_started_worker()
        finally:
            self._num_starting -= 1

    async def _start_worker(self) -> None:
        """Start a worker and add it to the pool. Raises WorkerStartError."""
        start = asyncio.create_task(self._add_started_worker())
        self._starts.add(start)
        start.add_done_callback(self._starts.discard)
        await asyncio.shield(start)

    async def _add_started_worker(self) -> None:
        async with self._source_lock:
            if self._source is None or not self._source.alive:
                if self._source is not None:
                    await asyncio.to_thread(self._source.close)
                self._source = self._new_source()
            source = self._source
        started = await asyncio.to_thread(source.start_worker)
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
        next_watch = 0.0
        while True:
            has_spares = self.size > self._num_first
            is_quick = has_spares and self._begins.locked()
            await asyncio.sleep(BEGIN_SECONDS if is_quick else WATCH_SECONDS)
            for worker in [one for one in self._beginning if has_spares and one.item_is_long]:
                self._let_another_begin(worker)
                self._start_spare()
            if time.monotonic() < next_watch:
                continue
            next_watch = time.monotonic() + WATCH_SECONDS / 2
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


def _names(task: EncodedTask) -> str:
    """The types of a task's verifiers: `accuracy, format`."""
    return ", ".join(dict.fromkeys(name for name, _ in task.verifiers))


def _blame(run: TaskRun) -> Verdict:
    """The verdict on the item at which a run ended."""
    if run.ending is Ending.DIED:
        return failed(EngineReason.WORKER_DIED, run.item_seconds)
    if run.position.in_reference:
        message = "reading the reference took more than an item may take"
        return unverifiable(EngineReason.BAD_REFERENCE, run.item_seconds, message)
    too_slow = run.ending is Ending.TOO_SLOW
    reason = EngineReason.TOO_SLOW if too_slow else EngineReason.TOO_LARGE
    return Verdict(Outcome.SCORED, 0.0, reason, run.item_seconds)
