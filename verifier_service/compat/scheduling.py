"""Scoring for other protocols, in the queue of `/v1/score`."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request

from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.engine.request_scoring import Scoring
from verifier_service.errors import QueueFull
from verifier_service.http.service import service_of
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
) -> list[VerdictsByKey]:
    """The verdicts on the one completion of each group.

    A completion that is not judged by the deadline gets `failed` verdicts.

    Raises:
        NotNow: the queue is full.
        TooManyCompletions: one request may not have as many.
        VerifierNotEnabled: a verifier is not served here.
    """
    service = service_of(request)
    limits = service.limits
    limits.check_enabled("code" if one.workers == "code" else one.type for one in verifiers)
    limits.check_num_completions(len(groups))
    work = ScoreRequest.model_construct(verifiers=list(verifiers), groups=list(groups))
    try:
        with service.admission.reservation() as reservation:
            num_bytes = len(await request.body())
            reservation.grow(completions=work.num_completions, num_bytes=num_bytes)
            scoring = Scoring(work, service.scheduler)
            scored = await scoring.run(min(deadline_seconds, limits.max_deadline_seconds))
    except QueueFull as error:
        raise NotNow(error.cause) from error
    return [group[0] for group in scored.groups]
