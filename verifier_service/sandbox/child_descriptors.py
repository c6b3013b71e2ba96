"""The descriptors of a zygote and its children: which number is what, and the standard streams."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import io
import os
import socket
import sys
from typing import Any

from verifier_service.sandbox.entries import PAYLOAD_FD
from verifier_service.sandbox.zygote_messages import CHANNEL, RESULT, STDIN, TALKS, WORKSPACE

STATUS_FD, CHANNEL_FD, RESULT_FD, WORKSPACE_FD = 3, 5, 6, 7
FIRST_FREE_FD = 8
"""Lowest number of the zygote's own descriptors, so that a child can close them all."""
_CLOSE_RANGE = 436

_libc = ctypes.CDLL(None)


def move_up(descriptor: int) -> int:
    """Move a descriptor out of the numbers that children use, and reserve those numbers.

    Without the reservation the zygote could open a descriptor of its own at such a number, and
    `arrange_descriptors` would overwrite it in a child.
    """
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(STATUS_FD, FIRST_FREE_FD):
        if number != null:
            os.dup2(null, number, inheritable=False)
    return moved


def prepare_standard_streams() -> None:
    """Make the stream objects that the children use, once for all of them.

    They are made while descriptors 1 and 2 are pipes. On a terminal or a file, Python would choose
    other buffering than for the pipes of a child.
    """
    reading, writing = os.pipe()
    log = os.dup(2)
    for number in (1, 2):
        os.dup2(writing, number)
    sys.stdout = _text_stream(1, "<stdout>")
    sys.stderr = _text_stream(2, "<stderr>", errors="backslashreplace", line_buffering=True)
    vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)
    # Tracebacks of the zygote itself go to the log of the service again.
    os.dup2(log, 2)
    for descriptor in (reading, writing, log):
        os.close(descriptor)


def _text_stream(descriptor: int, name: str, **options: Any) -> io.TextIOWrapper:
    """A stream as the interpreter makes it, with the attributes that it sets."""
    raw = io.FileIO(descriptor, "wb", closefd=False)
    vars(raw)["name"] = name
    stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", **options)
    vars(stream)["mode"] = "w"
    return stream


def arrange_descriptors(optional: int, descriptors: list[int]) -> socket.socket:
    """Give the descriptors of an order the numbers that a child expects.

    Returns:
        The status socket.
    """
    status, payload, stdout, stderr, *others = descriptors
    for number, descriptor in ((1, stdout), (2, stderr), (STATUS_FD, status)):
        os.dup2(descriptor, number)
    os.dup2(payload, PAYLOAD_FD)
    numbers = {
        STDIN: 0,
        CHANNEL: CHANNEL_FD,
        RESULT: RESULT_FD,
        WORKSPACE: WORKSPACE_FD,
    }
    for flag, number in numbers.items():
        if optional & flag:
            os.dup2(others.pop(0), number)
        elif number != 0:
            os.close(number)
    if optional & TALKS:
        os.dup2(CHANNEL_FD, 0)
        os.dup2(CHANNEL_FD, 1)
        os.close(CHANNEL_FD)
    elif not optional & STDIN:
        _open_no_input()
    return socket.socket(fileno=STATUS_FD)


def numbered(optional: int, descriptors: list[int]) -> list[tuple[int, int]]:
    """The descriptors of an order for a program that has only standard streams."""
    status, payload, stdout, stderr, *others = descriptors
    found = [(stdout, 1), (stderr, 2), (status, STATUS_FD), (payload, PAYLOAD_FD)]
    return [*found, (others[0], 0)] if optional & STDIN else found


def _open_no_input() -> None:
    """Open /dev/null as descriptor 0.

    The zygote's own descriptor 0 is one open file, shared by all of its children. One child could
    leave a message in its flags (fcntl(2), F_SETFL) for the next.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def close_from(first: int) -> None:
    """Close every descriptor from this number on."""
    if _libc.syscall(_CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0) != 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def read_all(descriptor: int) -> bytes:
    """Read a whole file from its start, and close it. Raises OSError if it becomes shorter."""
    size = os.fstat(descriptor).st_size
    chunks: list[bytes] = []
    while size > 0:
        chunk = os.pread(descriptor, size, sum(map(len, chunks)))
        if not chunk:
            raise OSError(errno.EIO, "the payload is shorter than its size")
        chunks.append(chunk)
        size -= len(chunk)
    os.close(descriptor)
    return b"".join(chunks)
