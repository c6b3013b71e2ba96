"""Starting a program that is not Python: one exec, through a gate that closes behind it.

The system call filter compares the address of the path in execveat(2) with an address that the
child has chosen at random. The exec replaces the memory, and with it all knowledge of the address.
So the filter that is in force before the exec refuses a second one, and no process has to be
trusted to install another filter in between.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import secrets
import signal
from collections.abc import Mapping, Sequence

_EXECVEAT = {"x86_64": 322, "aarch64": 281}
_AT_FDCWD, _AT_EMPTY_PATH = -100, 0x1000
_ADDRESS_BITS = (46, 38)
"""Sizes of the address spaces to choose from: of most kernels, and of some on aarch64."""
_LOWEST_ADDRESS = 2**32
_MAX_PATH_BYTES = 4096
_NUM_TRIES = 64
_MAP_FIXED_NOREPLACE = 0x100000
_IGNORED_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)
"""Signals that the interpreter or the zygote ignores. Unless that is undone, the program that is
started ignores them too."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p


class Gate:
    """Memory at an address that nobody can guess; a path that lies there can be executed.

    Raises:
        OSError: no memory could be mapped.
    """

    def __init__(self) -> None:
        for bits in _ADDRESS_BITS:
            for _ in range(_NUM_TRIES):
                self.address = _LOWEST_ADDRESS + secrets.randbelow(2**bits - 2 * _LOWEST_ADDRESS)
                if _map(self.address, _MAX_PATH_BYTES):
                    return
        raise OSError(ctypes.get_errno(), "no memory for the path of an exec")

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
        if len(path) >= _MAX_PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        ctypes.memmove(self.address, path + b"\0", len(path) + 1)
        for number in _IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        variables = [f"{name}={value}" for name, value in environment.items()]
        _libc.syscall(
            ctypes.c_long(_EXECVEAT[platform.machine()]),
            ctypes.c_long(program if isinstance(program, int) else _AT_FDCWD),
            ctypes.c_void_p(self.address),
            _strings(arguments),
            _strings(variables),
            ctypes.c_long(_AT_EMPTY_PATH if isinstance(program, int) else 0),
        )
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _map(address: int, num_bytes: int) -> bool:
    """Map the pages of an address; False if some were mapped before."""
    start = address - address % mmap.PAGESIZE
    found = _libc.mmap(
        ctypes.c_void_p(start),
        ctypes.c_size_t(address - start + num_bytes),
        mmap.PROT_READ | mmap.PROT_WRITE,
        mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED_NOREPLACE,
        -1,
        ctypes.c_long(0),
    )
    return bool(found == start)


def _strings(values: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    encoded = [os.fsencode(value) for value in values]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
