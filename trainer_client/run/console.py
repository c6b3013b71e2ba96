"""The terminal."""

from __future__ import annotations

from rich.console import Console

CONSOLE = Console()
