"""Numbers behind labels: `maximum 7, minimum -1`, `The mean is 5 and the variance is 2.`"""

from __future__ import annotations

import re

_MAX_CHARACTERS = 200
"""Longest text that is read."""
# A number or a point, with a unit in one word: `-1`, `12 cm`, `(2, -3)`.
_VALUE = (
    r"(?:\([-−]?\d[\d./]{0,12}(?:,\s?[-−]?\d[\d./]{0,12}){1,2}\)|[$€£]?[-−]?\d{1,12}(?:,\d{3}){0,4}(?!\d)(?:\.\d{1,9})?(?:/\d{1,9})?%?)"
    r"(?:\s(?!and\b)[a-z°]{1,10}[²³]?)?"
)
# A label with its value: the `the variance is 2` of `The mean is 5 and the variance is 2.`
_PART = (
    r"(?:(?:the|its|an?)\s)?(?P<label>[a-z][a-z-]{1,20}(?:\s(?!is\b|are\b|of\b|has\b)[a-z-]{2,20}){0,2}?)"
    r"(?:\s(?:is|are|of|equals|has)|\s?[=:])?\s"
    rf"(?P<value>{_VALUE})"
)
_LABELLED = re.compile(_PART, re.IGNORECASE)
_UNNAMED = re.sub(r"\?P<\w+>", "?:", _PART)
_WHOLE = re.compile(
    rf"(?:(?:so|thus|hence|therefore),?\s)?{_UNNAMED}(?:(?:[,;]|,?\sand)\s(?:and\s)?{_UNNAMED}){{1,5}}\s?\.?",
    re.IGNORECASE,
)
_SHORT = {"max": "maximum", "min": "minimum"}
# Words that bound, deny or change what a label has: `not`, `twice`.
_NO_LABEL = re.compile(
    r"\b(?:not|no|never|or|if|at|least|most|than|about|either|neither|twice|half|plus|minus|times"
    r"|wrong|maybe|perhaps|when|for|from|between|under|over|without|step|part|case|question)\b",
    re.IGNORECASE,
)


def labelled_values(text: str) -> dict[str, str] | None:
    """The values of a text that is nothing but these behind their labels; None for any other.

    >>> labelled_values("The mean is 5 and the variance is 2.")
    {'mean': '5', 'variance': '2'}
    >>> labelled_values("maximum 7, minimum -1") == labelled_values("min = -1, max = 7")
    True
    >>> labelled_values("The mean is not 5 and the variance is 2.") is None
    True
    """
    text = text.strip("$* \n")
    if len(text) > _MAX_CHARACTERS or _NO_LABEL.search(text) or not _WHOLE.fullmatch(text):
        return None
    found = [
        (_label(one["label"]), one["value"].replace("−", "-")) for one in _LABELLED.finditer(text)
    ]
    values = dict(found)
    return values if len(values) == len(found) > 1 else None


def _label(words: str) -> str:
    label = re.sub(r"\A(?:(?:so|thus|hence|therefore|and|the|its)\s){1,4}", "", words.lower())
    return _SHORT.get(label, label.removesuffix(" value"))
