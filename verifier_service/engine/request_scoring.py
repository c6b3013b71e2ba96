"""Scoring one request: deduplicated, cut into tasks, its verdicts put together in order.

It runs in the API process for small requests, and in a process of its own for large ones
(`large_requests.request_process`). Only the `Engine` differs.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

import msgspec

from verifier_service.engine.chunks import (
    ChunkPart,
    Owner,
    UniqueCompletion,
    VerdictsByKey,
    VerdictSlot,
    VerifierWork,
    cache_keys,
    cut_into_chunks,
    digest,
    filtered,
    judge_task,
    num_characters,
    options_json,
    packed_into_chunks,
    part_key,
    seen_by,
    settle_task,
)
from verifier_service.engine.engine import Engine, NoWorkers
from verifier_service.engine.equal_completions import group_parts, unique_parts
from verifier_service.engine.finish_all import finish_all
from verifier_service.engine.request_limits import (
    LARGE_REFERENCE,
    MAX_COMPLETION_CHARACTERS,
    MAX_GROUP_CHARACTERS,
    MAX_REFERENCE_BYTES,
)
from verifier_service.engine.store_records import records_of
from verifier_service.explanation import Explanation
from verifier_service.model_judge.reasons import CallReason
from verifier_service.reason import EngineReason
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Outcome, Verdict, failed, unverifiable
from verifier_service.verifier import (
    ExplainedQuestion,
    GroupVerifier,
    OpenQuestion,
    TextVerifier,
    Verifier,
)
from verifier_service.workers.tasks import TaskResult

MIN_SHARE = 32
"""Fewest completions of a chunk: sharing out fewer among workers costs more than it saves."""
SETTLE_CHUNK_SIZE = 4
"""Most questions of one task; settling each may take as long as the item limit."""
NOT_JUDGED = (EngineReason.TOO_SLOW, EngineReason.TOO_LARGE)
"""Reasons of a completion that cost too much to judge."""

OnGroup = Callable[[int], None]
"""Called with the index of a group that has all its verdicts."""
Turns = dict[str, asyncio.Semaphore]
"""Tasks that a request may have with workers at once, by their kind."""


class QuestionBudget:
    """The questions to a model that a request has left.

    Args:
        max_questions: most questions; None: any number.
    """

    def __init__(self, max_questions: int | None) -> None:
        self._num_left = math.inf if max_questions is None else max_questions

    def spend(self) -> bool:
        """Whether a question was left, which now is spent."""
        self._num_left -= 1
        return self._num_left >= 0


@dataclass(frozen=True)
class ScoredRequest:
    """The verdicts of a request."""

    groups: list[list[VerdictsByKey]]
    """The verdicts on each completion, in lists by group."""
    num_deduplicated: int
    """Completions that equal another one with an equal reference."""


class _Asker(msgspec.Struct, frozen=True):
    """A completion on which a verifier left a question open."""

    verifier: Verifier
    key: bytes
    slots: list[VerdictSlot]
    explanation: Explanation | None = None
    """The explanation of the verdict to come; None where none is asked for."""

    def explained(self, verdict: Verdict) -> Verdict:
        """The verdict with the explanation for this completion."""
        if self.explanation is None:
            return verdict
        return msgspec.structs.replace(verdict, explanation=self.explanation)


class _Unsettled(msgspec.Struct, frozen=True):
    """A question about a reference that a verifier left open."""

    question: OpenQuestion
    verifier: Verifier
    part: ChunkPart
    key: bytes


class Scoring:
    """The scoring of one request, with the verdicts that it has so far.

    Args:
        request: with its verifiers, or the verifiers of its profile.
        engine: judges.
        on_group: is called with each group that is complete, once.
        turns: of `turns_of`, where several scorings share them.
        budget: of the request, where several scorings share it.
        places: position of each group in the request as it came; None: as here.
    """

    def __init__(
        self,
        request: ScoreRequest,
        engine: Engine,
        *,
        on_group: OnGroup | None = None,
        turns: Turns | None = None,
        budget: QuestionBudget | None = None,
        places: Sequence[int] | None = None,
    ) -> None:
        self._request = request
        self._engine = engine
        self._on_group = on_group
        self._explain = request.explain
        self._slots: list[list[VerdictsByKey]] = [
            [{} for _ in group.completions] for group in request.groups
        ]
        self._num_left = [
            len(group.completions) * len(request.verifiers) for group in request.groups
        ]
        self._askers: dict[bytes, list[_Asker]] = {}
        """The completions that wait for a question to be settled, by its key."""
        self._settled: dict[bytes, Verdict] = {}
        self._options = {one.key: options_json(one) for one in request.verifiers}
        self._turns = turns_of(request.verifiers, engine) if turns is None else turns
        self._budget = budget or QuestionBudget(engine.max_questions)
        self._places = range(len(request.groups)) if places is None else places

    async def run(self, deadline_seconds: float) -> ScoredRequest:
        """Judge every completion with each verifier.

        A completion that is not judged within deadline_seconds gets a `failed` verdict.
        """
        try:
            return await self._run(deadline_seconds)
        finally:
            self._on_group = None  # it refers to this: texts in a cycle are left to the collector

    async def _run(self, deadline_seconds: float) -> ScoredRequest:
        self._report_empty_groups()
        owners: list[list[Owner]] | None = [] if self._is_stored else None
        with_digests = self._engine.keeps_verdicts or owners is not None
        parts = unique_parts(self._request, self._slots, owners, with_digests=with_digests)
        num_unique = sum(len(part.uniques) for part in parts)
        work = [
            self._judge(verifiers, chunk)
            for verifiers in _judged_together(self._request.verifiers)
            for chunk in self._chunks(verifiers, parts, num_unique)
        ]
        try:
            async with asyncio.timeout(deadline_seconds):
                await finish_all(work)
        except TimeoutError:
            pass
        self._finish()
        if owners is not None:
            await self._record(owners)
        return ScoredRequest(self._slots, self._request.num_completions - num_unique)

    @property
    def _is_stored(self) -> bool:
        is_kept = all(verifier.is_stored for verifier in self._request.verifiers)
        return self._engine.stored_texts is not None and is_kept

    async def _record(self, owners: list[list[Owner]]) -> None:
        """Give the verdicts to the store."""
        texts = self._engine.stored_texts
        assert texts is not None
        for record, num_verdicts in records_of(
            self._request,
            self._slots,
            owners,
            options=self._options,
            places=self._places,
            texts=texts,
        ):
            await self._engine.record(record, num_verdicts)

    def group_verdicts(self, index: int) -> list[VerdictsByKey]:
        """The verdicts on the completions of a complete group, in the order of the request."""
        keys = [verifier.key for verifier in self._request.verifiers]
        return [{key: verdicts[key] for key in keys} for verdicts in self._slots[index]]

    def drop_details(self, index: int) -> None:
        """Drop the details of a complete group's verdicts, unless a store is to get them."""
        if self._engine.stored_texts is not None:
            return
        for verdicts in self._slots[index]:
            for key, verdict in verdicts.items():
                verdicts[key] = msgspec.structs.replace(verdict, details=None)

    def _report_empty_groups(self) -> None:
        if self._on_group is not None:
            for index, left in enumerate(self._num_left):
                if left == 0:
                    self._on_group(index)

    def _finish(self) -> None:
        """Put the verdicts in the order of the verifiers; a missing one is `failed`, as late."""
        late = failed(EngineReason.DEADLINE)
        keys = [verifier.key for verifier in self._request.verifiers]
        for index, slots in enumerate(self._slots):
            # Replaced one by one: a second list of a million verdicts would take much memory.
            for number, verdicts in enumerate(slots):
                slots[number] = {key: verdicts.get(key, late) for key in keys}
            if self._num_left[index] and self._on_group is not None:
                self._on_group(index)

    def _chunks(
        self, verifiers: Sequence[Verifier], parts: list[ChunkPart], num_unique: int
    ) -> Iterator[list[ChunkPart]]:
        task_size = min(verifier.task_size for verifier in verifiers)
        if isinstance(verifiers[0], GroupVerifier):
            return packed_into_chunks(group_parts(self._request, self._slots), task_size)
        share = math.ceil(num_unique / self._engine.num_workers(verifiers[0].workers))
        share = max(share, MIN_SHARE // len(verifiers))
        return cut_into_chunks(parts, max(min(share, task_size // len(verifiers)), 1))

    async def _judge(self, verifiers: Sequence[Verifier], chunk: list[ChunkPart]) -> None:
        """Judge a chunk with verifiers of one kind, whose completions travel once."""
        work = [found for one in verifiers if (found := await self._work(one, chunk)).keys]
        if not work:
            return
        keys = [key for one in work for key in one.keys]
        verdicts: list[TaskResult] = []
        unsettled: list[_Unsettled] = []
        try:
            async with self._turns[verifiers[0].workers]:
                # The cache has no explanations, and keeps none.
                kept_keys = keys if verifiers[0].is_cached and not self._explain else ()
                task = judge_task(work, explain=self._explain)
                await self._engine.judge(task, verdicts, kept_keys)
        except NoWorkers:
            for one in work:
                unavailable = failed(one.verifier.unavailable)
                for part in one.parts:
                    self._deliver_all(unavailable, one.verifier, part.uniques)
            return
        finally:
            unsettled += self._deliver_found(work, verdicts)
        if unsettled:
            await self._settle_all(unsettled)

    async def _work(self, verifier: Verifier, chunk: list[ChunkPart]) -> VerifierWork:
        """The completions of a chunk that the verifier has to judge."""
        chunk = self._without_too_large(verifier, chunk)
        options = self._options[verifier.key]
        keys = cache_keys(options, chunk)
        return await self._without_cached(VerifierWork(verifier, options, chunk, keys))

    def _deliver_found(
        self, work: list[VerifierWork], verdicts: list[TaskResult]
    ) -> Iterator[_Unsettled]:
        """Deliver the verdicts of a task, and find the questions that it left open.

        After the deadline, there are fewer verdicts than completions.
        """
        found = iter(verdicts)
        for one in work:
            uniques = ((part, unique) for part in one.parts for unique in part.uniques)
            for (part, unique), key, verdict in zip(uniques, one.keys, found, strict=False):
                if isinstance(verdict, Verdict):
                    self._deliver(verdict, one.verifier, unique.slots)
                    continue
                question, explanation = (
                    verdict if isinstance(verdict, ExplainedQuestion) else (verdict, None)
                )
                asker = _Asker(one.verifier, key, unique.slots, explanation)
                yield from self._open(question, part, asker)

    def _without_too_large(self, verifier: Verifier, chunk: list[ChunkPart]) -> list[ChunkPart]:
        """The chunk without references and completions that no worker could judge."""
        too_large = Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_LARGE, 0.0)
        readable = []
        is_whole = True
        for part in chunk:
            if len(part.encoded_reference) > MAX_REFERENCE_BYTES:
                bad_reference = unverifiable(EngineReason.BAD_REFERENCE, message=LARGE_REFERENCE)
                self._deliver_all(bad_reference, verifier, part.uniques)
                is_whole = False
                continue
            is_large_group = num_characters(part.group or ()) > MAX_GROUP_CHARACTERS
            large = [
                unique
                for unique in part.uniques
                if is_large_group
                or seen_by(verifier, unique.completion).num_characters > MAX_COMPLETION_CHARACTERS
            ]
            self._deliver_all(too_large, verifier, large)
            readable.append(part)
            is_whole = is_whole and not large
        if is_whole:
            return chunk
        return filtered(readable, lambda unique: verifier.key not in unique.slots[0][1])

    async def _without_cached(self, work: VerifierWork) -> VerifierWork:
        """The work without the completions whose verdict is cached."""
        verifier, chunk, keys = work.verifier, work.parts, work.keys
        is_wanted = verifier.is_cached and not self._explain
        found = await self._engine.look_up(keys) if is_wanted and keys else []
        if not any(found):
            return work
        uniques = (unique for part in chunk for unique in part.uniques)
        for verdict, unique in zip(found, uniques, strict=True):
            if verdict is not None:
                self._deliver(verdict, verifier, unique.slots)
        unknown = iter([verdict is None for verdict in found])
        kept = filtered(chunk, lambda unique: next(unknown))
        left = [key for key, verdict in zip(keys, found, strict=True) if verdict is None]
        return msgspec.structs.replace(work, parts=kept, keys=left)

    def _open(self, question: OpenQuestion, part: ChunkPart, asker: _Asker) -> Iterator[_Unsettled]:
        """The question, unless it is settled or about to be."""
        verifier = asker.verifier
        about = part_key(self._options[verifier.key], part)
        key = digest(b"question", about, question.encode())
        verdict = self._settled.get(key)
        if verdict is not None:
            self._deliver(asker.explained(verdict), verifier, asker.slots)
            self._keep(verifier, [(asker.key, verdict)])
        elif key in self._askers:
            self._askers[key].append(asker)
        else:
            self._askers[key] = [asker]
            yield _Unsettled(question, verifier, part, key)

    async def _settle_all(self, unsettled: list[_Unsettled]) -> None:
        found = await self._engine.look_up([one.key for one in unsettled])
        for one, verdict in zip(unsettled, found, strict=True):
            if verdict is not None:
                self._deliver_settled(verdict, one)
        left = [one for one, verdict in zip(unsettled, found, strict=True) if verdict is None]
        for_servers = [one for one in left if one.verifier.asks is not None]
        for_workers = [one for one in left if one.verifier.asks is None]
        settling = (self._settle(some) for some in _settle_chunks(for_workers))
        await finish_all([self._ask(for_servers), *settling])

    async def _ask(self, unsettled: list[_Unsettled]) -> None:
        """Have servers settle questions, which needs no worker; the model's have a budget."""
        asked = []
        for one in unsettled:
            if one.verifier.asks != "model" or self._budget.spend():
                asked.append(one)
            else:
                self._deliver_settled(failed(CallReason.OVER_BUDGET), one)

        def deliver(index: int, verdict: Verdict) -> None:
            self._deliver_settled(verdict, asked[index])

        await self._engine.ask([one.question for one in asked], deliver)

    async def _settle(self, unsettled: list[_Unsettled]) -> None:
        """Settle questions of one verifier about one reference."""
        verifier = unsettled[0].verifier
        questions = [one.question for one in unsettled]
        options = self._options[verifier.key]
        task = settle_task(verifier, options, unsettled[0].part, questions)
        verdicts: list[TaskResult] = []
        try:
            async with self._turns[verifier.workers]:
                await self._engine.judge(task, verdicts)
        except NoWorkers:
            verdicts += [failed(verifier.unavailable)] * (len(unsettled) - len(verdicts))
        finally:
            for verdict, one in zip(verdicts, unsettled, strict=False):
                if isinstance(verdict, Verdict):
                    self._deliver_settled(verdict, one)

    def _deliver_settled(self, verdict: Verdict, one: _Unsettled) -> None:
        self._settled[one.key] = verdict
        kept = [(one.key, verdict)]
        for asker in self._askers.pop(one.key):
            self._deliver(asker.explained(verdict), asker.verifier, asker.slots)
            kept.append((asker.key, verdict))
        self._keep(one.verifier, kept)

    def _keep(self, verifier: Verifier, verdicts: list[tuple[bytes, Verdict]]) -> None:
        if verifier.is_cached:
            self._engine.keep(verdicts)

    def _deliver_all(
        self, verdict: Verdict, verifier: Verifier, uniques: Iterable[UniqueCompletion]
    ) -> None:
        for unique in uniques:
            self._deliver(verdict, verifier, unique.slots)

    def _deliver(self, verdict: Verdict, verifier: Verifier, slots: list[VerdictSlot]) -> None:
        if verdict.outcome is Outcome.SCORED and verdict.reason in NOT_JUDGED:
            verdict = msgspec.structs.replace(verdict, score=verifier.score_if_killed)
        for group, verdicts in slots:
            verdicts[verifier.key] = verdict
            self._num_left[group] -= 1
            if self._num_left[group] == 0 and self._on_group is not None:
                self._on_group(group)


def turns_of(verifiers: Iterable[Verifier], engine: Engine) -> Turns:
    """The turns of a request, as many as there are workers.

    Without this bound, a large request would fill the queue for workers, and every other request
    would wait for all of it. With it, requests take turns.
    """
    kinds = {verifier.workers for verifier in verifiers}
    return {kind: asyncio.Semaphore(engine.num_workers(kind)) for kind in kinds}


def _settle_chunks(unsettled: list[_Unsettled]) -> Iterator[list[_Unsettled]]:
    """The questions in small chunks, each of one verifier about one reference."""

    def subject(one: _Unsettled) -> tuple[int, bytes]:
        return id(one.verifier), one.part.reference_digest

    for _, about_one in groupby(unsettled, key=subject):
        while some := list(islice(about_one, SETTLE_CHUNK_SIZE)):
            yield some


def _judged_together(verifiers: Iterable[Verifier]) -> list[list[Verifier]]:
    """The verifiers in lists, each for one task: those of text workers share its completions.

    A verifier of groups has other completions, and one of programs takes long.
    """
    alone: list[list[Verifier]] = []
    together: dict[bool, list[Verifier]] = {}
    for verifier in verifiers:
        if isinstance(verifier, TextVerifier) and verifier.workers == "text":
            together.setdefault(verifier.is_cached, []).append(verifier)
        else:
            alone.append([verifier])
    return [*together.values(), *alone]
