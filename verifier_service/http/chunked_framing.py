"""The framing of a body in chunks (RFC 9112, section 7.1), checked strictly.

h11 finds the chunks and is lenient about what stands between them: a line that ends in LF alone, a
CR within a line, folded trailers. Readers that disagree there disagree about the body's end.
"""

from __future__ import annotations

import re
from enum import Enum

from verifier_service.http.request_head import HEADER

MAX_LINE_BYTES = 2**12
"""Longest line between chunks."""

# The size of a chunk with its extension: `1f`, `5;name=value`.
_SIZE = re.compile(rb"(?P<size>[0-9A-Fa-f]{1,15})(?:;[\t\x20-\x7e]*)?\r\n")


class _Part(Enum):
    SIZE = 0
    END_OF_CHUNK = 1
    TRAILER = 2
    NOTHING = 3


class ChunkedFraming:
    """Follows a body as it arrives, until its end."""

    def __init__(self) -> None:
        self._expected = _Part.SIZE
        self._num_left = 0
        """Bytes of the chunk that have not arrived."""
        self._line = bytearray()

    def accepts(self, received: bytes) -> bool:
        """Whether the framing is right so far; bytes after the body's end are not looked at."""
        start = 0
        while start < len(received) and self._expected is not _Part.NOTHING:
            if self._num_left:
                skipped = min(self._num_left, len(received) - start)
                self._num_left -= skipped
                start += skipped
                continue
            end = received.find(b"\n", start) + 1 or len(received)
            self._line += received[start:end]
            start = end
            if len(self._line) > MAX_LINE_BYTES:
                return False
            if self._line.endswith(b"\n") and not self._accepts_line():
                return False
        return True

    def _accepts_line(self) -> bool:
        line, self._line = bytes(self._line), bytearray()
        if not line.endswith(b"\r\n"):
            return False
        if self._expected is _Part.SIZE:
            found = _SIZE.fullmatch(line)
            if found is None:
                return False
            self._num_left = int(found["size"], 16)
            self._expected = _Part.END_OF_CHUNK if self._num_left else _Part.TRAILER
            return True
        if self._expected is _Part.END_OF_CHUNK:
            self._expected = _Part.SIZE
            return line == b"\r\n"
        if line == b"\r\n":
            self._expected = _Part.NOTHING
            return True
        return HEADER.fullmatch(line) is not None
