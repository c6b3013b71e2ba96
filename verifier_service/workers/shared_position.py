"""A worker's position in its task, in memory that it shares with its parent.

So verdicts can travel together, and the parent still knows which item a worker was killed at, and
whether that item takes long.
"""

from __future__ import annotations

import mmap
import os
import struct

_POSITION = struct.Struct("=Q")  # one aligned word is never read half written
_NUM_BYTES = 2 * _POSITION.size


class SharedPosition:
    """Index of the completion that a worker is at, and whether it still reads its reference."""

    def __init__(self, descriptor: int) -> None:
        """Map a file of `create_file`. The descriptor can be closed afterwards."""
        self._memory = mmap.mmap(descriptor, _NUM_BYTES)

    @staticmethod
    def create_file() -> int:
        """The descriptor of a new file for two processes to map."""
        descriptor = os.memfd_create("position")
        os.ftruncate(descriptor, _NUM_BYTES)
        return descriptor

    def write(self, index: int, *, in_reference: bool) -> None:
        """Set the position to the step that the worker begins."""
        _POSITION.pack_into(self._memory, 0, 2 * index + (not in_reference))
        _POSITION.pack_into(self._memory, _POSITION.size, False)

    def say_long(self) -> None:
        """Say that the item takes long, so that another worker may begin one beside it."""
        _POSITION.pack_into(self._memory, _POSITION.size, True)

    @property
    def is_long(self) -> bool:
        """Whether the worker has said that its item takes long."""
        return bool(_POSITION.unpack_from(self._memory, _POSITION.size)[0])

    def read(self) -> tuple[int, bool]:
        """Index of the completion, and whether the worker is reading its reference."""
        (position,) = _POSITION.unpack_from(self._memory)
        return position // 2, position % 2 == 0

    def close(self) -> None:
        """Unmap the memory."""
        self._memory.close()
