"""Lists, tables and grids at the end of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from verifier_service.reference_formats.json_values import json_value

CellRows = list[list[str]]
Cells = dict[tuple[str, ...], str]
"""The value of each cell, by the keys that lead to it."""

MAX_LEVELS = 4
MAX_VALUES = 10_000
"""Most cells or items of a puzzle, or of an answer."""
# What separates the numbers of a row: `| 1 2 | 3 4 |`, `[1, 2, 3]`.
_SEPARATORS = str.maketrans(dict.fromkeys("|[](),;\t", " "))
_BORDER_SIGNS = frozenset("-+=|:─┼ ")
"""Signs of a line between rows: `------+-------`, `|---|---|`."""
# A cell of a grid, or an empty one: `7`, `12`, `.`.
_CELL = re.compile(r"[0-9]{1,3}|[._]")
# A pair of names: `(a, b)`.
_PAIR = re.compile(r"\(([^(),]*),([^(),]*)\)")
# A point: `(12, 7.5)`, `[480, 210]`.
_POINT = re.compile(
    r"[(\[]\s*(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*,\s*(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*[)\]]"
)
# What stands before an item in a list of lines: `1. `, `- `.
_ITEM_MARK = re.compile(r"(?:[-*•]|[0-9]{1,3}[.)])[ \t]+")
# What stands between items in one line: `a > b`, `a -> b`, `a, b, and c`, `a; b`.
_BETWEEN = re.compile(r"->|→|[>;]|,(?:\s*and\s)?")
# What stands before the cells of a line: `Row 1: `.
_ROW_LABEL = re.compile(r"\s*(?i:row|line)\s*[0-9]{1,3}\s*:")


class UnreadableSolution(ValueError):
    """The text has no such form; the message says which."""


def plain(value: Any) -> str:
    """A text or number without case and superfluous white space.

    >>> plain(" Red  House "), plain(2.0), plain(True)
    ('red house', '2', 'true')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        raise UnreadableSolution("a value that is neither text nor number")
    return " ".join(str(value).split()).casefold()


def last_value(text: str, closing: Literal["]", "}"] = "]") -> Any:
    """The list or object, in JSON or as a Python literal, that stands last in a text.

    >>> last_value("So the answer is ['a', 'b'].")
    ['a', 'b']

    Args:
        text: of the answer.
        closing: the sign at its end, which tells a list from an object.
    """
    end = text.rfind(closing)
    depth = 0
    for index in range(end, -1, -1):
        depth += (text[index] in "]}") - (text[index] in "[{")
        if depth == 0:
            found = json_value(text[index : end + 1])
            if isinstance(found, list | dict):
                return found
            break
    raise UnreadableSolution("no list or object at the end")


def items_in(text: str) -> list[str]:
    """The items of the list that an answer ends with, in brackets, in lines, or in one line.

    >>> items_in("[Ann, Bob]"), items_in("Order: Ann > Bob"), items_in("1. Ann\\n2. Bob")
    (['ann', 'bob'], ['ann', 'bob'], ['ann', 'bob'])
    """
    opening = text.rfind("[")
    closing = text.rfind("]")
    if 0 <= opening < closing:
        items = _items_in_brackets(text, text[opening + 1 : closing])
    else:
        items = _items_of_lines(text)
    if len(items) > MAX_VALUES:
        raise UnreadableSolution(f"more than {MAX_VALUES} items")
    return items


def _items_in_brackets(text: str, inside: str) -> list[str]:
    try:
        value = last_value(text)
    except UnreadableSolution:
        value = [item.strip(" \t\n\"'`") for item in inside.split(",")]
    if not isinstance(value, list):
        raise UnreadableSolution("an object, where a list is expected")
    return [item for one in value if (item := plain(one))]


def _items_of_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    marked: list[str] = []
    for line in reversed(lines):
        mark = _ITEM_MARK.match(line)
        if mark is None:
            break
        marked.append(line[mark.end() :])
    if marked:
        return [plain(line.lstrip("*` ").rstrip("*` .")) for line in reversed(marked)]
    last = (lines or [""])[-1].rpartition(":")[2].lstrip(" *`$\\{").rstrip(" *`.$\\}")
    if last.startswith("(") and last.endswith(")"):
        last = last[1:-1]
    parts = (one.lstrip(" *`\"'").rstrip(" *`.\"'") for one in _BETWEEN.split(last))
    return [item for part in parts if (item := plain(part))]


