"""Readings of test code that are kept for the next programs with the same tests."""

from __future__ import annotations

import hashlib
from collections import OrderedDict


class KeptReadings:
    """Packed readings by the tests that they are of; the least recently used goes first.

    Args:
        max_bytes: size of all readings together, at most.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._readings: OrderedDict[bytes, str] = OrderedDict()

    def get(self, tests: str) -> str:
        """The reading of these tests; empty if none is kept."""
        key = _key(tests)
        if key not in self._readings:
            return ""
        self._readings.move_to_end(key)
        return self._readings[key]

    def keep(self, tests: str, reading: str) -> None:
        """Keep the reading of these tests."""
        self._num_bytes += len(reading) - len(self.get(tests))
        self._readings[_key(tests)] = reading
        while self._num_bytes > self._max_bytes:
            _, oldest = self._readings.popitem(last=False)
            self._num_bytes -= len(oldest)


def _key(tests: str) -> bytes:
    return hashlib.sha256(tests.encode()).digest()
