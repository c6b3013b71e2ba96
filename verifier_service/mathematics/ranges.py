"""Sets of numbers between bounds: read from inequalities and brackets, joined, met and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.exact_values import NotExact, Undefined, exact
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Symbol,
    difference,
    is_constant,
    negative,
    variables,
    walk,
    with_each_sign,
)
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.numeric_values import DIGITS, numeric
from verifier_service.mathematics.values import (
    EVERYTHING,
    Named,
    Quantity,
    Range,
    Ranges,
    Relation,
    Several,
    Value,
)


def solve_inequality(sides: Sequence[Expression], signs: Sequence[str]) -> Ranges | Relation:
    """The numbers that an inequality or a chain of two describes: `2x < 6`, `1 < x <= 3`.

    An inequality that is not linear in one variable stays a relation.

    Args:
        sides: the expressions between the signs.
        signs: `=`, `≈`, `<`, `<=`, `>`, `>=` or `!=`, one fewer than sides.

    Raises:
        Unreadable: a chain with different signs, or too long a chain.
    """
    signs = ["=" if sign == "≈" else sign for sign in signs]
    if len(sides) == 2:
        return _single_inequality(sides[0], signs[0], sides[1])
    if len(sides) == 3 and len({sign[0] for sign in signs}) == 1 and signs[0][0] in "<>":
        if signs[0][0] == ">":
            sides, signs = sides[::-1], [sign.replace(">", "<") for sign in signs[::-1]]
        low, middle, high = sides
        piece = Range(_bound(low), signs[0] == "<=", _bound(high), signs[1] == "<=")
        if isinstance(middle, Symbol):
            return Ranges((piece,), middle.name)
        linear = _linear(middle)
        if linear is not None:
            name, slope, offset = linear
            return _scaled(piece, name, slope, offset)
    raise Unreadable("a chain of relations")


def _bound(expression: Expression) -> Expression | None:
    """The end of a range; None for either infinity."""
    if expression in (Symbol("infty"), negative(Symbol("infty"))):
        return None
    return expression


def _single_inequality(left: Expression, sign: str, right: Expression) -> Ranges | Relation:
    if sign[0] == ">":
        left, sign, right = right, sign.replace(">", "<"), left
    if (distance := _distance(left, sign, right)) is not None:
        return distance
    if sign == "!=" and len(both := with_each_sign(right)) > 1:  # x is neither of both
        parts = [_single_inequality(left, sign, one) for one in both]
        met = _met([one for one in parts if isinstance(one, Ranges)])
        return Relation(sign, left, right) if met is None else met
    if sign in ("<", "<=", "!="):
        solved = _solved(left, sign, right) or _linearly_solved(left, sign, right)
        if solved is not None:
            return solved
    return Relation(sign, left, right)


def _met(both: Sequence[Ranges]) -> Ranges | None:
    """The numbers that two ranges have in common; None where that is not known."""
    pieces = intersection(both[0].pieces, both[1].pieces) if len(both) == 2 else None
    return Ranges(pieces, both[0].variable) if pieces else None


def _solved(left: Expression, sign: str, right: Expression) -> Ranges | None:
    """The range of an inequality with a variable alone on one side: `x < 3`, `a + 1 <= x`."""
    names = variables(left) | variables(right)
    for variable, other, is_left in ((left, right, True), (right, left, False)):
        if (
            isinstance(variable, Symbol)
            and not is_constant(variable)
            and variable.name not in variables(other)
            and (len(names) == 1 or not isinstance(other, Symbol))
        ):
            return _half_line(variable.name, other, sign, below=is_left)
    return None


def _linearly_solved(left: Expression, sign: str, right: Expression) -> Ranges | None:
    """The range of an inequality that is linear in its one variable: `2x + 1 < 7`."""
    linear = _linear(difference(left, right))
    if linear is None:
        return None
    name, slope, offset = linear
    solved = _half_line(name, Number(-offset / slope), sign, below=slope > 0 or sign == "!=")
    return Ranges(_unsolved(*solved.pieces), name)


def _unsolved(*pieces: Range) -> tuple[Range, ...]:
    """Ranges that an inequality describes before it is solved."""
    return tuple(replace(piece, is_solved=False) for piece in pieces)


def _distance(left: Expression, sign: str, right: Expression) -> Ranges | None:
    """The range of an inequality that bounds an absolute value: `|x| < 2`, `2 < |x|`."""
    for inside, bound, is_near in ((left, right, True), (right, left, False)):
        if not (isinstance(inside, Call) and inside.name == "abs" and not variables(bound)):
            continue
        variable = inside.arguments[0]
        if not isinstance(variable, Symbol) or len(inside.arguments) > 1 or sign == "!=":
            return None
        closed = sign == "<="
        if is_near:
            near = Range(negative(bound), closed, bound, closed)
            return Ranges(_unsolved(near), variable.name)
        outer = (Range(None, False, negative(bound), closed), Range(bound, closed, None, False))
        return Ranges(_unsolved(*outer), variable.name)
    return None


def _half_line(name: str, bound: Expression, sign: str, *, below: bool) -> Ranges:
    """All numbers on one side of a bound; on both sides where the sign is `!=`."""
    if sign == "!=":
        return Ranges((Range(None, False, bound, False), Range(bound, False, None, False)), name)
    closed = sign == "<="
    if below:
        return Ranges((Range(None, False, _bound(bound), closed),), name)
    return Ranges((Range(_bound(bound), closed, None, False),), name)


def _linear(expression: Expression) -> tuple[str, Fraction, Fraction] | None:
    """Name, slope and value at 0 of a linear expression of one variable; None for any other."""
    names = variables(expression)
    if len(names) != 1 or any(map(_may_bend, walk(expression))):
        return None
    (name,) = names
    try:
        values = [exact(expression, {name: Fraction(x)}) for x in (0, 1, 2, 5, 11)]
    except (NotExact, Undefined):
        return None
    slope = values[1] - values[0]
    if not slope or any(
        value != values[0] + slope * x for value, x in zip(values, (0, 1, 2, 5, 11), strict=True)
    ):
        return None
    return name, slope, values[0]


def _may_bend(part: Expression) -> bool:
    """Whether a part, `|x|` or a root, may look linear at some points and bend at others."""
    if isinstance(part, Power):
        return not isinstance(part.exponent, Number) or part.exponent.value.denominator > 1
    return isinstance(part, Call)


def _scaled(piece: Range, name: str, slope: Fraction, offset: Fraction) -> Ranges:
    """The range of a variable x if slope * x + offset lies in the given range."""

    def solve(bound: Expression | None) -> Expression | None:
        if bound is None:
            return None
        shifted = difference(bound, Number(offset))
        solved = Product((shifted, Number(1 / slope)))
        try:
            return Number(exact(solved, {}))
        except (NotExact, Undefined):
            return solved

    low, high = solve(piece.low), solve(piece.high)
    if slope > 0:
        return Ranges(_unsolved(Range(low, piece.low_closed, high, piece.high_closed)), name)
    return Ranges(_unsolved(Range(high, piece.high_closed, low, piece.low_closed)), name)


def interval(items: Sequence[Value], brackets: str) -> Ranges | None:
    """Two values in brackets as a range: `[0, 1)`; None for anything else."""
    if len(items) != 2 or brackets[:1] not in ("(", "[", "]"):
        return None
    low, high = items
    if not (isinstance(low, Quantity) and isinstance(high, Quantity)):
        return None
    return Ranges(
        (Range(_bound(low.expression), brackets[0] == "[", _bound(high.expression),
               brackets[-1] == "]"),)
    )  # fmt: skip


def as_ranges(answer: Value) -> Ranges | None:
    """An answer as ranges, also a pair such as `(0, 1)`; None if it cannot be one."""
    if isinstance(answer, Ranges):
        return answer
    if isinstance(answer, Several) and answer.kind == "tuple":
        return interval(answer.items, answer.brackets)
    if isinstance(answer, Quantity) and answer.expression == Symbol("R"):
        return EVERYTHING
    return None


def bound_as_relation(ranges: Ranges) -> Relation | None:
    """The inequality of a variable with one bound that has variables: `y < 2x + 1`; else None."""
    if ranges.variable is None or len(ranges.pieces) != 1:
        return None
    (piece,) = ranges.pieces
    bound = piece.low if piece.high is None else piece.high
    if bound is None or (piece.low is not None and piece.high is not None):
        return None
    if not variables(bound):
        return None
    sign = "<=" if piece.low_closed or piece.high_closed else "<"
    variable = Symbol(ranges.variable)
    return Relation(sign, *((variable, bound) if piece.low is None else (bound, variable)))


def combine_ranges(items: Sequence[Value], *, is_union: bool) -> Ranges | Several:
    """Ranges joined by `or`, `and` or a comma.

    They are a union where `or` stands between them, or where no number lies in all of them:
    `x < 1, x > 2`. Otherwise they are their intersection: `x > 0, x < 5`.

    Args:
        items: ranges, and pairs that can be read as ranges.
        is_union: whether `or` stands between them.

    Raises:
        Unreadable: one of them is no range, or ends cannot be ordered.
    """
    if is_union:
        items = [_with_point(item) for item in items]
    ranges = [one for one in map(as_ranges, items) if one is not None]
    if len(ranges) < len(items):
        if all(isinstance(item, Ranges | Named) for item in items):
            return Several("list", tuple(items))
        raise Unreadable("ranges and other things")
    names = {one.variable for one in ranges if one.variable}
    if len(names) > 1:
        return Several("list", tuple(ranges))
    name = names.pop() if names else None
    if not is_union and name:
        common = _common_pieces(ranges)
        if common:
            return Ranges(common, name)
    return Ranges(tuple(piece for one in ranges for piece in one.pieces), name)


def _with_point(item: Value) -> Value:
    """A number with a name as a range from itself to itself: the `x = 3` of `x < 1 or x = 3`."""
    if not isinstance(item, Named) or item.is_function or not isinstance(item.value, Quantity):
        return item
    if item.value.unit or item.value.words or item.value.base:
        return item
    number = item.value.expression
    return Ranges((Range(number, True, number, True),), item.name)


def _common_pieces(ranges: Sequence[Ranges]) -> tuple[Range, ...]:
    """The intersection of all; empty if no number lies in all. Raises Unreadable."""
    common = ranges[0].pieces
    for one in ranges[1:]:
        met = intersection(common, one.pieces)
        if met is None:
            raise Unreadable("ranges whose ends cannot be ordered")
        common = met
    return common


def intersection(left: Sequence[Range], right: Sequence[Range]) -> tuple[Range, ...] | None:
    """The intersection of two unions of ranges; None if their ends cannot be ordered."""
    found = []
    for one in left:
        for other in right:
            low = _inner(one.low, one.low_closed, other.low, other.low_closed, 1)
            high = _inner(one.high, one.high_closed, other.high, other.high_closed, -1)
            if low is None or high is None:
                return None
            (start, start_closed), (end, end_closed) = low, high
            if start is not None and end is not None:
                order = order_of(start, end)
                if order is None:
                    return None
                if order > 0 or (order == 0 and not (start_closed and end_closed)):
                    continue
            is_solved = one.is_solved and other.is_solved
            found.append(Range(start, start_closed, end, end_closed, is_solved))
    return tuple(found)


def _inner(
    one: Expression | None,
    one_closed: bool,
    other: Expression | None,
    other_closed: bool,
    sign: int,
) -> tuple[Expression | None, bool] | None:
    """The larger of two lower ends (sign 1) or the smaller of two upper ends (sign -1)."""
    if one is None:
        return other, other_closed
    if other is None:
        return one, one_closed
    order = order_of(one, other)
    if order is None:
        return None
    if order == 0:
        return one, one_closed and other_closed
    return (one, one_closed) if order == sign else (other, other_closed)


def order_of(one: Expression, other: Expression) -> int | None:
    """-1, 0 or 1 if one is less than, equal to or greater than the other; None if unknown."""
    try:
        gap = exact(difference(one, other), {})
        return (gap > 0) - (gap < 0)
    except Undefined:
        return None
    except NotExact:
        pass
    try:
        value = numeric(difference(one, other), {}, DIGITS)
    except (Undefined, Unreadable):
        return None
    if value.imag or abs(value) < 1e-30:
        return None if value.imag else 0
    return 1 if value > 0 else -1
