"""Starting a program that is not Python: one exec, through a gate that closes behind it.

execveat(2) has five arguments. The system call filter compares the sixth register with a number
that was drawn for this child. The exec replaces the memory and clears the registers, and with them
all knowledge of the number. So the filter that is in force before the exec refuses a second one,
and no process has to be trusted to install another filter in between.
"""

from __future__ import annotations

import ctypes
import os
import platform
import secrets
import signal
from collections.abc import Mapping, Sequence

_EXECVEAT = {"x86_64": 322, "aarch64": 281}
_AT_FDCWD, _AT_EMPTY_PATH = -100, 0x1000
SECRET_BITS = 64
_IGNORED_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)
"""Signals that the interpreter or the zygote ignores. Unless that is undone, the program that is
started ignores them too."""

_libc = ctypes.CDLL(None, use_errno=True)


class Gate:
    """A secret number, which the one exec that the filter permits must name."""

    def __init__(self) -> None:
        self.secret = secrets.randbits(SECRET_BITS)

    def execute(
        self,
        program: str | int,
        arguments: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        """Replace this process by a program; returns only by raising.

        Args:
            program: an absolute path, or the descriptor of a file.
            arguments: arguments of the program, its name included.
            environment: the whole environment of the program.

        Raises:
            OSError: the kernel refuses.
        """
        path = b"" if isinstance(program, int) else os.fsencode(program)
        for number in _IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        _libc.syscall(
            ctypes.c_long(_EXECVEAT[platform.machine()]),
            ctypes.c_long(program if isinstance(program, int) else _AT_FDCWD),
            ctypes.c_char_p(path),
            strings(arguments),
            strings([f"{name}={value}" for name, value in environment.items()]),
            ctypes.c_long(_AT_EMPTY_PATH if isinstance(program, int) else 0),
            ctypes.c_ulong(self.secret),
        )
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def strings(values: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Texts as execve(2) takes them."""
    encoded = [os.fsencode(value) for value in values]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
