"""Frames from asyncio's streams.

They are apart from `frames`, which the sandbox imports: asyncio and msgspec stay out of it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable

import msgspec

from verifier_service.frames import HEADER_BYTES, FrameTooLarge, body_length, pack

LIMIT_BYTES = 2**20
"""Number of bytes that a stream of large frames reads ahead."""
SEND_BYTES = 2**18
"""Most bytes that `SocketWithoutMessages` joins for one write, unless a buffer has more."""
BROKEN = (asyncio.IncompleteReadError, ConnectionError, FrameTooLarge, msgspec.MsgspecError)
"""Errors of reading a message when its sender is dead or sends malformed messages."""


async def read_frame(reader: asyncio.StreamReader, *, max_bytes: int | None = None) -> bytes:
    """The body of the next frame.

    Raises:
        asyncio.IncompleteReadError: the other side has closed the connection.
        FrameTooLarge: the body has more than max_bytes.
    """
    header = await reader.readexactly(HEADER_BYTES)
    return await reader.readexactly(body_length(header, max_bytes=max_bytes))


class SocketWithoutMessages(socket.socket):
    """A stream socket on which asyncio can write in a confined process.

    From Python 3.12 on asyncio gives what waits to be written to `sendmsg`. The system call filter
    refuses sendmsg(2), which can send descriptors too, so the bytes leave by send(2).
    """

    def sendmsg(self, buffers: Iterable[bytes | memoryview], /) -> int:  # type: ignore[override]
        """Send the first of the buffers' bytes; returns how many were sent."""
        joined = bytearray()
        for buffer in buffers:
            joined += buffer
            if len(joined) >= SEND_BYTES:
                break
        return self.send(joined)


class FrameWriter:
    """Writes frames to a stream: those of one turn of the event loop leave in one write.

    Hundreds of short messages, such as questions to a model, would each cost a write and a wakeup
    of the other side.

    Args:
        writer: the stream.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: list[bytes] = []

    def write(self, body: bytes) -> None:
        """Write a frame, at the latest in the next turn of the event loop."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(pack(body))

    async def drain(self) -> None:
        """Write what waits, and wait while too many bytes are unsent. Raises ConnectionError."""
        self._flush()
        await self._writer.drain()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        # asyncio warns of each write to a connection that the other side has closed.
        if waiting and not self._writer.is_closing():
            self._writer.writelines(waiting)

    async def close(self) -> None:
        """Write what waits, and close the stream. Raises ConnectionError."""
        self._flush()
        self._writer.close()
        await self._writer.wait_closed()
