"""Frames from asyncio's streams; apart from `frames`, which programs in the sandbox import."""

from __future__ import annotations

import asyncio

import msgspec

from verifier_service.frames import HEADER_BYTES, FrameTooLarge, body_length

LIMIT_BYTES = 2**20
"""Of what a stream of large frames reads ahead."""
BROKEN = (asyncio.IncompleteReadError, ConnectionError, FrameTooLarge, msgspec.MsgspecError)
"""What reading a message from a process that is dead, or out of its mind, raises."""


async def read(reader: asyncio.StreamReader, *, max_bytes: int | None = None) -> bytes:
    """The body of the next frame.

    Raises:
        asyncio.IncompleteReadError: the other side has closed the connection.
        FrameTooLarge: the body has more than max_bytes.
    """
    header = await reader.readexactly(HEADER_BYTES)
    return await reader.readexactly(body_length(header, max_bytes=max_bytes))
