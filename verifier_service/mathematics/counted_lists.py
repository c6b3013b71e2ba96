"""Lists with their count before them: the `5` of `There are 5 such numbers: 2, 3, 5, 7, 11.`"""

from __future__ import annotations

import re

_MAX_CHARACTERS = 400
"""Longest sentence that is read."""

# A count and the list behind it at the end of a text: `5 such numbers: 2, 3, 5, 7, 11.`, `$3$
# solutions, namely $x = 1$, $x = 2$ and $x = 3$`.
_COUNTED_LIST = re.compile(
    r"(?<![\w.,/^-])[*$]{0,3}(?P<count>\d{1,3})[*$]{0,3}(?:\s[A-Za-z'’-]{1,20}){0,6}"
    r"(?::|,\snamely:?)\s{1,3}(?P<items>[^:;?\n]{3,300}?)[.*]{0,3}\s{0,9}\Z"
)
# The end of an item: a comma, `and`. One inside of brackets ends no point or set: `(1, 2), (3, 4)`.
_BETWEEN_ITEMS = re.compile(r",\s(?:and\s)?(?![^()]{0,40}\))|\sand\s|,\s(?=\()")
# A word that denies the count, or goes on from it: `not`, `so`.
_OPEN = re.compile(
    r"\b(?:not|no|or|maybe|perhaps|guess(?:es)?|candidates?|possible|answers?|options?|tr(?:y|ies|ied)"
    r"|attempts?|if|unless|but|(?-i:so)|of\swhich)\b",
    re.IGNORECASE,
)


def counted_list(text: str) -> str | None:
    """The count before a list of so many items with which a text ends; None for any other text.

    >>> counted_list("So there are 3 such numbers: 12, 24 and 36."), counted_list("4 of them: 1, 2")
    ('3', None)
    """
    end = text[-_MAX_CHARACTERS:]
    found = _COUNTED_LIST.search(end)
    if found is None:
        return None
    line = end[end.rfind("\n", 0, found.start()) + 1 :]
    items = [item for item in _BETWEEN_ITEMS.split(found["items"]) if item.strip()]
    is_open = _OPEN.search(line) is not None or len(set(items)) < len(items)
    return None if is_open or len(items) != int(found["count"]) else found["count"]
