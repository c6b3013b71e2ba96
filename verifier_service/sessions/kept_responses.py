"""The last response of each session, for a client that asks again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MAX_KEPT_BYTES = 64 * 2**20
"""Most bytes of all responses that are kept."""
ENTRY_BYTES = 2**10
"""Bytes that a response takes besides its content, at most."""


@dataclass(frozen=True)
class KeptResponse:
    """The response to the last call of a session, which may have ended with it."""

    owner: str | None
    """Hash of the API key that the session belongs to; None without keys."""
    call: int
    digest: bytes
    """Hash of what the call asked for."""
    content: bytes
    """JSON."""


class KeptResponses:
    """Last responses by session, within a bound: the oldest are dropped first."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._responses: OrderedDict[str, KeptResponse] = OrderedDict()
        self._num_bytes = 0

    @property
    def num_bytes(self) -> int:
        """Bytes that are kept."""
        return self._num_bytes

    def get(self, name: str) -> KeptResponse | None:
        """The last response of a session; None if there is none, or none any more."""
        return self._responses.get(name)

    def keep(self, name: str, response: KeptResponse) -> None:
        """Keep the response instead of the session's last one."""
        self.drop(name)
        self._responses[name] = response
        self._num_bytes += _size(response)
        while self._num_bytes > self._max_bytes:
            self.drop(next(iter(self._responses)))

    def drop(self, name: str) -> None:
        """Drop the last response of a session, if there is one."""
        dropped = self._responses.pop(name, None)
        if dropped is not None:
            self._num_bytes -= _size(dropped)


def _size(response: KeptResponse) -> int:
    return len(response.content) + ENTRY_BYTES
