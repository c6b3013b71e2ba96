"""From a request to verdicts: bounded, deduplicated, split over the workers, in order."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from verifier_service.schemas import ChatMessage, CompletionObject, Group, ScoreRequest
from verifier_service.verdict import Completion, EngineReason, Outcome, Task, Verdict, failed
from verifier_service.verifier import Verifier

CHUNK_SIZE = 32
"""Completions of one task: large enough to amortise its transfer, small enough to share out."""


class QueueFull(Exception):
    """Accepting the request would exceed the bound on pending completions."""

    def __init__(self, pending: int, limit: int) -> None:
        super().__init__(f"{pending} completions are waiting, of at most {limit}")
        self.pending = pending
        self.limit = limit


class Pool(Protocol):
    """What the scheduler needs of a worker pool."""

    size: int

    async def judge(self, task: Task, verdicts: list[Verdict]) -> None:
        """Append a verdict for each completion of the task, in order, as they come."""
        ...


@dataclass(frozen=True)
class ScoredRequest:
    """The answer to a request: for each group, for each completion, verdicts by verifier name."""

    groups: list[list[dict[str, Verdict]]]
    num_deduplicated: int


@dataclass(frozen=True)
class _Chunk:
    """Unique completions of one group for one verifier, and where their verdicts belong."""

    task: Task
    key: str
    positions: list[list[dict[str, Verdict]]]
    """For each completion of the task, the verdict dictionaries of the completions equal to it."""


class Scheduler:
    """Shares the pool's workers among requests."""

    def __init__(self, pool: Pool, *, max_pending_completions: int) -> None:
        self._pool = pool
        self._max_pending = max_pending_completions
        self._pending = 0

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
            return await self._score(request, deadline_seconds)
        finally:
            self._pending -= num_completions

    async def _score(self, request: ScoreRequest, deadline_seconds: float) -> ScoredRequest:
        answer: list[list[dict[str, Verdict]]] = [
            [{} for _ in group.completions] for group in request.groups
        ]
        chunks: list[_Chunk] = []
        num_deduplicated = 0
        for group, verdicts in zip(request.groups, answer, strict=True):
            unique = _unique(group, verdicts)
            num_deduplicated += len(group.completions) - len(unique)
            for verifier in request.verifiers:
                chunks += _chunks(verifier, group, unique)
        # One request never holds more places in the line for workers than there are workers, so
        # requests take turns, however large one of them is.
        places = asyncio.Semaphore(self._pool.size)

        async def work(chunk: _Chunk) -> None:
            verdicts: list[Verdict] = []
            async with places:
                try:
                    await self._pool.judge(chunk.task, verdicts)
                finally:
                    _deliver(chunk, verdicts)

        tasks = [asyncio.create_task(work(chunk)) for chunk in chunks]
        try:
            async with asyncio.timeout(deadline_seconds):
                await asyncio.gather(*tasks)
        except TimeoutError:
            await _cancel(tasks)
        except BaseException:
            await _cancel(tasks)
            raise
        for verdicts in answer:
            for verdict in verdicts:
                for verifier in request.verifiers:
                    verdict.setdefault(verifier.key, failed(EngineReason.DEADLINE))
        in_order = [
            [{v.key: verdict[v.key] for v in request.verifiers} for verdict in verdicts]
            for verdicts in answer
        ]
        return ScoredRequest(in_order, num_deduplicated)


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


def _unique(
    group: Group, verdicts: list[dict[str, Verdict]]
) -> list[tuple[Completion, list[dict[str, Verdict]]]]:
    """Each different completion with the verdict dictionaries of those that equal it."""
    places: dict[tuple[str, int | None, bool | None], list[dict[str, Verdict]]] = {}
    for completion, place in zip(group.completions, verdicts, strict=True):
        seen = text_of(completion)
        places.setdefault((seen.text, seen.num_tokens, seen.truncated), []).append(place)
    return [(Completion(*key), equal) for key, equal in places.items()]


def _chunks(
    verifier: Verifier,
    group: Group,
    unique: list[tuple[Completion, list[dict[str, Verdict]]]],
) -> list[_Chunk]:
    options = verifier.model_dump(exclude={"name", "weight"})
    return [
        _Chunk(
            Task(options, group.reference, [completion for completion, _ in part]),
            verifier.key,
            [places for _, places in part],
        )
        for start in range(0, len(unique), CHUNK_SIZE)
        if (part := unique[start : start + CHUNK_SIZE])
    ]


def _deliver(chunk: _Chunk, verdicts: list[Verdict]) -> None:
    # When the deadline passed, there are fewer verdicts than completions.
    for verdict, places in zip(verdicts, chunk.positions, strict=False):
        for place in places:
            place[chunk.key] = verdict


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
