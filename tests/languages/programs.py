"""Programs of each language, from the files of this directory."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PROGRAMS: dict[str, dict[str, Any]] = {
    path.stem: tomllib.loads(path.read_text())
    for path in sorted(Path(__file__).parent.glob("*.toml"))
}
