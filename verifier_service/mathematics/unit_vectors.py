"""Vectors written as sums of unit vectors: `3\\hat{i} - 4\\hat{k}` is (3, 0, -4)."""

from __future__ import annotations

import re
from fractions import Fraction

from verifier_service.mathematics.expression_parser import parse_expression
from verifier_service.mathematics.expressions import Expression, Number, Sum, negative
from verifier_service.mathematics.notation import Unreadable, tokenize
from verifier_service.mathematics.quantities import read_unit
from verifier_service.mathematics.splitting import is_bracketed
from verifier_service.mathematics.values import Quantity, Several

MAX_CHARACTERS = 500
"""Longest text that is read as a vector."""
_AXES = "ijk"
# A unit vector with its mark: `\hat{i}`, `\vec j`, `\mathbf{\hat k}`, `\hat{\imath}`.
_MARK = r"\\(?:hat|widehat|vec|mathbf|boldsymbol|bm)"
_MARKED = re.compile(
    rf"{_MARK}\s*(?:\{{\s*(?:{_MARK}\s*\{{?\s*)?|(?={_MARK}\s*\{{)|\s)?"
    rf"(?:{_MARK}\s*\{{?\s*)?\\?(?P<axis>[ijk])(?:math)?\s*\}}{{0,2}}(?![a-zA-Z])"
)
# A unit vector without a mark, behind its coefficient or a sign: the i and j of `3i + 4j`.
_BARE = re.compile(r"(?<![a-zA-Z\\])(?P<axis>[ijk])(?![a-zA-Z(^_'])")
# A letter that may name a unit vector; most texts have none.
_AXIS = re.compile(r"(?<![a-zA-Z])[ijk](?![a-zA-Z])|[ij]math")
# A digit of a value, and not of an index: the `3` of `3 = \hat{i}`, not the `1` of `v_1`.
_VALUE = re.compile(r"(?<![_{\d])\d")
# What may stand between a coefficient and its unit vector.
_JOINT = re.compile(r"(?:\\(?:cdot|times|[,;: ])|[*~\s])+$")


def read_unit_vectors(text: str) -> list[Several]:
    """The vectors that a text can be, in the plane and in space; none where it is no such sum.

    >>> [len(one.items) for one in read_unit_vectors(r"3\\hat{i} + 4\\hat{j}")]
    [2, 3]
    >>> read_unit_vectors("3 + 4i")
    []

    Args:
        text: an answer without delimiters.
    """
    if len(text) > MAX_CHARACTERS or _AXIS.search(text) is None:
        return []
    name, _, text = text.replace("\\left", "").replace("\\right", "").rpartition("=")
    if _VALUE.search(name):
        return []
    text = text.strip()
    if text.startswith("("):
        inside, bracket, behind = text[1:].rpartition(")")
        text = f"{inside} {behind}" if bracket and ")" not in inside else text
    for pattern in (_MARKED, _BARE):
        found = list(pattern.finditer(text))
        axes = [match["axis"] for match in found]
        if found and len(set(axes)) == len(axes) and (pattern is _MARKED or len(axes) > 1):
            return _vectors(text, found)
    return []


def _vectors(text: str, found: list[re.Match[str]]) -> list[Several]:
    components: dict[str, Expression] = {}
    start = 0
    for match in found:
        coefficient = _coefficient(text[start : match.start()], is_first=start == 0)
        if coefficient is None:
            return []
        components[match["axis"]] = coefficient
        start = match.end()
    try:
        behind = tokenize(text[start:])
    except Unreadable:
        return []
    unit = read_unit(behind)
    if behind and unit is None:
        return []
    zero = Number(Fraction(0))
    items = tuple(Quantity(components.get(axis, zero), unit) for axis in _AXES)
    in_space = Several("tuple", items, "()")
    return [in_space] if "k" in components else [Several("tuple", items[:2], "()"), in_space]


def _coefficient(text: str, *, is_first: bool) -> Expression | None:
    """The number before a unit vector, with its sign; None where it is none."""
    text = _JOINT.sub("", text).strip()
    sign, rest = text[:1], text[1:].strip()
    if sign not in ("+", "-", "−"):
        if not is_first:
            return None
        sign, rest = "+", text
    if not rest:
        value: Expression = Number(Fraction(1))
    else:
        try:
            tokens = tokenize(rest)
            value = parse_expression(tokens)
        except Unreadable:
            return None
        if isinstance(value, Sum) and not is_bracketed(tokens):  # the 2 + 3 of 2 + 3\hat{j}
            return None
    return negative(value) if sign in ("-", "−") else value
