"""The process of one large request: reads its body, has it judged, writes its answer.

    API process --socket--> request worker (this module: JSON, validation, deduplication, answer)
        '-- tasks and verdicts, which the API process passes on --> workers

Reading 64 MiB of JSON takes longer than other requests can wait, and can take more memory than the
service has. Here it holds up nobody, and what it takes is given back at the end. The process judges
nothing and is confined as those that judge are.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus

import msgspec

from verifier_service import answer, frames
from verifier_service.errors import ApiError
from verifier_service.profiles import Verifiers, profiles_from_json
from verifier_service.requests.body import decompressed, read_request
from verifier_service.requests.messages import (
    Accepted,
    Done,
    FromProcess,
    GiveUp,
    GroupLine,
    Job,
    Judge,
    Judged,
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
from verifier_service.schemas import ScoreRequest
from verifier_service.scoring import Scoring, Unavailable
from verifier_service.verdict import EncodedTask, Question, Verdict
from verifier_service.workers.fork_server import fork_server

PIECE_BYTES = 2**18
STREAM_LIMIT_BYTES = 2**20
MIN_DEADLINE_SECONDS = 0.001


def serve(connection: socket.socket, body: int) -> None:
    """Answer one request.

    Args:
        connection: to the parent.
        body: a file that has the body.
    """
    asyncio.run(_serve(connection, body))


async def _serve(connection: socket.socket, body: int) -> None:
    connection.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=connection, limit=STREAM_LIMIT_BYTES)
    parent = _Parent(reader, writer)
    job = await parent.receive()
    assert isinstance(job, Job), job
    started = time.monotonic() - job.elapsed_seconds
    try:
        request, num_bytes = _read(job, body)
    except ApiError as error:
        status = int(error.status)
        parent.send(Refusal(status, error.kind, error.message, error.details, error.headers))
    except MemoryError:
        parent.send(_too_much_memory())
    else:
        parent.send(Parsed(request.num_completions, num_bytes))
        accepted = await parent.receive()
        assert isinstance(accepted, Accepted), accepted
        await _score(request, parent, job, started)
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
    message = "reading the body takes more memory than a request may"
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", message, None)


async def _score(request: ScoreRequest, parent: _Parent, job: Job, started: float) -> None:
    counts: answer.Counts = answer.Counts()
    verifiers = request.verifiers

    def on_group(index: int) -> None:
        group, places = request.groups[index], scoring.places(index)
        counts.update(answer.count(places, verifiers))
        if job.stream:
            line = answer.group_line(answer.group_json(group.id, places, verifiers, index=index))
            parent.send(GroupLine(index, line))

    parent.engine_sizes = job.num_workers
    scoring = Scoring(request, parent, on_group=on_group)
    limit = job.limits.max_deadline_seconds
    deadline = min(request.deadline_seconds or limit, limit) - (time.monotonic() - started)
    listening = asyncio.create_task(parent.listen())
    scored = await scoring.run(max(deadline, MIN_DEADLINE_SECONDS))
    listening.cancel()
    stats = answer.stats_json(
        completions=request.num_completions,
        deduplicated=scored.num_deduplicated,
        seconds=time.monotonic() - started,
    )
    if not job.stream:
        groups = (
            answer.group_json(group.id, places, verifiers)
            for group, places in zip(request.groups, scored.groups, strict=True)
        )
        for data in _pieces(answer.whole(groups, stats)):
            parent.send(Piece(data))
            await parent.drain()
    flat = [(*labels, number) for labels, number in counts.items()]
    parent.send(Done(answer.stats_line(stats), flat, request.num_completions))


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of some size."""
    waiting = bytearray()
    for part in parts:
        waiting += part
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)


class _Parent:
    """The API process, which has the workers and the cache: the `Engine` of this request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.engine_sizes: dict[str, int] = {}
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count()
        self._expected: dict[int, asyncio.Future[Known | Judged]] = {}
        self._shared: set[str] = set()

    def send(self, message: FromProcess) -> None:
        """Send a message, now or soon."""
        self._writer.write(frames.pack(msgspec.msgpack.encode(message)))

    async def drain(self) -> None:
        """Wait while too much is on its way."""
        await self._writer.drain()

    async def receive(self) -> ToProcess:
        """The next message."""
        header = await self._reader.readexactly(frames.HEADER_BYTES)
        return to_process.decode(await self._reader.readexactly(frames.body_length(header)))

    async def listen(self) -> None:
        """Give answers to those who wait for them."""
        while True:
            try:
                message = await self.receive()
            except (asyncio.IncompleteReadError, ConnectionError):
                os._exit(0)  # the client is gone, or the service: nobody waits for the answer
            assert isinstance(message, Known | Judged), message
            waiting = self._expected.pop(message.number)
            if not waiting.cancelled():
                waiting.set_result(message)

    def num_workers(self, kind: str) -> int:
        """See `Engine`."""
        return self.engine_sizes[kind]

    async def judge(
        self, task: EncodedTask, verdicts: list[Verdict | Question], keys: Sequence[bytes] = ()
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
        self.send(Judge(number, task, list(keys)))
        await self.drain()
        try:
            reply = await asyncio.shield(answered)
        except asyncio.CancelledError:
            self.send(GiveUp(number))
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

    def _expect(self) -> tuple[int, asyncio.Future[Known | Judged]]:
        number = next(self._numbers)
        answered = asyncio.get_running_loop().create_future()
        self._expected[number] = answered
        return number, answered


def _add(reply: Known | Judged, verdicts: list[Verdict | Question]) -> None:
    """Append what a task brought. Raises Unavailable."""
    assert isinstance(reply, Judged), reply
    if reply.unavailable:
        raise Unavailable
    verdicts += judged_verdicts.decode(reply.verdicts)


if __name__ == "__main__":
    fork_server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), serve)
