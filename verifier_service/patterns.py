"""Patterns in RE2's syntax, which are matched in time linear in the text."""

from __future__ import annotations

from typing import Any

import re2

MAX_PROGRAM_BYTES = 2**20
"""Largest compiled pattern. Compiling one, or finding it too large, takes up to 1 s."""


def compiled(pattern: str, max_program_bytes: int = MAX_PROGRAM_BYTES) -> Any:
    """Compile a pattern; raises ValueError where RE2 does not take it."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_program_bytes
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"not a pattern of RE2: {_text(error)}") from error


def _text(error: Exception) -> str:
    message = error.args[0] if error.args else ""
    return message.decode(errors="replace") if isinstance(message, bytes) else str(message)
