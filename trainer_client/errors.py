"""What ends a command with one line."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class TrainerError(Exception):
    """Something that the user can mend: the message says what, and needs no traceback.

    Any other exception is a bug.
    """

    exit_status: ClassVar[int] = 1
    """Of the command that it ends."""


def not_loaded(error: Exception, path: str, setting: str) -> str:
    """The path of a model that cannot be loaded, why not, and what else to do.

    Args:
        error: of transformers.
        path: a folder, or a name of the Hugging Face hub.
        setting: that has it.
    """
    return f"{path!r}: {str(error).rstrip('.')}{or_local(path, setting)}"


def or_local(path: str, setting: str) -> str:
    """What to add to a message about something that is nowhere here and that the hub did not give.

    Args:
        path: a folder, or a name of the Hugging Face hub.
        setting: that has it.
    """
    return "" if Path(path).exists() else f"; or set {setting} to a local folder"
