"""Facts about processes that tests need."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from verifier_service.workers.fork_template import name_of


def children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    found: list[int] = []
    ended = suppress(FileNotFoundError, ProcessLookupError)  # while its files are read
    with ended:
        for task in os.listdir(f"/proc/{pid}/task"):
            with ended:
                text = Path(f"/proc/{pid}/task/{task}/children").read_text()
                found += [int(child) for child in text.split()]
    return found


def fork_servers(pid: int, module: str) -> list[int]:
    """The fork servers of a process that run a module of ours; their children are its workers."""
    templates = [
        child
        for child in children(pid)
        if b"verifier_service.workers.fork_template" in _command(child)
    ]
    name = name_of(module)
    return [one for found in templates for one in children(found) if name_in_list(one) == name]


def name_in_list(pid: int) -> str:
    """The name that a process has in a list of processes; empty if it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _command(pid: int) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    return [pid, *(process for child in children(pid) for process in tree(child))]


def state_of(pid: int) -> str:
    """The letter of a process's state, see proc_pid_stat(5); empty if it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    return ""


def until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} seconds"
        time.sleep(0.005)


async def until_async(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait for a condition while the event loop goes on."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} seconds"
        await asyncio.sleep(0.005)


def pid_in(log: Path) -> int:
    """The process that a service says it is in its log."""
    found = re.search(r"server process \[(\d+)\]", log.read_text())
    assert found, log.read_text()
    return int(found[1])


@contextmanager
def without_descriptors(num_left: int = 0) -> Iterator[None]:
    """Have this process open no more files than so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 64, hard))
    try:
        with suppress_too_many():
            while True:
                used.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(num_left):
            os.close(used.pop())
        yield
    finally:
        for descriptor in used:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def suppress_too_many() -> Iterator[None]:
    """Go on after there were too many open files."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
