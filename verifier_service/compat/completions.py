"""Completions of other protocols, judged by the engine of `/v1/score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query, Request

from verifier_service.compat.judging import judging_of
from verifier_service.compat.scheduling import NotNow, verdicts_of
from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.engine.reward import reward, shares_of
from verifier_service.errors import QueueFull, VerdictFailed
from verifier_service.profiles import Verifiers, profile_named
from verifier_service.schemas import Group
from verifier_service.verdict import EngineReason, Outcome, Verdict, unverifiable

DEFAULT_PROFILE = "accuracy"

ProfileQuery = Annotated[
    str, Query(description="name of a list of verifiers, see GET /v1/profiles")
]


@dataclass(frozen=True)
class UnusableReference:
    """A reference that is there, and that no verifier can read."""

    message: str


LabelledCompletion = tuple[Any, dict[str, Any] | UnusableReference]
"""A completion, as a text or messages, and its reference."""


@dataclass(frozen=True)
class RewardedCompletion:
    """A completion's reward and the verdicts behind it."""

    reward: float | None
    """Weighted sum of the scores; None where the reference does not permit to judge, or where every
    weight of the profile is 0."""
    verdicts: VerdictsByKey

    @property
    def first(self) -> Verdict:
        """The verdict of the profile's first verifier, by which the completion is right or not."""
        return next(iter(self.verdicts.values()))

    @property
    def number(self) -> float:
        """The reward; 0 if it is missing, for a protocol that has no missing reward."""
        return self.reward or 0.0

    @property
    def score(self) -> float:
        """The first verifier's score, between 0 and 1."""
        return min(max(self.first.score or 0.0, 0.0), 1.0)


async def rewarded(
    request: Request,
    items: Sequence[LabelledCompletion],
    verifiers: Verifiers,
    *,
    deadline_seconds: float,
) -> list[RewardedCompletion]:
    """Judge completions, each by its reference.

    Raises:
        QueueFull: the client should ask again.
        VerdictFailed: a completion could not be judged this time; no client may take that for a
            score.
        RequestError: as `verdicts_of`.
    """
    try:
        judged = await rewarded_or_failed(
            request, items, verifiers, deadline_seconds=deadline_seconds
        )
    except NotNow as error:
        raise QueueFull(str(error)) from error
    for one in judged:
        for name, verdict in one.verdicts.items():
            if verdict.outcome is Outcome.FAILED:
                raise VerdictFailed(f"{name} failed: {verdict.reason}")
    return judged


async def rewarded_or_failed(
    request: Request,
    items: Sequence[LabelledCompletion],
    verifiers: Verifiers,
    *,
    deadline_seconds: float,
) -> list[RewardedCompletion]:
    """Judge completions, each by its reference; one that could not be judged is `failed`.

    Raises NotNow and RequestError as `verdicts_of`.
    """
    groups = [
        Group(completions=[text], reference=reference if isinstance(reference, dict) else {})
        for text, reference in items
    ]
    found = await verdicts_of(request, groups, verifiers, deadline_seconds=deadline_seconds)
    found = [
        _with_bad_reference(verdicts, reference.message)
        if isinstance(reference, UnusableReference)
        else verdicts
        for verdicts, (_, reference) in zip(found, items, strict=True)
    ]
    shares = shares_of(verifiers)
    return [RewardedCompletion(reward(verdicts, shares), verdicts) for verdicts in found]


def _with_bad_reference(verdicts: VerdictsByKey, message: str) -> VerdictsByKey:
    """The verdicts on a completion whose reference was left out because it is unusable."""
    return {
        key: unverifiable(EngineReason.BAD_REFERENCE, verdict.seconds, message)
        if verdict.reason == EngineReason.MISSING_REFERENCE
        else verdict
        for key, verdict in verdicts.items()
    }


def verifiers_of(request: Request, profile: str) -> Verifiers:
    """The verifiers of a profile. Raises UnknownProfile."""
    return profile_named(profile, judging_of(request).profiles)
