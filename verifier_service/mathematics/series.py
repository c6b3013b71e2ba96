r"""Whether two texts hold the same sum or product over an index: `\sum_{k=1}^n k^2`.

The index has any name, and where a sum has no end it may begin at any number. Terms that are equal
for every index make equal sums; sums that are equal for another reason are left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expression_parser import parse_expression
from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Sum,
    Symbol,
    substitute,
    variables,
)
from verifier_service.mathematics.notation import Kind, Token, Unreadable, tokenize
from verifier_service.mathematics.plain_text import unwrapped, without_delimiters
from verifier_service.mathematics.splitting import depth_change

_STANDS_FOR_SERIES = "series"
_INDEX = "index"


class _Series(NamedTuple):
    """A sum or product with the expression around it."""

    name: str
    """sum or prod."""
    start: int
    end: Expression
    term: Expression
    """The term at a number that the symbol `index` stands for."""
    around: Expression
    """The whole expression with a symbol in place of the sum or product."""


def same_series(left: str, right: str, tolerance: float) -> bool:
    """Whether both texts are known to be equal because their sums have equal terms."""
    if not all(r"\sum" in text or r"\prod" in text for text in (left, right)):
        return False
    one, other = _read(left), _read(right)
    if one is None or other is None or one.name != other.name:
        return False
    is_endless = one.end == other.end == Symbol("infty")
    if not is_endless and (one.start != other.start or not same(one.end, other.end, 0.0)):
        return False
    shift = Number(Fraction(other.start - one.start))
    term = substitute(other.term, {_INDEX: Sum((Symbol(_INDEX), shift))})
    return bool(same(one.term, term, tolerance) and same(one.around, other.around, tolerance))


def _read(text: str) -> _Series | None:
    """The only sum or product of a text; None where it has none, several, or anything unread."""
    try:
        tokens = tokenize(without_delimiters(unwrapped(text)))
        found = [i for i, one in enumerate(tokens) if _is_series(one)]
        return _series(tokens, found[0]) if len(found) == 1 else None
    except (Unreadable, RecursionError):
        return None


def _is_series(token: Token) -> bool:
    return token.kind is Kind.FUNCTION and token.text in ("sum", "prod")


def _series(tokens: Sequence[Token], at: int) -> _Series:
    """The sum or product at an index of the tokens. Raises Unreadable."""
    below, position = _bound(tokens, at + 1, "_")
    above, position = _bound(tokens, position, "^")
    if len(below) < 3 or below[0].kind is not Kind.LETTER or below[1].text != "=":
        raise Unreadable("a sum without an index")
    start, index = parse_expression(below[2:]), below[0].text
    if not isinstance(start, Number) or start.value.denominator != 1:
        raise Unreadable("a sum that begins at no whole number")
    stop = _end_of_term(tokens, position)
    term = parse_expression(tokens[position:stop])
    symbol = Token(Kind.LETTER, _STANDS_FOR_SERIES)
    around = parse_expression([*tokens[:at], symbol, *tokens[stop:]])
    end = parse_expression(above)
    if index in variables(around) | variables(end):
        raise Unreadable("an index outside its sum")
    renamed = substitute(term, {index: Symbol(_INDEX)})
    return _Series(tokens[at].text, int(start.value), end, renamed, around)


def _bound(tokens: Sequence[Token], position: int, sign: str) -> tuple[Sequence[Token], int]:
    """The index or exponent at a position, without braces, and the position after it."""
    if position + 1 >= len(tokens) or tokens[position].text != sign:
        raise Unreadable("a sum without bounds")
    if tokens[position + 1].text != "{":
        return tokens[position + 1 : position + 2], position + 2
    depth = 0
    for end in range(position + 1, len(tokens)):
        depth += (tokens[end].text == "{") - (tokens[end].text == "}")
        if depth == 0:
            return tokens[position + 2 : end], end + 1
    raise Unreadable("a bound that does not end")


def _end_of_term(tokens: Sequence[Token], position: int) -> int:
    """The position of the `+` or `-`, or of the closing bracket, behind a term."""
    depth = 0
    for index in range(position, len(tokens)):
        depth += depth_change(tokens[index])
        is_sign = tokens[index].text in ("+", "-") and depth == 0 and index > position
        if depth < 0 or (is_sign and tokens[index - 1].text not in ("^", "*", "/", "_")):
            return index
    return len(tokens)
