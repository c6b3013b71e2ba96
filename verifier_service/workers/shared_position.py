"""A worker's position in its task, in memory that it shares with its parent.

So verdicts can travel together, and the parent still knows which item a worker was killed at,
whether it had begun with the task at all, whether that item takes long, and which error the worker
ended with.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass

_POSITION = struct.Struct("=Q")  # one aligned word is never read half written
_NOT_BEGUN = 0
MAX_LAST_WORDS_BYTES = 1024
_LAST_WORDS = slice(2 * _POSITION.size, 2 * _POSITION.size + MAX_LAST_WORDS_BYTES)
_NUM_BYTES = _LAST_WORDS.stop


@dataclass(frozen=True)
class Position:
    """The step of its task that a worker is at."""

    index: int
    """Index of the completion."""
    in_reference: bool
    """Whether the worker is still to read that completion's reference, or reads it."""
    has_begun: bool
    """Whether the worker has read the task and begun to judge it."""


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

    def clear(self) -> None:
        """Set the position to that of a worker which has not begun with its task."""
        self._write(_NOT_BEGUN)

    def write(self, index: int, *, in_reference: bool) -> None:
        """Set the position to the step that the worker begins."""
        self._write(1 + 2 * index + (not in_reference))

    def _write(self, position: int) -> None:
        _POSITION.pack_into(self._memory, 0, position)
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

    def read(self) -> Position:
        """The step that the worker is at."""
        (position,) = _POSITION.unpack_from(self._memory)
        if position == _NOT_BEGUN:
            return Position(0, in_reference=True, has_begun=False)
        return Position((position - 1) // 2, in_reference=position % 2 == 1, has_begun=True)

    def close(self) -> None:
        """Unmap the memory."""
        self._memory.close()
