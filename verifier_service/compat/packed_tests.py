"""Packed tests of open-instruct and LiveCodeBench, which a call has in its body."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from verifier_service import strict_json
from verifier_service.compat.judging import TooMuchHere, judging_of
from verifier_service.plain_pickle import (
    MAX_UNPACKED_BYTES,
    TooLarge,
    UnreadablePickle,
    plain_value,
    unpacked,
)

SMALL_UNPACKED_BYTES = 2**20
"""Largest pickle that the API process reads."""


async def packed_value(request: Request, text: str) -> Any:
    """The lists, objects, texts and numbers that a text holds.

    A pickle of one text, which LiveCodeBench has, stands for the JSON in the text.

    Raises:
        UnreadablePickle: it holds none, or too many.
        TooMuchHere: the call needs a process of its own.
    """
    is_here = judging_of(request).max_verdicts is not None
    try:
        most = SMALL_UNPACKED_BYTES if is_here else MAX_UNPACKED_BYTES
        pickled = unpacked(text, max_bytes=most)
    except TooLarge:
        if is_here:
            raise TooMuchHere from None
        raise
    found = plain_value(pickled)
    try:
        return strict_json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise UnreadablePickle(f"its text is not JSON: {error}") from error
