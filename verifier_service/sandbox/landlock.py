"""Landlock: which files an execution may open. See landlock(7).

An execution may read the paths that rules name, write below its scratch directory, and start the
programs that rules name, if any. All else is refused. A newer kernel also refuses TCP, and signals
and abstract sockets of processes outside. The zygote makes the rule set once; a child only applies
it. `runtime.readable_paths` has the paths of Python, and `Tools` those of a toolchain.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE = 1 << 0
_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REGULAR = 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_SCRATCH = _WRITE_FILE | _READ_FILE | _READ_DIR | _REMOVE_DIR | _REMOVE_FILE | _REFER | _TRUNCATE
_SCRATCH |= _MAKE_DIR | _MAKE_REGULAR
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE

_RIGHTS_OF_VERSION = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEVICE}
_TCP_RIGHTS, _TCP_VERSION = 0b11, 4
_SCOPES, _SCOPE_VERSION = 0b11, 6

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The Landlock version of the kernel; 0 if the kernel has no Landlock."""
    found = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return max(int(found), 0)


class Ruleset:
    """Rules that `restrict` applies to a process.

    Args:
        readable: files that may be read, and directories with all that is in them.
        listable: directories that may be listed, with all directories below.
        writable: devices that may be read and written.
        scratch: a directory in which files may be made, read, written and removed.
        executable: programs that may be started, and their loaders.
        connects: whether TCP is permitted, which something else has to confine.

    Raises:
        OSError: the kernel has no Landlock, or a rule cannot be made.
    """

    def __init__(
        self,
        *,
        readable: Iterable[Path],
        listable: Iterable[Path],
        writable: Iterable[Path],
        scratch: Path | None,
        executable: Iterable[Path] = (),
        connects: bool = False,
    ) -> None:
        found = version()
        if found == 0:
            raise OSError(errno.ENOSYS, "this kernel has no Landlock, or it is not enabled")
        self._handled = sum(rights for at, rights in _RIGHTS_OF_VERSION.items() if at <= found)
        tcp = _TCP_RIGHTS if found >= _TCP_VERSION and not connects else 0
        scopes = _SCOPES if found >= _SCOPE_VERSION else 0
        attributes = struct.pack("=QQQ", self._handled, tcp, scopes)
        attributes = attributes[: 24 if scopes else 16 if tcp else 8]
        self.descriptor = _checked(
            "landlock_create_ruleset", _CREATE_RULESET, attributes, len(attributes), 0
        )
        for paths, rights in (
            (readable, _READ_FILE | _READ_DIR),
            (listable, _READ_DIR),
            (writable, _READ_FILE | _WRITE_FILE),
            ([scratch] if scratch else [], _SCRATCH),
            (executable, _EXECUTE | _READ_FILE),
        ):
            for path in paths:
                self._allow(path, rights)

    def _allow(self, path: Path, rights: int) -> None:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= _FILE_RIGHTS
            rule = struct.pack("=Qi", rights & self._handled, descriptor)
            _checked("landlock_add_rule", _ADD_RULE, self.descriptor, _PATH_BENEATH, rule, 0)
        finally:
            os.close(descriptor)

    def restrict(self) -> None:
        """Confine this process, which must have no_new_privs. Raises OSError."""
        _checked("landlock_restrict_self", _RESTRICT_SELF, self.descriptor, 0)


def _checked(name: str, number: int, *arguments: int | bytes) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *map(_argument, arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def _argument(value: int | bytes) -> ctypes.c_long | ctypes.c_char_p:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)
