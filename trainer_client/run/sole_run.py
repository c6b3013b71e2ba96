"""A folder belongs to one training at a time: two would mix their checkpoints and metrics."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainer_client.config.run_config import ConfigError
from trainer_client.processes import Processes

LOCK_FILE = ".lock"


@contextmanager
def sole_run(run_dir: Path, processes: Processes, *, make: bool) -> Iterator[None]:
    """Inside, no other process may train into the folder. Collective.

    The system gives the folder free when the process ends, however it ends. A folder that cannot be
    made or locked is nobody's.

    Args:
        run_dir: the folder.
        processes: the processes of the run, of which the first locks.
        make: whether a folder that is not there is made.

    Raises:
        ConfigError: another process trains into it.
    """

    def lock() -> int | None:
        return _lock(run_dir, make=make) if processes.leads else None

    descriptor = processes.agree(lock, ConfigError)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(run_dir: Path, *, make: bool) -> int | None:
    """The descriptor of the locked file, None without one; raises ConfigError."""
    try:
        if make:
            run_dir.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(run_dir / LOCK_FILE, os.O_WRONLY | os.O_CREAT, 0o644)
    except OSError:
        return None
    try:
        # Not `flock`, whose locks a forked child keeps when this process has been killed.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            return descriptor  # a file system without locks
        os.close(descriptor)
        raise ConfigError(
            f"output_dir: another process trains into {run_dir} at the moment; end it, or choose "
            "another folder"
        ) from error
    return descriptor
