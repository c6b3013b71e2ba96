"""Messages between the service and the process that writes its store.

They stand by themselves, so that a service without a store starts without numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec


@dataclass(frozen=True)
class StoreBounds:
    """Bounds on the files of a store."""

    max_bytes: int
    max_days: float | None
    """Age at which files are deleted; None: they are kept."""


class WriterOptions(msgspec.Struct, frozen=True):
    """The options of a writer."""

    folder: str
    max_bytes: int
    max_days: float | None
    flush_seconds: float
    """Longest time that a verdict waits in memory."""

    @property
    def bounds(self) -> StoreBounds:
        """The bounds on the files."""
        return StoreBounds(self.max_bytes, self.max_days)


class WriterReport(msgspec.Struct, frozen=True):
    """Message to the service about verdicts that have left the writer's memory."""

    num_written: int = 0
    num_lost: int = 0
    stored_bytes: int | None = None
    problem: str | None = None
    """Why verdicts were lost."""
