"""What is said about a completion: outcome, score and reason."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from verifier_service.reason import EngineReason as EngineReason
from verifier_service.reason import Reason as Reason


class Outcome(StrEnum):
    """Three outcomes, never two: a completion that could not be judged is not a wrong one."""

    SCORED = "scored"
    """The completion was judged; wrong, endless and hostile ones score 0 with a reason."""
    UNVERIFIABLE = "unverifiable"
    """The reference is missing or unusable: the data's fault. No score."""
    FAILED = "failed"
    """The service's fault: a worker died, time ran out. No score; asking again may help."""


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What one verifier says about one completion.

    It has no cycles, and a cache full of what the collector has to look at holds up the event loop.
    """

    outcome: Outcome
    score: float | None
    reason: str
    seconds: float
    extracted: str | None = None
    details: dict[str, Any] | None = None


MAX_MESSAGE_CHARACTERS = 300


def unverifiable(reason: str, seconds: float = 0.0, message: str = "") -> Verdict:
    """A verdict without a score, because of the reference; the message says what is wrong in it."""
    details = {"message": message[:MAX_MESSAGE_CHARACTERS]} if message else None
    return Verdict(Outcome.UNVERIFIABLE, None, reason, seconds, details=details)


def failed(reason: str, seconds: float = 0.0) -> Verdict:
    """A verdict without a score, because of the service."""
    return Verdict(Outcome.FAILED, None, reason, seconds)
