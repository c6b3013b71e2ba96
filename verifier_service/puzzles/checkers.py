"""Checkers of puzzles by their kind: each reads a reference, and returns a function of answers.

| kind | reference | a solution |
|---|---|---|
| `countdown` | `numbers`, `target`, `use` | an expression of the numbers, each once |
| `sudoku` | `grid`, `box` | any grid that keeps the clues and the rules |
| `cells` | `cells` | the value of each cell by its keys: logic grids, boards |
| `grid` | `grid` | the cells of a grid: ARC |
| `order` | `order` | the items in this order |
| `set` | `items` | the items in any order: nodes of a graph |
| `edges` | `edges`, `directed` | the pairs in any order: edges of a graph |
| `point` | `point`, `max_distance` or `box`, `scale`, `tagged` | a point near, or in a box |
| `schedule` | `events` | every event in its window, none beside another |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import dist, isqrt
from typing import Any

from verifier_service.puzzles.arithmetic import BadExpression, read_arithmetic
from verifier_service.puzzles.finding import PuzzleChecker, PuzzleFinding, PuzzleReason
from verifier_service.puzzles.reading import (
    MAX_VALUES,
    Cells,
    UnreadableSolution,
    cells_of,
    grid_in,
    items_in,
    last_value,
    pairs_in,
    plain,
    point_in,
)
from verifier_service.puzzles.schedule import schedule
from verifier_service.reference import bad, kind, missing
from verifier_service.reference_formats.json_values import json_value
from verifier_service.text_similarity import set_f1

MAX_NUMBERS = 50
MAX_NUMBER = 10**12
MAX_SIDE = 36
BLANKS = ("", "0", ".", "_", "-", "?", "x", "none")
"""Values of a cell without a clue."""
_USES = ("all", "some")

Reference = Mapping[str, Any]


def countdown(reference: Reference) -> PuzzleChecker:
    """The checker of expressions that make a target."""
    numbers = _values(reference, "numbers")
    if len(numbers) > MAX_NUMBERS or not all(_is_whole(one) for one in numbers):
        raise bad("numbers", f"expected at most {MAX_NUMBERS} whole numbers from 0 to 10^12")
    target = reference.get("target")
    if target is None:
        raise missing("target", reference)
    if isinstance(target, bool) or not isinstance(target, int) or abs(target) > MAX_NUMBER:
        raise bad("target", f"found {kind(target)}, expected a whole number up to 10^12")
    use = reference.get("use", "all")
    if use not in _USES:
        raise bad("use", "expected all or some")
    available = Counter(numbers)

    def check(text: str) -> PuzzleFinding:
        try:
            found = read_arithmetic(_expression(text, target))
        except BadExpression as error:
            raise UnreadableSolution(str(error)) from error
        used = Counter(found.numbers)
        if used != available if use == "all" else not used <= available:
            return PuzzleFinding(0.0, PuzzleReason.OTHER_NUMBERS)
        return PuzzleFinding(float(found.value == target))

    return check


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_NUMBER


def _expression(text: str, target: int) -> str:
    """The expression in the last line with a digit: `The answer is $(1 + 2) * 3 = 9$.`.

    Raises:
        BadExpression: an equal sign has another number than the target beside it, or a later line
            takes the expression back.
    """
    lines = text.split("\n")
    index = max((i for i, line in enumerate(lines) if _DIGIT.search(line)), default=0)
    if any(map(_WITHDRAWN.search, lines[index + 1 :])):
        raise BadExpression("a later line takes it back")
    line = lines[index].rpartition(":")[2]
    line = _REMARK_BEHIND.sub("", line.replace(" equals ", " = "), count=1)
    line = _WORDS_BEFORE.sub("", line, count=1).strip(" \t\r$`*.")
    expression, equals, result = line.partition("=")
    if equals and _LONE_NUMBER.fullmatch(expression) and not _LONE_NUMBER.fullmatch(result):
        expression, result = result, expression
    if equals and read_arithmetic(result).value != Fraction(target):
        raise BadExpression("another number after the equal sign")
    return expression


_DIGIT = re.compile("[0-9]")
# Words behind an expression that take it back.
_WITHDRAWN = re.compile(
    r"\b(?:wrong|no\s+solution|give\s+up|wait|impossible|not\s+(?:right|correct))\b", re.IGNORECASE
)
# Words that announce an expression: `So the answer is `.
_WORDS_BEFORE = re.compile(
    r"^[^\W\d_][^\d(+*/=$\\-]{0,80}\b(?:is|be|get|have|expression|equation)\s+(?=\S)"
    r"|^(?:So|Thus|Hence|Therefore),?\s+(?=[\d$(])"
)
# A remark behind an equation that only praises it: ` ✓`, `, which is the target.`, `, as required.`
_REMARK_BEHIND = re.compile(
    r"(?<=[\d$*)])\s{0,3}(?:[✓✔✅☑\ufe0f]{1,4}|,?\s{0,3}(?:which\s+is\s+(?:the|our)\s+target(?:\s+number)?"
    r"|as\s+(?:required|desired|needed|requested|wanted)|\((?:the\s+|our\s+)?target\)))[\s.!*]{0,5}$"
)
# A number by itself: the `24` of `24 = 8 * 3`.
_LONE_NUMBER = re.compile(r"\s*[0-9]+\s*")


def sudoku(reference: Reference) -> PuzzleChecker:
    """The checker of grids in which every row, column and box has each number once."""
    clues = _grid(reference)
    side = len(clues)
    if not 1 < side <= MAX_SIDE or any(len(row) != side for row in clues):
        raise bad("grid", f"expected as many rows as columns, from 2 to {MAX_SIDE}")
    numbers = {str(number) for number in range(1, side + 1)}
    if any(cell not in numbers and cell not in BLANKS for row in clues for cell in row):
        raise bad("grid", f"expected numbers from 1 to {side}, and 0 for an empty cell")
    groups = _groups(side, _box(reference, side))
    if any(_has_twice([clues[y][x] for y, x in group], numbers) for group in groups):
        raise bad("grid", "two equal clues in a row, column or box")

    def check(text: str) -> PuzzleFinding:
        grid = grid_in(text, height=side, width=side)
        if len(grid) != side or any(len(row) != side for row in grid):
            raise UnreadableSolution(f"no grid of {side} by {side}")
        for given, row in zip(grid, clues, strict=True):
            if any(clue in numbers and one != clue for one, clue in zip(given, row, strict=True)):
                return PuzzleFinding(0.0, PuzzleReason.OTHER_CLUES)
        whole = sum({grid[y][x] for y, x in group} == numbers for group in groups)
        return PuzzleFinding(whole / len(groups))

    return check


def _box(reference: Reference, side: int) -> tuple[int, int]:
    """Rows and columns of a box: 3 by 3 of 9, 2 by 3 of 6, where the reference has none."""
    box = reference.get("box")
    if box is None:
        rows = next(one for one in range(isqrt(side), 0, -1) if side % one == 0)
        box = [rows, side // rows]
    if not (isinstance(box, list) and len(box) == 2 and all(_is_whole(one) for one in box)):
        raise bad("box", "expected its rows and its columns")
    if box[0] * box[1] != side:
        raise bad("box", f"expected a box of {side} cells")
    return box[0], box[1]


def _groups(side: int, box: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """The places of every row, column and box."""
    rows, columns = box
    cells = list(product(range(side), repeat=2))
    keys: list[Callable[[int, int], tuple[int, int]]] = [
        lambda y, _x: (y, 0),
        lambda _y, x: (0, x),
        lambda y, x: (y // rows, x // columns),
    ]
    return [
        [(y, x) for y, x in cells if key(y, x) == wanted]
        for key in keys
        for wanted in sorted({key(y, x) for y, x in cells})
    ]


def _has_twice(values: list[str], numbers: set[str]) -> bool:
    counted = Counter(value for value in values if value in numbers)
    return any(number > 1 for number in counted.values())


def cells(reference: Reference) -> PuzzleChecker:
    """The checker of logic grids and boards: the value of each cell."""
    found = json_value(reference.get("cells"))
    if not found:
        raise missing("cells", reference)
    try:
        wanted = cells_of(found)
    except UnreadableSolution as error:
        raise bad("cells", str(error)) from error
    if not wanted:
        raise bad("cells", "it has no cell")

    def check(text: str) -> PuzzleFinding:
        given = cells_of(_solution_in(last_value(text, "}"), wanted))
        right = sum(given.get(keys) == value for keys, value in wanted.items())
        return PuzzleFinding(right / len(wanted.keys() | given.keys()))

    return check


_SOLUTION_KEYS = frozenset({"solution", "answer", "final_answer"})


def _solution_in(value: Any, wanted: Cells) -> Any:
    """The object under the key for a solution, with texts alone beside it, as ZebraLogic asks.

    >>> _solution_in({"reasoning": "1 is red.", "solution": {"1": {"color": "red"}}}, {})
    {'1': {'color': 'red'}}
    """
    objects = [key for key, one in value.items() if not isinstance(one, str)]
    if len(objects) != 1 or plain(objects[0]) not in _SOLUTION_KEYS:
        return value
    is_row = any(keys[0] == plain(objects[0]) for keys in wanted)
    return value if is_row else value[objects[0]]


def grid(reference: Reference) -> PuzzleChecker:
    """The checker of grids of numbers, as ARC has them."""
    wanted = _grid(reference)
    height, width = len(wanted), len(wanted[0])

    def check(text: str) -> PuzzleFinding:
        given = grid_in(text, height=height, width=width)
        if [len(row) for row in given] != [len(row) for row in wanted]:
            return PuzzleFinding(0.0)
        pairs = [
            one == other
            for row, wanted_row in zip(given, wanted, strict=True)
            for one, other in zip(row, wanted_row, strict=True)
        ]
        return PuzzleFinding(sum(pairs) / len(pairs))

    return check


def order(reference: Reference) -> PuzzleChecker:
    """The checker of orderings: the items at their places."""
    wanted = _without_periods(_items(reference, "order"))

    def check(text: str) -> PuzzleFinding:
        given = _without_periods(items_in(text))
        right = sum(one == other for one, other in zip(given, wanted, strict=False))
        return PuzzleFinding(right / max(len(given), len(wanted)))

    return check


def item_set(reference: Reference) -> PuzzleChecker:
    """The checker of sets, such as the nodes of a graph: their F-measure."""
    wanted = _without_periods(_items(reference, "items"))
    return lambda text: PuzzleFinding(set_f1(_without_periods(items_in(text)), wanted))


def _without_periods(items: list[str]) -> list[str]:
    """The items without periods at their ends, which sentences have and lists of lines lose."""
    return [one.rstrip(" .") or one for one in items]


def edges(reference: Reference) -> PuzzleChecker:
    """The checker of sets of edges: their F-measure."""
    directed = reference.get("directed", False)
    if not isinstance(directed, bool):
        raise bad("directed", f"found {kind(directed)}, expected true or false")
    found = _values(reference, "edges")
    if not all(isinstance(one, list) and len(one) == 2 for one in found):
        raise bad("edges", "expected a list of pairs")
    pairs = [(_item(one, "edges"), _item(other, "edges")) for one, other in found]
    wanted = _undirected(pairs) if not directed else set(pairs)

    def check(text: str) -> PuzzleFinding:
        pairs = pairs_in(text)
        given = _undirected(pairs) if not directed else set(pairs)
        return PuzzleFinding(2 * len(given & wanted) / (len(given) + len(wanted)))

    return check


def _undirected(pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(min(pair), max(pair)) for pair in pairs}


def point(reference: Reference) -> PuzzleChecker:
    """The checker of points: nearer than a distance, or in a box (edges included).

    A share is that of NeMo Gym's gui_coordinate: (1 - distance / max_distance)^2.
    """
    scale = _number(reference.get("scale", 1), "scale")
    if scale <= 0:
        raise bad("scale", "expected a number above 0")
    tagged = reference.get("tagged", False)
    if not isinstance(tagged, bool):
        raise bad("tagged", f"found {kind(tagged)}, expected true or false")

    def given(text: str) -> list[float]:
        return [one / scale for one in point_in(text, tagged=tagged)]

    if reference.get("box") is not None:
        left, top, right, bottom = _numbers(reference, "box", 4)
        if left > right or top > bottom:
            raise bad("box", "expected [left, top, right, bottom]")

        def is_inside(text: str) -> PuzzleFinding:
            x, y = given(text)
            return PuzzleFinding(float(left <= x <= right and top <= y <= bottom))

        return is_inside
    wanted = _numbers(reference, "point", 2)
    reach = _number(reference.get("max_distance"), "max_distance")
    if reach <= 0:
        raise bad("max_distance", "expected a number above 0")

    def is_near(text: str) -> PuzzleFinding:
        distance = dist(given(text), wanted)
        share = max(0.0, 1 - distance / reach) ** 2
        return PuzzleFinding(share, is_solved=distance < reach)

    return is_near


def _numbers(reference: Reference, key: str, length: int) -> list[float]:
    values = _values(reference, key)
    if len(values) != length:
        raise bad(key, f"expected {length} numbers")
    return [_number(one, key) for one in values]


def _number(value: Any, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MAX_NUMBER:
        raise bad(key, f"found {kind(value)}, expected a number up to 10^12")
    return float(value)


def _values(reference: Reference, key: str) -> list[Any]:
    """The list under a key, or in its JSON text. Raises Unverifiable."""
    values = json_value(reference.get(key))
    if values is None or values == []:
        raise missing(key, reference)
    if not isinstance(values, list):
        raise bad(key, f"found {kind(values)}, expected a list")
    if len(values) > MAX_VALUES:
        raise bad(key, f"expected at most {MAX_VALUES} values")
    return values


def _items(reference: Reference, key: str) -> list[str]:
    items = [_item(one, key) for one in _values(reference, key)]
    if "" in items:
        raise bad(key, "an item is empty")
    return items


def _item(value: Any, key: str) -> str:
    try:
        return plain(value)
    except UnreadableSolution as error:
        raise bad(key, str(error)) from error


def _grid(reference: Reference) -> list[list[str]]:
    """The rows under `grid`: lists, where null is an empty cell, or texts such as `5..1`.

    Raises:
        Unverifiable: they are none.
    """
    rows = _values(reference, "grid")
    rows = [list(row) if isinstance(row, str) else row for row in rows]
    if not all(isinstance(row, list) and row for row in rows):
        raise bad("grid", "expected a list of rows")
    if sum(map(len, rows)) > MAX_VALUES:
        raise bad("grid", f"expected at most {MAX_VALUES} cells")
    return [["" if one is None else _item(one, "grid") for one in row] for row in rows]


CHECKERS: Mapping[str, Callable[[Reference], PuzzleChecker]] = {
    "countdown": countdown,
    "sudoku": sudoku,
    "cells": cells,
    "grid": grid,
    "order": order,
    "set": item_set,
    "edges": edges,
    "point": point,
    "schedule": schedule,
}
"""The checkers by the kind of their puzzle."""
