"""math-verify: for pairs that `comparison` leaves open, and as its peers call it.

math-verify limits its own time with `signal.alarm`; here that is off, and the worker's parent keeps
the limits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify

from verifier_service.mathematics.plain_text import unwrapped

PeerMode = Literal["math_verify", "open_r1"]


def equal(left: str, right: str) -> bool:
    """Whether math-verify finds two answers equal, either way round.

    Only its LaTeX reader is used: the other one hands text to sympy's parser, which evaluates it.
    """
    one, other = _parsed(left), _parsed(right)
    if not one or not other:
        return False
    return _verify(one, other) or _verify(other, one)


def can_read(text: str) -> bool:
    """Whether math-verify finds anything in a text."""
    return bool(_parsed(text))


def read(text: str) -> None:
    """Read and evaluate a reference.

    Parsing is lazy. What evaluating the reference costs must show here, where it is the
    reference's fault, and not in the judgement of the first completion.
    """
    _evaluate(_parsed(text))


@lru_cache(maxsize=256)
def _parsed(text: str) -> list[Any]:
    found: list[Any] = parse(
        f"${unwrapped(text)}$",
        extraction_config=(LatexExtractionConfig(),),
        fallback_mode="no_fallback",
        parsing_timeout=None,
    )
    return found


def _verify(gold: list[Any], answer: list[Any]) -> bool:
    return bool(verify(gold, answer, timeout_seconds=None))


def _evaluate(parsed: list[Any]) -> None:
    if parsed and not getattr(parsed[0], "is_Number", False):
        _verify(parsed, parse("$2$", parsing_timeout=None))


# As peers call it


@dataclass(frozen=True)
class PeerReading:
    """What math-verify reads in a reference or completion with the settings of a peer."""

    parsed: list[Any]

    @classmethod
    def of_reference(cls, text: str, mode: PeerMode) -> Self:
        """Of a reference, which counts as LaTeX unless it says what is."""
        wrapped = text if _DELIMITER.search(text) else f"${text}$"
        first = {"extraction_mode": "first_match"} if mode == "open_r1" else {}
        return cls(parse(wrapped, parsing_timeout=None, **first))

    @classmethod
    def of_completion(cls, text: str, mode: PeerMode) -> Self:
        """Of a whole completion, reasoning included."""
        if mode == "math_verify":
            return cls(parse(text, parsing_timeout=None))
        return cls(
            parse(
                text,
                extraction_config=[_open_r1_extraction()],
                extraction_mode="first_match",
                parsing_timeout=None,
            )
        )

    @property
    def text(self) -> str:
        """What was read, as text."""
        return str(self.parsed[-1]) if self.parsed else ""

    def accepts(self, answer: Self) -> bool:
        """Whether math-verify accepts an answer for this reference."""
        return _verify(self.parsed, answer.parsed)

    def evaluate(self) -> None:
        """See `read`."""
        _evaluate(self.parsed)


_DELIMITER = re.compile(r"\$|\\\(|\\boxed")


@lru_cache(maxsize=1)
def _open_r1_extraction() -> LatexExtractionConfig:
    # Less `equations=True`, which math-verify 0.9 ignores with a warning.
    return LatexExtractionConfig(
        normalization_config=NormalizationConfig(
            nits=False, malformed_operators=False, basic_latex=True, boxed="all", units=True
        ),
        boxed_match_priority=0,
        try_extract_without_anchor=False,
    )
