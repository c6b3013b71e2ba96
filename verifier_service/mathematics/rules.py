"""Rules of a comparison: the options of `accuracy` that decide what counts as equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["value", "evaluated", "same"]
"""The likeness to the reference that is asked for: of the value, or of the form too."""
FormFault = Literal["unevaluated", "other_form"]
"""Faults in the form of an answer whose value is right."""


@dataclass(frozen=True)
class Rules:
    """The options of a comparison; their meanings and defaults stand in `Accuracy`."""

    units: Literal["compare", "require", "ignore"]
    percent: Literal["lenient", "strict"]
    order_matters: bool
    tolerance: float
    """Relative, between 0 and 0.1, for numbers of which one is written as a decimal."""
    rounding: int | None
    """Significant digits from which a decimal equals what it rounds to; see `Accuracy`."""
