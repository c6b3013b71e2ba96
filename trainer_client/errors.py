"""What ends a command with one line."""

from __future__ import annotations

from typing import ClassVar


class TrainerError(Exception):
    """Something that the user can mend: the message says what, and needs no traceback.

    Any other exception is a bug.
    """

    exit_status: ClassVar[int] = 1
    """Of the command that it ends."""
