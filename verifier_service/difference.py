"""The first difference between an answer and its reference, for the details of a verdict.

It has a path, and the values there on both sides. A side that has nothing there is left out. Values
are cut, so that a difference stays small whatever a completion holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from verifier_service.explanation import cut

REVEAL_EXPECTED_DESCRIPTION = "put the reference's side of the first difference into `details`"
ABSENT: Final = object()
"""The side of a difference that has nothing at the path."""
MAX_CHARACTERS = 60
"""Longest text of a difference."""
MAX_ITEMS = (16, 4, 2)
"""Most items of a list or an object, of one in it, and of one in that; deeper ones are cut."""
CUT = "…"
_MAX_BITS = 63


def difference(
    path: Sequence[str | int], wanted: Any = ABSENT, given: Any = ABSENT
) -> dict[str, Any]:
    """The details of a verdict whose answer differs from the reference.

    >>> difference(["people", 0, "age"], 36, 37)
    {'difference': {'path': 'people.0.age', 'wanted': 36, 'given': 37}}
    >>> difference(["age"], wanted=36)
    {'difference': {'path': 'age', 'wanted': 36}}
    """
    names = ".".join(_shown_text(str(one)) for one in path[: MAX_ITEMS[0]])
    sides = {"wanted": wanted, "given": given}
    shown = {side: _shown(one) for side, one in sides.items() if one is not ABSENT}
    return {"difference": {"path": names, **shown}}


def without_wanted(details: dict[str, Any]) -> dict[str, Any]:
    """The details without the reference's side: a verdict may be shown to the model it judged.

    >>> without_wanted(difference(["age"], 36, 37))
    {'difference': {'path': 'age', 'given': 37}}
    """
    if "difference" not in details:
        return details
    sides = {key: one for key, one in details["difference"].items() if key != "wanted"}
    return {**details, "difference": sides}


def _shown(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it, cut."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        bits = value.bit_length()
        return value if bits <= _MAX_BITS else f"an integer of {bits} bits"
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    if isinstance(value, bytes):
        return f"x'{value[: MAX_CHARACTERS // 2].hex()}'"
    if isinstance(value, str):
        return _shown_text(str(value))  # msgspec encodes no subclass of str
    if depth == len(MAX_ITEMS):
        return CUT
    return _shown_items(value, depth)


def _shown_items(value: Any, depth: int) -> Any:
    most = MAX_ITEMS[depth]
    rest = len(value) > most
    if isinstance(value, Mapping):
        items = islice(value.items(), most)
        shown = {_shown_text(str(key)): _shown(one, depth + 1) for key, one in items}
        return shown | ({CUT: CUT} if rest else {})
    return [_shown(one, depth + 1) for one in value[:most]] + ([CUT] if rest else [])


def _shown_text(text: str) -> str:
    return cut(text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + CUT)
