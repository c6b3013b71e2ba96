"""Large requests, each in a process of its own: see `large_requests.request_process`.

This process passes tasks on to the workers and verdicts back, and never reads what is large.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from http import HTTPStatus
from types import TracebackType
from typing import Self

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.engine.request_scoring import Unavailable
from verifier_service.engine.response import Answer, Counts, OnGroupLine
from verifier_service.engine.scheduler import Reservation, Scheduler
from verifier_service.http.errors import ApiError, try_again
from verifier_service.large_requests.messages import (
    Accepted,
    Done,
    FromProcess,
    GiveUp,
    GroupLine,
    Job,
    JudgedTask,
    JudgeTask,
    Keep,
    Known,
    LookUp,
    Parsed,
    Piece,
    Refusal,
    Share,
    ToProcess,
    from_process,
    kept_verdicts,
)
from verifier_service.verdict import Verdict
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.sources import ForkServer, WorkerStartError

log = logging.getLogger(__name__)

MAX_PROCESSES = 32
TRIES = 3
"""A process that dies is not the request's fault until this many have."""
MIN_MEMORY_BYTES = 2**30
MEMORY_PER_BODY_BYTE = 16
"""JSON of nothing but brackets takes as much."""
MAX_MEMORY_PER_BODY_BYTE = 64
"""No JSON takes more, read and checked."""


class RequestDied(Exception):
    """The process of a request died."""


class RequestProcesses:
    """Forks a process for each large request.

    Args:
        scheduler: judges.
        max_body_bytes: of a request, from which its memory follows.
    """

    def __init__(self, scheduler: Scheduler, *, max_body_bytes: int) -> None:
        self._scheduler = scheduler
        self._max_body_bytes = max_body_bytes
        self._memory_bytes = max(MIN_MEMORY_BYTES, MEMORY_PER_BODY_BYTE * max_body_bytes)
        self._places = asyncio.Semaphore(MAX_PROCESSES)
        self._fork_lock = asyncio.Lock()
        self._source: ForkServer | None = None
        self.num_deaths = 0

    async def __aenter__(self) -> Self:
        self._source = await asyncio.to_thread(self._new_source)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        async with self._fork_lock:
            if self._source is not None:
                await asyncio.to_thread(self._source.close)

    def _new_source(self) -> ForkServer:
        return ForkServer("verifier_service.large_requests.request_process", self._memory_bytes)

    async def answer(
        self, job: Job, body: int, reservation: Reservation, on_line: OnGroupLine
    ) -> Answer:
        """Have a process answer a request.

        Args:
            job: what to do.
            body: a file that has the body.
            reservation: grows when the size of the request is known.
            on_line: is given the lines of groups of an answer that is streamed, each once.

        Raises:
            ApiError: the request is refused, or its processes died.
            QueueFull: there is no room for it.
        """
        sent: set[int] = set()
        run = None
        async with self._places:
            for _ in range(TRIES):
                try:
                    async with await self._process(body) as process:
                        run = _Run(process, self._scheduler, job, reservation, sent, on_line)
                        return await run.answer()
                except (RequestDied, WorkerStartError) as error:
                    self.num_deaths += 1
                    log.warning("the process of a request died: %s", error)
        if run is not None and not run.is_parsed and self._may_need_too_much(job):
            raise ApiError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "body_too_large",
                f"reading the body ended its process {TRIES} times: it takes too much memory",
            )
        raise request_failed(f"the process of the request died {TRIES} times")

    def _may_need_too_much(self, job: Job) -> bool:
        """Whether memory can be why reading the body ended a process, and not only a kill."""
        is_plain = job.content_encoding == "identity"
        num_bytes = job.num_bytes if is_plain else self._max_body_bytes
        return num_bytes * MAX_MEMORY_PER_BODY_BYTE > self._memory_bytes

    async def _process(self, body: int) -> _Process:
        async with self._fork_lock:
            if self._source is None or not self._source.alive:
                if self._source is not None:
                    await asyncio.to_thread(self._source.close)
                self._source = await asyncio.to_thread(self._new_source)
            # A cancelled fork would lose its descriptors.
            forking = asyncio.ensure_future(asyncio.to_thread(self._source.fork_with, body))
            try:
                _, pidfd, connection = await asyncio.shield(forking)
            except asyncio.CancelledError:
                with contextlib.suppress(WorkerStartError):
                    _, pidfd, connection = await forking
                    os.close(pidfd)
                    connection.close()
                raise
        try:
            connection.setblocking(False)
            reader, writer = await asyncio.open_connection(
                sock=connection, limit=frame_stream.LIMIT_BYTES
            )
        except BaseException:  # cancelled: the process ends when its connection does
            os.close(pidfd)
            connection.close()
            raise
        return _Process(pidfd, reader, writer)


