"""Unions, intersections and differences of ranges and of sets that list their elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from verifier_service.mathematics.expressions import Expression
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.ranges import as_ranges, intersection, order_of
from verifier_service.mathematics.values import EMPTY, Quantity, Range, Ranges, Several, Value

MAX_PIECES = 50
"""Most ranges and points that are ordered and joined; more stay as they are written."""

_Pieces = tuple[Range, ...]


def combined(sets: Sequence[Value], operators: Sequence[str]) -> Value:
    """The set that others give: `(0, 5) \\setminus {2}`, `(1, 3) \\cap (2, 5)`.

    Args:
        sets: what stands between the operators.
        operators: union, intersection or difference, all the same, one fewer than sets.

    Raises:
        Unreadable: operators of several kinds, or something that is no set of numbers.
    """
    if len(set(operators)) > 1:
        raise Unreadable("sets joined in several ways")
    listed = [one for one in sets if isinstance(one, Several) and one.kind == "set"]
    if operators[0] == "∪" and len(listed) == len(sets):
        return Several("set", tuple(item for one in listed for item in one.items))
    parts = [_pieces(one) for one in sets]
    if operators[0] == "∪":
        return Ranges(joined(tuple(piece for part in parts for piece in part)))
    result = parts[0]
    for part in parts[1:]:
        met = intersection(result, part if operators[0] == "∩" else _complement(part))
        if met is None:
            raise Unreadable("sets whose ends cannot be ordered")
        result = met
    return _as_set(joined(result))


def joined(pieces: _Pieces) -> _Pieces:
    """Pieces in order, with those that touch made one: [0, 1) and [1, 2] are [0, 2].

    Pieces whose ends cannot be ordered are returned as they are.
    """
    try:
        in_order = _in_order(pieces)
    except Unreadable:
        return pieces
    found: list[Range] = []
    for piece in in_order:
        if found and _touch(found[-1], piece):
            found[-1] = _both(found[-1], piece)
        else:
            found.append(piece)
    return tuple(found)


def _pieces(value: Value) -> _Pieces:
    """The ranges of a set; a point is a range from itself to itself. Raises Unreadable."""
    ranges = as_ranges(value)
    if ranges is not None:
        return ranges.pieces
    if not isinstance(value, Several) or value.kind != "set":
        raise Unreadable("no set of numbers")
    return tuple(map(point, value.items))


def point(value: Value) -> Range:
    """A number as a range from itself to itself. Raises Unreadable for any other value."""
    if not isinstance(value, Quantity) or value.unit or value.words or value.base:
        raise Unreadable("no set of numbers")
    return Range(value.expression, True, value.expression, True)


def _as_set(pieces: _Pieces) -> Value:
    """Ranges, or the elements where all pieces are points."""
    if not pieces:
        return EMPTY
    points = [one.low for one in pieces if one.low is not None and one.low == one.high]
    if len(points) == len(pieces):
        return Several("set", tuple(Quantity(one) for one in points))
    return Ranges(pieces)


def _complement(pieces: _Pieces) -> _Pieces:
    """The real numbers outside all pieces. Raises Unreadable."""
    gaps: list[Range] = []
    low: Expression | None = None
    low_closed = False
    for piece in joined(_in_order(pieces)):
        if piece.low is not None:
            gaps.append(Range(low, low_closed, piece.low, not piece.low_closed))
        if piece.high is None:
            return tuple(gaps)
        low, low_closed = piece.high, not piece.high_closed
    return (*gaps, Range(low, low_closed, None, False))


def _in_order(pieces: _Pieces) -> _Pieces:
    """Pieces by their lower ends. Raises Unreadable where those cannot be ordered."""
    if len(pieces) > MAX_PIECES:
        raise Unreadable("too many ranges")
    return tuple(sorted(pieces, key=cmp_to_key(_compare_low)))


def _compare_low(one: Range, other: Range) -> int:
    if one.low is None or other.low is None:
        return (other.low is None) - (one.low is None)
    found = _order(one.low, other.low)
    return found or other.low_closed - one.low_closed


def _order(one: Expression, other: Expression) -> int:
    found = order_of(one, other)
    if found is None:
        raise Unreadable("ends that cannot be ordered")
    return found


def _touch(one: Range, following: Range) -> bool:
    """Whether no number lies between a range and one that begins later."""
    if one.high is None or following.low is None:
        return True
    gap = order_of(one.high, following.low)
    return gap == 1 or (gap == 0 and (one.high_closed or following.low_closed))


def _both(one: Range, following: Range) -> Range:
    """A range and a later one that touches it."""
    if one.high is None or following.high is None:
        return Range(one.low, one.low_closed, None, False)
    gap = order_of(one.high, following.high)
    if gap == 0:
        closed = one.high_closed or following.high_closed
        return Range(one.low, one.low_closed, one.high, closed)
    last = one if gap == 1 else following
    return Range(one.low, one.low_closed, last.high, last.high_closed)
