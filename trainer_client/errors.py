"""Errors that end a command with one line instead of a traceback.

    TrainerError
    |- TrainingError              training cannot go on
    |  `- TrainingStopped         it was stopped, and a checkpoint is saved
    |     `- TrainingInterrupted  by SIGTERM; TrainingStoppedByUser: by Ctrl-C
    `- ConfigError, DatasetError, RolloutError, ...

Those of the last line stand beside the code that raises them. Errors of the verifier service are in
`reward_verifier.errors`; the command line treats them alike.
"""

from __future__ import annotations

import errno
import re
import signal
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar

_OWN_FOLDERS = (str(Path(__file__).parent), *map(sysconfig.get_path, ("stdlib", "purelib")))
_LIBRARIES = re.compile("|".join(re.escape(f"{one}/") for one in _OWN_FOLDERS) + "|<frozen ")
"""Files of this package, of the standard library and of installed packages."""
MAX_LINE_CHARACTERS = 300
"""Longest part of a library's message that an error of ours quotes."""


class TrainerError(Exception):
    """An error that the user can mend: its message says how, and no traceback is shown.

    Any other exception is a bug.
    """

    exit_status: ClassVar[int] = 1
    """Exit status of the command that this error ends."""


class TrainingError(TrainerError):
    """Training cannot go on; the message tells the cause."""


class TrainingStopped(TrainingError):
    """Training was stopped in good order: a checkpoint of the last whole step is saved."""


class TrainingInterrupted(TrainingStopped):
    """SIGTERM stopped the training; a checkpoint is saved."""

    exit_status = 128 + signal.SIGTERM  # as a shell reports a process that SIGTERM has ended


class TrainingStoppedByUser(TrainingInterrupted):
    """Ctrl-C stopped the training; a checkpoint is saved."""

    exit_status = 128 + signal.SIGINT


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside, an error of the file system means that this path cannot be written.

    Raises:
        TrainerError: the path cannot be written; the message has the system's cause.
    """
    try:
        yield
    except OSError as error:
        raise TrainerError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def room_for_files(folder: Path) -> Iterator[None]:
    """Inside, a full disk ends the run with a message.

    Args:
        folder: the folder of the run, where the error does not say which file it was.

    Raises:
        TrainingError: the disk, or the user's quota of it, is full.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise TrainingError(
            f"cannot write {error.filename or folder}: {error.strerror}. Make room and go on with "
            "--resume"
        ) from error


def not_loaded(error: Exception, path: str, setting: str) -> str:
    """The path of a model that cannot be loaded, the cause, and another way to give it.

    Args:
        error: raised by transformers.
        path: a folder, or a name of the Hugging Face hub.
        setting: the setting that holds the path.
    """
    return f"{path!r}: {first_line(error)}{or_local(path, setting)}"


def raised(error: BaseException) -> str:
    """An error that code of the user's has raised: its type, message and line.

    The line is the innermost one that belongs to no installed package: `rewards.py:6`.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not _LIBRARIES.match(one.filename)]
    place = f" (at {own[-1].filename}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {first_line(error)}{place}"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or nothing where none is near.

    >>> did_you_mean("verifable", ["dapo", "verifiable"])
    "; did you mean 'verifiable'?"
    """
    near = get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def first_line(error: BaseException) -> str:
    """The beginning of an error's message as one line without a full stop.

    Libraries add paragraphs of advice and lists of all their models.

    >>> first_line(OSError("cannot connect.\\nSee https://example.com for help."))
    'cannot connect'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = (lines or [type(error).__name__])[0]
    return text[:MAX_LINE_CHARACTERS].rstrip(" .:,")


def or_local(path: str, setting: str) -> str:
    """The end of a message on a model or data set found neither here nor on the hub.

    Args:
        path: a folder, or a name of the Hugging Face hub.
        setting: the setting that holds the path.
    """
    return "" if Path(path).exists() else f"; or set {setting} to a local folder"
