"""Programs of each language, from the files of this directory."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

PROGRAMS: dict[str, dict[str, Any]] = {
    path.stem: tomllib.loads(path.read_text())
    for path in sorted(Path(__file__).parent.glob("*.toml"))
}

SLOW = {"csharp", "d", "haskell", "java", "kotlin", "rust", "scala", "typescript"}
"""Languages whose compilers take half a second or more."""
NAMES = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in PROGRAMS]
"""All of them, as parameters of a test."""
