"""The body of a request as it is sent: JSON, compressed where it is large."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any

from reward_verifier.protocol import Request

MIN_COMPRESSED_BYTES = 2**20
"""Smallest body that is sent compressed. The service reads bodies of this size in a process of
their own, compressed or not; a smaller one would only get there by being compressed."""
NDJSON = "application/x-ndjson"


class UnsendableValue(ValueError):
    """A value has no form in JSON and UTF-8; the message names its place."""


def request_content(request: Request) -> dict[str, Any]:
    """The body of a request in JSON and what tells of it, as arguments of httpx.

    Raises:
        UnsendableValue: the body holds such a value.
    """
    headers = {"Accept": NDJSON} if request.is_streamed else {}
    if request.body is None:
        return {"headers": headers}
    try:
        content = json.dumps(
            request.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        ).encode()
    except (TypeError, ValueError):
        require_sendable(request.body, "the body")
        raise
    headers["Content-Type"] = "application/json"
    if request.may_be_compressed and len(content) >= MIN_COMPRESSED_BYTES:
        content = gzip.compress(content, compresslevel=1)
        headers["Content-Encoding"] = "gzip"
    return {"content": content, "headers": headers}


def require_sendable(value: Any, place: str) -> None:
    """Raise UnsendableValue for a value, or one inside it, that no body can hold.

    >>> require_sendable({"answer": ["4", float("nan")]}, "reference")
    Traceback (most recent call last):
    reward_verifier.request_content.UnsendableValue: reference.answer.1 is nan: JSON has no such \
number
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            require_sendable(name, f"{place}: the name {name!a}")
            require_sendable(inner, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            require_sendable(inner, f"{place}.{index}")
    elif isinstance(value, str):
        _require_utf_8(value, place)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise UnsendableValue(f"{place} is {value}: JSON has no such number")
    elif value is not None and not isinstance(value, int):
        raise UnsendableValue(f"{place} is of the type {type(value).__name__}: JSON cannot hold it")


def _require_utf_8(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnsendableValue(
            f"{place} has half of a surrogate pair, {text[error.start]!a}, at character "
            f"{error.start}: UTF-8 cannot hold it"
        ) from error
