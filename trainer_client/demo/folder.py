"""The folder of a demonstration, which is looked at before torch is imported."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from trainer_client.config.run_config import ConfigError

DEFAULT = Path("runs/demo")


def clear_folder(folder: Path, *, replace: bool) -> None:
    """See to it that the folder does not exist.

    Args:
        folder: of the demonstration to come.
        replace: whether an earlier demonstration in it is removed.

    Raises:
        ConfigError: it exists and is not to be replaced, or is no demonstration's.
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
    """Whether make runs this, which sets MAKELEVEL, with the folder that it has by default."""
    return folder == DEFAULT and "MAKELEVEL" in os.environ
