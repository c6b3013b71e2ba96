"""Names of files in the scratch directory: those that an execution finds, and fetched ones."""

from __future__ import annotations

from pathlib import PurePosixPath

MAX_FETCHED_FILES = 16
"""Most files that one execution can fetch: their descriptors must fit into one message."""
MAX_NAME_BYTES = 200
"""Longest name of a file, in bytes, with its directories."""


def check_name(name: str) -> None:
    """Raise ValueError unless this can be the name of a file in the scratch directory.

    >>> check_name("data/a.txt")
    >>> check_name("../a.txt")
    Traceback (most recent call last):
    ...
    ValueError: '../a.txt' is no name of a file below the working directory
    """
    path = PurePosixPath(name)
    is_below = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    is_plain = "\0" not in name and not name.endswith("/")
    try:
        is_short = len(name.encode()) <= MAX_NAME_BYTES
    except UnicodeEncodeError:
        is_short = False
    if not (is_below and is_plain and is_short):
        raise ValueError(f"{name[:100]!a} is no name of a file below the working directory")


def is_name(name: str) -> bool:
    """Whether `check_name` accepts a name."""
    try:
        check_name(name)
    except ValueError:
        return False
    return True
