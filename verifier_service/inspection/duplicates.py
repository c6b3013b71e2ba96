"""Repeated problems: equal ones, ones in other words of asking, and ones with typing errors.

Problems that differ in a number, a sign or a word of substance are different ones: data sets are
full of those that one template made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verifier_service.inspection.normal_forms import MIN_LOOSE_TOKENS, exact_tokens, loose_tokens
from verifier_service.inspection.typing_errors import differ_by_typing, skeleton

MAX_IN_BUCKET = 20
"""Most problems of one skeleton that a problem is compared with."""
MAX_TYPED_TOKENS = 300
"""Most tokens of a problem that is looked through for typing errors."""


@dataclass(frozen=True)
class Earlier:
    """An earlier row that poses the same problem."""

    index: int
    is_exact: bool
    """Whether it is the same text, but for case, white space and signs that only set it."""


@dataclass
class SeenProblems:
    """The problems of the rows so far, by hashes of their normal forms."""

    _exact: dict[bytes, int] = field(default_factory=dict)
    _loose: dict[bytes, int] = field(default_factory=dict)
    _typed: dict[bytes, list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)

    def add(self, index: int, prompt: str, companions: Mapping[str, Any]) -> Earlier | None:
        """Note a row; the first row that poses its problem, or None where it is the first."""
        beside = json.dumps(companions, sort_keys=True, default=str)
        exact = _digest(beside, exact_tokens(prompt))
        if exact in self._exact:
            return Earlier(self._exact[exact], is_exact=True)
        tokens = loose_tokens(prompt)
        first = self._near(beside, tokens, index)
        self._exact[exact] = index if first is None else first
        return None if first is None else Earlier(first, is_exact=False)

    def _near(self, beside: str, tokens: tuple[str, ...], index: int) -> int | None:
        if len(tokens) < MIN_LOOSE_TOKENS:
            return None
        loose = _digest(beside, tokens)
        if loose in self._loose:
            return self._loose[loose]
        first = self._with_typing_errors(beside, tokens, index)
        self._loose[loose] = index if first is None else first
        return first

    def _with_typing_errors(self, beside: str, tokens: tuple[str, ...], index: int) -> int | None:
        if len(tokens) > MAX_TYPED_TOKENS:
            return None
        bucket = self._typed.setdefault(_digest(beside, skeleton(tokens)), [])
        for first, other in bucket:
            if differ_by_typing(tokens, other):
                return first
        if len(bucket) < MAX_IN_BUCKET:
            bucket.append((index, tokens))
        return None


def _digest(beside: str, tokens: tuple[str, ...]) -> bytes:
    text = "\0".join((beside, *tokens))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
