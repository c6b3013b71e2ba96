"""Frames over asyncio's streams: one write for those of one turn of the event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING

from verifier_service.frame_stream import (
    SEND_BYTES,
    FrameWriter,
    SocketWithoutMessages,
    read_frame,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Written:
    """A connection that counts its writes."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.num_writes = 0
        self._writer = writer
        self.is_closing, self.drain = writer.is_closing, writer.drain
        self.close, self.wait_closed = writer.close, writer.wait_closed

    def writelines(self, data: Iterable[bytes]) -> None:
        self.num_writes += 1
        self._writer.writelines(data)


async def pair() -> tuple[asyncio.StreamReader, Written, asyncio.StreamWriter]:
    ours, theirs = socket.socketpair()
    _, writer = await asyncio.open_connection(sock=ours)
    reader, other = await asyncio.open_connection(sock=theirs)
    return reader, Written(writer), other


def test_frames_of_one_turn_leave_in_one_write_and_in_order() -> None:
    async def exchange() -> tuple[list[bytes], int]:
        reader, written, other = await pair()
        frames = FrameWriter(written)  # type: ignore[arg-type]
        for number in range(100):
            frames.write(b"%d" % number)
        found = [await read_frame(reader) for _ in range(100)]
        frames.write(b"last")
        await frames.close()
        found.append(await read_frame(reader))
        other.close()
        return found, written.num_writes

    found, num_writes = asyncio.run(exchange())
    assert found == [b"%d" % number for number in range(100)] + [b"last"]
    assert num_writes == 2


def test_frames_to_a_closed_connection_are_lost_without_a_word() -> None:
    async def exchange() -> int:
        _, written, other = await pair()
        frames = FrameWriter(written)  # type: ignore[arg-type]
        await frames.close()
        frames.write(b"late")
        await asyncio.sleep(0)
        other.close()
        return written.num_writes

    assert asyncio.run(exchange()) == 0


# Writing without sendmsg(2)


class Counted(SocketWithoutMessages):
    """A socket that counts the bytes of each call of `send`."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self.sent: list[int] = []

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        self.sent.append(len(memoryview(data)))
        return super().send(data, flags)


def counted() -> tuple[Counted, socket.socket]:
    ours, theirs = socket.socketpair()
    return Counted(ours.detach()), theirs


def test_buffers_leave_by_send_in_their_order() -> None:
    ours, theirs = counted()
    with ours, theirs:
        assert ours.sendmsg([b"one", memoryview(b"two"), b""]) == 6
        assert theirs.recv(100) == b"onetwo"
    assert ours.sent == [6]


def test_one_call_joins_no_more_than_it_may() -> None:
    ours, theirs = counted()
    ours.setblocking(False)
    half = bytes(SEND_BYTES // 2)
    with ours, theirs:
        ours.sendmsg(iter([half] * 100))
    assert ours.sent == [SEND_BYTES]


def test_many_frames_arrive_whole_through_a_socket_without_messages() -> None:
    """More of them than the kernel's buffer holds: asyncio keeps what could not be sent."""
    frames = [bytes([number]) * 2**16 for number in range(100)]

    async def exchange() -> list[bytes]:
        ours, theirs = counted()
        _, writer = await asyncio.open_connection(sock=ours)
        reader, other = await asyncio.open_connection(sock=theirs)
        sending = FrameWriter(writer)
        for frame in frames:
            sending.write(frame)
        found = [await read_frame(reader) for _ in frames]
        await sending.close()
        other.close()
        return found

    assert asyncio.run(exchange()) == frames
