"""The packages of other projects, which `make test-interop` must have and `make test` need not."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


def peer(name: str) -> Any:
    """A module of another project; skips where nobody asked for it to be there."""
    if "SERVICE_PYTHON" in os.environ:
        return importlib.import_module(name)
    return pytest.importorskip(name, reason="make test-interop installs it")
