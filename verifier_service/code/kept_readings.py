"""Readings of test code that are kept for the next programs with the same tests."""

from __future__ import annotations

import hashlib
import mmap
import os
import struct

from verifier_service.code.journal import MAX_READING_BYTES

NUM_SLOTS = 1024
_HEADER = struct.Struct("=32s32sI")
"""The header of a reading: hash of the tests, checksum of hash and reading, size in bytes."""
_SLOT_BYTES = _HEADER.size + MAX_READING_BYTES
TABLE_BYTES = NUM_SLOTS * _SLOT_BYTES
"""Size of the table. Pages of it that nobody has written to take no memory."""


class KeptReadings:
    """A table of packed readings by the tests that they are of, which processes can share.

    Tests have one slot, by their hash. A reading that is kept there takes the place of the one
    before. Nothing is locked: a record that two processes wrote at once, or that a process did not
    finish, does not match its checksum, and counts as none.
    """

    def __init__(self) -> None:
        """Begin with an empty table of this process alone."""
        self._table = mmap.mmap(-1, TABLE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    @staticmethod
    def create_file() -> int:
        """The descriptor of a new file for processes to share."""
        descriptor = os.memfd_create("readings")
        os.ftruncate(descriptor, TABLE_BYTES)
        return descriptor

    def share(self, descriptor: int) -> None:
        """Use the table in a file of `create_file`. The descriptor can be closed afterwards."""
        self._table = mmap.mmap(descriptor, TABLE_BYTES)

    def get(self, tests: str) -> str:
        """The reading of these tests; empty if none is kept."""
        key = _key(tests)
        start = _start(key)
        kept_key, checksum, size = _HEADER.unpack_from(self._table, start)
        if kept_key != key or size > MAX_READING_BYTES:
            return ""
        start += _HEADER.size
        reading = self._table[start : start + size]  # a copy, which no other process changes
        return reading.decode() if checksum == _checksum(key, reading) else ""

    def keep(self, tests: str, reading: str) -> None:
        """Keep the reading of these tests, if it is of `MAX_READING_BYTES` at most."""
        encoded = reading.encode()
        if len(encoded) > MAX_READING_BYTES:
            return
        key = _key(tests)
        record = _HEADER.pack(key, _checksum(key, encoded), len(encoded)) + encoded
        start = _start(key)
        self._table[start : start + len(record)] = record


def _key(tests: str) -> bytes:
    return hashlib.sha256(tests.encode()).digest()


def _start(key: bytes) -> int:
    return int.from_bytes(key) % NUM_SLOTS * _SLOT_BYTES


def _checksum(key: bytes, reading: bytes) -> bytes:
    return hashlib.sha256(key + reading).digest()
