"""The judge's end of the connections of gateways: places that it lends, and the tasks there."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.engine.chunks import digest
from verifier_service.engine.scheduler import Pool
from verifier_service.fleet.judge_connection import keep_alive
from verifier_service.fleet.messages import (
    CONNECT_SECONDS,
    MAX_FRAME_BYTES,
    JudgedPart,
    LentPlace,
    TaskHead,
    decode_head,
)
from verifier_service.workers.shared_references import SharedReferences
from verifier_service.workers.tasks import EncodedTask, TaskResult

log = logging.getLogger(__name__)

PART_SECONDS = 0.1
"""Time after which the verdicts so far are sent, while a task goes on: a deadline keeps them."""
MAX_TOKEN_BYTES = 128


class TaskServer:
    """Listens for gateways that have a place, and has a pool judge their tasks.

    | call | result |
    |---|---|
    | `async with TaskServer(pool, kind, host) as server` | listens at a free port, and ends all |
    | `async with server.lent() as place` | a place, which ends with the block |
    | `await server.until_left(place)` | returns when its gateway has left it, or never came |

    Args:
        pool: judges.
        kind: of its workers.
        host: address to listen at.
    """

    def __init__(self, pool: Pool, kind: str, host: str) -> None:
        self._pool = pool
        self._kind = kind
        self._host = host
        self._port = 0
        self._server: asyncio.Server | None = None
        self._places: dict[str, asyncio.Future[asyncio.Task[None]]] = {}
        """Work for the gateway that takes a place, by the token."""
        self._references: SharedReferences[bytes] = SharedReferences()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._take, self._host, 0, limit=frame_stream.LIMIT_BYTES
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for token in list(self._places):
            await self._end(token)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[LentPlace]:
        """A place for one gateway; what it does there is given up with the block."""
        token = secrets.token_hex()
        self._places[token] = asyncio.get_running_loop().create_future()
        try:
            yield LentPlace(self._host, self._port, token)
        finally:
            await self._end(token)

    async def until_left(self, place: LentPlace) -> None:
        """Wait until the gateway has left its place, or has not come in its time."""
        with contextlib.suppress(TimeoutError):
            work = await asyncio.wait_for(self._places[place.token], CONNECT_SECONDS)
            await asyncio.wait([work])

    async def _end(self, token: str) -> None:
        """Give up the work at a place."""
        taken = self._places.pop(token, None)
        if taken is not None and taken.done() and not taken.cancelled():
            taken.result().cancel()
            await asyncio.wait([taken.result()])

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection, if it begins with the token of a place that nobody has taken."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                token = await frame_stream.read_frame(reader, max_bytes=MAX_TOKEN_BYTES)
            taken = self._places.get(token.decode("latin-1"))
            if taken is None or taken.done():
                log.warning("a connection without a place is closed")
                return
            keep_alive(writer)
            work = asyncio.create_task(self._serve(reader, writer))
            taken.set_result(work)
            await asyncio.wait([work])
        except (*frame_stream.BROKEN, OSError):  # it has sent no token
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Judge one task after the other until the gateway leaves."""
        waiting = asyncio.create_task(_read(reader))
        try:
            while True:
                head = decode_head(await waiting)
                body = await _read(reader)
                reference = await self._reference(head, reader, writer)
                task = EncodedTask(
                    self._kind,
                    head.verifiers,
                    body,
                    head.num_completions,
                    head.shared_name,
                    () if reference is None else (reference,),
                )
                waiting = asyncio.create_task(_read(reader))  # the next head, or the end
                await self._judge(task, waiting, writer)
        except (*frame_stream.BROKEN, OSError):
            pass
        finally:
            await _given_up(waiting)
            writer.close()

    async def _reference(
        self, head: TaskHead, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """The shared reference of a task, from the gateway where it is not at hand."""
        name = head.shared_name
        if name is None:
            return None
        if name not in self._references:
            _send(writer, JudgedPart([], finished=False, needs_reference=True))
            reference = await _read(reader)
            if digest(reference).hex() != name:
                raise msgspec.ValidationError("a reference has the name of another one")
            self._references.add(name, reference)
            return reference
        return self._references[name]

    async def _judge(
        self, task: EncodedTask, left: asyncio.Task[bytes], writer: asyncio.StreamWriter
    ) -> None:
        """Send the verdicts of a task as they come. Raises an error of `left` if that ends."""
        if self._pool.problem is not None:
            _send(writer, JudgedPart([], finished=True, problem=self._pool.problem))
            return
        found: list[TaskResult] = []
        work = asyncio.create_task(_judged(self._pool.judge(task, found)))
        num_sent, is_done = 0, False
        try:
            while not is_done:
                await asyncio.wait(
                    [work, left], timeout=PART_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                if left.done() and not work.done():
                    left.result()
                    raise msgspec.ValidationError("a task came before the last one was judged")
                is_done = work.done()
                if is_done:
                    work.result()
                part = found[num_sent:]
                num_sent += len(part)
                if part or is_done:
                    _send(writer, JudgedPart(part, finished=is_done))
                    await writer.drain()
        finally:
            await _given_up(work)


async def _judged(work: Coroutine[Any, Any, None]) -> None:
    """Do the work of a pool; a bug there ends the connection and not the judge."""
    try:
        await work
    except Exception as error:
        log.exception("a task failed")
        raise ConnectionAbortedError("a task failed") from error


async def _given_up(work: asyncio.Task[Any]) -> None:
    """End work that may be done, and wait for its end."""
    work.cancel()
    await asyncio.wait([work])
    if not work.cancelled():
        work.exception()  # is known: asyncio would log it


async def _read(reader: asyncio.StreamReader) -> bytes:
    return await frame_stream.read_frame(reader, max_bytes=MAX_FRAME_BYTES)


def _send(writer: asyncio.StreamWriter, part: JudgedPart) -> None:
    writer.write(frames.pack(msgspec.json.encode(part)))
