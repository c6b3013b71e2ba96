"""Launches a process for each large request or call, see `large_requests.request_process`.

The API process passes its tasks to the workers, and their verdicts back, without reading them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Coroutine
from functools import partial
from types import TracebackType
from typing import Self

import msgspec

from verifier_service import frame_stream
from verifier_service.engine.admission import Reservation
from verifier_service.engine.body_limit import MAX_HELD_BYTES
from verifier_service.engine.engine import NoWorkers
from verifier_service.engine.response import EncodedResponse, OnGroupLine
from verifier_service.engine.response_json import VerdictCounts
from verifier_service.engine.scheduler import Scheduler
from verifier_service.errors import BodyTooLarge, QueueFull, RequestFailed
from verifier_service.large_requests.byte_budget import ByteBudget, Share
from verifier_service.large_requests.messages import (
    Accepted,
    Ask,
    CachedVerdicts,
    Done,
    FromProcess,
    GiveUp,
    GroupLine,
    JudgeTask,
    Keep,
    LargeCall,
    LargeRequest,
    LookUp,
    Parsed,
    Record,
    ReferencePart,
    Refusal,
    Reserve,
    Reserved,
    ResponsePiece,
    TaskReply,
    ToProcess,
    from_process,
    kept_verdicts,
)
from verifier_service.large_requests.process_memory import may_exceed, process_memory
from verifier_service.workers.server_process import WorkerStartError
from verifier_service.workers.sources import ForkServer
from verifier_service.workers.tasks import TaskResult

log = logging.getLogger(__name__)

MAX_PROCESSES = 32
TRIES = 3
"""Processes that a request gets, one after the other: the first may have died by chance."""


class RequestDied(Exception):
    """The process of a request died."""


class RequestProcesses:
    """Forks a process for each large request.

    Args:
        module: full name of the module that the processes run.
        scheduler: judges their tasks.
        max_body_bytes: largest body; the memory limit of a process follows from it.
        bodies: bounds the bytes of the large bodies that processes are reading.
    """

    def __init__(
        self, module: str, scheduler: Scheduler, *, max_body_bytes: int, bodies: ByteBudget
    ) -> None:
        self._module = module
        self._bodies = bodies
        self._scheduler = scheduler
        self._max_body_bytes = max_body_bytes
        self._memory_bytes = process_memory(max_body_bytes)
        self._slots = asyncio.Semaphore(MAX_PROCESSES)
        self._fork_lock = asyncio.Lock()
        self._source: ForkServer | None = None
        self.num_deaths = 0

    async def __aenter__(self) -> Self:
        return self

    async def start(self) -> None:
        """Start what forks the processes now, instead of with the first of them."""
        async with self._fork_lock:
            self._source = await asyncio.to_thread(self._new_source)

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
        return ForkServer(self._module, self._memory_bytes)

    async def respond(
        self,
        request: LargeRequest | LargeCall,
        body: int,
        reservation: Reservation,
        on_line: OnGroupLine,
    ) -> EncodedResponse:
        """Have a process respond to a request or call.

        Args:
            request: how to read its body, and how to respond.
            body: descriptor of a file with the body.
            reservation: grows when the size of the request is known.
            on_line: is called with the line of each group of a streamed response, once.

        Raises:
            RequestError: the request is refused.
            RequestFailed: its processes died.
            QueueFull: the queue has no room for it.
        """
        sent: set[int] = set()
        attempt = None
        num_bytes = request.num_bytes if request.num_bytes > MAX_HELD_BYTES else 0
        for _ in range(TRIES):
            # Each process reads the body, so each waits for its share of those that are read.
            async with self._bodies.share(num_bytes) as share, self._slots:
                try:
                    async with await self._process(body) as process:
                        attempt = _Attempt(
                            process,
                            scheduler=self._scheduler,
                            request=request,
                            reservation=reservation,
                            sent=sent,
                            on_line=on_line,
                            share=share,
                        )
                        return await attempt.response()
                except (RequestDied, WorkerStartError) as error:
                    self.num_deaths += 1
                    log.warning("the process of a request died: %s", error)
        if attempt is not None and not attempt.is_parsed and self._may_need_too_much(request):
            raise BodyTooLarge(
                f"reading the body ended its process {TRIES} times: it takes too much memory"
            )
        raise RequestFailed(f"the process of the request died {TRIES} times")

    def _may_need_too_much(self, request: LargeRequest | LargeCall) -> bool:
        """Whether reading the body may exceed the memory of a process, so that each one dies."""
        if isinstance(request, LargeCall):  # the errors of its values take more than the values
            return True
        is_plain = request.content_encoding == "identity"
        num_bytes = request.num_bytes if is_plain else self._max_body_bytes
        return may_exceed(self._memory_bytes, body_bytes=num_bytes)

    async def _process(self, body: int) -> _Process:
        async with self._fork_lock:
            if self._source is None or not self._source.alive:
                if self._source is not None:
                    await asyncio.to_thread(self._source.close)
                self._source = await asyncio.to_thread(self._new_source)
            # Cancelling the fork itself would lose its descriptors, so wait for it and close them.
            forking = asyncio.ensure_future(asyncio.to_thread(self._source.fork_with, body))
            try:
                _, pidfd, stat, connection = await asyncio.shield(forking)
            except asyncio.CancelledError:
                with contextlib.suppress(WorkerStartError):
                    _, pidfd, stat, connection = await forking
                    os.close(pidfd)
                    os.close(stat)
                    connection.close()
                raise
        os.close(stat)
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
    """The process of a request, which exchanges messages; killed at the end."""

    def __init__(
        self, pidfd: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._pidfd = pidfd
        self._reader = reader
        self._frames = frame_stream.FrameWriter(writer)

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
        with contextlib.suppress(ConnectionError):
            await self._frames.close()

    async def send(self, message: ToProcess) -> None:
        """Send a message; it is lost if the process is dead."""
        self.post(message)
        with contextlib.suppress(ConnectionError):
            await self._frames.drain()

    def post(self, message: ToProcess) -> None:
        """Send a message soon; it is lost if the process is dead."""
        self._frames.write(msgspec.msgpack.encode(message))

    async def receive(self) -> FromProcess:
        """The next message. Raises RequestDied."""
        try:
            return from_process.decode(await frame_stream.read_frame(self._reader))
        except frame_stream.BROKEN as error:
            raise RequestDied(str(error)) from error


class _Attempt:
    """One process at one request."""

    def __init__(
        self,
        process: _Process,
        *,
        scheduler: Scheduler,
        request: LargeRequest | LargeCall,
        reservation: Reservation,
        sent: set[int],
        on_line: OnGroupLine,
        share: Share,
    ) -> None:
        self._share = share
        self._process = process
        self._scheduler = scheduler
        self._request = request
        self._reservation = reservation
        self._sent = sent
        self._on_line = on_line
        self._references: dict[str, list[bytes]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self.is_parsed = False
        self._num_reserved = 0

    async def response(self) -> EncodedResponse:
        """Pass messages on until the response is complete. Raises RequestError, RequestDied."""
        pieces: list[bytes] = []
        await self._process.send(self._request)
        try:
            while True:
                match message := await self._process.receive():
                    case ResponsePiece():
                        self._reservation.grow_by_response(num_bytes=len(message.data))
                        pieces.append(message.data)
                    case Refusal():
                        raise message.error()
                    case Done():
                        return _complete(message, pieces)
                    case _:
                        await self._pass_on(message)
        except RequestDied:
            num_bytes = sum(map(len, pieces))
            self._reservation.shrink(completions=self._num_reserved, num_bytes=num_bytes)
            raise
        finally:
            under_way = list(self._tasks.values())
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _pass_on(self, message: FromProcess) -> None:
        match message:
            case Parsed():
                self._end_reading()
                self._reserve(message)
                await self._process.send(Accepted())
            case Reserve():
                self._end_reading()
                await self._process.send(self._reserved(message))
            case LookUp():
                found = await self._scheduler.look_up(message.keys)
                reply = CachedVerdicts(message.number, msgspec.json.encode(found))
                await self._process.send(reply)
            case Keep():
                verdicts = kept_verdicts.decode(message.verdicts)
                self._scheduler.keep(list(zip(message.keys, verdicts, strict=True)))
            case ReferencePart():
                self._references.setdefault(message.name, []).append(message.data)
            case JudgeTask():
                self._judge(message)
            case Record():
                await self._scheduler.record(message.record, message.num_verdicts)
            case Ask():
                self._ask(message)
            case GiveUp():
                if message.number in self._tasks:
                    self._tasks[message.number].cancel()
            case GroupLine():
                if message.index not in self._sent:
                    self._sent.add(message.index)
                    self._on_line(message.index, message.line)

    def _end_reading(self) -> None:
        """Let other bodies be read."""
        self.is_parsed = True
        self._share.end()

    def _reserve(self, parsed: Parsed) -> None:
        """Reserve the size that the process found. Raises QueueFull."""
        reservation = self._reservation
        self._reservation.grow(
            completions=max(0, parsed.num_completions - reservation.num_completions),
            num_bytes=max(0, parsed.num_bytes - reservation.num_bytes),
        )

    def _reserved(self, message: Reserve) -> Reserved:
        """Reserve what a call asks for, which answers a refusal in the words of its protocol."""
        try:
            self._reservation.grow(completions=message.num_completions)
        except QueueFull as error:
            return Reserved(message.number, error.why)
        self._num_reserved += message.num_completions
        return Reserved(message.number, None)

    def _judge(self, message: JudgeTask) -> None:
        task = message.task
        if task.shared_name is not None:
            reference = tuple(self._references[task.shared_name])
            task = msgspec.structs.replace(task, shared_reference=reference)
        verdicts: list[TaskResult] = []
        work = self._scheduler.judge(task, verdicts, message.keys)
        self._begin(message.number, verdicts, work)

    def _ask(self, message: Ask) -> None:
        verdicts: list[TaskResult] = []

        async def ask() -> None:
            verdicts.append(await self._scheduler.verdict_on(message.question))

        self._begin(message.number, verdicts, ask())

    def _begin(
        self, number: int, verdicts: list[TaskResult], work: Coroutine[None, None, None]
    ) -> None:
        """Do work that appends verdicts, and reply when it ends."""
        judging = asyncio.create_task(work)
        self._tasks[number] = judging
        judging.add_done_callback(partial(self._reply, number, verdicts))

    def _reply(self, number: int, verdicts: list[TaskResult], judging: asyncio.Task[None]) -> None:
        """Send the verdicts of a task that has ended; it has fewer if it was given up."""
        del self._tasks[number]
        error = None if judging.cancelled() else judging.exception()
        if error is not None and not isinstance(error, NoWorkers):
            log.error("a task could not be judged", exc_info=error)
        encoded = msgspec.json.encode(verdicts)
        self._process.post(TaskReply(number, encoded, no_workers=error is not None))


def _complete(message: Done, pieces: list[bytes]) -> EncodedResponse:
    counts = VerdictCounts({(a, b, c): number for a, b, c, number in message.counts})
    return EncodedResponse(
        pieces, message.last_line, counts, message.num_completions, message.status
    )
