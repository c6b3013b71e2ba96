"""Files packed into one sequence of bytes: a line of JSON with names and sizes, then the contents.

The header may hold more than the files; see `workspace.pack_workspace`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def pack(files: Mapping[str, bytes], **more: Any) -> bytes:
    """Files by name, and more values for the header, as bytes.

    >>> unpack(pack({"a": b"1", "b/c": b""}))
    {'a': b'1', 'b/c': b''}
    """
    return b"".join(
        [header([(name, len(file)) for name, file in files.items()], **more), *files.values()]
    )


def header(sizes: list[tuple[str, int]], **more: Any) -> bytes:
    """The first line: names with sizes, and more values."""
    return json.dumps({"files": sizes, **more}).encode() + b"\n"


def unpack(packed: bytes) -> dict[str, bytes]:
    """The inverse of `pack`. Raises ValueError if sizes and bytes do not agree."""
    line, _, contents = packed.partition(b"\n")
    files, start = {}, 0
    for name, size in json.loads(line)["files"]:
        files[name] = contents[start : start + size]
        start += size
    if start != len(contents):
        raise ValueError(f"packed files have {len(contents)} bytes, not {start}")
    return files
