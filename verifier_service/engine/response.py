"""The answer to `POST /v1/score` in JSON, whole or a line for each group.

Made in the API process for small requests, and in a process of its own for large ones
(`large_requests.request_process`).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from verifier_service.engine.request_scoring import Engine, Scoring
from verifier_service.http.errors import answer_too_large
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import Verifier

NDJSON = "application/x-ndjson"
MIN_DEADLINE_SECONDS = 0.001
MAX_ANSWER_BYTES = 2**28
"""Of an answer, or a line of one that is streamed, which is held in memory until it is read: over
1,000 bytes for each verdict on 65,536 completions by four verifiers."""
PIECE_BYTES = 2**18
COMPLETIONS_AT_ONCE = 256

Counts = Counter[tuple[str, str, str]]
"""Verdicts by verifier type, outcome and reason."""
OnGroupLine = Callable[[int, bytes], None]
"""Called with the index of a group that is complete and its line."""


@dataclass(frozen=True)
class Answer:
    """What came of a request."""

    pieces: Iterable[bytes]
    """Of an answer that is not streamed; once."""
    last_line: bytes
    """Of one that is."""
    counts: Counts
    num_completions: int


async def answer_request(
    request: ScoreRequest,
    engine: Engine,
    *,
    started: float,
    max_deadline_seconds: float,
    on_line: OnGroupLine | None = None,
) -> Answer:
    """Judge a request, until its deadline at the latest, and put the answer together.

    Args:
        request: with its verifiers, those of a profile included.
        engine: judges.
        started: when the request came, by `time.monotonic`.
        max_deadline_seconds: the deadline where the request has none, or a later one.
        on_line: is told of the groups of an answer that is streamed, each once.

    Raises:
        ApiError: a line is too large (413); so do the pieces of the answer as they are made.
    """
    counts = Counts()
    verifiers = request.verifiers

    def on_group(index: int) -> None:
        places = scoring.places(index)
        counts.update(count(places, verifiers))
        if on_line is not None:
            group_id = request.groups[index].id
            pieces = _bounded(_group_pieces(group_id, places, verifiers, index=index))
            on_line(index, group_line(b"".join(pieces)))

    scoring = Scoring(request, engine, on_group=on_group)
    deadline = min(request.deadline_seconds or max_deadline_seconds, max_deadline_seconds)
    deadline -= time.monotonic() - started
    scored = await scoring.run(max(deadline, MIN_DEADLINE_SECONDS))
    stats = stats_json(
        completions=request.num_completions,
        deduplicated=scored.num_deduplicated,
        seconds=time.monotonic() - started,
    )
    groups = (
        _group_pieces(group.id, places, verifiers)
        for group, places in zip(request.groups, scored.groups, strict=True)
    )
    return Answer(whole(groups, stats), stats_line(stats), counts, request.num_completions)


class _CompletionJson(msgspec.Struct):
    reward: float | None
    verdicts: dict[str, Verdict]


class _GroupJson(msgspec.Struct, omit_defaults=True, kw_only=True):
    index: int | None = None
    id: str | None = None
    completions: list[_CompletionJson]


class _StatsJson(msgspec.Struct):
    completions: int
    deduplicated: int
    seconds: float


def reward(verdicts: dict[str, Verdict], verifiers: Sequence[Verifier]) -> float | None:
    """The weighted sum of the scores.

    None unless every verifier has a weight and each with a weight other than 0 has scored.
    """
    parts = []
    for verifier in verifiers:
        verdict = verdicts[verifier.key]
        if verifier.weight is None:
            return None
        if verifier.weight == 0:
            continue
        if verdict.outcome is not Outcome.SCORED or verdict.score is None:
            return None
        parts.append(verifier.weight * verdict.score)
    return math.fsum(parts)


def group_json(
    group_id: str | None,
    places: Sequence[dict[str, Verdict]],
    verifiers: Sequence[Verifier],
    *,
    index: int | None = None,
) -> bytes:
    """A group with its verdicts; the index is for answers whose groups come in another order."""
    return b"".join(_group_pieces(group_id, places, verifiers, index=index))


def _group_pieces(
    group_id: str | None,
    places: Sequence[dict[str, Verdict]],
    verifiers: Sequence[Verifier],
    *,
    index: int | None = None,
) -> Iterator[bytes]:
    """The same in pieces: the groups of large answers may be large."""
    empty = msgspec.json.encode(_GroupJson(index=index, id=group_id, completions=[]))
    yield empty.removesuffix(b"]}")
    for start in range(0, len(places), COMPLETIONS_AT_ONCE):
        completions = [
            _CompletionJson(reward(verdicts, verifiers), verdicts)
            for verdicts in places[start : start + COMPLETIONS_AT_ONCE]
        ]
        yield b"," * bool(start) + msgspec.json.encode(completions)[1:-1]
    yield b"]}"


def stats_json(*, completions: int, deduplicated: int, seconds: float) -> bytes:
    """About the request as a whole."""
    return msgspec.json.encode(_StatsJson(completions, deduplicated, seconds))


def group_line(group: bytes) -> bytes:
    """A line of a streamed answer."""
    return group + b"\n"


def stats_line(stats: bytes) -> bytes:
    """The last line of a streamed answer."""
    return b'{"stats":' + stats + b"}\n"


def whole(groups: Iterable[Iterable[bytes]], stats: bytes) -> Iterator[bytes]:
    """An answer that is not streamed, in pieces of some size. Raises ApiError as they are made."""
    return _even(_bounded(_whole(groups, stats)))


def _whole(groups: Iterable[Iterable[bytes]], stats: bytes) -> Iterator[bytes]:
    yield b'{"groups":['
    for number, group in enumerate(groups):
        yield b"," * bool(number)
        yield from group
    yield b'],"stats":' + stats + b"}"


def _bounded(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same, up to MAX_ANSWER_BYTES. Raises ApiError."""
    num_bytes = 0
    for part in parts:
        num_bytes += len(part)
        if num_bytes > MAX_ANSWER_BYTES:
            raise answer_too_large(MAX_ANSWER_BYTES)
        yield part


def _even(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of PIECE_BYTES, but for the last."""
    waiting = bytearray()
    for part in parts:
        waiting += part
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)


def count(places: Iterable[dict[str, Verdict]], verifiers: Sequence[Verifier]) -> Counts:
    """The verdicts of a group for the metrics."""
    types = {verifier.key: verifier.type for verifier in verifiers}
    return Counter(
        (types[key], verdict.outcome.value, str(verdict.reason))
        for verdicts in places
        for key, verdict in verdicts.items()
    )
