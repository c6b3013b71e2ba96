"""Scorers of our own for data sets whose scorer in reasoning-gym pays for wrong answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from verifier_service.puzzles.arithmetic import BadExpression, read_arithmetic

GymEntry = dict[str, Any]
GymScorer = Callable[[str, GymEntry], float]

COIN_TOLERANCE = Fraction(1, 10_000)
MADE_24 = 24
LEAST_SCORE = 0.01
"""The score that puzzle24's scorer has for anything wrong."""
# A probability: `0.25`, `1/4`, `2.5e-1`. Long exponents would make numbers of megabytes.
_PROBABILITY = re.compile(
    r"[-+]?[0-9]{1,50}(?:/[0-9]{1,50}|(?:\.[0-9]{0,50})?(?:[eE][-+]?[0-9]{1,2})?)"
)
# A word for a number that equals none: `nan`, `infinity`.
_NO_NUMBER = re.compile(r"nan|inf", re.IGNORECASE)


def coin_flip(answer: str, entry: GymEntry) -> float:
    """1 within the tolerance, else the equal digits as a share of the longer number.

    reasoning-gym takes the share of the shorter one, so that 0 is right for 0.109375.
    """
    given, wanted = (_probability(text) for text in (answer, str(entry["answer"])))
    if given is None or wanted is None:
        return 0.0
    if abs(given - wanted) <= COIN_TOLERANCE:
        return 1.0
    one, other = (f"{float(value):.10g}" for value in (given, wanted))
    equal = [left == right for left, right in zip(one, other, strict=False)] + [False]
    return equal.index(False) / max(len(one), len(other))


def _probability(text: str) -> Fraction | None:
    text = text.replace(",", "").strip()
    if not _PROBABILITY.fullmatch(text) or re.search(r"/0+$", text):
        return None
    return Fraction(text)


def game_of_life_halting(answer: str, entry: GymEntry) -> float:
    """1 where both say True, or both False.

    reasoning-gym compares whether both are texts with something in them, which any answer is.
    """
    return float(answer.strip().lower() == str(entry["answer"]).strip().lower())


def puzzle24(answer: str, entry: GymEntry) -> float:
    """1 where the puzzle's numbers, each once, make exactly 24.

    reasoning-gym takes any four numbers in a range, and rounds down what they make.
    """
    try:
        found = read_arithmetic(answer)
    except BadExpression:
        return LEAST_SCORE
    is_right = found.value == MADE_24 and sorted(found.numbers) == sorted(
        entry["metadata"]["numbers"]
    )
    return 1.0 if is_right else LEAST_SCORE


def without_nan(scorer: GymScorer) -> GymScorer:
    """A scorer that gives 0 for `nan`, whose distance from everything counts as none."""

    def score(answer: str, entry: GymEntry) -> float:
        return 0.0 if _NO_NUMBER.search(answer) else scorer(answer, entry)

    return score


OWN: Mapping[str, GymScorer] = {
    "coin_flip": coin_flip,
    "game_of_life_halting": game_of_life_halting,
    "puzzle24": puzzle24,
}
"""The scorers by their data set."""
