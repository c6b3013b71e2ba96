"""The parts of commands: input that cannot be used, a progress bar, the last line of a failure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.progress import Progress


class BadInput(ValueError):
    """A file or an option of a command cannot be used; the message says what to do."""


def example(command: str) -> str:
    """The last lines of a help text; without the mark they are wrapped, and cannot be copied."""
    return f"\b\nExample:\n  {command}"


def input_file(given: Path) -> Path:
    """The file that an argument of a command names; `-` is standard input."""
    return Path("/dev/stdin") if str(given) == "-" else given


def input_name(given: Path) -> str:
    """The name of an argument's file in messages."""
    return "standard input" if str(given) == "-" else str(given)


def progress_bar() -> Progress:
    """A bar on standard error that goes when it is done; nothing where no terminal shows it."""
    from rich.console import Console  # noqa: PLC0415  takes a tenth of the start of `serve`
    from rich.progress import MofNCompleteColumn, Progress  # noqa: PLC0415

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def fail(message: object) -> NoReturn:
    """End with status 2 and a line on standard error."""
    print(message, file=sys.stderr)  # noqa: T201
    raise typer.Exit(2)
