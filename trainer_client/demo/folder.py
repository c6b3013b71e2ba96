"""The folder of a demonstration; checked before torch is imported, which takes seconds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from trainer_client.config.run_config import ConfigError

DEFAULTS = {"sums": Path("runs/demo"), "tools": Path("runs/demo_tools")}
"""Folder of each demonstration where none is named."""


def clear_folder(folder: Path, *, replace: bool) -> None:
    """Make sure that the folder does not exist.

    Args:
        folder: folder of the demonstration to come.
        replace: whether to remove an earlier demonstration.

    Raises:
        ConfigError: the folder exists and must not be removed, or holds something else than a
            demonstration.
    """
    if not folder.exists():
        return
    if not replace:
        by_make = " (make demo ARGS=--replace)" if _is_make_demo(folder) else ""
        raise ConfigError(
            f"{folder.resolve()} exists; choose another folder with --output, or remove it with "
            f"--replace{by_make}"
        )
    if not (folder / "data" / "demonstrations.jsonl").is_file():
        raise ConfigError(f"{folder.resolve()} is not of a demonstration; it is left alone")
    shutil.rmtree(folder)


def _is_make_demo(folder: Path) -> bool:
    """Whether `make demo` runs this with its default folder; make sets MAKELEVEL."""
    return folder == DEFAULTS["sums"] and "MAKELEVEL" in os.environ
