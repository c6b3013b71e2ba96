"""Lists with their count before them: the `5` of `There are 5 such numbers: 2, 3, 5, 7, 11.`"""

from __future__ import annotations

import re

_MAX_CHARACTERS = 400
"""Longest sentence that is read."""

# A sentence at the end of a text that says how many there are, and lists them: `There are 5 such
# numbers: 2, 3, 5, 7, 11.`, `So there are $2$ roots, namely $x = 1$ and $x = 3$`. What another
# sentence counts may be given, or a part of all: `Take the 2 roots: 1, 3`.
_COUNTED_LIST = re.compile(
    r"(?:(?<=\n)|(?<=[.!]\s)|\A)[\s*]{0,4}(?:(?:so|thus|hence|therefore|in\stotal|altogether),?\s)?"
    r"there\sare\s(?:exactly\s|only\s|a\stotal\sof\s)?[*$]{0,3}(?P<count>\d{1,3})[*$]{0,3}"
    r"(?:\s[A-Za-z'’-]{1,20}){0,6}(?::|,\snamely:?)\s{1,3}"
    r"(?P<items>(?:(?![.!]\s)[^:;?\n]){3,300}?)[.*]{0,3}\s{0,9}\Z",
    re.IGNORECASE,
)
# The end of an item: a comma, `and`. One inside of brackets ends no point or set: `(1, 2), (3, 4)`.
_BETWEEN_ITEMS = re.compile(r",\s(?:and\s)?(?![^()]{0,40}\))|\sand\s|,\s(?=\()")
# A word that denies the count, goes on from it, leaves the list open or counts no answers.
_OPEN = re.compile(
    r"\b(?:not|no|or|maybe|perhaps|guess(?:es)?|candidates?|possible|answers?|options?|tr(?:y|ies|ied)"
    r"|attempts?|if|unless|but|of\swhich|etc|examples?|errors?|cases|steps|parts|conditions|equations|groups|kinds|types|times|more|percent|other|further|additional"
    r"|remaining|to|wrong|invalid|fail\w*)\b|\.\.|…|\\[lc]?dots",
    re.IGNORECASE,
)


def counted_list(text: str) -> str | None:
    """The count before a list of so many items with which a text ends; None for any other text.

    >>> counted_list("So there are 3 such numbers: 12, 24 and 36.")
    '3'
    >>> counted_list("Take the 2 roots: 1, 2") is None
    True
    """
    end = text[-_MAX_CHARACTERS:]
    found = _COUNTED_LIST.search(end)
    if found is None:
        return None
    items = [item for item in _BETWEEN_ITEMS.split(found["items"]) if item.strip()]
    is_open = _OPEN.search(found[0]) is not None or len(set(items)) < len(items)
    return None if is_open or len(items) != int(found["count"]) else found["count"]
