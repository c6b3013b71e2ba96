"""The body of a request as it is sent: JSON, compressed where it is large."""

from __future__ import annotations

import gzip
import json
from typing import Any

from reward_verifier.protocol import Request

MIN_COMPRESSED_BYTES = 2**20
"""Smallest body that is sent compressed. The service reads bodies of this size in a process of
their own, compressed or not; a smaller one would only get there by being compressed."""
NDJSON = "application/x-ndjson"


def request_content(request: Request) -> dict[str, Any]:
    """The body of a request in JSON and what tells of it, as arguments of httpx."""
    headers = {"Accept": NDJSON} if request.is_streamed else {}
    if request.body is None:
        return {"headers": headers}
    content = json.dumps(
        request.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()
    headers["Content-Type"] = "application/json"
    if request.may_be_compressed and len(content) >= MIN_COMPRESSED_BYTES:
        content = gzip.compress(content, compresslevel=1)
        headers["Content-Encoding"] = "gzip"
    return {"content": content, "headers": headers}
