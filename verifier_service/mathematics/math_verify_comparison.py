"""math-verify: for pairs that `comparison` leaves open, and as its peers call it.

math-verify limits its own time with `signal.alarm`; here that is off, and the worker's parent keeps
the limits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from math_verify import LatexExtractionConfig, parse, verify

from verifier_service.mathematics.answers import unwrapped


@lru_cache(maxsize=64)
def _parsed(text: str) -> list[Any]:
    found: list[Any] = parse(
        f"${unwrapped(text)}$",
        extraction_config=(LatexExtractionConfig(),),
        fallback_mode="no_fallback",
        parsing_timeout=None,
    )
    return found


def equal(left: str, right: str) -> bool:
    """Whether math-verify finds two answers equal, either way round.

    Only its LaTeX reader is used: the other one hands text to sympy's parser, which evaluates it.
    """
    one, other = _parsed(left), _parsed(right)
    if not one or not other:
        return False
    return bool(
        verify(one, other, timeout_seconds=None) or verify(other, one, timeout_seconds=None)
    )
