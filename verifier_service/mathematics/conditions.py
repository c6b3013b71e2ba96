"""Conditions under which an answer is said to hold: `if x > 0`, `k \\in \\mathbb{Z}`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier_service.mathematics.notation import Kind, Token, Unreadable, tokenize
from verifier_service.mathematics.plain_text import unwrapped, without_delimiters
from verifier_service.mathematics.splitting import depth_change

_CONDITION_WORDS = frozenset(
    (
        "where for when if with such since because given assuming provided as which that after"
    ).split()
)
"""Words that begin a condition."""
_SET_NAMES = frozenset({"R", "Z", "N", "Q", "C"})
_KINDS_OF_NUMBERS = {
    "natural": frozenset({"N", "natural", "positive", "nonnegative", "non-negative"}),
    "integer": frozenset({"Z", "integer", "integers"}),
    "real": frozenset({"R", "real", "reals"}),
}


def read_condition(text: str) -> str:
    """The condition that a text states, in normal form; empty if it states none.

    >>> read_condition(r"k\\pi, k \\in \\mathbb{Z}")
    'integer'
    """
    try:
        tokens = tokenize(without_delimiters(unwrapped(text)))
    except Unreadable:
        return ""
    starts = [i for i in (_condition_word(tokens), _membership(tokens)) if i is not None]
    return _normal_form(tokens[min(starts) + 1 :]) if starts else ""


def without_condition(tokens: list[Token]) -> list[Token]:
    """The tokens before the word or the bracket that begins a condition: `k\\pi (k \\in Z)`."""
    tokens = tokens[: _condition_word(tokens)]
    if tokens and tokens[-1].text == ")":
        start = _membership(tokens)
        if start and tokens[start].text == "(":
            return tokens[:start]
    return tokens


_CHANGES = re.compile(
    r"else|otherwise|signs?|±|∓|pm|mp|minus|plus|negated|negative|opposite|vice|versa"
    r"|(?:doubl|halv|tripl|quadrupl|squar|cub|negat|invert|revers)(?:ed|ing)",
    re.IGNORECASE,
)
"""Words and signs of a condition that change the value before it, or offer another one."""


def has_changing_condition(tokens: Sequence[Token]) -> bool:
    """Whether a condition leaves the value before it open: `5 if odd else 6`, `5 with sign ±`."""
    start = _condition_word(tokens)
    if start is None:
        return False
    return any(_CHANGES.fullmatch(token.text) for token in tokens[start:])


def without_union_over_integers(tokens: list[Token]) -> list[Token]:
    """The sets behind `\\bigcup_{k \\in \\mathbb{Z}}`; other tokens as they are."""
    if _membership(tokens) != _BIG_UNION_INDEX:
        return tokens
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text == "{") - (token.text == "}")
        if index > _BIG_UNION_INDEX and depth == 0:
            return tokens[index + 1 :]
    return tokens


def is_condition(tokens: Sequence[Token]) -> bool:
    """Whether an element of a list is a condition, and no answer: `k \\in \\mathbb{Z}`."""
    texts = [token.text for token in tokens]
    if tokens[0].kind is Kind.WORD and texts[0].lower() in _CONDITION_WORDS:
        return True
    if "∈" in texts:
        after = [text for text in texts[texts.index("∈") + 1 :] if text not in "{}"]
        return bool(after) and after[0] in _SET_NAMES
    return "integer" in texts or "integers" in texts


def _condition_word(tokens: Sequence[Token]) -> int | None:
    """Index of the first word after some mathematics that begins a condition; None without one."""
    depth = 0
    follows_mathematics = False
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        is_word = token.kind is Kind.WORD and token.text.lower() in _CONDITION_WORDS
        if depth == 0 and is_word and follows_mathematics:
            return index
        follows_mathematics = follows_mathematics or _is_mathematics(token)
    return None


_BIG_UNION_INDEX = 2
"""Index of the brace behind the sign and the underscore of a union over an index."""


def _membership(tokens: Sequence[Token]) -> int | None:
    """Index of what stands before `k \\in \\mathbb{Z}`: a comma, a bar, a bracket; else None."""
    if all(token.text != "∈" for token in tokens):
        return None
    depth = 0
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        if _may_precede_membership(tokens, index, depth) and "∈" in [
            one.text for one in tokens[index + 1 : index + 4]
        ]:
            return index
    return None


def _may_precede_membership(tokens: Sequence[Token], index: int, depth: int) -> bool:
    text = tokens[index].text
    if text == "{":
        return index == _BIG_UNION_INDEX and [one.text for one in tokens[:2]] == ["∪", "_"]
    if not index:
        return False
    in_set = depth == 1 and tokens[0].text == "\\{" and text in ("|", "mid", ":")
    return in_set or (depth == 0 and text == ",") or (depth == 1 and text == "(")


def _is_mathematics(token: Token) -> bool:
    if token.kind is Kind.SIGN:
        return token.text not in ".,'-:"
    return token.kind is not Kind.WORD and token.text not in ("a", "A", "I")


def _normal_form(tokens: Sequence[Token]) -> str:
    """The kind of number that a variable is, whatever its name; any other condition as it is."""
    texts = [token.text for token in tokens if token.text not in "{}"]
    named = texts[texts.index("∈") + 1 :] if "∈" in texts else [text.lower() for text in texts]
    for kind, names in _KINDS_OF_NUMBERS.items():
        if set(named) & names:
            return kind
    return "".join(texts).lower()
