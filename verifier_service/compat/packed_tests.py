"""Packed tests of open-instruct and LiveCodeBench, which a call has in its body."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import Request

from verifier_service import strict_json
from verifier_service.compat.judging import TooMuchHere, judging_of
from verifier_service.plain_pickle import UnreadablePickle, plain_value, unpacked

SMALL_UNPACKED_BYTES = 2**20
"""Largest pickle that the API process reads."""


async def packed_value(request: Request, text: str) -> Any:
    """The lists, objects, texts and numbers that a text holds.

    A pickle of one text, which LiveCodeBench has, stands for the JSON in the text.

    Raises:
        UnreadablePickle: it holds none, or too many.
        TooMuchHere: the call needs a process of its own.
    """
    pickled = await asyncio.to_thread(unpacked, text)
    if len(pickled) > SMALL_UNPACKED_BYTES and judging_of(request).max_verdicts is not None:
        raise TooMuchHere
    found = plain_value(pickled)
    try:
        return strict_json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise UnreadablePickle(f"its text is not JSON: {error}") from error
