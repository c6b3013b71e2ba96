"""The answer to `POST /v1/score` in JSON, whole or a line for each group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import Verifier

NDJSON = "application/x-ndjson"

Counts = Counter[tuple[str, str, str]]
"""Verdicts by verifier type, outcome and reason."""


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
    places: Iterable[dict[str, Verdict]],
    verifiers: Sequence[Verifier],
    *,
    index: int | None = None,
) -> bytes:
    """A group with its verdicts; the index is for answers whose groups come in another order."""
    completions = [_CompletionJson(reward(verdicts, verifiers), verdicts) for verdicts in places]
    return msgspec.json.encode(_GroupJson(index=index, id=group_id, completions=completions))


def stats_json(*, completions: int, deduplicated: int, seconds: float) -> bytes:
    """About the request as a whole."""
    return msgspec.json.encode(_StatsJson(completions, deduplicated, seconds))


def group_line(group: bytes) -> bytes:
    """A line of a streamed answer."""
    return group + b"\n"


def stats_line(stats: bytes) -> bytes:
    """The last line of a streamed answer."""
    return b'{"stats":' + stats + b"}\n"


def whole(groups: Iterable[bytes], stats: bytes) -> Iterable[bytes]:
    """The pieces of an answer that is not streamed."""
    yield b'{"groups":['
    for number, group in enumerate(groups):
        yield b"," + group if number else group
    yield b'],"stats":' + stats + b"}"


def count(places: Iterable[dict[str, Verdict]], verifiers: Sequence[Verifier]) -> Counts:
    """The verdicts of a group for the metrics."""
    types = {verifier.key: verifier.type for verifier in verifiers}
    return Counter(
        (types[key], verdict.outcome.value, str(verdict.reason))
        for verdicts in places
        for key, verdict in verdicts.items()
    )
