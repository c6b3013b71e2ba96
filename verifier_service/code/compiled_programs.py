"""Compiled programs that are kept, so that a source is compiled once for all who send it.

Clients of `/run_code` send a program again for each of its tests, and groups hold equal programs.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping

RING_BYTES = 128 * 2**20
"""Most bytes that are kept. Pages that nobody has written to take no memory."""
MAX_PROGRAM_BYTES = RING_BYTES // 8
NUM_SLOTS = 1024
_HEAD = struct.Struct("=Q")
_SLOT = struct.Struct("=32sQQI")
"""Hash of what a program was made from, its position, its size, and a checksum of these three."""
_RING = _HEAD.size + NUM_SLOTS * _SLOT.size
TABLE_BYTES = _RING + RING_BYTES


class CompiledPrograms:
    """A ring of compiled programs, the oldest of which are overwritten, that processes can share.

    Positions count all bytes that were ever written, so that a program is whole as long as the ring
    has not come round to it. Writers take turns by a lock that ends with its process. Readers take
    none: they look at the head again after they have copied.
    """

    def __init__(self) -> None:
        """Begin with nothing, and keep nothing until `share`."""
        self._file: int | None = None

    @staticmethod
    def create_file() -> int:
        """The descriptor of a new file for processes to share."""
        descriptor = os.memfd_create("compiled")
        os.ftruncate(descriptor, TABLE_BYTES)
        return descriptor

    def share(self, descriptor: int) -> None:
        """Use the ring in a file of `create_file`. The descriptor can be closed afterwards."""
        self._file = os.dup(descriptor)
        self._table = mmap.mmap(self._file, TABLE_BYTES)

    def get(self, language: str, source: bytes, files: Mapping[str, bytes]) -> bytes | None:
        """The program that a source was compiled to; None if it is not kept."""
        if self._file is None:
            return None
        key = _key(language, source, files)
        kept, position, size, checksum = _SLOT.unpack_from(self._table, _slot(key))
        if kept != key or checksum != _checksum(key, position, size):
            return None
        start = _RING + position % RING_BYTES
        compiled = self._table[start : start + size]
        return compiled if self._head() <= position + RING_BYTES else None

    def keep(
        self, language: str, source: bytes, files: Mapping[str, bytes], compiled: bytes
    ) -> None:
        """Keep the program of a source, if it is of `MAX_PROGRAM_BYTES` at most."""
        size = len(compiled)
        if self._file is None or size > MAX_PROGRAM_BYTES:
            return
        key = _key(language, source, files)
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            position = self._head()
            if position % RING_BYTES + size > RING_BYTES:  # it would not fit before the end
                position += RING_BYTES - position % RING_BYTES
            # The head moves first: a reader of what is overwritten must notice.
            _HEAD.pack_into(self._table, 0, position + size)
            start = _RING + position % RING_BYTES
            self._table[start : start + size] = compiled
            checksum = _checksum(key, position, size)
            _SLOT.pack_into(self._table, _slot(key), key, position, size, checksum)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _head(self) -> int:
        """Number of bytes that were ever written."""
        (head,) = _HEAD.unpack_from(self._table)
        return int(head)


def _key(language: str, source: bytes, files: Mapping[str, bytes]) -> bytes:
    """The hash of a source, its language and the files that it may include."""
    key = hashlib.sha256()
    for part in _parts(language, source, files):
        key.update(len(part).to_bytes(8))
        key.update(part)
    return key.digest()


def _parts(language: str, source: bytes, files: Mapping[str, bytes]) -> Iterator[bytes]:
    yield language.encode()
    yield source
    for name, content in sorted(files.items()):
        yield name.encode()
        yield content


def _slot(key: bytes) -> int:
    return _HEAD.size + int.from_bytes(key) % NUM_SLOTS * _SLOT.size


def _checksum(key: bytes, position: int, size: int) -> int:
    return zlib.crc32(key + position.to_bytes(8) + size.to_bytes(8))
