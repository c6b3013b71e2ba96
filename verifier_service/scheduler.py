"""From a request to verdicts: bounded, deduplicated, split over the workers, in order."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from verifier_service.schemas import ChatMessage, CompletionObject, ScoreRequest
from verifier_service.verdict import (
    Completion,
    EngineReason,
    Outcome,
    Part,
    Question,
    Task,
    Verdict,
    failed,
)
from verifier_service.verifier import GroupVerifier, Verifier

MAX_CHUNK_CHARACTERS = 2**20
"""Of one task."""
MIN_SHARE = 32
"""Completions that are not worth sharing out among workers."""
SETTLE_CHUNK_SIZE = 4
"""Questions of one task: each may take as long as an item may."""
NOT_JUDGED = (EngineReason.TOO_SLOW, EngineReason.TOO_LARGE)
"""Reasons of a completion that cost too much to judge."""

_encoder = msgspec.json.Encoder(order="sorted")


class QueueFull(Exception):
    """Accepting the request would exceed the bound on pending completions."""

    def __init__(self, pending: int, limit: int) -> None:
        super().__init__(f"{pending} completions are waiting, of at most {limit}")
        self.pending = pending
        self.limit = limit


class Pool(Protocol):
    """What the scheduler needs of a worker pool."""

    size: int

    @property
    def problem(self) -> str | None:
        """Why no worker is running; None while one is, or is about to be."""
        ...

    async def judge(self, task: Task, verdicts: list[Verdict | Question]) -> None:
        """Append a verdict for each completion of the task, in order, as they come."""
        ...


@dataclass(frozen=True)
class ScoredRequest:
    """The answer to a request: for each group, for each completion, verdicts by verifier name."""

    groups: list[list[dict[str, Verdict]]]
    num_deduplicated: int
    """Completions that equal another one with an equal reference."""


class SettledCache:
    """Verdicts on questions of past requests, the latest used ones."""

    def __init__(self, max_verdicts: int) -> None:
        self._max_verdicts = max_verdicts
        self._verdicts: OrderedDict[bytes, Verdict] = OrderedDict()

    def get(self, key: bytes) -> Verdict | None:
        """The verdict on a question, or None."""
        verdict = self._verdicts.get(key)
        if verdict is not None:
            self._verdicts.move_to_end(key)
        return verdict

    def put(self, key: bytes, verdict: Verdict) -> None:
        """Keep a verdict; what failed may succeed the next time."""
        if verdict.outcome is Outcome.FAILED:
            return
        self._verdicts[key] = verdict
        if len(self._verdicts) > self._max_verdicts:
            self._verdicts.popitem(last=False)


class Scheduler:
    """Shares the workers of pools among requests.

    Args:
        pools: by the kind of workers, `Verifier.workers`.
        max_pending_completions: of all requests together.
        max_settled_verdicts: kept for later requests.
    """

    def __init__(
        self,
        pools: Mapping[str, Pool],
        *,
        max_pending_completions: int,
        max_settled_verdicts: int,
    ) -> None:
        self._pools = pools
        self._max_pending = max_pending_completions
        self._pending = 0
        self._settled = SettledCache(max_settled_verdicts)

    async def score(self, request: ScoreRequest, *, deadline_seconds: float) -> ScoredRequest:
        """Judge every completion of a request with each of its verifiers.

        Every completion gets a verdict of every verifier: what is not judged within
        deadline_seconds is `failed`. Raises QueueFull.
        """
        num_completions = request.num_completions
        # A request alone is taken whatever its size, or asking again would never help.
        if self._pending and self._pending + num_completions > self._max_pending:
            raise QueueFull(self._pending, self._max_pending)
        self._pending += num_completions
        try:
            return await _Scoring(request, self._pools, self._settled).score(deadline_seconds)
        finally:
            self._pending -= num_completions


Place = dict[str, Verdict]
"""The verdicts on one completion by verifier name, to be filled."""


class _Unique(msgspec.Struct, frozen=True):
    """A completion with the places of all that equal it."""

    completion: Completion
    places: list[Place]


class _UniquePart(msgspec.Struct, frozen=True):
    """The different completions of a reference."""

    reference: dict[str, Any]
    encoded_reference: bytes
    uniques: list[_Unique]


class _Open(msgspec.Struct, frozen=True):
    """A question that a verifier left open about a reference."""

    question: Question
    part: _UniquePart
    key: bytes


class _Scoring:
    """One request on its way through the pools."""

    def __init__(
        self, request: ScoreRequest, pools: Mapping[str, Pool], settled: SettledCache
    ) -> None:
        self._request = request
        self._pools = pools
        self._settled = settled
        self._waiting: dict[bytes, list[Place]] = {}
        self._answered: dict[bytes, Verdict] = {}
        # One request never holds more places in the line for workers than there are workers, so
        # requests take turns, however large one of them is.
        self._turns = {kind: asyncio.Semaphore(pool.size) for kind, pool in pools.items()}

    async def score(self, deadline_seconds: float) -> ScoredRequest:
        """See `Scheduler.score`."""
        request = self._request
        answer: list[list[Place]] = [[{} for _ in group.completions] for group in request.groups]
        parts = _unique(request, answer)
        num_unique = sum(len(part.uniques) for part in parts)
        tasks = [
            asyncio.create_task(self._judge(verifier, chunk))
            for verifier in request.verifiers
            for chunk in (
                _packed(_groups(request, answer), verifier.task_size)
                if isinstance(verifier, GroupVerifier)
                else _chunks(parts, self._chunk_size(verifier, num_unique))
            )
        ]
        try:
            async with asyncio.timeout(deadline_seconds):
                await asyncio.gather(*tasks)
        except TimeoutError:
            await _cancel(tasks)
        except BaseException:
            await _cancel(tasks)
            raise
        late = failed(EngineReason.DEADLINE)
        keys = [verifier.key for verifier in request.verifiers]
        in_order = [
            [{key: place.get(key, late) for key in keys} for place in places] for places in answer
        ]
        return ScoredRequest(in_order, request.num_completions - num_unique)

    def _chunk_size(self, verifier: Verifier, num_completions: int) -> int:
        num_workers = self._pools[verifier.workers].size
        share = max(math.ceil(num_completions / num_workers), MIN_SHARE)
        return min(share, verifier.task_size)

    async def _judge(self, verifier: Verifier, chunk: list[_UniquePart]) -> None:
        options = verifier.options
        uniques = [(part, unique) for part in chunk for unique in part.uniques]
        opened: list[_Open] = []
        verdicts: list[Verdict | Question] = []
        with_group = isinstance(verifier, GroupVerifier)
        task = Task(options, [_part(part, with_group=with_group) for part in chunk])
        pool = self._pools[verifier.workers]
        if pool.problem is not None:
            for _, unique in uniques:
                _deliver(failed(verifier.unavailable), verifier, unique.places)
            return
        async with self._turns[verifier.workers]:
            try:
                await pool.judge(task, verdicts)
            finally:
                # When the deadline passed, there are fewer verdicts than completions.
                for verdict, (part, unique) in zip(verdicts, uniques, strict=False):
                    if isinstance(verdict, Verdict):
                        _deliver(verdict, verifier, unique.places)
                    else:
                        opened += self._open(verdict, verifier, options, part, unique.places)
        await asyncio.gather(
            *(
                self._settle(verifier, options, opened[start : start + SETTLE_CHUNK_SIZE])
                for start in range(0, len(opened), SETTLE_CHUNK_SIZE)
            )
        )

    def _open(
        self,
        question: Question,
        verifier: Verifier,
        options: dict[str, Any],
        part: _UniquePart,
        places: list[Place],
    ) -> Iterator[_Open]:
        """The question, unless its answer is known or on its way."""
        key = _key(_encoder.encode(options), part.encoded_reference, question.encode())
        known = self._answered.get(key) or self._settled.get(key)
        if known is not None:
            _deliver(known, verifier, places)
        elif key in self._waiting:
            self._waiting[key] += places
        else:
            self._waiting[key] = list(places)
            yield _Open(question, part, key)

    async def _settle(
        self, verifier: Verifier, options: dict[str, Any], questions: Sequence[_Open]
    ) -> None:
        parts = [Part(one.part.reference, [Completion(one.question)]) for one in questions]
        verdicts: list[Verdict | Question] = []
        async with self._turns[verifier.workers]:
            try:
                await self._pools[verifier.workers].judge(
                    Task(options, parts, settle=True), verdicts
                )
            finally:
                for verdict, one in zip(verdicts, questions, strict=False):
                    if isinstance(verdict, Verdict):
                        _deliver(verdict, verifier, self._waiting.pop(one.key))
                        self._answered[one.key] = verdict
                        self._settled.put(one.key, verdict)


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


def text_of(completion: str | list[ChatMessage] | CompletionObject) -> Completion:
    """A completion as verifiers see it: of a chat, the last message of the assistant."""
    if isinstance(completion, str):
        return Completion(completion)
    if isinstance(completion, CompletionObject):
        return Completion(completion.text, completion.num_tokens, completion.truncated)
    spoken = [message.content for message in completion if message.role == "assistant"]
    return Completion(spoken[-1] if spoken else "")


def _unique(request: ScoreRequest, answer: list[list[Place]]) -> list[_UniquePart]:
    """Each different completion of each different reference, in the order of the request."""
    parts: dict[bytes, _UniquePart] = {}
    found: dict[tuple[bytes, str, int | None, bool | None], _Unique] = {}
    for group, places in zip(request.groups, answer, strict=True):
        encoded = _encoder.encode(group.reference)
        part = parts.get(encoded)
        if part is None:
            part = parts[encoded] = _UniquePart(group.reference, encoded, [])
        for completion, place in zip(group.completions, places, strict=True):
            seen = text_of(completion)
            key = (encoded, seen.text, seen.num_tokens, seen.truncated)
            unique = found.get(key)
            if unique is None:
                unique = found[key] = _Unique(seen, [place])
                part.uniques.append(unique)
            else:
                unique.places.append(place)
    return list(parts.values())


def _groups(request: ScoreRequest, answer: list[list[Place]]) -> Iterator[_UniquePart]:
    """Each group as it is: what is equal in two groups, or twice in one, is judged twice."""
    for group, places in zip(request.groups, answer, strict=True):
        uniques = [
            _Unique(text_of(completion), [place])
            for completion, place in zip(group.completions, places, strict=True)
        ]
        if uniques:
            yield _UniquePart(group.reference, _encoder.encode(group.reference), uniques)


def _packed(parts: Iterable[_UniquePart], size: int) -> Iterator[list[_UniquePart]]:
    """Whole parts, packed into chunks that end when they have that many completions."""
    chunk: list[_UniquePart] = []
    num_completions = 0
    for part in parts:
        chunk.append(part)
        num_completions += len(part.uniques)
        if num_completions >= size:
            yield chunk
            chunk, num_completions = [], 0
    if chunk:
        yield chunk


def _part(part: _UniquePart, *, with_group: bool) -> Part:
    completions = [one.completion for one in part.uniques]
    return Part(part.reference, completions, completions if with_group else None)


def _chunks(parts: list[_UniquePart], size: int) -> Iterator[list[_UniquePart]]:
    """The parts, cut and packed into chunks of at most that many completions."""
    chunk: list[_UniquePart] = []
    num_completions = num_characters = 0
    for part in parts:
        start = 0
        for index, unique in enumerate(part.uniques):
            num_completions += 1
            num_characters += len(unique.completion.text)
            if num_completions >= size or num_characters >= MAX_CHUNK_CHARACTERS:
                uniques = part.uniques[start : index + 1]
                yield [*chunk, _UniquePart(part.reference, part.encoded_reference, uniques)]
                chunk, start = [], index + 1
                num_completions = num_characters = 0
        if start == 0:
            chunk.append(part)
        elif start < len(part.uniques):
            uniques = part.uniques[start:]
            chunk.append(_UniquePart(part.reference, part.encoded_reference, uniques))
    if chunk:
        yield chunk


def _deliver(verdict: Verdict, verifier: Verifier, places: list[Place]) -> None:
    if verdict.outcome is Outcome.SCORED and verdict.reason in NOT_JUDGED:
        verdict = msgspec.structs.replace(verdict, score=verifier.score_if_killed)
    for place in places:
        place[verifier.key] = verdict


def _key(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
