"""The gateway's end of a connection to a judge, which carries one task after the other."""

from __future__ import annotations

import asyncio
import socket
import time

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.engine.engine import NoWorkers
from verifier_service.fleet.messages import (
    CONNECT_SECONDS,
    MAX_FRAME_BYTES,
    JudgedPart,
    LentPlace,
    TaskHead,
    decode_part,
)
from verifier_service.workers.tasks import EncodedTask, TaskResult

KEEP_ALIVE = {
    socket.TCP_KEEPIDLE: 10,
    socket.TCP_KEEPINTVL: 5,
    socket.TCP_KEEPCNT: 3,
    socket.TCP_USER_TIMEOUT: 25_000,
}
"""Options of a connection, which find a machine that is gone without a word within 25 seconds."""


class JudgeLost(Exception):
    """A judge is gone, or has never been there; another one may take what it has not judged."""


class JudgeConnection:
    """A place at a judge, for one task at a time.

    Args:
        judge: its address, the same for all its places.
        reader: from the judge.
        writer: to the judge, which has got the token.
    """

    def __init__(
        self, judge: tuple[str, int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.judge_address = judge
        self._reader = reader
        self._writer = writer
        self._opened = self._last_use = time.monotonic()
        self._is_at_task = False

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append a verdict for each completion of the task, in order, as they come.

        A connection whose task does not end well is closed: what comes late belongs to no other.

        Raises:
            JudgeLost: the judge is lost, or sends what no judge sends.
            NoWorkers: the judge has no worker.
        """
        self._is_at_task = True
        end = len(verdicts) + task.num_completions
        try:
            head = msgspec.msgpack.encode(TaskHead.of(task))
            size = frames.make_header(len(task.body))
            self._writer.writelines([frames.pack(head), size, task.body])
            await self._writer.drain()
            while not (part := await self._read()).finished:
                _append(part, verdicts, end)
                if part.needs_reference:
                    await self._send_reference(task)
            _append(part, verdicts, end)
            if part.problem is None and len(verdicts) < end:
                raise msgspec.ValidationError("fewer verdicts than completions")
        except (*frame_stream.BROKEN, OSError) as error:
            raise JudgeLost(f"{type(error).__name__}: {error}") from error
        else:
            self._is_at_task = False
            self._last_use = time.monotonic()
        finally:
            if self._is_at_task:
                self.close()
        if part.problem is not None:
            raise NoWorkers(part.problem)

    @property
    def is_usable(self) -> bool:
        """Whether another task may be sent: the connection stands, and has no task."""
        is_gone = self._reader.at_eof() or self._reader.exception() is not None
        return not (self._is_at_task or is_gone or self._writer.is_closing())

    @property
    def age_seconds(self) -> float:
        """Time since it was opened."""
        return time.monotonic() - self._opened

    @property
    def idle_seconds(self) -> float:
        """Time since its last task ended."""
        return time.monotonic() - self._last_use

    def close(self) -> None:
        """End the connection, and the task that it has."""
        self._writer.close()

    async def _read(self) -> JudgedPart:
        return decode_part(await frame_stream.read_frame(self._reader, max_bytes=MAX_FRAME_BYTES))

    async def _send_reference(self, task: EncodedTask) -> None:
        self._writer.write(frames.make_header(sum(map(len, task.shared_reference))))
        for part in task.shared_reference:
            self._writer.write(part)
            await self._writer.drain()


def _append(part: JudgedPart, verdicts: list[TaskResult], end: int) -> None:
    """Append the verdicts of a part. Raises ValidationError if they are more than completions."""
    if len(verdicts) + len(part.verdicts) > end:
        raise msgspec.ValidationError("more verdicts than completions")
    verdicts += part.verdicts


async def connect(place: LentPlace) -> JudgeConnection:
    """Take a place at a judge. Raises JudgeLost if nobody is there."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(
                place.host, place.port, limit=frame_stream.LIMIT_BYTES
            )
    except OSError as error:
        raise JudgeLost(f"{place.host}, port {place.port}: {error}") from error
    keep_alive(writer)
    writer.write(frames.pack(place.token.encode()))
    return JudgeConnection((place.host, place.port), reader, writer)


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Have the system notice that the other machine is gone."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEP_ALIVE.items():
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
