"""Frames from asyncio's streams.

They are apart from `frames`, which the sandbox imports: asyncio and msgspec stay out of it.
"""

from __future__ import annotations

import asyncio

import msgspec

from verifier_service.frames import HEADER_BYTES, FrameTooLarge, body_length

LIMIT_BYTES = 2**20
"""Number of bytes that a stream of large frames reads ahead."""
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
