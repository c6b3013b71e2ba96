"""Markdown that GitHub and Python-Markdown read alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

MADE = "<!-- Made by `python -m scripts.pages`; a test says when it is out of date. -->"

# Signs that Markdown would read: `[1, 2]`, `n * penalty`, `a | b`, `__init__`.
SIGN = re.compile(r"([\\\[\]*|]|(?<!\w)_|_(?!\w))")


def page(*parts: str) -> str:
    """A file: its parts with an empty line between each two, behind the mark of made files."""
    return "\n\n".join((MADE, *(part.strip("\n") for part in parts if part))) + "\n"


def prose(text: str) -> str:
    """A text in one line whose signs mean themselves, except backquotes around code."""
    parts = " ".join(text.split()).split("`")
    return "".join(
        code(part) if place % 2 else SIGN.sub(r"\\\1", part).replace("<", "&lt;")
        for place, part in enumerate(parts)
    )


def code(text: str) -> str:
    r"""A name or a command, for the cell of a table too.

    There GitHub ends a cell at a `|` between backquotes, and Python-Markdown shows the backslash
    of `\|`.
    """
    if "|" not in text:
        return f"`{text}`"
    plain = SIGN.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
    return "<code>" + plain.replace(r"\|", "&#124;") + "</code>"


def value(found: Any) -> str:
    """A value as it stands in a request, for the cell of a table too."""
    return code(json.dumps(found, ensure_ascii=False))


def session(command: str, output: str) -> str:
    """A command with what it prints."""
    return f"```\n$ {command}\n{output.rstrip()}\n```"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table; the empty text where it has no row."""
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines])
