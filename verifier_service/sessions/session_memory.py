"""The memory that all sessions of a replica take together, within one bound.

A session takes what its process has grown by since it was opened, the room of its files (a file
system in memory), and what an idle interpreter takes.
"""

from __future__ import annotations

from collections.abc import Iterable

from verifier_service.errors import QueueFull
from verifier_service.sessions.session import Session

IDLE_BYTES = 8 * 2**20
"""Memory of a session in which nothing ran, its zygote included; see docs/experiments.md."""


class SessionsMemoryFull(QueueFull):
    """The open sessions leave no memory for a further one."""

    kind = "sessions_memory_full"


class SessionMemory:
    """The memory of some sessions, against its bound.

    Args:
        max_bytes: most memory of all of them; None: no bound.
    """

    def __init__(self, max_bytes: int | None) -> None:
        self.max_bytes = max_bytes
        self._reserved: dict[str, int] = {}
        self._grown: dict[str, int] = {}
        self._num_calls: dict[str, int] = {}
        """Calls that had ended when an idle session was looked at last."""

    @property
    def num_bytes(self) -> int:
        """Memory of all sessions, as it was last looked at."""
        return sum(self._reserved.values()) + sum(self._grown.values())

    def reserve(self, name: str, file_bytes: int) -> None:
        """Count a session before it is opened.

        Args:
            name: to `release` it by.
            file_bytes: room of its files, all of which counts from the start.

        Raises:
            SessionsMemoryFull: it would exceed the bound.
        """
        taken, asked = self.num_bytes, _reserved_bytes(file_bytes)
        if self.max_bytes is not None and taken + asked > self.max_bytes:
            raise SessionsMemoryFull(
                f"the open sessions take {taken} bytes of at most {self.max_bytes}, and this one "
                f"would take {asked}",
                details={"bytes": taken, "asked": asked, "max_bytes": self.max_bytes},
            )
        self._reserved[name] = asked

    def count(self, session: Session) -> None:
        """Count a session that has been opened."""
        self._reserved[session.name] = _reserved_bytes(session.limits.file_bytes)

    def release(self, name: str) -> None:
        """Forget a session."""
        for found in (self._reserved, self._grown, self._num_calls):
            found.pop(name, None)

    def look(self, sessions: Iterable[Session]) -> None:
        """Read the memory of sessions that run or ran; idle ones are stopped and do not grow."""
        for session in sessions:
            if session.running is not None or self._num_calls.get(session.name) != (
                session.num_calls
            ):
                self._grown[session.name] = session.grown_bytes
            if session.running is None:
                self._num_calls[session.name] = session.num_calls

    @property
    def largest(self) -> str | None:
        """Name of the session that takes most, while all together take more than the bound."""
        if self.max_bytes is None or self.num_bytes <= self.max_bytes or not self._grown:
            return None
        return max(self._grown, key=lambda name: self._grown[name] + self._reserved[name])


def _reserved_bytes(file_bytes: int) -> int:
    return IDLE_BYTES + file_bytes
