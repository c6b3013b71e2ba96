"""The relay between two processes: the runner passes on what each says, bounds it and takes notes.

program --socket--> runner --socket--> interactor
        <----------        <----------
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

from verifier_service.sandbox.conversation import Conversation

READ_BYTES = 2**16


async def pass_on(
    source: socket.socket,
    target: socket.socket,
    conversation: Conversation,
    speaker: str,
    *,
    max_bytes: int,
    on_flood: Callable[[], None],
) -> None:
    """Pass on what a speaker says until it, or its listener, ends.

    Args:
        source: socket whose other end the speaker has.
        target: socket whose other end the listener has.
        conversation: takes notes.
        speaker: name of the speaker.
        max_bytes: bytes after which the speaker is said to flood.
        on_flood: called then, once.
    """
    loop, num_bytes = asyncio.get_running_loop(), 0
    try:
        while said := await _read(loop, source):
            conversation.note(speaker, said)
            num_bytes += len(said)
            if num_bytes > max_bytes:
                on_flood()
                break
            await loop.sock_sendall(target, said)
        else:
            conversation.note_silence(speaker)
    except OSError:  # the listener has ended
        pass
    finally:
        # The listener reads an end; the speaker cannot write to nobody.
        for end, way in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
            with contextlib.suppress(OSError):
                end.shutdown(way)


async def _read(loop: asyncio.AbstractEventLoop, source: socket.socket) -> bytes:
    """The next words of a speaker; empty once it has ended, whether or not it had read all."""
    try:
        return await loop.sock_recv(source, READ_BYTES)
    except ConnectionResetError:
        return b""
