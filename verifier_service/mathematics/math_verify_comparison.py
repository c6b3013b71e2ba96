"""math-verify: settles pairs that `comparison` leaves open, and judges as peers call it.

math-verify would limit its time with `signal.alarm`. Its timeouts are off here: the parent of a
worker keeps the limits.
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
ReferenceText = Literal["latex", "plain"]
"""Reading of a reference without delimiters: as LaTeX altogether, or as math-verify takes it."""


def accepts_either_way(left: str, right: str) -> bool:
    """Whether math-verify accepts one of two answers as the other, in either role.

    Both are read with its LaTeX reader alone: its other reader hands text to sympy's parser, which
    evaluates it. One that nests more brackets than it reads in time is no form of another one.
    """
    if _is_nested(left) != _is_nested(right):
        return False
    one, other = _parsed(left), _parsed(right)
    if not one or not other:
        return False
    return _verify(one, other) or _verify(other, one)


MAX_ROUND = 7
"""Most round brackets inside each other: math-verify's reader takes half as long again for each."""
MAX_NESTED = 20
"""Most brackets of any kind inside each other."""
_OPENING = frozenset("({[")
# A bracket of any kind.
_BRACKET = re.compile(r"[][(){}]")


def _is_nested(text: str) -> bool:
    """Whether a text has more brackets inside each other than math-verify reads in time."""
    num_round = num_open = 0
    for sign in _BRACKET.findall(text):
        step = 1 if sign in _OPENING else -1
        num_open += step
        num_round += step * (sign in "()")
        if num_round > MAX_ROUND or num_open > MAX_NESTED:
            return True
    return False


def can_read(text: str) -> bool:
    """Whether math-verify's LaTeX reader finds a value in a text."""
    return bool(_parsed(text))


def evaluate_reference(text: str) -> None:
    """Read and evaluate a reference before any completion is judged.

    math-verify parses lazily. Without this call the first completion would pay for an expensive
    reference, and be blamed for it.
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


# math-verify as peers call it


@dataclass(frozen=True)
class PeerReading:
    """A reference or completion as math-verify reads it with the settings of a peer."""

    parsed: list[Any]
    """Values and texts that math-verify found; empty where it cannot read the text."""

    @classmethod
    def of_reference(cls, text: str, mode: PeerMode, kind: ReferenceText = "latex") -> Self:
        """Read a reference as the rewards of correctness do."""
        first = {"extraction_mode": "first_match"} if mode == "open_r1" else {}
        return cls(parse(_delimited(text, kind), parsing_timeout=None, **first))

    @classmethod
    def of_completion(cls, text: str, mode: PeerMode) -> Self:
        """Read a whole completion, its reasoning included, as the rewards of correctness do."""
        if mode == "math_verify":
            return cls(parse(text, parsing_timeout=None))
        return cls(_first_latex(text, _open_r1_extraction("all")))

    @classmethod
    def of_length_reference(cls, text: str, kind: ReferenceText = "latex") -> Self:
        """Read a reference as open-r1's rewards of length do, which read LaTeX alone."""
        return cls(_first_latex(_delimited(text, kind), LatexExtractionConfig()))

    @classmethod
    def of_length_completion(cls, text: str) -> Self:
        """Read a whole completion as open-r1's rewards of length do."""
        return cls(_first_latex(text, _open_r1_extraction(True)))

    @property
    def text(self) -> str:
        """The text that was read; empty where nothing was."""
        return str(self.parsed[-1]) if self.parsed else ""

    def accepts(self, answer: Self) -> bool:
        """Whether math-verify accepts an answer, with this reading as the reference."""
        return _verify(self.parsed, answer.parsed)

    def evaluate(self) -> None:
        """Evaluate this reference before any completion is judged: see `evaluate_reference`."""
        _evaluate(self.parsed)


# A sign that part of a text is LaTeX: a dollar, `\(` or `\boxed`.
_DELIMITER = re.compile(r"\$|\\\(|\\boxed")


def _delimited(text: str, kind: ReferenceText) -> str:
    return text if kind == "plain" or _DELIMITER.search(text) else f"${text}$"


def _first_latex(text: str, extraction: LatexExtractionConfig) -> list[Any]:
    found: list[Any] = parse(
        text,
        extraction_config=[extraction],
        extraction_mode="first_match",
        parsing_timeout=None,
    )
    return found


@lru_cache(maxsize=2)
def _open_r1_extraction(boxed: Any) -> LatexExtractionConfig:
    # open-r1 also sets `equations=True`, which math-verify 0.9 ignores with a warning. Its rewards
    # of length set `boxed=True`, which is none of the values that math-verify names.
    return LatexExtractionConfig(
        normalization_config=NormalizationConfig(
            nits=False, malformed_operators=False, basic_latex=True, boxed=boxed, units=True
        ),
        boxed_match_priority=0,
        try_extract_without_anchor=False,
    )
