"""Files with a JSON object on each line, one line or more for each step: a run's records.

Nothing here needs torch, so a command that only reads a run starts at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a `.jsonl` file; no file counts as an empty one.

    A last line without its end, as a killed process leaves it, is ignored.
    """
    if not path.exists():
        return []
    with path.open(newline="\n") as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def keep_lines(path: Path, *, last_step: int) -> None:
    """Drop the lines after a step: a run that is resumed there writes them again.

    With `last_step` 0 nothing is kept, since a run that starts again evaluates again.
    """
    rows = [row for row in read_lines(path) if row["step"] <= last_step] if last_step else []
    write_lines(path, rows)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a `.jsonl` file, whole or not at all."""
    replacement = path.with_suffix(".partial")
    replacement.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.replace(replacement, path)
