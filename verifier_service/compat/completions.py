"""Completions of other protocols, judged by the engine of `/v1/score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Query, Request

from verifier_service.compat.scheduling import NotNow, verdicts_of
from verifier_service.engine.response import reward
from verifier_service.http.errors import ApiError, try_again, unknown_profile
from verifier_service.profiles import Verifiers
from verifier_service.schemas import Group
from verifier_service.verdict import Outcome, Verdict

DEFAULT_PROFILE = "accuracy"

ProfileName = Annotated[str, Query(description="name of a list of verifiers, see GET /v1/profiles")]
Item = tuple[Any, dict[str, Any]]
"""A completion, as a text or messages, and its reference."""


@dataclass(frozen=True)
class RewardedCompletion:
    """What came of one completion."""

    reward: float | None
    """None where the reference does not permit to judge."""
    verdicts: dict[str, Verdict]

    @property
    def first(self) -> Verdict:
        """The verdict of the profile's first verifier, the one that says whether it is right."""
        return next(iter(self.verdicts.values()))

    @property
    def number(self) -> float:
        """The reward, for a protocol that has no word for there being none."""
        return self.reward or 0.0

    @property
    def score(self) -> float:
        """The first verifier's score, between 0 and 1."""
        return min(max(self.first.score or 0.0, 0.0), 1.0)


async def judge(
    request: Request, items: Sequence[Item], verifiers: Verifiers, *, deadline_seconds: float
) -> list[RewardedCompletion]:
    """Judge completions, each by its reference.

    Raises:
        ApiError: 503 if some could not be judged this time: the client is to ask again, and never
            takes that for a score.
    """
    try:
        judged = await judge_each(request, items, verifiers, deadline_seconds=deadline_seconds)
    except NotNow as error:
        raise try_again("queue_full", str(error)) from error
    for one in judged:
        for name, verdict in one.verdicts.items():
            if verdict.outcome is Outcome.FAILED:
                raise try_again("not_judged", f"{name} failed: {verdict.reason}")
    return judged


async def judge_each(
    request: Request, items: Sequence[Item], verifiers: Verifiers, *, deadline_seconds: float
) -> list[RewardedCompletion]:
    """Judge completions, each by its reference; what could not be judged has `failed` verdicts.

    Raises NotNow and ApiError as `verdicts_of`.
    """
    groups = [Group(completions=[text], reference=reference) for text, reference in items]
    found = await verdicts_of(request, groups, verifiers, deadline_seconds=deadline_seconds)
    return [RewardedCompletion(reward(verdicts, verifiers), verdicts) for verdicts in found]


def verifiers_of(request: Request, profile: str) -> Verifiers:
    """The verifiers of a profile.

    Raises:
        ApiError: 422 if there is no such profile, or one of its verifiers has no weight.
    """
    profiles: dict[str, Verifiers] = request.app.state.service.profiles
    if profile not in profiles:
        raise unknown_profile(profile, profiles)
    without = sorted(one.key for one in profiles[profile] if one.weight is None)
    if without:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "profile_without_weights",
            f"{without} of the profile {profile!r} have no weight, so that there is no reward",
        )
    return profiles[profile]
