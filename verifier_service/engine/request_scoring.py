"""One request on its way through the workers: deduplicated, cut into tasks, put together in order.

Runs in the API process for small requests, and in a process of its own for large ones
(`large_requests.request_process`). What differs is the `Engine` that it asks.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Protocol

import msgspec

from verifier_service.completion import Completion
from verifier_service.reason import EngineReason
from verifier_service.schemas import ChatMessage, CompletionObject, ScoreRequest
from verifier_service.verdict import Outcome, Verdict, failed, unverifiable
from verifier_service.verifier import GroupVerifier, OpenQuestion, Verifier
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart

MAX_CHUNK_CHARACTERS = 2**20
"""Of one task."""
MAX_COMPLETION_CHARACTERS = 2 * 2**20
"""More is `too_large` without a look at it: no model writes as much, and one message would hold up
others."""
MAX_GROUP_CHARACTERS = 2 * MAX_COMPLETION_CHARACTERS
"""The same of a group whose completions are judged beside each other."""
MAX_REFERENCE_BYTES = 16 * 2**20
"""More is `bad_reference`."""
LARGE_REFERENCE = f"the reference takes more than {MAX_REFERENCE_BYTES} bytes of JSON"
MIN_SHARE = 32
"""Completions that are not worth sharing out among workers."""
SETTLE_CHUNK_SIZE = 4
"""Questions of one task: each may take as long as an item may."""
SHARED_REFERENCE_BYTES = 2**14
"""A reference as large as this is sent to a worker once, not with each task that has no other."""
NOT_JUDGED = (EngineReason.TOO_SLOW, EngineReason.TOO_LARGE)
"""Reasons of a completion that cost too much to judge."""

_encoder = msgspec.json.Encoder(order="sorted")


class Unavailable(Exception):
    """There are no workers of a kind."""


class Engine(Protocol):
    """What a request needs of the workers, and of what is known from others."""

    def num_workers(self, kind: str) -> int:
        """Workers of a kind."""
        ...

    async def judge(
        self, task: EncodedTask, verdicts: list[Verdict | OpenQuestion], keys: Sequence[bytes] = ()
    ) -> None:
        """Append a verdict for each completion of the task, in order, as they come.

        Raises Unavailable. Cancelling it ends the work.

        Args:
            task: what to judge.
            verdicts: are appended to.
            keys: by which other requests may know the verdicts; none if they may not.
        """
        ...

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """What is known from other requests."""
        ...

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """Let other requests know."""
        ...


Place = dict[str, Verdict]
"""The verdicts on one completion by verifier name, to be filled."""
OnGroup = Callable[[int], None]
"""Called with the index of a group that has all its verdicts."""


@dataclass(frozen=True)
class ScoredRequest:
    """The answer to a request: for each group, for each completion, verdicts by verifier name."""

    groups: list[list[Place]]
    num_deduplicated: int
    """Completions that equal another one with an equal reference."""


class _Unique(msgspec.Struct, frozen=True):
    """A completion with the places of all that equal it, and the groups that these are in."""

    completion: Completion
    digest: bytes
    places: list[tuple[int, Place]]


class _UniquePart(msgspec.Struct, frozen=True):
    """The different completions of a reference."""

    reference: dict[str, Any]
    encoded_reference: bytes
    reference_digest: bytes
    uniques: list[_Unique]
    group: list[Completion] | None = None
    """For verifiers of groups: all of it."""


class _Asked(msgspec.Struct, frozen=True):
    """A completion that a question came from."""

    key: bytes
    places: list[tuple[int, Place]]


class _Open(msgspec.Struct, frozen=True):
    """A question that a verifier left open about a reference."""

    question: OpenQuestion
    part: _UniquePart
    key: bytes


class Scoring:
    """One request with the verdicts that it has so far.

    Args:
        request: with its verifiers, those of a profile included.
        engine: judges.
        on_group: is told of groups that are complete, each once.
    """

    def __init__(
        self, request: ScoreRequest, engine: Engine, *, on_group: OnGroup | None = None
    ) -> None:
        self._request = request
        self._engine = engine
        self._on_group = on_group
        self._answer: list[list[Place]] = [
            [{} for _ in group.completions] for group in request.groups
        ]
        self._num_left = [
            len(group.completions) * len(request.verifiers) for group in request.groups
        ]
        self._waiting: dict[bytes, list[_Asked]] = {}
        self._answered: dict[bytes, Verdict] = {}
        # One request never holds more places in the line for workers than there are workers, so
        # requests take turns, however large one of them is.
        kinds = {verifier.workers for verifier in request.verifiers}
        self._turns = {kind: asyncio.Semaphore(engine.num_workers(kind)) for kind in kinds}

    async def run(self, deadline_seconds: float) -> ScoredRequest:
        """Judge every completion with each verifier; what is late is `failed`."""
        self._tell_of_empty_groups()
        parts = _unique(self._request, self._answer)
        num_unique = sum(len(part.uniques) for part in parts)
        tasks = [
            asyncio.create_task(self._judge(verifier, chunk))
            for verifier in self._request.verifiers
            for chunk in self._chunks(verifier, parts, num_unique)
        ]
        try:
            async with asyncio.timeout(deadline_seconds):
                await asyncio.gather(*tasks)
        except TimeoutError:
            await _cancel(tasks)
        except BaseException:
            await _cancel(tasks)
            raise
        self._finish()
        return ScoredRequest(self._answer, self._request.num_completions - num_unique)

    def places(self, group: int) -> list[Place]:
        """The verdicts on the completions of a group, in order."""
        keys = [verifier.key for verifier in self._request.verifiers]
        return [{key: place[key] for key in keys} for place in self._answer[group]]

    def _tell_of_empty_groups(self) -> None:
        if self._on_group is not None:
            for index, left in enumerate(self._num_left):
                if left == 0:
                    self._on_group(index)

    def _finish(self) -> None:
        """Put the verdicts in order, and say of those that are missing that they are late."""
        late = failed(EngineReason.DEADLINE)
        keys = [verifier.key for verifier in self._request.verifiers]
        for index, places in enumerate(self._answer):
            for number, place in enumerate(places):  # one by one: there may be a million verdicts
                places[number] = {key: place.get(key, late) for key in keys}
            if self._num_left[index] and self._on_group is not None:
                self._on_group(index)

    def _chunks(
        self, verifier: Verifier, parts: list[_UniquePart], num_unique: int
    ) -> Iterator[list[_UniquePart]]:
        if isinstance(verifier, GroupVerifier):
            return _packed(_groups(self._request, self._answer), verifier.task_size)
        share = max(math.ceil(num_unique / self._engine.num_workers(verifier.workers)), MIN_SHARE)
        return _cut(parts, min(share, verifier.task_size))

    async def _judge(self, verifier: Verifier, chunk: list[_UniquePart]) -> None:
        chunk = self._without_too_large(verifier, chunk)
        keys = _keys(verifier, chunk)
        chunk, keys = await self._without_known(verifier, chunk, keys)
        if not chunk:
            return
        opened: list[_Open] = []
        verdicts: list[Verdict | OpenQuestion] = []
        uniques = [(part, unique) for part in chunk for unique in part.uniques]
        try:
            async with self._turns[verifier.workers]:
                known_as = keys if verifier.is_cached else ()
                await self._engine.judge(_judging(verifier, chunk), verdicts, known_as)
        except Unavailable:
            late = failed(verifier.unavailable)
            self._deliver_all(late, verifier, [unique for _, unique in uniques])
            return
        finally:
            # When the deadline passed, there are fewer verdicts than completions.
            for verdict, key, (part, unique) in zip(verdicts, keys, uniques, strict=False):
                if isinstance(verdict, Verdict):
                    self._deliver(verdict, verifier, unique.places)
                else:
                    opened += self._open(verdict, verifier, part, _Asked(key, unique.places))
        if opened:
            await self._settle_all(verifier, opened)

    def _without_too_large(self, verifier: Verifier, chunk: list[_UniquePart]) -> list[_UniquePart]:
        """The chunk without what no worker is to be asked about."""
        too_large = Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_LARGE, 0.0)
        readable = []
        for part in chunk:
            if len(part.encoded_reference) > MAX_REFERENCE_BYTES:
                bad_reference = unverifiable(EngineReason.BAD_REFERENCE, message=LARGE_REFERENCE)
                self._deliver_all(bad_reference, verifier, part.uniques)
                continue
            is_large_group = _num_characters(part.group or ()) > MAX_GROUP_CHARACTERS
            large = [
                unique
                for unique in part.uniques
                if is_large_group or len(unique.completion.text) > MAX_COMPLETION_CHARACTERS
            ]
            self._deliver_all(too_large, verifier, large)
            readable.append(part)
        return _only(readable, lambda unique: verifier.key not in unique.places[0][1])

    async def _without_known(
        self, verifier: Verifier, chunk: list[_UniquePart], keys: list[bytes]
    ) -> tuple[list[_UniquePart], list[bytes]]:
        """The chunk, and its keys, without what other requests have found out."""
        found = await self._engine.look_up(keys) if verifier.is_cached else []
        if not any(found):
            return chunk, keys
        uniques = (unique for part in chunk for unique in part.uniques)
        for verdict, unique in zip(found, uniques, strict=True):
            if verdict is not None:
                self._deliver(verdict, verifier, unique.places)
        unknown = iter([verdict is None for verdict in found])
        kept = _only(chunk, lambda unique: next(unknown))
        return kept, [key for key, verdict in zip(keys, found, strict=True) if verdict is None]

    def _open(
        self, question: OpenQuestion, verifier: Verifier, part: _UniquePart, asked: _Asked
    ) -> Iterator[_Open]:
        """The question, unless its answer is known or on its way."""
        key = _digest(b"question", _prefix(verifier, part), question.encode())
        answer = self._answered.get(key)
        if answer is not None:
            self._deliver(answer, verifier, asked.places)
            self._keep(verifier, [(asked.key, answer)])
        elif key in self._waiting:
            self._waiting[key].append(asked)
        else:
            self._waiting[key] = [asked]
            yield _Open(question, part, key)

    async def _settle_all(self, verifier: Verifier, opened: list[_Open]) -> None:
        found = await self._engine.look_up([one.key for one in opened])
        for one, answer in zip(opened, found, strict=True):
            if answer is not None:
                self._answer_question(verifier, one, answer)
        left = [one for one, answer in zip(opened, found, strict=True) if answer is None]
        await asyncio.gather(*(self._settle(verifier, some) for some in _settle_chunks(left)))

    async def _settle(self, verifier: Verifier, questions: Sequence[_Open]) -> None:
        """Ask about one reference."""
        asked = [Completion(one.question) for one in questions]
        task = _task(verifier, [(questions[0].part, asked)], settle=True)
        verdicts: list[Verdict | OpenQuestion] = []
        try:
            async with self._turns[verifier.workers]:
                await self._engine.judge(task, verdicts)
        except Unavailable:
            verdicts += [failed(verifier.unavailable)] * (len(questions) - len(verdicts))
        finally:
            for verdict, one in zip(verdicts, questions, strict=False):
                if isinstance(verdict, Verdict):
                    self._answer_question(verifier, one, verdict)

    def _answer_question(self, verifier: Verifier, one: _Open, verdict: Verdict) -> None:
        self._answered[one.key] = verdict
        known = [(one.key, verdict)]
        for asked in self._waiting.pop(one.key):
            self._deliver(verdict, verifier, asked.places)
            known.append((asked.key, verdict))
        self._keep(verifier, known)

    def _keep(self, verifier: Verifier, known: list[tuple[bytes, Verdict]]) -> None:
        if verifier.is_cached:
            self._engine.keep(known)

    def _deliver_all(
        self, verdict: Verdict, verifier: Verifier, uniques: Iterable[_Unique]
    ) -> None:
        for unique in uniques:
            self._deliver(verdict, verifier, unique.places)

    def _deliver(
        self, verdict: Verdict, verifier: Verifier, places: list[tuple[int, Place]]
    ) -> None:
        if verdict.outcome is Outcome.SCORED and verdict.reason in NOT_JUDGED:
            verdict = msgspec.structs.replace(verdict, score=verifier.score_if_killed)
        for group, place in places:
            place[verifier.key] = verdict
            self._num_left[group] -= 1
            if self._num_left[group] == 0 and self._on_group is not None:
                self._on_group(group)


def text_of(completion: str | list[ChatMessage] | CompletionObject) -> Completion:
    """A completion as verifiers see it: of a chat, the last message of the assistant."""
    if isinstance(completion, str):
        return Completion(completion)
    if isinstance(completion, CompletionObject):
        return Completion(completion.text, completion.num_tokens, completion.truncated)
    spoken = [message.content for message in completion if message.role == "assistant"]
    return Completion(spoken[-1])


def _unique(request: ScoreRequest, answer: list[list[Place]]) -> list[_UniquePart]:
    """Each different completion of each different reference, in the order of the request."""
    parts: dict[bytes, _UniquePart] = {}
    found: dict[tuple[bytes, bytes], _Unique] = {}
    for index, (group, places) in enumerate(zip(request.groups, answer, strict=True)):
        encoded = _encoder.encode(group.reference)
        part = parts.get(encoded)
        if part is None:
            part = parts[encoded] = _UniquePart(group.reference, encoded, _digest(encoded), [])
        for completion, place in zip(group.completions, places, strict=True):
            seen = text_of(completion)
            key = (part.reference_digest, _completion_digest(seen))
            unique = found.get(key)
            if unique is None:
                unique = found[key] = _Unique(seen, key[1], [(index, place)])
                part.uniques.append(unique)
            else:
                unique.places.append((index, place))
    return list(parts.values())


def _groups(request: ScoreRequest, answer: list[list[Place]]) -> Iterator[_UniquePart]:
    """Each group as it is: what is equal in two groups, or twice in one, is judged twice."""
    for index, (group, places) in enumerate(zip(request.groups, answer, strict=True)):
        seen = [text_of(completion) for completion in group.completions]
        uniques = [
            _Unique(completion, _completion_digest(completion), [(index, place)])
            for completion, place in zip(seen, places, strict=True)
        ]
        if uniques:
            encoded = _encoder.encode(group.reference)
            digest = _digest(encoded, *(unique.digest for unique in uniques))
            yield _UniquePart(group.reference, encoded, digest, uniques, seen)


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


def _cut(parts: list[_UniquePart], size: int) -> Iterator[list[_UniquePart]]:
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
                yield [*chunk, msgspec.structs.replace(part, uniques=uniques)]
                chunk, start = [], index + 1
                num_completions = num_characters = 0
        if start == 0:
            chunk.append(part)
        elif start < len(part.uniques):
            chunk.append(msgspec.structs.replace(part, uniques=part.uniques[start:]))
    if chunk:
        yield chunk


def _only(chunk: list[_UniquePart], wanted: Callable[[_Unique], bool]) -> list[_UniquePart]:
    """The chunk with only the wanted of its completions."""
    kept = (
        msgspec.structs.replace(part, uniques=[one for one in part.uniques if wanted(one)])
        for part in chunk
    )
    return [part for part in kept if part.uniques]


def _settle_chunks(opened: list[_Open]) -> Iterator[list[_Open]]:
    """The questions in small chunks, each about one reference."""
    for _, about_one in groupby(opened, key=lambda one: one.part.reference_digest):
        while some := list(islice(about_one, SETTLE_CHUNK_SIZE)):
            yield some


def _judging(verifier: Verifier, chunk: list[_UniquePart]) -> EncodedTask:
    """The task to judge a chunk."""
    return _task(verifier, [(part, [one.completion for one in part.uniques]) for part in chunk])


def _task(
    verifier: Verifier, work: list[tuple[_UniquePart, list[Completion]]], *, settle: bool = False
) -> EncodedTask:
    """What the workers are sent: completions, or questions, of some references."""
    parts = [TaskPart(part.reference, completions, part.group) for part, completions in work]
    reference = work[0][0].encoded_reference
    if len(work) > 1 or len(reference) < SHARED_REFERENCE_BYTES:
        return EncodedTask.of(Task(verifier.options, parts, settle), verifier.workers)
    name = _digest(reference).hex()
    shared = msgspec.structs.replace(parts[0], reference=None, shared_reference=name)
    task = EncodedTask.of(Task(verifier.options, [shared], settle), verifier.workers)
    return msgspec.structs.replace(task, shared_name=name, shared_reference=(reference,))


def _keys(verifier: Verifier, chunk: list[_UniquePart]) -> list[bytes]:
    """For each completion, what its verdict depends on."""
    keys = []
    for part in chunk:
        prefix = _prefix(verifier, part)
        keys += [prefix + unique.digest for unique in part.uniques]
    return keys


def _prefix(verifier: Verifier, part: _UniquePart) -> bytes:
    return _digest(_encoder.encode(verifier.options), part.reference_digest)


def _num_characters(completions: Iterable[Completion]) -> int:
    return sum(len(completion.text) for completion in completions)


def _completion_digest(completion: Completion) -> bytes:
    known = f"{completion.num_tokens} {completion.truncated} "
    return hashlib.blake2b((known + completion.text).encode(), digest_size=16).digest()


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
