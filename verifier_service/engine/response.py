"""The response to a request: its groups are judged until the deadline, and encoded.

Small requests get it in the API process, large ones in a process of their own
(`large_requests.request_process`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from verifier_service.engine.engine import Engine
from verifier_service.engine.mixed_scoring import scoring_of
from verifier_service.engine.response_json import (
    ProfileRewards,
    VerdictCounts,
    counts_of,
    group_line,
    group_pieces,
    stats_json,
    stats_line,
    whole_response,
)
from verifier_service.schemas import ScoreRequest

MIN_DEADLINE_SECONDS = 0.001

OnGroupLine = Callable[[int, bytes], None]
"""Called with the index of a group that is complete, and its NDJSON line."""


@dataclass(frozen=True)
class EncodedResponse:
    """A response in JSON, with numbers for the metrics and the log."""

    pieces: Iterable[bytes]
    """The body of a response that is not streamed; can be read once."""
    last_line: bytes
    """The last line of a streamed response, after the lines of the groups."""
    counts: VerdictCounts
    num_completions: int
    status: int = 200
    """Status in HTTP; another one only if a call of another protocol could not be run."""


async def respond(
    request: ScoreRequest,
    engine: Engine,
    *,
    started: float,
    max_deadline_seconds: float,
    on_line: OnGroupLine | None = None,
) -> EncodedResponse:
    """Judge a request, until its deadline at the latest, and encode the response.

    Args:
        request: with its verifiers, or the verifiers of its profile.
        engine: judges.
        started: when the request came, by `time.monotonic`.
        max_deadline_seconds: the deadline of a request that has none, or a later one.
        on_line: is called with the line of each group as it is done; for a streamed response.

    Raises:
        ResponseTooLarge: a line exceeds the limit. Reading the pieces of the response raises it if
            the whole does.
    """
    counts = VerdictCounts()
    named = any(request.groups[index].profile for index in request.choosing_groups)
    profiles = ProfileRewards() if named else None

    def on_group(index: int) -> None:
        completions = scoring.group_verdicts(index)
        group = request.groups[index]
        verifiers = request.chosen_for(group)
        counts.update(counts_of(completions, verifiers))
        name = group.profile or (request.profile if group.verifiers is None else None)
        if profiles is not None and name is not None:
            profiles.add(name, completions, verifiers)
        if on_line is not None:
            on_line(index, group_line(group.id, completions, verifiers, index=index))

    scoring = scoring_of(request, engine, on_group=on_group)
    deadline = min(request.deadline_seconds or max_deadline_seconds, max_deadline_seconds)
    deadline -= time.monotonic() - started
    scored = await scoring.run(max(deadline, MIN_DEADLINE_SECONDS))
    stats = stats_json(
        completions=request.num_completions,
        deduplicated=scored.num_deduplicated,
        seconds=time.monotonic() - started,
        profiles=profiles,
    )
    groups = (
        group_pieces(group.id, completions, request.chosen_for(group))
        for group, completions in zip(request.groups, scored.groups, strict=True)
    )
    pieces = whole_response(groups, stats)
    return EncodedResponse(pieces, stats_line(stats), counts, request.num_completions)