def pairs_in(text: str) -> list[tuple[str, str]]:
    """The pairs of the list that an answer ends with: lists of two, or `(a, b)`.

    >>> pairs_in("[[1, 2], [2, 3]]"), pairs_in("(a, b), (b, c)")
    ([('1', '2'), ('2', '3')], [('a', 'b'), ('b', 'c')])
    """
    try:
        value = last_value(text)
    except UnreadableSolution:
        value = None
    if isinstance(value, list) and all(isinstance(one, list) and len(one) == 2 for one in value):
        found = [(plain(one), plain(other)) for one, other in value]
    else:
        last = text.strip().rpartition("\n")[2]
        found = [
            (plain(one.strip("\"' ")), plain(other.strip("\"' ")))
            for one, other in _PAIR.findall(last)
        ]
        if not found:
            raise UnreadableSolution("no list of pairs at the end")
    if len(found) > MAX_VALUES:
        raise UnreadableSolution(f"more than {MAX_VALUES} pairs")
    return found


def point_in(text: str, *, tagged: bool = False) -> tuple[float, float]:
    """The last point in an answer, or in its last `<point>`.

    >>> point_in("Click <point>(480, 210)</point>")
    (480.0, 210.0)
    """
    if tagged:
        text = text.rpartition("</point>")[0].rpartition("<point>")[2] if "<point>" in text else ""
    points = _POINT.findall(text)
    if not points:
        raise UnreadableSolution("no point such as (480, 210)")
    return float(points[-1][0]), float(points[-1][1])


def grid_in(text: str, *, height: int, width: int) -> CellRows:
    """The rows of numbers that an answer ends with: a list of lists, or lines.

    Args:
        text: of the answer.
        height: rows that are expected; of more lines the last ones count.
        width: columns that are expected, which tells `123` from a row of three.
    """
    try:
        value = last_value(text)
    except UnreadableSolution:
        value = None
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        if sum(map(len, value)) > MAX_VALUES:
            raise UnreadableSolution(f"more than {MAX_VALUES} cells")
        return [[plain(one) for one in row] for row in value]
    rows: CellRows = []
    for line in reversed(text.strip().splitlines()):
        row = _row(line, width)
        if row:
            rows.append(row)
        elif not rows and _is_remark(line):
            continue
        elif not _BORDER_SIGNS.issuperset(line.strip()):
            break
        if len(rows) == height:
            break
    if not rows:
        raise UnreadableSolution("no rows of numbers at the end")
    return rows[::-1]


# Words that no remark has which only praises a grid.
_OBJECTION = re.compile(
    r"\b(?:not|n['’]t|wrong|incorrect|invalid|impossible|no|wait|but|however|mistake|error)\b",
    re.IGNORECASE,
)


def _is_remark(line: str) -> bool:
    """Whether a line behind a grid only praises it: `All rows are complete.`"""
    has_digit = any(map(str.isdigit, line))
    return not has_digit and not _BORDER_SIGNS.issuperset(line) and not _OBJECTION.search(line)


def _row(line: str, width: int) -> list[str]:
    """The cells of a line; none where it is no row."""
    label = _ROW_LABEL.match(line)
    cells = line[label.end() if label else 0 :].translate(_SEPARATORS).split()
    if len(cells) == 1 and len(cells[0]) == width > 1:
        cells = list(cells[0])
    if len(cells) > MAX_VALUES or not all(_CELL.fullmatch(cell) for cell in cells):
        return []
    return [cell.lstrip("0") or "0" for cell in cells]


def cells_of(value: Any) -> Cells:
    """The cells of an object of objects, or of a table `{"header": [...], "rows": [[...]]}`.

    A row of a table has the key that its first column makes: `house 1`.

    >>> cells_of({"House 1": {"Pet": "Cat"}}) == cells_of(
    ...     {"header": ["House", "Pet"], "rows": [["1", "Cat"]]}
    ... )
    True
    """
    if not isinstance(value, Mapping):
        raise UnreadableSolution("no object at the end")
    if value.keys() >= {"header", "rows"}:
        value = _by_row(value["header"], value["rows"])
    cells: Cells = {}
    _collect(value, (), cells)
    return cells


def _by_row(header: Any, rows: Any) -> dict[str, Any]:
    if not isinstance(header, Sequence) or not isinstance(rows, list) or not header:
        raise UnreadableSolution("a table without header and rows")
    names = [plain(one) for one in header]
    table: dict[str, Any] = {}
    for row in rows:
        if not isinstance(row, list) or len(row) != len(names):
            raise UnreadableSolution("a row that has not a value for each column")
        key = f"{names[0]} {plain(row[0])}"
        if key in table:
            raise UnreadableSolution("two rows with one key")
        table[key] = dict(zip(names[1:], row[1:], strict=True))
    return table


def _collect(value: Any, keys: tuple[str, ...], cells: Cells) -> None:
    if not isinstance(value, Mapping):
        if keys in cells:
            raise UnreadableSolution("a cell twice")
        cells[keys] = plain(value)
        return
    if len(keys) == MAX_LEVELS or len(cells) + len(value) > MAX_VALUES:
        raise UnreadableSolution(f"more than {MAX_LEVELS} levels or {MAX_VALUES} cells")
    for key, inside in value.items():
        _collect(inside, (*keys, plain(key)), cells)
