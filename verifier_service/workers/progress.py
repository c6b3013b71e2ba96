"""Where in its task a worker is, in memory that it shares with its parent."""

from __future__ import annotations

import mmap
import os
import struct

_POSITION = struct.Struct("=Q")  # aligned and of one word, so it is never seen half written


class Progress:
    """The index of the completion that a worker is at, and whether it still reads its reference."""

    def __init__(self, descriptor: int) -> None:
        """Map the file, which must hold `SIZE` bytes; the descriptor can be closed afterwards."""
        self._memory = mmap.mmap(descriptor, _POSITION.size)

    @staticmethod
    def create_file() -> int:
        """The descriptor of a new file for two processes to map."""
        descriptor = os.memfd_create("progress")
        os.ftruncate(descriptor, _POSITION.size)
        return descriptor

    def write(self, index: int, *, in_reference: bool) -> None:
        """Say what comes next."""
        _POSITION.pack_into(self._memory, 0, 2 * index + (not in_reference))

    def read(self) -> tuple[int, bool]:
        """The index, and whether it is the reference of that completion that is being read."""
        (position,) = _POSITION.unpack_from(self._memory)
        return position // 2, position % 2 == 0

    def close(self) -> None:
        """Unmap the memory."""
        self._memory.close()
