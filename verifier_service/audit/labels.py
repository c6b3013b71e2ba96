"""Labels that a person gave to audited verdicts, and what they say about the verifier.

A line of the file has `row` (from 1), `accepted` (the verdict), `sample` (`doubted`, `chance` or
`both`) and `right` (whether the completion is right). Rates come from the rows drawn by chance: the
doubted ones were chosen for being wrong.
Intervals are Wilson's, of 95%.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from verifier_service.console import BadInput

Z = 1.959964
"""Two-sided 95% of the normal distribution."""


class LabelledVerdict(msgspec.Struct, frozen=True):
    """A line of the file."""

    row: int
    accepted: bool
    right: bool
    sample: str


class Strata(msgspec.Struct, frozen=True):
    """Numbers of verdicts of the file that was audited; the first line of the labels."""

    num_accepted: int
    num_refused: int


@dataclass(frozen=True)
class EstimatedShare:
    """A share with its interval, all from 0 to 1."""

    number: int
    total: int

    @property
    def value(self) -> float:
        """The share; 0 where there is nothing to share."""
        return self.number / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval (Wilson 1927)."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.value
        centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
        return max(0.0, centre - half), min(1.0, centre + half)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} ({low:.1%} to {high:.1%}; {self.number} of {self.total})"


@dataclass(frozen=True)
class VerifierQuality:
    """The measures of a verifier."""

    precision: EstimatedShare
    """Right ones among accepted completions."""
    refusals_right: EstimatedShare
    """Wrong ones among refused completions."""
    recall: tuple[float, float, float] | None
    """Accepted ones among right completions: value, low, high. None without both samples."""
    num_wrong_listed: int
    num_listed: int


def read_labels(path: Path) -> tuple[Strata, list[LabelledVerdict]]:
    """The labels of a file.

    Raises:
        BadInput: it is no file of labels.
        OSError: it cannot be read.
    """
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    try:
        strata = msgspec.json.decode(lines[0], type=Strata)
        return strata, [msgspec.json.decode(line, type=LabelledVerdict) for line in lines[1:]]
    except (msgspec.DecodeError, IndexError) as error:
        raise BadInput(f"{path}: no labels of an audit's page: {error}") from error


def quality_of(strata: Strata, labels: Sequence[LabelledVerdict]) -> VerifierQuality:
    """The measures of the verifier that gave the labelled verdicts."""
    chance = [one for one in labels if one.sample in ("chance", "both")]
    accepted = [one.right for one in chance if one.accepted]
    refused = [one.right for one in chance if not one.accepted]
    precision = EstimatedShare(sum(accepted), len(accepted))
    refusals = EstimatedShare(len(refused) - sum(refused), len(refused))
    listed = [one for one in labels if one.sample in ("doubted", "both")]
    wrong = sum(one.right != one.accepted for one in listed)
    recall = _recall(strata, precision, refusals) if accepted and refused else None
    return VerifierQuality(precision, refusals, recall, wrong, len(listed))


def _recall(
    strata: Strata, precision: EstimatedShare, refusals: EstimatedShare
) -> tuple[float, float, float]:
    """Recall where each stratum counts as often as the file has it; the interval's ends combine."""

    def recall(right_of_accepted: float, wrong_of_refused: float) -> float:
        found = strata.num_accepted * right_of_accepted
        missed = strata.num_refused * (1 - wrong_of_refused)
        return found / (found + missed) if found + missed else 0.0

    low, high = zip(precision.interval, refusals.interval, strict=True)
    return recall(precision.value, refusals.value), recall(*low), recall(*high)


def quality_text(quality: VerifierQuality) -> str:
    """The measures in lines."""
    lines = [
        f"listed rows labelled: {quality.num_listed}, verdict wrong in {quality.num_wrong_listed}",
        f"precision: {quality.precision}",
        f"right refusals: {quality.refusals_right}",
    ]
    if quality.recall is not None:
        value, low, high = quality.recall
        lines.append(f"recall: {value:.1%} ({low:.1%} to {high:.1%})")
    else:
        lines.append("recall: label accepted and refused rows that were drawn by chance")
    return "\n".join(lines)
