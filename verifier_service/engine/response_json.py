"""The response to `POST /v1/score` in JSON: whole, or a line for each group (NDJSON)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.engine.reward import reward, shares_of
from verifier_service.errors import ResponseTooLarge
from verifier_service.verdict import Verdict
from verifier_service.verifier import Verifier

MAX_RESPONSE_BYTES = 2**28
"""Largest response body or NDJSON line, in bytes; held in memory until the client has read it. It
leaves over 1,000 bytes for each verdict on 65,536 completions by four verifiers."""
PIECE_BYTES = 2**18
COMPLETIONS_AT_ONCE = 256

VerdictCounts = Counter[tuple[str, str, str]]
"""Numbers of verdicts by verifier, outcome and reason."""


class _CompletionJson(msgspec.Struct):
    reward: float | None
    verdicts: VerdictsByKey


class _GroupJson(msgspec.Struct, omit_defaults=True, kw_only=True):
    index: int | None = None
    id: str | None = None
    completions: list[_CompletionJson]


class _ProfileJson(msgspec.Struct):
    completions: int
    rewarded: int
    mean_reward: float | None


class _StatsJson(msgspec.Struct, omit_defaults=True):
    completions: int
    deduplicated: int
    seconds: float
    profiles: dict[str, _ProfileJson] | None = None


class ProfileRewards:
    """The rewards of a request's completions by the profile that judged them."""

    def __init__(self) -> None:
        self._rewards: dict[str, list[float | None]] = {}

    def add(
        self, name: str, completions: Iterable[VerdictsByKey], verifiers: Sequence[Verifier]
    ) -> None:
        """Count a group that the verifiers of a profile have judged."""
        shares = shares_of(verifiers)
        found = self._rewards.setdefault(name, [])
        found += [reward(verdicts, shares) for verdicts in completions]

    def to_json(self) -> dict[str, _ProfileJson]:
        """The numbers about each profile, by name."""
        found = {}
        for name in sorted(self._rewards):
            every = self._rewards[name]
            given = [one for one in every if one is not None]
            mean = math.fsum(given) / len(given) if given else None
            found[name] = _ProfileJson(len(every), len(given), mean)
        return found


def group_line(
    group_id: str | None,
    completions: Sequence[VerdictsByKey],
    verifiers: Sequence[Verifier],
    *,
    index: int,
) -> bytes:
    """The line of a group in an NDJSON response.

    Args:
        group_id: of the request, if it has one.
        completions: the verdicts on each completion.
        verifiers: of the request.
        index: the group's position in the request; lines come in another order.

    Raises:
        ResponseTooLarge: the line exceeds MAX_RESPONSE_BYTES.
    """
    pieces = _bounded(group_pieces(group_id, completions, verifiers, index=index))
    return b"".join(pieces) + b"\n"


def group_pieces(
    group_id: str | None,
    completions: Sequence[VerdictsByKey],
    verifiers: Sequence[Verifier],
    *,
    index: int | None = None,
) -> Iterator[bytes]:
    """The JSON of a group in pieces: the groups of a large response may be large."""
    shares = shares_of(verifiers)
    empty = msgspec.json.encode(_GroupJson(index=index, id=group_id, completions=[]))
    yield empty.removesuffix(b"]}")
    for start in range(0, len(completions), COMPLETIONS_AT_ONCE):
        encoded = [
            _CompletionJson(reward(verdicts, shares), verdicts)
            for verdicts in completions[start : start + COMPLETIONS_AT_ONCE]
        ]
        yield b"," * bool(start) + msgspec.json.encode(encoded)[1:-1]
    yield b"]}"


def stats_json(
    *,
    completions: int,
    deduplicated: int,
    seconds: float,
    profiles: ProfileRewards | None = None,
) -> bytes:
    """The numbers about the request as a whole."""
    by_profile = None if profiles is None else profiles.to_json()
    return msgspec.json.encode(_StatsJson(completions, deduplicated, seconds, by_profile))


def stats_line(stats: bytes) -> bytes:
    """The last line of an NDJSON response."""
    return b'{"stats":' + stats + b"}\n"


def whole_response(groups: Iterable[Iterable[bytes]], stats: bytes) -> Iterator[bytes]:
    """A response in one JSON object, in pieces of PIECE_BYTES.

    Args:
        groups: the pieces of each group.
        stats: of `stats_json`.

    Raises:
        ResponseTooLarge: the pieces together exceed MAX_RESPONSE_BYTES; raised while they are read.
    """
    return _in_even_pieces(_bounded(_whole_response(groups, stats)))


def _whole_response(groups: Iterable[Iterable[bytes]], stats: bytes) -> Iterator[bytes]:
    yield b'{"groups":['
    for number, group in enumerate(groups):
        yield b"," * bool(number)
        yield from group
    yield b'],"stats":' + stats + b"}"


def check_size(num_bytes: int) -> None:
    """Raise ResponseTooLarge if so many bytes exceed MAX_RESPONSE_BYTES."""
    if num_bytes > MAX_RESPONSE_BYTES:
        raise ResponseTooLarge(
            f"the response would be larger than {MAX_RESPONSE_BYTES} bytes: ask for fewer "
            "completions, or with fewer verifiers, at once"
        )


def _bounded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces. Raises ResponseTooLarge."""
    num_bytes = 0
    for piece in pieces:
        num_bytes += len(piece)
        check_size(num_bytes)
        yield piece


def _in_even_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of the pieces in pieces of PIECE_BYTES; the last may be smaller."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)


def counts_of(
    completions: Iterable[dict[str, Verdict]], verifiers: Sequence[Verifier]
) -> VerdictCounts:
    """Counts of the verdicts on some completions, by the verifiers' types."""
    types = {verifier.key: verifier.type for verifier in verifiers}
    return Counter(
        (types[key], verdict.outcome.value, str(verdict.reason))
        for verdicts in completions
        for key, verdict in verdicts.items()
    )
