"""A worker's position in its task, in memory that it shares with its parent.

So verdicts can travel together, and the parent still knows which item a worker was killed at,
whether that item takes long, and which error the worker ended with.
"""

from __future__ import annotations

import mmap
import os
import struct

_POSITION = struct.Struct("=Q")  # one aligned word is never read half written
MAX_LAST_WORDS_BYTES = 1024
_LAST_WORDS = slice(2 * _POSITION.size, 2 * _POSITION.size + MAX_LAST_WORDS_BYTES)
_NUM_BYTES = _LAST_WORDS.stop


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

    def say_last_words(self, text: str) -> None:
        """Say why the worker ends: it may not write where its log goes, if that is a file."""
        said = text.encode(errors="replace")[:MAX_LAST_WORDS_BYTES]
        self._memory[_LAST_WORDS] = said.ljust(MAX_LAST_WORDS_BYTES, b"\0")

    @property
    def last_words(self) -> str:
        """The reason for which the worker ended; empty if it has not said one."""
        return self._memory[_LAST_WORDS].rstrip(b"\0").decode(errors="replace")

    def read(self) -> tuple[int, bool]:
        """Index of the completion, and whether the worker is reading its reference."""
        (position,) = _POSITION.unpack_from(self._memory)
        return position // 2, position % 2 == 0

    def close(self) -> None:
        """Unmap the memory."""
        self._memory.close()
