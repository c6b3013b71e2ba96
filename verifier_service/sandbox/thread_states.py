"""The threads of a process, as /proc/PID/task/TID/stat shows them to every user, see proc(5)."""

from __future__ import annotations

import os
from pathlib import Path

_AWAKE = frozenset("RD")
"""States of a thread that runs or waits for a processor (R), or for a disk (D)."""
AWAITS_PARTNER = "awaits partner"
"""Name that a thread takes while it waits for a message of its partner in a pair."""


def is_asleep(pid: int) -> bool:
    """Whether no thread of a process runs or wants to. False if the kernel does not say."""
    states = [state for _, state in _threads(pid)]
    return bool(states) and _AWAKE.isdisjoint(states)


def awaits_partner(pid: int) -> bool:
    """Whether a process sleeps and says that it does so because it waits for its partner."""
    threads = _threads(pid)
    names = [name for name, _ in threads]
    return AWAITS_PARTNER in names and _AWAKE.isdisjoint(state for _, state in threads)


def _threads(pid: int) -> list[tuple[str, str]]:
    """Name and state of each thread; empty if the process has ended, or is hidden."""
    threads = Path(f"/proc/{pid}/task")
    try:
        return [_name_and_state(threads / number / "stat") for number in os.listdir(threads)]
    except (OSError, ValueError):  # a thread has ended meanwhile, so the process was not asleep
        return []


def _name_and_state(stat: Path) -> tuple[str, str]:
    # The name stands in parentheses and may hold some: "7 (a) b) S 1 7 ..."
    name, _, rest = stat.read_text(errors="replace").partition("(")[2].rpartition(") ")
    if not rest:
        raise ValueError(f"{stat} is empty")
    return name, rest[0]
