"""The terminal: one for all runs of a process, and quiet in processes that do not lead."""

from __future__ import annotations

from rich.console import Console

CONSOLE = Console()


def say(line: str) -> None:
    """Print a line as it is: uncoloured, and unwrapped so that a path can be copied."""
    CONSOLE.print(line, highlight=False, soft_wrap=True)
