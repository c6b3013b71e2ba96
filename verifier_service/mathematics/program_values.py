"""Answers that data sets ship as the text of a JSON or Python value: `['4']`, `{"x": 3}`.

The text is read by signs alone: nothing is evaluated, and LaTeX in it (`["\\frac12"]`) stays whole.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Lists = Literal["auto", "any", "all"]
"""Meaning of a list: alternatives (any), one answer of several parts (all), by its form (auto)."""


class _Item(NamedTuple):
    """An item of a list, or a key or value of an object."""

    text: str
    is_quoted: bool


# An item: `"4"`, `'\\frac12'`, `-3.5`, `True`.
_ITEM = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<bare>[^\s\[\](){}"',:][^\[\](){}"',:]*))\s*""",
    re.DOTALL,
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}
# A sign that a text in quotes marks by a backslash: `\\"`, `\\\\`, `\\u00e9`.
_MARKED = re.compile(r"\\(?:([\"'\\/])|u([0-9a-fA-F]{4}))")
_NAMES = frozenset(
    "answer final_answer ground_truth gold target label value result output solution".split()
)
_MIN_LIST = 3
"""Fewest items of a list without quotes that is no interval."""


def answers_in_value(text: str, lists: Lists = "auto") -> tuple[str, ...]:
    """The acceptable answers that a value stands for; a text that is no such value as it is.

    >>> answers_in_value("['4', '5']"), answers_in_value("['4', '5']", "all")
    (('4', '5'), ('4, 5', '[4, 5]'))
    >>> answers_in_value('{"x": 3, "y": 4}'), answers_in_value('{"answer": "yes"}')
    (('x = 3, y = 4',), ('yes',))
    >>> answers_in_value("[1, 2]"), answers_in_value("[1, 2, 3]")  # the first may be an interval
    (('[1, 2]',), ('[1, 2, 3]', '(1, 2, 3)'))
    """
    text = text.strip()
    if text[:1] in ("'", '"'):
        whole = _ITEM.fullmatch(text)
        return (_item(whole).text,) if whole else (text,)
    if text[-1:] != _CLOSING.get(text[:1], "") or not text:
        return (text,)
    if text[0] == "{" and (answer := _answer_of_object(text)) is not None:
        return (answer,)
    items = _items_of(text)
    return _answers_of_list(text, items, lists) if items else (text,)


def _answers_of_list(text: str, items: list[_Item], lists: Lists) -> tuple[str, ...]:
    texts = tuple(item.text for item in items)
    joined = ", ".join(texts)
    are_quoted = any(item.is_quoted for item in items)
    if not are_quoted and (text[0] != "[" or lists == "auto"):
        is_list = text[0] == "[" and len(items) >= _MIN_LIST
        return (text, f"({joined})") if is_list else (text,)
    if len(items) == 1 or (text[0] == "[" and lists != "all"):
        return texts
    return joined, f"[{joined}]"


def _answer_of_object(text: str) -> str | None:
    """The answer of an object: `x = 3, y = 4`; the value of one that only says `answer`."""
    pairs: list[tuple[str, str]] = []
    position = 1
    while True:
        key = _ITEM.match(text, position)
        if key is None or not _item(key).is_quoted or text[key.end()] != ":":
            return None
        value = _ITEM.match(text, key.end() + 1)
        if value is None:
            return None
        pairs.append((_item(key).text, _item(value).text))
        position = value.end() + 1
        if text[value.end()] != ",":
            break
    if position != len(text):
        return None
    if len(pairs) == 1 and pairs[0][0].casefold() in _NAMES:
        return pairs[0][1]
    return ", ".join(f"{key} = {value}" for key, value in pairs)


def _items_of(text: str) -> list[_Item]:
    """The items between the brackets of a list; none where there is anything else."""
    items: list[_Item] = []
    position = 1
    while (match := _ITEM.match(text, position)) is not None:
        items.append(_item(match))
        position = match.end() + 1
        if text[match.end()] != ",":
            break
    is_whole = position == len(text) or text[position:].strip() == text[-1]
    return items if items and is_whole else []


def _item(match: re.Match[str]) -> _Item:
    if match["bare"] is not None:
        return _Item(match["bare"].strip(), is_quoted=False)
    quoted = match["double"] if match["double"] is not None else match["single"]
    return _Item(_MARKED.sub(_unmarked, quoted), is_quoted=True)


def _unmarked(sign: re.Match[str]) -> str:
    return sign[1] or chr(int(sign[2], 16))
