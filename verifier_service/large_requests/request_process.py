"""The process of one large request: reads its body, has it judged, writes its answer.

    API process --socket--> request worker (this module: JSON, validation, deduplication, answer)
        '-- tasks and verdicts, which the API process passes on --> workers

Reading 64 MiB of JSON takes longer than other requests can wait, and can take more memory than the
service has. Here it holds up nobody, and what it takes is given back at the end. The process judges
nothing and is confined as those that judge are.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import NoReturn

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.engine.request_body import decompressed, read_request
from verifier_service.engine.request_scoring import Unavailable
from verifier_service.engine.response import PIECE_BYTES, answer_request
from verifier_service.http.errors import ApiError
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
    found_verdicts,
    judged_verdicts,
    to_process,
)
from verifier_service.profiles import Verifiers, profiles_from_json
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Verdict
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.fork_server import fork_server, place
from verifier_service.workers.tasks import EncodedTask

log = logging.getLogger(__name__)


def serve(connection: socket.socket, body: int) -> None:
    """Answer one request.

    Args:
        connection: to the parent.
        body: a file that has the body.
    """
    asyncio.run(_serve(connection, body))


async def _serve(connection: socket.socket, body: int) -> None:
    connection.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=connection, limit=frame_stream.LIMIT_BYTES)
    parent = Parent(reader, writer)
    job = await parent.receive()
    assert isinstance(job, Job), job
    try:
        request, num_bytes = _read(job, body)
        parent.send(Parsed(request.num_completions, num_bytes))
        accepted = await parent.receive()
        assert isinstance(accepted, Accepted), accepted
        await _answer(request, parent, job)
    except ApiError as error:
        status = int(error.status)
        parent.send(Refusal(status, error.kind, error.message, error.details, error.headers))
    except MemoryError:
        parent.send(_too_much_memory())
    await writer.drain()
    writer.close()
    await writer.wait_closed()


def _read(job: Job, body: int) -> tuple[ScoreRequest, int]:
    """The request, and how many bytes it has without compression. Raises ApiError."""
    content = os.pread(body, job.num_bytes, 0)
    limits = job.limits
    content = decompressed(content, job.content_encoding, max_bytes=limits.max_body_bytes)

    def profiles() -> Mapping[str, Verifiers]:
        return profiles_from_json(job.profiles)

    return read_request(content, limits, profiles), len(content)


def _too_much_memory() -> Refusal:
    message = "the request takes more memory than one may"
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", message, None)


async def _answer(request: ScoreRequest, parent: Parent, job: Job) -> None:
    def on_line(index: int, line: bytes) -> None:
        parent.send(GroupLine(index, line))

    parent.engine_sizes = job.num_workers
    listening = asyncio.create_task(parent.listen())
    answering = asyncio.create_task(
        answer_request(
            request,
            parent,
            started=job.started,
            max_deadline_seconds=job.limits.max_deadline_seconds,
            on_line=on_line if job.stream else None,
        )
    )
    await asyncio.wait([listening, answering], return_when=asyncio.FIRST_COMPLETED)
    if listening.done():
        _end(listening)  # what waits for its messages does not even end when it is cancelled
    listening.cancel()
    answer = answering.result()
    if not job.stream:
        for data in answer.pieces:
            parent.send(Piece(data))
            await parent.drain()
    flat = [(*labels, number) for labels, number in answer.counts.items()]
    parent.send(Done(answer.last_line, flat, answer.num_completions))


def _end(failed: asyncio.Task[None]) -> NoReturn:
    """End the process over a task that failed; the message may have text of a model."""
    error = failed.exception()
    assert error is not None, "listening has no end"
    log.error("the process of a request ends: %s at %s", type(error).__name__, place(error))
    os._exit(1)


class Parent:
    """The API process, which has the workers and the cache: the `Engine` of this request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.engine_sizes: dict[str, int] = {}
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count()
        self._expected: dict[int, asyncio.Future[Known | JudgedTask]] = {}
        self._shared: set[str] = set()

    def send(self, message: FromProcess) -> None:
        """Send a message, now or soon."""
        self._writer.write(frames.pack(msgspec.msgpack.encode(message)))

    async def drain(self) -> None:
        """Wait while too much is on its way."""
        await self._writer.drain()

    async def receive(self) -> ToProcess:
        """The next message."""
        return to_process.decode(await frame_stream.read(self._reader))

    async def listen(self) -> None:
        """Give answers to those who wait for them."""
        while True:
            try:
                message = await self.receive()
            except (asyncio.IncompleteReadError, ConnectionError):
                os._exit(0)  # the client is gone, or the service: nobody waits for the answer
            assert isinstance(message, Known | JudgedTask), message
            waiting = self._expected.pop(message.number)
            if not waiting.cancelled():
                waiting.set_result(message)

    def num_workers(self, kind: str) -> int:
        """See `Engine`."""
        return self.engine_sizes[kind]

    async def judge(
        self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion], keys: Sequence[bytes] = ()
    ) -> None:
        """See `Engine`."""
        if task.shared_name is not None:
            if task.shared_name not in self._shared:
                self._shared.add(task.shared_name)
                for whole in task.shared_reference:
                    for start in range(0, len(whole), PIECE_BYTES):
                        self.send(Share(task.shared_name, whole[start : start + PIECE_BYTES]))
            task = msgspec.structs.replace(task, shared_reference=())
        number, answered = self._expect()
        self.send(JudgeTask(number, task, list(keys)))
        try:
            await self.drain()
            reply = await asyncio.shield(answered)
        except asyncio.CancelledError:
            self.send(GiveUp(number))
            with contextlib.suppress(Unavailable):
                _add(await answered, verdicts)
            raise
        _add(reply, verdicts)

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """See `Engine`."""
        number, answered = self._expect()
        self.send(LookUp(number, list(keys)))
        reply = await answered
        assert isinstance(reply, Known), reply
        return found_verdicts.decode(reply.verdicts)

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """See `Engine`."""
        if verdicts:
            encoded = msgspec.json.encode([verdict for _, verdict in verdicts])
            self.send(Keep([key for key, _ in verdicts], encoded))

    def _expect(self) -> tuple[int, asyncio.Future[Known | JudgedTask]]:
        number = next(self._numbers)
        answered = asyncio.get_running_loop().create_future()
        self._expected[number] = answered
        return number, answered


def _add(reply: Known | JudgedTask, verdicts: list[Verdict | OpenQuestion]) -> None:
    """Append what a task brought. Raises Unavailable."""
    assert isinstance(reply, JudgedTask), reply
    if reply.unavailable:
        raise Unavailable
    verdicts += judged_verdicts.decode(reply.verdicts)


if __name__ == "__main__":
    fork_server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), serve)