class _Process:
    """A process, killed at the end, and messages to and from it."""

    def __init__(
        self, pidfd: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._pidfd = pidfd
        self._reader = reader
        self._writer = writer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def send(self, message: ToProcess) -> None:
        """Send a message; one to a dead process is lost."""
        with contextlib.suppress(ConnectionError):
            self._writer.write(frames.pack(msgspec.msgpack.encode(message)))
            await self._writer.drain()

    async def receive(self) -> FromProcess:
        """The next message. Raises RequestDied."""
        try:
            return from_process.decode(await frame_stream.read(self._reader))
        except frame_stream.BROKEN as error:
            raise RequestDied(str(error)) from error


class _Run:
    """One process at one request."""

    def __init__(
        self,
        process: _Process,
        scheduler: Scheduler,
        job: Job,
        reservation: Reservation,
        sent: set[int],
        on_line: OnGroupLine,
    ) -> None:
        self._process = process
        self._scheduler = scheduler
        self._job = job
        self._reservation = reservation
        self._sent = sent
        self._on_line = on_line
        self._references: dict[str, list[bytes]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._replies: set[asyncio.Task[None]] = set()
        self.is_parsed = False

    async def answer(self) -> Answer:
        """Pass messages on until the answer is there. Raises ApiError, QueueFull, RequestDied."""
        pieces: list[bytes] = []
        await self._process.send(self._job)
        try:
            while True:
                match message := await self._process.receive():
                    case Piece():
                        self._reservation.grow_by_answer(num_bytes=len(message.data))
                        pieces.append(message.data)
                    case Refusal():
                        raise _api_error(message)
                    case Done():
                        return _done(message, pieces)
                    case _:
                        await self._pass_on(message)
        except RequestDied:
            self._reservation.shrink(num_bytes=sum(map(len, pieces)))
            raise
        finally:
            under_way = [*self._replies, *self._tasks.values()]
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _pass_on(self, message: FromProcess) -> None:
        match message:
            case Parsed():
                self.is_parsed = True
                self._reserve(message)
                await self._process.send(Accepted())
            case LookUp():
                found = await self._scheduler.look_up(message.keys)
                await self._process.send(Known(message.number, msgspec.json.encode(found)))
            case Keep():
                verdicts = kept_verdicts.decode(message.verdicts)
                self._scheduler.keep(list(zip(message.keys, verdicts, strict=True)))
            case Share():
                self._references.setdefault(message.name, []).append(message.part)
            case JudgeTask():
                self._judge(message)
            case GiveUp():
                if message.number in self._tasks:
                    self._tasks[message.number].cancel()
            case GroupLine():
                if message.index not in self._sent:
                    self._sent.add(message.index)
                    self._on_line(message.index, message.line)

    def _reserve(self, parsed: Parsed) -> None:
        """Raises QueueFull."""
        reservation = self._reservation
        self._reservation.grow(
            completions=max(0, parsed.num_completions - reservation.num_completions),
            num_bytes=max(0, parsed.num_bytes - reservation.num_bytes),
        )

    def _judge(self, message: JudgeTask) -> None:
        task = message.task
        if task.shared_name is not None:
            reference = tuple(self._references[task.shared_name])
            task = msgspec.structs.replace(task, shared_reference=reference)
        verdicts: list[Verdict | OpenQuestion] = []
        judging = asyncio.create_task(self._scheduler.judge(task, verdicts, message.keys))
        self._tasks[message.number] = judging
        reply = asyncio.create_task(self._reply(message.number, judging, verdicts))
        self._replies.add(reply)
        reply.add_done_callback(self._replies.discard)

    async def _reply(
        self, number: int, judging: asyncio.Task[None], verdicts: list[Verdict | OpenQuestion]
    ) -> None:
        """Send what a task brought; of one that was given up, what it has so far."""
        await asyncio.wait([judging])
        del self._tasks[number]
        error = None if judging.cancelled() else judging.exception()
        if error is not None and not isinstance(error, Unavailable):
            log.error("a task could not be judged", exc_info=error)
        encoded = msgspec.json.encode(verdicts)
        await self._process.send(JudgedTask(number, encoded, unavailable=error is not None))


def _done(message: Done, pieces: list[bytes]) -> Answer:
    counts = Counts({(a, b, c): number for a, b, c, number in message.counts})
    return Answer(pieces, message.last_line, counts, message.num_completions)


def request_failed(message: str) -> ApiError:
    """503: the request has no answer, and it may have one the next time."""
    return try_again("request_failed", message)


def _api_error(refusal: Refusal) -> ApiError:
    return ApiError(
        HTTPStatus(refusal.status),
        refusal.kind,
        refusal.message,
        details=refusal.details,
        headers=refusal.headers,
    )
