"""Orders of names: the `a < b < c < d` of a text, from the smallest to the largest."""

from __future__ import annotations

import re

from verifier_service.mathematics.plain_text import unwrapped

# A name in an order: `a`, `x_1`, `AB`, `\angle A`, `\alpha`.
_NAME = r"(?:\\[a-z]{2,8}\s*)?(?:[A-Za-z]{1,3}(?:_\{?\w{1,3}\}?|'){0,2})?"
_SIGN = r"\s*(?:[<>＜＞](?!=)|\\[lg]t(?![a-z]))\s*"
_CHAIN = re.compile(rf"\s*{_NAME}(?:{_SIGN}{_NAME}){{2,12}}[\s.]*")
_BETWEEN = re.compile(_SIGN)
_LESS = frozenset({"<", "\\lt", "＜"})
MAX_CHARACTERS = 200
"""Longest text that is read as an order."""


def order_of_names(text: str) -> tuple[str, ...] | None:
    r"""The names of an order from the smallest to the largest; None for any other text.

    >>> order_of_names("c > b > a"), order_of_names(r"a \lt b \lt c")
    (('a', 'b', 'c'), ('a', 'b', 'c'))
    >>> order_of_names("a < b > c") is None, order_of_names("1 < x < 2") is None
    (True, True)
    """
    if len(text) > MAX_CHARACTERS:
        return None
    plain = unwrapped(text)
    if _CHAIN.fullmatch(plain) is None:
        return None
    names = tuple(name.strip(" .") for name in _BETWEEN.split(plain))
    signs = {sign.strip() in _LESS for sign in _BETWEEN.findall(plain)}
    if len(signs) > 1 or not all(names) or len(set(names)) < len(names):
        return None
    return names if signs == {True} else names[::-1]
