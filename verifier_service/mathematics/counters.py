"""Words behind a number in Chinese, Japanese and Korean: counters, units and scales.

A counter such as `个` says what kind of thing is counted, and nothing about the number. Any other
word may change it: `5个半` is five and a half, `5倍` is five times as much.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier_service.mathematics.notation import Kind, Token
from verifier_service.mathematics.units import UNITS

_COUNTERS = (
    "个個名人位种種只隻条條张張本件块塊朵棵辆輛台匹头頭枚颗支枝根座所家间間套次回岁歲页頁层層排组組"
    "班步道份篇首句字瓶杯盒箱袋包架艘艇户戶株粒桶盆碗幅封双雙对對题題项項类類冊歳点"
    "개명마리권대살번장송이병줄쌍"
)
# A word in Chinese characters, kana or Hangul: `个`, `万元`.
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
# A scale, and a unit or a counter behind it, perhaps with what is counted: `万元`, `个苹果`.
_COUNTED = re.compile(
    rf"(?P<scale>[百千万萬亿億]?)(?P<rest>(?P<counter>[{_COUNTERS}])?(?P<noun>.{{0,8}}))"
)
# A character that may change the number before it: the `半` of `个半`, the `多` of `多个`.
_CHANGES = re.compile(
    "[半多余餘几幾分之倍成折零一二三四五六七八九十百千万萬亿億两兩不非没或和与與以上下左约約差少负]"
)


def with_counters(tokens: Sequence[Token]) -> list[Token] | None:
    """The tokens without counters behind numbers; None where such a word may change a number.

    >>> from verifier_service.mathematics.notation import tokenize
    >>> [token.text for token in with_counters(tokenize("42个")) or ()]
    ['42']
    >>> [token.text for token in with_counters(tokenize("3万元")) or ()]
    ['3', '万', '元']
    >>> with_counters(tokenize("5个半")) is None
    True
    """
    found: list[Token] = []
    for token in tokens:
        if not found or token.kind is not Kind.WORD or not _EAST_ASIAN.fullmatch(token.text):
            found.append(token)
            continue
        names = _names_in(token.text)
        if names is None:
            return None
        found += [Token(Kind.WORD, name, spaced=True) for name in names]
    return found


def _names_in(word: str) -> list[str] | None:
    """The scale, the unit and the counted thing that a word names; None for an unknown word."""
    if word in UNITS:
        return [word]
    match = _COUNTED.fullmatch(word)
    if match is None:
        return None
    names = [match["scale"]] if match["scale"] else []
    if match["rest"] in UNITS:
        return [*names, match["rest"]]
    noun = match["noun"]
    if (noun and not match["counter"]) or _CHANGES.search(noun):
        return None
    return [*names, noun] if noun else names
