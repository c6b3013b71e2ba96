"""Real data for tests and benchmarks, read from a folder beside the repository."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "data"


def shared_data(relative: str) -> list[dict[str, Any]]:
    """The rows of a .jsonl or .jsonl.gz file; skips the test where the file is missing."""
    path = FOLDER / relative
    if not path.exists():
        pytest.skip(f"no real data: shared/data/{relative} is not beside the repository")
    raw = path.read_bytes()
    lines = (gzip.decompress(raw) if path.suffix == ".gz" else raw).split(b"\n")
    return [json.loads(line) for line in lines if line]
