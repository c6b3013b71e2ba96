r"""Domains on which an answer holds: the `x \ge 1` of `f(x) = x^2 \ (x \ge 1)`.

A domain belongs to the answer: `x^2 + y^2 = 4 (x \ne 2)` is a circle without a point. One that only
leaves out the points where the expression has no value, as in `1/x (x \ne 0)`, says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expressions import Expression, substitute, variables
from verifier_service.mathematics.notation import Kind, Token, Unreadable
from verifier_service.mathematics.numeric_values import numeric
from verifier_service.mathematics.splitting import depth_change
from verifier_service.mathematics.values import Named, Quantity, Ranges, Relation, Several, Value

_BOUNDS = frozenset({"<", "<=", ">", ">=", "!="})
_BRACKETS = "{|}"
"""Brackets of a tuple of a value and its condition, as of the set `{2k | k > 0}`."""
_DIGITS = 15

Tokens = Sequence[Token]


def split_domain(tokens: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""The tokens of a value and of the domain behind it; None where none is stated.

    >>> from verifier_service.mathematics.notation import tokenize
    >>> value, domain = split_domain(tokenize(r"x^2 (x \ge 1)"))
    >>> [token.text for token in domain]
    ['x', '>=', '1']
    >>> split_domain(tokenize(r"x > 1, x < 3")) is None
    True
    """
    if not any(_bounds(tokens, index) for index in range(len(tokens))):
        return None
    is_bracketed = tokens[-1].text == ")" and not _is_interval(tokens)
    start = _opening(tokens) if is_bracketed else _comma(tokens)
    if start is None or start == 0:
        return None
    before = start - (tokens[start - 1].text == ",")
    value, domain = tokens[:before], tokens[start + 1 : len(tokens) - is_bracketed]
    if not value or not domain or any(one.kind is Kind.WORD for one in (*value, *domain)):
        return None
    has_own_bounds = any(_bounds(value, index) for index in range(len(value)))
    is_bound = any(_bounds(domain, index) for index in range(len(domain)))
    return (value, domain) if is_bound and not has_own_bounds else None


def _bounds(tokens: Tokens, index: int) -> bool:
    r"""Whether a token is a relation that bounds a variable: `>`, the `\in` of `x \in [1, 2]`."""
    text = tokens[index].text
    if text == "∈":
        return [one.text for one in tokens[index + 1 : index + 2]] in (["["], ["("])
    return text in _BOUNDS


def _opening(tokens: Tokens) -> int | None:
    """The index of the bracket that the last token closes."""
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        depth -= depth_change(tokens[index])
        if depth == 0:
            return index
    return None


def _is_interval(tokens: Tokens) -> bool:
    """Whether the last bracket closes an interval: that of `x \\in (1, 2)`."""
    start = _opening(tokens)
    return start is not None and start > 0 and tokens[start - 1].text == "∈"


def _comma(tokens: Tokens) -> int | None:
    """The index of the first comma outside brackets."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        if depth == 0 and token.text == ",":
            return index
    return None


def on_domain(value: Value, domain: Value) -> Value | None:
    """A value with the domain on which it holds; None where the value does not vary there."""
    if not isinstance(domain, Ranges) or domain.variable is None:
        return None
    if not _varies_with(value, domain.variable):
        return None
    if _is_natural(value, domain):
        return value
    return Several("tuple", (value, replace(domain, variable=None)), _BRACKETS)


def _varies_with(value: Value, variable: str) -> bool:
    if isinstance(value, Named):
        return _varies_with(value.value, variable)
    if isinstance(value, Quantity):
        return variable in variables(value.expression)
    if isinstance(value, Relation) and value.sign == "=":
        return variable in variables(value.left) | variables(value.right)
    return False


def _is_natural(value: Value, domain: Ranges) -> bool:
    """Whether a domain leaves out nothing but points at which the value is undefined."""
    inner = value.value if isinstance(value, Named) else value
    points = _left_out(domain)
    if not isinstance(inner, Quantity) or not points:
        return False
    names = variables(inner.expression)
    if len(names) != 1 or any(map(variables, points)):
        return False
    (name,) = names
    return all(_is_undefined(inner.expression, name, at) for at in points)


def _left_out(domain: Ranges) -> list[Expression]:
    """The points without which a domain is all numbers: 0 and 1 of `x \\ne 0, x \\ne 1`."""
    pieces = domain.pieces
    if not pieces or pieces[0].low is not None or pieces[-1].high is not None:
        return []
    points: list[Expression] = []
    for piece, following in pairwise(pieces):
        if piece.high is None or piece.high != following.low:
            return []
        points.append(piece.high)
    return points


def _is_undefined(expression: Expression, name: str, at: Expression) -> bool:
    try:
        numeric(substitute(expression, {name: at}), {}, _DIGITS)
    except Undefined:
        return True
    except Unreadable:
        return False
    return False
