"""The packages of other projects, which `make test-interop` must have and `make test` need not."""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest


def peer(name: str) -> Any:
    """A module of another project; skips where nobody asked for it to be there."""
    if "SERVICE_PYTHON" in os.environ:
        return importlib.import_module(name)
    return pytest.importorskip(name, reason="make test-interop installs it")


def peer_folder(name: str) -> Path:
    """The folder of another project's package, which is not imported; skips as `peer` does."""
    found = importlib.util.find_spec(name)
    if found is None or found.submodule_search_locations is None:
        return Path(peer(name).__path__[0])
    (folder,) = found.submodule_search_locations
    return Path(folder)
