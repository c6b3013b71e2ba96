"""Real data for tests and benchmarks, read from a folder beside the repository."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "data"

Row = dict[str, Any]


class SharedDataMissing(Exception):
    """The file is not there; the message says where it was looked for."""


def read_shared_data(relative: str) -> list[Row]:
    """The rows of a .jsonl or .jsonl.gz file. Raises SharedDataMissing."""
    path = FOLDER / relative
    if not path.exists():
        raise SharedDataMissing(
            f"no real data: shared/data/{relative} is not beside the repository"
        )
    raw = path.read_bytes()
    lines = (gzip.decompress(raw) if path.suffix == ".gz" else raw).split(b"\n")
    return [json.loads(line) for line in lines if line]


def shared_data(relative: str) -> list[Row]:
    """The rows of a file; skips the test where it is missing."""
    try:
        return read_shared_data(relative)
    except SharedDataMissing as missing:
        pytest.skip(str(missing))
