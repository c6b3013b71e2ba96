"""Verdicts on completions: outcome, score and reason."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from verifier_service.explanation import Explanation
from verifier_service.reason import EngineReason as EngineReason
from verifier_service.reason import Reason as Reason


class Outcome(StrEnum):
    """Three outcomes, never two: a completion that could not be judged is not a wrong one."""

    SCORED = "scored"
    """The completion was judged; wrong, endless and hostile ones score 0 with a reason."""
    UNVERIFIABLE = "unverifiable"
    """The reference is missing or unusable: the data's fault. No score."""
    FAILED = "failed"
    """A worker died, or time ran out: the service's fault. No score; asking again may help."""


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The statement of one verifier about one completion.

    The garbage collector skips verdicts (`gc=False`), which have no cycles: with a full cache its
    passes would hold up the event loop.
    """

    outcome: Outcome
    score: float | None
    reason: str
    seconds: float
    extracted: str | None = None
    details: dict[str, Any] | None = None
    explanation: Explanation | None = None
    """Given where the request asks for it."""
    audit: str | None = None
    """Question about what rules decided, from a worker; the scheduler takes it out."""


MAX_MESSAGE_CHARACTERS = 500
"""Longest message in the details of a verdict."""


def unverifiable(reason: str, seconds: float = 0.0, message: str = "") -> Verdict:
    """A verdict without a score, because of the reference; the message names its fault."""
    details = {"message": message[:MAX_MESSAGE_CHARACTERS]} if message else None
    return Verdict(Outcome.UNVERIFIABLE, None, reason, seconds, details=details)


def failed(reason: str, seconds: float = 0.0) -> Verdict:
    """A verdict without a score, because of the service."""
    return Verdict(Outcome.FAILED, None, reason, seconds)
