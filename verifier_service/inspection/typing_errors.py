"""Problems that differ from one another only as typing errors do."""

from __future__ import annotations

_COUNTING = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred first second third fourth fifth sixth seventh eighth ninth tenth"
)
_NUMBER_WORDS = frozenset(_COUNTING.split())


def skeleton(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens with words cut to their first letter, which typing errors seldom change."""
    return tuple(one[0] if _is_word(one) else one for one in tokens)


def differ_by_typing(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether problems with one skeleton differ only as typing errors do.

    One word in ten may differ, and one at least; each by a letter, or by two neighbours.

    >>> differ_by_typing(("sum", "odd", "numbers"), ("sum", "odd", "nubmers"))
    True
    >>> differ_by_typing(("is", "maximum"), ("is", "minimum"))
    False
    """
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    if len(pairs) > max(1, len(one) // 10):
        return False
    return all(_is_typing_error(a, b) for a, b in pairs)


def _is_word(token: str) -> bool:
    return len(token) > 3 and token.isalpha() and token not in _NUMBER_WORDS


def _is_typing_error(one: str, other: str) -> bool:
    """Whether two words of five letters or more differ by a letter or by two neighbours."""
    if min(len(one), len(other)) < 5 or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    if a[1:] == b or a == b[1:] or a[1:] == b[1:]:
        return True
    return len(a) == len(b) and a[:2] == b[1::-1] and a[2:] == b[2:]
