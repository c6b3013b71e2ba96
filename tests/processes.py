"""What tests need to know of processes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """Of all threads of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            found += [int(child) for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def fork_servers(pid: int, module: str) -> list[int]:
    """Those children of a process that run a module of ours, whose children are its workers."""
    found = []
    for child in children(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            if module.encode() in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    return [pid, *(process for child in children(pid) for process in tree(child))]


def until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} seconds"
        time.sleep(0.005)


def pid_in(log: Path) -> int:
    """The process that a service says it is in its log."""
    found = re.search(r"server process \[(\d+)\]", log.read_text())
    assert found, log.read_text()
    return int(found[1])
