"""The wall time that a program may take, which follows from its limit of CPU time."""

from __future__ import annotations

WALL_SHARE = 3.0
"""Wall time as a multiple of CPU time: on a busy machine a program waits."""
MIN_WAIT_SECONDS = 5.0
"""Least wall time beyond CPU time."""


def wall_seconds(cpu_seconds: float) -> float:
    """The limit of wall time that belongs to a limit of CPU time.

    >>> [wall_seconds(seconds) for seconds in (1.0, 4.0)]
    [6.0, 12.0]
    """
    return max(WALL_SHARE * cpu_seconds, cpu_seconds + MIN_WAIT_SECONDS)
