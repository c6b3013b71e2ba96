"""The finding of a checker about an answer to a puzzle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verifier_service.reason import Reason


class PuzzleReason(Reason):
    """Reasons of `puzzle`."""

    SOLVED = "solved", "1: the answer solves the puzzle."
    PARTLY_SOLVED = (
        "partly_solved",
        "Between 0 and 1: the share that is right, or near (`scoring: parts`).",
    )
    DIFFERENT = "different", "0: the answer is no solution; `details.share` has what is right."
    OTHER_NUMBERS = (
        "other_numbers",
        "0: the expression has not the numbers of the puzzle, each once (countdown).",
    )
    OTHER_CLUES = "other_clues", "0: the answer changes a clue (sudoku)."
    MALFORMED = "malformed", "0: the answer is of no form that is read; `details.problem` says why."
    TOO_LONG = "too_long", "0: the answer is longer than any solution."
    NO_ANSWER = "no_answer", "0: the part that should hold the answer is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."


@dataclass(frozen=True)
class PuzzleFinding:
    """The share of an answer that is right."""

    share: float
    """A number from 0 to 1; 1 is a solution."""
    fault: PuzzleReason = PuzzleReason.DIFFERENT
    """The reason where the score is 0."""
    is_solved: bool = False
    """Whether a smaller share is a solution too: a point near the wanted one."""


PuzzleChecker = Callable[[str], PuzzleFinding]
"""Checks an answer. Raises UnreadableSolution where it has no such form."""
