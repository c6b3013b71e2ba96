"""Reasons of verdicts. The sandbox imports this module, so it needs the standard library only."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Reason(StrEnum):
    """A reason with its meaning; each verifier has a closed set of them."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """A member whose value is the first part."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class EngineReason(Reason):
    """Reasons that the engine gives for any verifier, beside the verifier's own."""

    TOO_SLOW = (
        "too_slow",
        "scored 0, or as a wrong completion where that is less: judging this completion took "
        "longer than the item's time limit.",
    )
    TOO_LARGE = (
        "too_large",
        "scored 0, or as a wrong completion where that is less: the answer is too long, or judging "
        "it took more memory than the item's limit.",
    )
    BAD_REFERENCE = (
        "bad_reference",
        "unverifiable: the reference cannot be read, or not within the limits.",
    )
    MISSING_REFERENCE = (
        "missing_reference",
        "unverifiable: the reference lacks what the verifier needs.",
    )
    DEADLINE = "deadline", "failed: the request's deadline passed first."
    WORKER_DIED = (
        "worker_died",
        "failed: the worker died for a reason of its own, each time it was tried.",
    )
