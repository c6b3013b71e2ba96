"""Whether two collections without an order have the same elements.

Equality of elements is not transitive: `50%` equals `50` and `0.5`, which differ. If each element
took the first free partner, the order of writing would decide; a maximum matching does not ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import TypeVar

MAX_UNORDERED = 200
"""Largest number of elements that are compared without regard to order, each with each."""

_Element = TypeVar("_Element", bound=Hashable)
_Verdict = Callable[[int, int], bool | None]
"""Whether the elements of two numbers are equal; None where that is not decided."""


def same_elements(
    left: Sequence[_Element],
    right: Sequence[_Element],
    same: Callable[[_Element, _Element], bool | None],
    *,
    repeats_count: bool,
) -> bool | None:
    """Whether the elements can be paired off, so that each equals its partner.

    >>> def same(one, other):
    ...     return one == other or "2" in (one, other)
    >>> same_elements(["2", "2 m"], ["2", "2 s"], same, repeats_count=True)
    True
    >>> same_elements(["1", "1", "3"], ["3", "1"], same, repeats_count=False)
    True

    Args:
        left: elements of one side.
        right: elements of the other side.
        same: whether two elements are equal; None where that is not decided. Its arguments can be
            swapped, and it is asked once for each pair at most.
        repeats_count: false for sets, where an element that is written twice is one element.

    Returns:
        None where that depends on undecided pairs, or where there are more than MAX_UNORDERED
        elements.
    """
    if max(len(left), len(right)) > MAX_UNORDERED:
        return None
    elements = (*left, *right)

    @cache
    def in_order(one: int, other: int) -> bool | None:
        return same(elements[one], elements[other])

    def verdict(one: int, other: int) -> bool | None:
        return in_order(min(one, other), max(one, other))

    rows, columns = range(len(left)), range(len(left), len(elements))
    if repeats_count:
        places = {elements[column]: column for column in columns}
        alike = {row: places[elements[row]] for row in rows if elements[row] in places}
        return _paired(rows, columns, verdict, alike)
    if set(left) == set(right):
        return True
    if _has_lone_element(rows, columns, verdict) or _has_lone_element(columns, rows, verdict):
        return False
    rows_left = _without_repeats(rows, columns, verdict)
    columns_left = _without_repeats(columns, rows, verdict)
    return _paired(rows_left, columns_left, verdict, {})


def _has_lone_element(own: Sequence[int], others: Sequence[int], verdict: _Verdict) -> bool:
    return any(all(verdict(one, other) is False for other in others) for one in own)


def _without_repeats(own: Sequence[int], others: Sequence[int], verdict: _Verdict) -> list[int]:
    """One of each group of elements that equal each other and the same elements of both sides.

    Equality alone would not do: which of `2 m`, `2` and `2 s` repeats another would depend on their
    order.
    """
    partners = {one: [verdict(one, other) for other in others] for one in own}
    kept: dict[Hashable, int] = {}
    for one in own:
        twins = [partners[one] == partners[two] and verdict(one, two) is True for two in own]
        kept.setdefault((*partners[one], *twins), one)
    return list(kept.values())


def _paired(
    rows: Sequence[int], columns: Sequence[int], verdict: _Verdict, alike: Mapping[int, int]
) -> bool | None:
    """Whether rows and columns can be paired off; None where that depends on undecided pairs.

    A row is first compared with the column that is written alike, or else with the one in its
    place: lists that differ in their order alone need one comparison for each element.
    """
    if len(rows) != len(columns):
        return False
    tries = {
        row: (alike.get(row, column), *columns) for row, column in zip(rows, columns, strict=True)
    }
    if _has_perfect_matching(tries, lambda row, column: verdict(row, column) is True):
        return True
    if _has_perfect_matching(tries, lambda row, column: verdict(row, column) is not False):
        return None
    return False


def _has_perfect_matching(
    tries: Mapping[int, Sequence[int]], can_pair: Callable[[int, int], bool]
) -> bool:
    """Whether each row can have a column of its own; `tries` has the columns for each row."""
    row_of: dict[int, int] = {}
    return all(_pair_one_more(row, row_of, tries, can_pair) for row in tries)


def _pair_one_more(
    row: int,
    row_of: dict[int, int],
    tries: Mapping[int, Sequence[int]],
    can_pair: Callable[[int, int], bool],
) -> bool:
    """Give a row a column, if need be by moving rows that have one to others.

    Looks for an augmenting path, breadth first (Kuhn's algorithm). `row_of` has the pairs so far.
    """
    reached: set[int] = set()
    queue: list[tuple[int, tuple[tuple[int, int], ...]]] = [(row, ())]
    for one, path in queue:  # grows meanwhile
        for column in tries[one]:
            if column in reached or not can_pair(one, column):
                continue
            reached.add(column)
            extended = (*path, (column, one))
            if column not in row_of:
                row_of.update(extended)
                return True
            queue.append((row_of[column], extended))
    return False
