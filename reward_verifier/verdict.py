"""Verdicts, and how they are read from a score response."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from reward_verifier.errors import NoReward

Outcome = Literal["scored", "unverifiable", "failed"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement of one verifier on one completion; `failed` is the service's own fault.

    Raises:
        ValueError: the outcome is unknown, or there is a score without the outcome `scored`, or
            the other way round.
    """

    outcome: Outcome
    score: float | None = None
    """A finite number if and only if the outcome is `scored`."""
    reason: str
    extracted: str | None = None
    """The final answer that the verifier found in the completion."""
    seconds: float = 0.0
    details: dict[str, Any] | None = None
    """Further facts, such as how many tests passed."""

    def __post_init__(self) -> None:
        if self.outcome not in get_args(Outcome):
            raise ValueError(f"outcome {self.outcome!r}, expected one of {get_args(Outcome)}")
        if (self.score is not None) != (self.outcome == "scored"):
            raise ValueError(f"outcome {self.outcome!r} with score {self.score!r}")
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"score {self.score!r} is not finite")

    @property
    def why(self) -> str:
        """The reason, followed by the service's message if it sent one."""
        message = (self.details or {}).get("message")
        return self.reason if message is None else f"{self.reason}: {message}"

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that have a value, except `seconds`, which differs each time."""
        facts = {name: value for name, value in asdict(self).items() if value is not None}
        del facts["seconds"]
        return facts


Verdicts = dict[str, Verdict]
"""The verdicts on one completion, by verifier name."""


@dataclass(frozen=True)
class ScoredCompletion:
    """One completion of a score response."""

    verdicts: Verdicts
    reward: float | None
    """The weighted sum of the scores; None where one is missing, or every weight is 0."""
    fields: dict[str, dict[str, Any]]
    """The verdicts in JSON, with every field that the service sent."""

    @property
    def failure(self) -> str | None:
        """The reason of the first `failed` verdict; None where no verdict has failed."""
        failed = (item for item in self.verdicts.values() if item.outcome == "failed")
        return next((item.why for item in failed), None)

    def require_reward(self) -> float:
        """The reward, for code that has no use for completions without one.

        Raises:
            NoReward: a verdict is `unverifiable` (mend the data) or `failed` (ask again), or every
                weight is 0.
        """
        if self.reward is not None:
            return self.reward
        missing = [
            f"{name}: {verdict.outcome}: {verdict.why}"
            for name, verdict in self.verdicts.items()
            if verdict.score is None
        ]
        why = "; ".join(missing) or "the weight of every verifier is 0"
        raise NoReward(f"no reward, which is not a reward of 0: {why}")


def read_groups(body: bytes) -> list[list[ScoredCompletion]]:
    """The completions of each group in a score response.

    Raises:
        ValueError: the body is not JSON, or not a score response.
    """
    try:
        groups = _member(json.loads(body), "groups", list)
        return [
            [_read_completion(one) for one in _member(group, "completions", list)]
            for group in groups
        ]
    except (RecursionError, OverflowError) as error:
        raise ValueError(f"nested too deeply, or a number too large: {error}") from error


def read_line(line: bytes) -> tuple[int, list[ScoredCompletion]] | None:
    """The index and the completions of a group in a streamed response; None for the last line.

    Raises:
        ValueError: the line is not JSON, or no line of a score response.
    """
    try:
        value = json.loads(line)
        if isinstance(value, dict) and "stats" in value:
            return None
        index: int = _member(value, "index", int)
        return index, [_read_completion(one) for one in _member(value, "completions", list)]
    except (RecursionError, OverflowError) as error:
        raise ValueError(f"nested too deeply, or a number too large: {error}") from error


def _read_completion(value: Any) -> ScoredCompletion:
    fields: dict[str, dict[str, Any]] = _member(value, "verdicts", dict)
    verdicts = {name: _read_verdict(verdict) for name, verdict in fields.items()}
    reward = _member(value, "reward", int | float | None)
    return ScoredCompletion(verdicts, None if reward is None else float(reward), fields)


def _read_verdict(value: Any) -> Verdict:
    score = _member(value, "score", int | float | None)
    return Verdict(
        outcome=_member(value, "outcome", str),
        score=None if score is None else float(score),
        reason=_member(value, "reason", str),
        extracted=_member(value, "extracted", str | None),
        seconds=float(_member(value, "seconds", int | float | None) or 0.0),
        details=_member(value, "details", dict | None),
    )


def _member(value: Any, name: str, expected: Any) -> Any:
    """A member of a JSON object, None where it has none; raises ValueError for another type."""
    if not isinstance(value, dict):
        raise ValueError(f"expected an object with {name}, found {_quoted(value)}")
    found = value.get(name)
    if not isinstance(found, expected):
        raise ValueError(f"{name} must not be {_quoted(found)}")
    return found


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
