"""The commands of a command line."""

from __future__ import annotations

import typer


def commands_of(app: typer.Typer) -> list[str]:
    """Names as they are typed."""
    names = [one.name or one.callback.__name__ for one in app.registered_commands if one.callback]
    return sorted(name.replace("_", "-") for name in names)
