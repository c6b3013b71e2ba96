"""Whether two equations, or two inequalities, hold for the same values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verifier_service.mathematics.comparison_points import points
from verifier_service.mathematics.exact_values import NotExact, Undefined, exact
from verifier_service.mathematics.expression_equality import leaves_the_reals, same
from verifier_service.mathematics.expressions import Expression, difference, variables
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.numeric_values import DIGITS, numeric
from verifier_service.mathematics.values import Relation


def same_relation(left: Relation, right: Relation, tolerance: float) -> bool | None:
    """Whether two equations or inequalities hold for the same values; None where that is open."""
    if left.sign != right.sign:
        return False
    if left.sign in ("=", "!="):
        return same_equation(left, right, tolerance)
    ratio = _ratio(left, right)
    if ratio is None:
        return None
    return ratio > 0


def same_equation(left: Relation | None, right: Relation, tolerance: float) -> bool | None:
    """Whether two equations hold for the same values.

    Args:
        left: an equation; None for a value that is none.
        right: an equation or inequality; an inequality differs from every equation.
        tolerance: relative, for decimals: see `expression_equality.same`.

    Returns:
        None where that is open.
    """
    if left is None or right.sign not in ("=", "!="):
        return False
    if not variables(_gap(left)) and not variables(_gap(right)):
        sides = [
            same(a, b, tolerance)
            for a, b in ((left.left, right.left), (left.right, right.right),
                         (left.left, right.right), (left.right, right.left))
        ]  # fmt: skip
        return (sides[0] and sides[1]) or (sides[2] and sides[3])
    ratio = _ratio(left, right)
    if ratio:
        return True
    first, second = _gap(left), _gap(right)
    verdict = _same_zeros(first, second)
    if verdict is None and (_loses_a_zero(first, second) or _loses_a_zero(second, first)):
        return False
    return verdict


def _loses_a_zero(first: Expression, second: Expression) -> bool:
    """Whether a point at which one expression is 0 is none at which the other is, among the reals.

    `x - y` is 0 where both are -3, and `\\sqrt x - \\sqrt y` has no real value there. Points are
    found where the first expression is linear in a variable.
    """
    names = sorted(variables(first))
    if set(names) != variables(second):
        return False
    for name in names:
        others = [one for one in names if one != name]
        for point in points(others, first, second):
            root = _linear_root(first, name, point)
            if root is not None and not _may_vanish(second, {**point, name: root}):
                return True
    return False


def _may_vanish(expression: Expression, point: dict[str, Fraction]) -> bool:
    """False where an expression has no real value at a point, or one that is not 0."""
    try:
        if leaves_the_reals(expression, point):
            return False
        return bool(abs(numeric(expression, point, DIGITS)) < 1e-30)
    except (Undefined, Unreadable):
        return True


def _gap(relation: Relation) -> Expression:
    """The left side minus the right side, which is 0 where an equation holds."""
    return difference(relation.left, relation.right)


def _ratio(left: Relation, right: Relation) -> Fraction | float | None:
    """The constant ratio of two relations' gaps; 0 where it varies, None where that is open."""
    first, second = _gap(left), _gap(right)
    names = sorted(variables(first) | variables(second))
    ratios: list[Fraction] = []
    try:
        for point in points(names, first, second):
            try:
                above, below = exact(first, point), exact(second, point)
            except Undefined:
                continue
            if bool(above) != bool(below):
                return Fraction(0)
            if below:
                ratios.append(above / below)
    except NotExact:
        return _numeric_ratio(first, second, names)
    if len(ratios) < 3:
        return None
    return ratios[0] if len(set(ratios)) == 1 else Fraction(0)


def _numeric_ratio(first: Expression, second: Expression, names: Sequence[str]) -> float | None:
    """The ratio where it is not rational: see `_ratio`."""
    ratios = []
    for point in points(names, first, second):
        try:
            above, below = numeric(first, point, DIGITS), numeric(second, point, DIGITS)
        except (Undefined, Unreadable):
            continue
        if above.imag if hasattr(above, "imag") else 0:
            continue
        if abs(below) < 1e-30 or abs(above) < 1e-30:
            continue
        ratios.append(above / below)
    if len(ratios) < 3:
        return None
    spread = max(abs(ratio - ratios[0]) for ratio in ratios)
    return float(ratios[0].real) if spread < abs(ratios[0]) * 1e-25 else 0.0


def _same_zeros(first: Expression, second: Expression) -> bool | None:
    """Whether two expressions vanish at the same points, tried in each variable in turn.

    None where they are not both linear in one variable.
    """
    if variables(first) != variables(second):
        return False
    names = sorted(variables(first))
    for name in names:
        found = _roots_agree(first, second, name)
        if found is not None:
            return found
    return None


def _roots_agree(first: Expression, second: Expression, name: str) -> bool | None:
    """Whether the roots in one variable are equal while the others are fixed.

    None where an expression is not linear in that variable.
    """
    others = sorted((variables(first) | variables(second)) - {name})
    num_agreeing = 0
    for point in points(others, first, second)[:4]:
        roots = []
        for expression in (first, second):
            root = _linear_root(expression, name, point)
            if root is None:
                return None
            roots.append(root)
        if roots[0] != roots[1]:
            return False
        num_agreeing += 1
    return num_agreeing >= 3


_PLACES = (3, -17, 12, 31)
"""Values of a variable at which an expression is tried; `|x|` is linear at the positive ones."""


def _linear_root(expression: Expression, name: str, point: dict[str, Fraction]) -> Fraction | None:
    """The root in a variable of an expression that is linear in it or in its reciprocal.

    None for any other expression.
    """
    try:
        values = [exact(expression, {**point, name: Fraction(x)}) for x in _PLACES]
    except (NotExact, Undefined):
        return None
    slope = (values[1] - values[0]) / (_PLACES[1] - _PLACES[0])
    if slope and all(
        value == values[0] + slope * (x - _PLACES[0])
        for value, x in zip(values, _PLACES, strict=True)
    ):
        return _PLACES[0] - values[0] / slope
    # a / x + b is linear in 1 / x.
    inverse = [Fraction(1, x) for x in _PLACES]
    slope = (values[1] - values[0]) / (inverse[1] - inverse[0])
    offset = values[0] - slope * inverse[0]
    if (
        slope
        and offset
        and all(value == offset + slope * x for value, x in zip(values, inverse, strict=True))
    ):
        return -slope / offset
    return None
