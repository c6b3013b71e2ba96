"""Spans of a text from a beginning to an end, found in linear time."""

from __future__ import annotations

import re


def spans(pattern: str, end: str, text: str) -> list[str]:
    """The matches within lines of a pattern that ends with the text `end`.

    Behind the last `end` of a line nothing can match, and the pattern would look for it from each
    beginning.

    >>> spans(r"\\[.*?\\]", "]", "[a] [b [[[")
    ['[a]']
    """
    possible = (
        line[: place + len(end)] for line in text.split("\n") if (place := line.rfind(end)) >= 0
    )
    return [found for part in possible for found in re.findall(pattern, part)]
