"""Decimals to which an author rounds an answer, in words or with a sign: `5/3 (about 1.67)`."""

from __future__ import annotations

import re

MAX_CHARACTERS = 300
"""Longest text that is read."""
# An exact value, words or a sign for a rounding, and a decimal at the end: `$\sqrt2$ (approximately
# 1.41)`, `5/3, or about 1.67`, `\frac{5}{3} ($\approx 1.67$)`.
_ROUNDED = re.compile(
    r"(?P<exact>[^()]*[\d)}!%πe]|.*[\d)}!%πe])\$?,?\s*[(\[]?\s*(?:(?:or|which\s+is|that\s+is|i\.e\.,?)\s+)?"
    r"\$?(?:approximately|approx\.?|about|roughly|\\approx|≈|≃)\s*\$?"
    r"(?P<rounded>[-−]?\d[\d,]*\.\d+)\$?\s*[)\]]?\.?\s*",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = ("approx", "about", "roughly", "≈", "≃")


def with_rounding_sign(text: str) -> str:
    r"""A text with the sign `\approx` before the decimal to which its answer is rounded.

    >>> with_rounding_sign("$5/3$ (about 1.67)"), with_rounding_sign("about 5")
    ('5/3 \\approx 1.67', 'about 5')
    """
    if len(text) > MAX_CHARACTERS or not any(mark in text for mark in _MARKS):
        return text
    match = _ROUNDED.fullmatch(text.strip())
    if match is None:
        return text
    exact = match["exact"]
    exact = exact.replace("$", "") if exact.count("$") < 2 else exact.strip().removeprefix("$")
    return text if "$" in exact else rf"{exact} \approx {match['rounded']}"
