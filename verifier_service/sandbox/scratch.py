"""The scratch directory of an execution: how full it is, and emptying it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path


def empty_directory(directory: Path) -> None:
    """Remove everything in a directory, however deep, and whatever its permissions are.

    No process may be writing to it.
    """
    root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    prefix = secrets.token_hex(8)  # no name that is there already
    number = 0
    try:
        while names := os.listdir(root):
            for name in names:
                if not _is_directory(name, root):
                    os.unlink(name, dir_fd=root)
                    continue
                child = _open_directory(name, root)
                # What is in it moves up, so that depth costs nothing.
                try:
                    for inner in os.listdir(child):
                        number += 1
                        if _is_directory(inner, child):
                            os.close(_open_directory(inner, child))
                        os.rename(inner, f"{prefix}-{number}", src_dir_fd=child, dst_dir_fd=root)
                finally:
                    os.close(child)
                os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)


def remove_directory(directory: Path) -> bool:
    """Remove a directory with everything in it. False if something came into it meanwhile."""
    try:
        empty_directory(directory)
        directory.rmdir()
    except FileNotFoundError:
        return not directory.exists()
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        return False
    return True


def holds_more_than(directory: Path, *, num_bytes: int, num_files: int) -> bool:
    """Whether there is more in a directory than these limits, counting what it takes on disk.

    Others may be writing to it. Directories that cannot be read hold nothing, as nobody can write
    to them either.
    """
    pending = [directory]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
            num_files -= len(entries)
            num_bytes -= sum(entry.stat(follow_symlinks=False).st_blocks * 512 for entry in entries)
            pending += [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # so deep that nobody can say what is there
                return True
        if num_files < 0 or num_bytes < 0:
            return True
    return False


def _is_directory(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _open_directory(name: str, parent: int) -> int:
    os.chmod(name, 0o700, dir_fd=parent)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
