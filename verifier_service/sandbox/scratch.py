"""The scratch directory of an execution: measuring, emptying and removing it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

SCRATCH_INODES = 4096
"""Most files and directories of a program."""


def empty_directory(directory: Path) -> None:
    """Remove everything in a directory, however deep, and whatever its permissions are.

    No process may be writing to the directory.
    """
    root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    prefix = secrets.token_hex(8)  # a guessable name could exist already
    number = 0
    try:
        while names := os.listdir(root):
            for name in names:
                if not _is_directory(name, root):
                    os.unlink(name, dir_fd=root)
                    continue
                child = _open_directory(name, root)
                # Its contents move up. Recursion instead would fail on a very deep tree.
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
    """Remove a directory with everything in it.

    Returns:
        False if a file was added to it meanwhile.
    """
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
    """Whether a directory holds more than these limits, counted by the space taken on disk.

    Other processes may be writing to it. A directory that cannot be read counts as empty: its owner
    cannot write to it either.
    """
    pending = [directory]
    while pending:
        try:
            items = list(os.scandir(pending.pop()))
            num_files -= len(items)
            num_bytes -= sum(item.stat(follow_symlinks=False).st_blocks * 512 for item in items)
            pending += [Path(item) for item in items if item.is_dir(follow_symlinks=False)]
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # too deep to be looked at, so too full
                return True
        if num_files < 0 or num_bytes < 0:
            return True
    return False


def _is_directory(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _open_directory(name: str, parent: int) -> int:
    os.chmod(name, 0o700, dir_fd=parent)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
