"""The process of one large request: reads its body, has it judged, encodes the response.

    API process --socket--> this process (JSON, validation, deduplication, response)
        '-- passes tasks and verdicts on --> workers

Reading 64 MiB of JSON takes longer than other requests can wait, and may take more memory than the
service has. This process holds up nobody, and its memory is free again when it ends. It judges
nothing, and is confined like the workers, which do.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NoReturn, Self, TypeVar

import msgspec

from verifier_service import frame_stream
from verifier_service.current_call import enter_call
from verifier_service.engine.engine import NoWorkers, OnVerdict
from verifier_service.engine.request_body import decompressed, read_request
from verifier_service.engine.response import respond
from verifier_service.engine.response_json import PIECE_BYTES
from verifier_service.errors import BodyTooLarge, QueueFull, RequestError
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
    cached_verdicts,
    task_verdicts,
    to_process,
)
from verifier_service.logs import raised_at
from verifier_service.profiles import Verifiers, profiles_from_json
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Verdict
from verifier_service.verdict_store.records import StoredTexts
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.fork_server import fork_server
from verifier_service.workers.tasks import EncodedTask, TaskResult

log = logging.getLogger(__name__)

TOO_MUCH_MEMORY = "the request takes more memory than one may"

T = TypeVar("T")


Reply = CachedVerdicts | TaskReply | Reserved
"""Replies of the API process, each to a message with the same number."""


def serve(control: socket.socket) -> None:
    """Fork a process for each request until the other side of control is closed."""
    fork_server(control, serve_request)


def serve_request(connection: socket.socket, body: int) -> None:
    """Respond to one request.

    Args:
        connection: to the API process.
        body: descriptor of a file with the body.
    """
    asyncio.run(_serve_request(connection, body))


async def _serve_request(connection: socket.socket, body: int) -> None:
    parent = await ParentEngine.connected_by(connection)
    large = await parent.receive()
    assert isinstance(large, LargeRequest), large
    enter_call(large.request_id)
    try:
        request, num_bytes = _parsed(large, body)
        parent.send(Parsed(request.num_completions, num_bytes))
        accepted = await parent.receive()
        assert isinstance(accepted, Accepted), accepted
        await _respond(request, parent, large)
    except RequestError as error:
        parent.send(Refusal.of(error))
    except MemoryError:
        parent.send(Refusal.of(BodyTooLarge(TOO_MUCH_MEMORY)))
    await parent.close()


def _parsed(large: LargeRequest, body: int) -> tuple[ScoreRequest, int]:
    """The request, and the size of its body without compression. Raises RequestError."""
    content = os.pread(body, large.num_bytes, 0)
    limits = large.limits
    content = decompressed(content, large.content_encoding, max_bytes=limits.max_body_bytes)

    def profiles() -> Mapping[str, Verifiers]:
        return profiles_from_json(large.profiles)

    return read_request(content, limits, profiles), len(content)


async def _respond(request: ScoreRequest, parent: ParentEngine, large: LargeRequest) -> None:
    def on_line(index: int, line: bytes) -> None:
        parent.send(GroupLine(index, line))

    parent.worker_counts = large.num_workers
    parent.max_questions = large.max_questions
    parent.stored_texts = large.stored_texts
    response = await while_listening(
        respond(
            request,
            parent,
            started=large.started,
            max_deadline_seconds=large.limits.max_deadline_seconds,
            on_line=on_line if large.stream else None,
        ),
        parent,
    )
    if not large.stream:
        for data in response.pieces:
            parent.send(ResponsePiece(data))
            await parent.drain()
    flat = [(*labels, number) for labels, number in response.counts.items()]
    parent.send(Done(response.last_line, flat, response.num_completions))


async def while_listening(work: Coroutine[None, None, T], parent: ParentEngine) -> T:
    """The result of work that waits for replies of the API process."""
    listening = asyncio.create_task(parent.listen())
    working = asyncio.create_task(work)
    await asyncio.wait([listening, working], return_when=asyncio.FIRST_COMPLETED)
    if listening.done():
        # Cancelling would not end it: its calls wait for replies that nobody receives any more.
        _end_process(listening)
    listening.cancel()
    return working.result()


def _end_process(failed: asyncio.Task[None]) -> NoReturn:
    """End the process because of a task that failed.

    The log names the error's type and position only: its message may have text of a model.
    """
    error = failed.exception()
    assert error is not None, "listening has no end"
    log.error("the process of a request ends: %s at %s", type(error).__name__, raised_at(error))
    os._exit(1)


class ParentEngine:
    """The `Engine` of this request: the API process, which has the workers and the cache."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.worker_counts: dict[str, int] = {}
        self.keeps_verdicts = True
        self.max_questions: int | None = None
        self.stored_texts: StoredTexts | None = None
        self._reader = reader
        self._frames = frame_stream.FrameWriter(writer)
        self._numbers = itertools.count()
        self._expected: dict[int, Callable[[Reply], None]] = {}
        """Takers of replies, by the number of the message that is replied to."""
        self._shared: set[str] = set()
        self._kept: list[tuple[bytes, Verdict]] = []
        """Verdicts for the cache that are not sent yet."""

    @classmethod
    async def connected_by(cls, connection: socket.socket) -> Self:
        """The engine at the other end of a socket, which is taken over."""
        sock = frame_stream.SocketWithoutMessages(fileno=connection.detach())
        sock.setblocking(False)
        return cls(*await asyncio.open_connection(sock=sock, limit=frame_stream.LIMIT_BYTES))

    async def close(self) -> None:
        """Close the connection when everything is sent."""
        await self._frames.drain()
        await self._frames.close()

    def send(self, message: FromProcess) -> None:
        """Send a message, now or soon, behind the verdicts that `keep` got."""
        if self._kept:
            self._send_kept()
        self._frames.write(msgspec.msgpack.encode(message))

    async def drain(self) -> None:
        """Wait while too many bytes are unsent."""
        await self._frames.drain()

    async def receive(self) -> ToProcess:
        """The next message."""
        return to_process.decode(await frame_stream.read_frame(self._reader))

    async def listen(self) -> None:
        """Hand each reply to the call that waits for it, until cancelled."""
        while True:
            try:
                message = await self.receive()
            except (asyncio.IncompleteReadError, ConnectionError):
                os._exit(0)  # the client or the service is gone: nobody waits for the response
            assert isinstance(message, Reply), message
            self._expected.pop(message.number)(message)

    def num_workers(self, kind: str) -> int:
        """Implements `Engine.num_workers`."""
        return self.worker_counts[kind]

    async def judge(
        self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes] = ()
    ) -> None:
        """Implements `Engine.judge`."""
        if task.shared_name is not None:
            if task.shared_name not in self._shared:
                self._shared.add(task.shared_name)
                for whole in task.shared_reference:
                    for start in range(0, len(whole), PIECE_BYTES):
                        piece = whole[start : start + PIECE_BYTES]
                        self.send(ReferencePart(task.shared_name, piece))
            task = msgspec.structs.replace(task, shared_reference=())
        number, replied = self._expect()
        self.send(JudgeTask(number, task, list(keys)))
        try:
            await self.drain()
            reply = await asyncio.shield(replied)
        except asyncio.CancelledError:
            self.send(GiveUp(number))
            with contextlib.suppress(NoWorkers):
                _add(await replied, verdicts)
            raise
        _add(reply, verdicts)

    @asynccontextmanager
    async def room(self, num_completions: int) -> AsyncIterator[None]:
        """Room for completions, which is held until this process ends. Raises QueueFull."""
        number, replied = self._expect()
        self.send(Reserve(number, num_completions))
        reply = await replied
        assert isinstance(reply, Reserved), reply
        if reply.refusal is not None:
            raise QueueFull(reply.refusal)
        yield

    async def ask(self, questions: Sequence[OpenQuestion], on_verdict: OnVerdict) -> None:
        """Implements `Engine.ask`."""
        if not questions:
            return
        indices: dict[int, int] = {}
        """Indices of the questions without a verdict, by the numbers of their messages."""
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def take(reply: Reply) -> None:
            index = indices.pop(reply.number)
            if settled.done():  # given up
                return
            found: list[TaskResult] = []
            try:
                _add(reply, found)
            except NoWorkers as error:
                settled.set_exception(error)
                return
            verdict = found[0]
            assert isinstance(verdict, Verdict), verdict
            on_verdict(index, verdict)
            if not indices:
                settled.set_result(None)

        # One future for all: one for each, and a task that waits for it, would double the cost.
        for index, question in enumerate(questions):
            number = next(self._numbers)
            indices[number] = index
            self._expected[number] = take
            self.send(Ask(number, question))
        try:
            await settled
        except asyncio.CancelledError:
            for number in indices:
                self.send(GiveUp(number))
            raise

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """Implements `Engine.look_up`."""
        number, replied = self._expect()
        self.send(LookUp(number, list(keys)))
        reply = await replied
        assert isinstance(reply, CachedVerdicts), reply
        return cached_verdicts.decode(reply.verdicts)

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """Implements `Engine.keep`."""
        if verdicts and not self._kept:
            asyncio.get_running_loop().call_soon(self._send_kept)
        self._kept += verdicts

    def _send_kept(self) -> None:
        """Send what `keep` got in this turn of the event loop, often by one verdict at a time."""
        kept, self._kept = self._kept, []
        if not kept:
            return
        encoded = msgspec.json.encode([verdict for _, verdict in kept])
        self.send(Keep([key for key, _ in kept], encoded))

    async def record(self, record: bytes, num_verdicts: int) -> None:
        """Implements `Engine.record`."""
        self.send(Record(record, num_verdicts))
        await self.drain()

    def _expect(self) -> tuple[int, asyncio.Future[Reply]]:
        number = next(self._numbers)
        replied: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        def take(reply: Reply) -> None:
            if not replied.cancelled():
                replied.set_result(reply)

        self._expected[number] = take
        return number, replied


def _add(reply: Reply, verdicts: list[TaskResult]) -> None:
    """Append the verdicts of a task. Raises NoWorkers."""
    assert isinstance(reply, TaskReply), reply
    if reply.no_workers:
        raise NoWorkers
    verdicts += task_verdicts.decode(reply.verdicts)
