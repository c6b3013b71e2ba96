"""Work of other protocols on its way into the queue of `/v1/score`."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request

from verifier_service.engine.scheduler import QueueFull, Scheduler
from verifier_service.http.errors import not_enabled, too_many_completions
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verdict import Verdict
from verifier_service.verifier import Verifier


class NotNow(Exception):
    """Not done this time, for lack of room or of time: the client is to ask again."""


async def verdicts_of(
    request: Request,
    groups: Sequence[Group],
    verifiers: Sequence[Verifier],
    *,
    deadline_seconds: float,
) -> list[dict[str, Verdict]]:
    """The verdicts, by verifier, on the one completion of each group.

    What is not judged by the deadline is `failed`.

    Raises:
        NotNow: there is no room in the queue.
        ApiError: it is too much for one request (413), or a verifier is not served here (422).
    """
    settings = request.app.state.service.settings
    scheduler: Scheduler = request.app.state.service.scheduler
    needed = {"code" if one.workers == "code" else one.type for one in verifiers}
    if missing := needed - set(settings.enabled):
        raise not_enabled(missing, settings.enabled)
    if len(groups) > settings.max_completions:
        raise too_many_completions(len(groups), settings.max_completions)
    work = ScoreRequest.model_construct(verifiers=list(verifiers), groups=list(groups))
    deadline_seconds = min(deadline_seconds, settings.max_deadline_seconds)
    try:
        with scheduler.reservation() as reservation:
            num_bytes = len(await request.body())
            reservation.grow(completions=work.num_completions, num_bytes=num_bytes)
            scored = await scheduler.score(work, deadline_seconds=deadline_seconds)
    except QueueFull as error:
        raise NotNow(str(error)) from error
    return [group[0] for group in scored.groups]
