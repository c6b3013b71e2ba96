"""Files in memory: what an execution is given, and the programs that a runner keeps."""

from __future__ import annotations

import fcntl
import os

MAX_KEPT_BYTES = 4 * 2**20
"""Largest program that is kept as a file between its runs."""
_MFD_EXEC = 0x10
_READABLE_MODE, _EXECUTABLE_MODE = 0o444, 0o111
"""Modes of files in memory. A program whose file cannot be read is not dumpable once started."""
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class ExecutableFiles:
    """The files of the programs that were run last, for all zygotes of a runner.

    A program is run once for each of its cases, and to write one of a megabyte takes as long as to
    run it. Zygotes that run the same program at a time share its file, so that the processors'
    caches hold it once.

    Args:
        num_kept: most files.
    """

    def __init__(self, num_kept: int) -> None:
        self._num_kept = num_kept
        self._kept: dict[bytes, int] = {}
        """Descriptors by content, in the order of their last use."""

    def descriptor(self, content: bytes) -> int:
        """A descriptor of a program's file, which the caller closes. Raises OSError."""
        kept = self._kept.pop(content, None)
        if kept is None:
            kept = sealed(content, executable=True)
            if len(content) > MAX_KEPT_BYTES:
                return kept
        self._kept[content] = kept
        if len(self._kept) > self._num_kept:
            os.close(self._kept.pop(next(iter(self._kept))))
        return os.dup(kept)

    def close(self) -> None:
        """Close every file that is kept."""
        while self._kept:
            os.close(self._kept.popitem()[1])


def sealed(content: bytes, *, executable: bool = False) -> int:
    """The descriptor of a file in memory that holds the content and cannot be changed."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create("payload", flags | (_MFD_EXEC if executable else 0))
    except OSError:  # Linux before 6.3: every such file can be executed
        descriptor = os.memfd_create("payload", flags)
    os.fchmod(descriptor, _EXECUTABLE_MODE if executable else _READABLE_MODE)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor
