"""A document's value compared with the wanted one: field by field, with a tolerance for numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from verifier_service.difference import ABSENT, difference
from verifier_service.largest_matching import largest_matching

MAX_ROWS = 300
"""Most rows that are compared without order: each is compared with each."""
Path = tuple[str | int, ...]
# A number as a document of texts writes it: `-1,5` is none, `-1.5e3` is one.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_WORDS = {"true": True, "false": False}


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of a document that have no others inside, each with the way to it.

    >>> dict(leaves({"a": [1, {"b": 2}], "c": []}))
    {('a', 0): 1, ('a', 1, 'b'): 2, ('c',): []}
    """
    if isinstance(value, dict) and value:
        for key, inside in value.items():
            yield from leaves(inside, (*path, key))
    elif isinstance(value, list) and value:
        for index, inside in enumerate(value):
            yield from leaves(inside, (*path, index))
    else:
        yield path, value


def share_of_fields(found: Any, wanted: Any, tolerance: float, *, texts: bool) -> float:
    """The share of the fields of either value that both have, with equal values."""
    given, expected = dict(leaves(found)), dict(leaves(wanted))
    equal = sum(
        path in given and is_same(given[path], value, tolerance, texts=texts)
        for path, value in expected.items()
    )
    return equal / len(given.keys() | expected.keys())


def is_same(found: Any, wanted: Any, tolerance: float, *, texts: bool) -> bool:
    """Whether two values are equal.

    Args:
        found: of a document.
        wanted: of a reference.
        tolerance: largest difference of equal numbers, as a share of the wanted one.
        texts: whether the document's format has texts only.
    """
    if texts:
        found = _as_container(found, wanted)
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and found.keys() == wanted.keys()
            and all(is_same(found[key], wanted[key], tolerance, texts=texts) for key in wanted)
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(
                is_same(one, two, tolerance, texts=texts)
                for one, two in zip(found, wanted, strict=True)
            )
        )
    return _is_same_leaf(_typed(found, wanted) if texts else found, wanted, tolerance)


def _is_same_leaf(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, bool) or isinstance(found, bool):
        return found is wanted
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return (
            found == wanted
            or _is_nan(found, wanted)
            or (
                tolerance > 0
                and math.isfinite(_float(found))
                and math.isfinite(_float(wanted))
                and abs(_float(found) - _float(wanted)) <= tolerance * abs(_float(wanted))
            )
        )
    return type(found) is type(wanted) and bool(found == wanted)


def _is_nan(*numbers: float) -> bool:
    """Whether all numbers are the one of YAML and TOML that does not equal itself."""
    return all(isinstance(one, float) and math.isnan(one) for one in numbers)


def _float(number: float) -> float:
    """A number as a float; infinite where none can hold it."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _typed(found: Any, wanted: Any) -> Any:
    """A text as a value of the kind that is wanted, where it is written as one."""
    if found is None and isinstance(wanted, str):
        return ""
    if not isinstance(found, str):
        return found
    if isinstance(wanted, bool):
        return _WORDS.get(found.lower(), found)
    if isinstance(wanted, int | float):
        return number_in(found)
    return None if wanted is None and found == "" else found


def number_in(text: str) -> Any:
    """The number that a text is, else the text; no float holds `1e999`."""
    if len(text) > 300 or _NUMBER.fullmatch(text) is None:
        return text
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return number if math.isfinite(number) else text


def has_same_rows(found: Any, wanted: Sequence[Any], tolerance: float, *, texts: bool) -> bool:
    """Whether two lists have the same items, in any order."""
    if not isinstance(found, list) or len(found) != len(wanted):
        return False
    if tolerance == 0 and not texts:
        return sorted(map(_key, found)) == sorted(map(_key, wanted))
    edges = [
        [place for place, one in enumerate(found) if is_same(one, row, tolerance, texts=texts)]
        for row in wanted
    ]
    return largest_matching(edges) == len(wanted)


def first_difference(
    found: Any, wanted: Any, tolerance: float, *, texts: bool, path: Path = ()
) -> dict[str, Any]:
    """Details of a verdict: the first field that `is_same` takes for another one; {}: none is.

    >>> first_difference({"a": [1, 2]}, {"a": [1, 3]}, 0, texts=False)
    {'difference': {'path': 'a.1', 'wanted': 3, 'given': 2}}
    """
    given = _as_container(found, wanted) if texts else found
    if isinstance(wanted, dict) and isinstance(given, dict):
        pairs = [(key, given.get(key, ABSENT), wanted.get(key, ABSENT)) for key in wanted | given]
    elif isinstance(wanted, list) and isinstance(given, list):
        sides = zip_longest(given, wanted, fillvalue=ABSENT)
        pairs = [(place, *pair) for place, pair in enumerate(sides)]
    elif is_same(found, wanted, tolerance, texts=texts):
        return {}
    else:
        return difference(path, wanted, found)
    for key, one, other in pairs:
        if one is ABSENT or other is ABSENT:
            return difference((*path, key), other, one)
        inside = first_difference(one, other, tolerance, texts=texts, path=(*path, key))
        if inside:
            return inside
    return {}


def first_row_difference(
    found: Any, wanted: Sequence[Any], tolerance: float, *, texts: bool
) -> dict[str, Any]:
    """Details of a verdict: the first wanted row that a list in any order has not."""
    if not isinstance(found, list):
        return difference((), wanted, found)
    if len(found) != len(wanted):
        return difference((), f"{len(wanted)} rows", f"{len(found)} rows")
    rest = list(found)
    for place, row in enumerate(wanted):
        equal = (at for at, one in enumerate(rest) if is_same(one, row, tolerance, texts=texts))
        taken = next(equal, None)
        if taken is None:
            return difference((place,), row)
        rest.pop(taken)
    return {}


def _as_container(found: Any, wanted: Any) -> Any:
    """A value of texts as the list or object that is wanted."""
    if isinstance(wanted, dict):
        return {} if found is None else found
    if isinstance(wanted, list) and not isinstance(found, list):
        return [] if found is None else [found]  # an element that does not repeat
    return found


def _key(value: Any) -> str:
    """A text that equal values share: 1.0 is written as 1."""
    return json.dumps(_whole(value), sort_keys=True, ensure_ascii=False)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_whole(one) for one in value]
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def at(value: Any, path: str) -> Any:
    """The value at a path such as `a.0.b`. Raises KeyError.

    >>> at({"a": [{"b": 2}]}, "a.0.b")
    2
    """
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise KeyError(path)
    return value


def typed_by_schema(value: Any, schema: Any) -> Any:
    """A value of texts with the kinds that its schema wants, where it is written so."""
    if not isinstance(schema, dict):
        return value
    kind = schema.get("type")
    if kind == "array":
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [typed_by_schema(one, schema.get("items")) for one in items]
    properties = schema.get("properties")
    if isinstance(value, dict) and isinstance(properties, dict):
        return {key: typed_by_schema(one, properties.get(key)) for key, one in value.items()}
    if value is None and kind in ("string", "object"):
        return "" if kind == "string" else {}
    if isinstance(value, str) and kind in ("number", "integer"):
        return number_in(value)
    if isinstance(value, str) and kind == "boolean":
        return _WORDS.get(value.lower(), value)
    return None if kind == "null" and value == "" else value
