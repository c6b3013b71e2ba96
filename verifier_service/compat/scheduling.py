"""Scoring for other protocols, in the queue of `/v1/score`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fastapi import Request

from verifier_service.compat.judging import judging_of
from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.engine.request_scoring import Scoring
from verifier_service.engine.response import MIN_DEADLINE_SECONDS
from verifier_service.errors import QueueFull
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verifier import Verifier


class NotNow(Exception):
    """The work was not done, for lack of room or of time; the client should ask again."""


async def verdicts_of(
    request: Request,
    groups: Sequence[Group],
    verifiers: Sequence[Verifier],
    *,
    deadline_seconds: float,
    on_verdicts: Callable[[int, VerdictsByKey], None] | None = None,
) -> list[VerdictsByKey]:
    """The verdicts on the one completion of each group.

    A completion that is not judged by the deadline, counted from when the body was there, gets
    `failed` verdicts.

    Args:
        request: the call.
        groups: each with one completion.
        verifiers: judge each of them.
        deadline_seconds: counted from when the body was there.
        on_verdicts: is called with the index of each group that is done, and its verdicts; those
            that are returned then have no details, so that one copy of a large one is held.

    Raises:
        NotNow: the queue is full.
        TooManyCompletions: one request may not have as many.
        VerifierNotEnabled: a verifier is not served here.
        TooMuchHere: the call needs a process of its own.
    """
    judging = judging_of(request)
    limits = judging.limits
    limits.check_enabled("code" if one.workers == "code" else one.type for one in verifiers)
    limits.check_num_completions(len(groups))
    judging.check_num_verdicts(len(groups) * len(verifiers))
    work = ScoreRequest.model_construct(verifiers=list(verifiers), groups=list(groups))
    deadline = min(deadline_seconds, limits.max_deadline_seconds)
    deadline -= time.monotonic() - judging.started

    def on_group(index: int) -> None:
        if on_verdicts is not None:
            on_verdicts(index, scoring.group_verdicts(index)[0])
            scoring.drop_details(index)

    try:
        async with judging.room(len(groups)):
            scoring = Scoring(work, judging.engine, on_group=on_group)
            scored = await scoring.run(max(deadline, MIN_DEADLINE_SECONDS))
    except QueueFull as error:
        raise NotNow(error.why) from error
    return [group[0] for group in scored.groups]
