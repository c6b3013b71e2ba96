"""The limits on a body: `max_body_bytes`, as it is declared, as it arrives, and as it is
decompressed; and the size up to which the API process holds it."""

from __future__ import annotations

from verifier_service.errors import BodyTooLarge

MAX_HELD_BYTES = 2**20
"""Largest body that the API process holds, and may read if it is text in few values. A larger one
is in a file, which the process of its request inherits and reads when others have read theirs."""


def check_declared(content_length: str, max_bytes: int) -> int:
    """The size that a Content-Length header declares; 0 if it declares none.

    Raises:
        BodyTooLarge: it is over the limit.
    """
    num_bytes = 0
    if content_length.isdecimal() and len(content_length) < 20:
        num_bytes = int(content_length)
    BodyLimit(max_bytes).add(num_bytes)
    return num_bytes


class BodyLimit:
    """Counts the bytes of one body, arriving or decompressed, up to a limit."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._num_bytes = 0

    def add(self, num_bytes: int) -> None:
        """Count more bytes. Raises BodyTooLarge."""
        self._num_bytes += num_bytes
        if self._num_bytes > self._max_bytes:
            raise BodyTooLarge(f"the body is larger than {self._max_bytes} bytes")
