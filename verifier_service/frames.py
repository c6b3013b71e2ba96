"""Frames, which carry messages between processes: four bytes of length, big-endian, then a body.

The sandbox imports this module, so it needs the standard library only. See `frame_stream` for
asyncio.
"""

from __future__ import annotations

import socket

HEADER_BYTES = 4
MAX_PART_BYTES = 2**20


class FrameTooLarge(ValueError):
    """A frame is larger than its receiver accepts."""


def pack(body: bytes) -> bytes:
    """The frame of a body."""
    return make_header(len(body)) + body


def make_header(num_bytes: int) -> bytes:
    """The header of a body of so many bytes."""
    return num_bytes.to_bytes(HEADER_BYTES, "big")


def body_length(header: bytes, *, max_bytes: int | None = None) -> int:
    """The number of bytes of the body after a header.

    Raises:
        FrameTooLarge: the body has more than max_bytes.
    """
    length = int.from_bytes(header, "big")
    if max_bytes is not None and length > max_bytes:
        raise FrameTooLarge(f"a frame of {length} bytes, of at most {max_bytes}")
    return length


def receive_frame(connection: socket.socket, *, max_bytes: int | None = None) -> bytes:
    """The body of the next frame of a blocking socket.

    Raises:
        EOFError: the other side has closed the connection.
        FrameTooLarge: the body has more than max_bytes.
    """
    length = body_length(_exactly(connection, HEADER_BYTES), max_bytes=max_bytes)
    return _exactly(connection, length)


def _exactly(connection: socket.socket, num_bytes: int) -> bytes:
    """The next bytes of a stream, neither more nor less. Raises EOFError."""
    parts = bytearray()
    while len(parts) < num_bytes:
        size = min(num_bytes - len(parts), MAX_PART_BYTES)
        # Without the flag, a frame comes in parts, and putting them together copies it twice.
        part = connection.recv(size, socket.MSG_WAITALL)
        if len(part) == num_bytes:
            return part
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
