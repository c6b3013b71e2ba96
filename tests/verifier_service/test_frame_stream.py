"""Frames over asyncio's streams: one write for those of one turn of the event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable

from verifier_service.frame_stream import FrameWriter, read_frame


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
