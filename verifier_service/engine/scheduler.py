"""The scheduler: shares the workers and the verdict cache among all requests.

It orders nothing: requests take turns by `request_scoring.turns_of`, tasks wait in `workers.pool`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from verifier_service.engine.engine import NoWorkers, OnVerdict
from verifier_service.engine.finish_all import finish_all
from verifier_service.engine.verdict_cache import VerdictCache
from verifier_service.model_judge.models import Models
from verifier_service.proofs.lean_judge import LeanServer, ask_lean
from verifier_service.proofs.lean_task import is_lean_question
from verifier_service.verdict import Verdict
from verifier_service.verdict_store.records import Recorder, StoredTexts
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.tasks import EncodedTask, TaskResult

OnJudged = Callable[[str, Sequence[TaskResult], float], None]
"""Called after a task, for each of its verifiers: type, verdicts, and wall seconds of the task."""


class Pool(Protocol):
    """Workers of one kind."""

    @property
    def size(self) -> int:
        """Number of workers."""
        ...

    @property
    def problem(self) -> str | None:
        """Why no worker is running; None while one is running or about to."""
        ...

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append a verdict for each completion of the task, in order, as they come."""
        ...


class CountedPool(Pool, Protocol):
    """A pool that tells how its workers are."""

    restarts: Counter[str]
    """Number of workers lost or replaced by cause."""

    @property
    def num_running(self) -> int:
        """Number of running workers."""
        ...

    @property
    def num_busy(self) -> int:
        """Number of workers that work on a task."""
        ...

    @property
    def num_waiting(self) -> int:
        """Number of tasks that wait for a worker."""
        ...


class Model(Protocol):
    """A model that judges what rules leave open."""

    max_questions: int | None

    async def ask(self, question: OpenQuestion) -> Verdict:
        """The verdict on a question."""
        ...

    def audit(self, question: OpenQuestion) -> None:
        """Ask a question beside a verdict, later and for the metrics alone."""
        ...


class Scheduler:
    """Gives tasks to pools and keeps their verdicts: the `Engine` of the API process.

    Args:
        pools: by the kind of workers, `Verifier.workers`.
        max_cached_verdicts: verdicts to keep for later requests.
        on_judged: is called after each task.
        model: is asked what rules leave open; None: that is `unverifiable`.
        recorder: stores the verdicts on requests; None: nothing does.
        lean: is asked about proofs in Lean; None: they are `unverifiable`.
    """

    def __init__(
        self,
        pools: Mapping[str, Pool],
        *,
        max_cached_verdicts: int,
        on_judged: OnJudged | None = None,
        model: Model | None = None,
        recorder: Recorder | None = None,
        lean: LeanServer | None = None,
    ) -> None:
        self.cache = VerdictCache(max_cached_verdicts)
        self._pools = pools
        self._on_judged = on_judged
        self._model = model
        self._recorder = recorder
        self._lean = lean

    @property
    def worker_counts(self) -> dict[str, int]:
        """Numbers of workers by kind."""
        return {kind: pool.size for kind, pool in self._pools.items()}

    def num_workers(self, kind: str) -> int:
        """Implements `Engine.num_workers`."""
        return self._pools[kind].size

    async def judge(
        self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes] = ()
    ) -> None:
        """Implements `Engine.judge`."""
        pool = self._pools[task.workers]
        if pool.problem is not None:
            raise NoWorkers(pool.problem)
        num_before = len(verdicts)
        start = time.perf_counter()
        try:
            await pool.judge(task, verdicts)
        finally:
            self._take_audits(verdicts, num_before)
            found = verdicts[num_before:]
            # After a deadline, there are fewer verdicts than keys.
            for key, verdict in zip(keys, found, strict=False):
                if isinstance(verdict, Verdict):
                    self.cache.keep(key, verdict)
            self._report(task, found, time.perf_counter() - start)

    def _take_audits(self, verdicts: list[TaskResult], start: int) -> None:
        """Take the questions out of verdicts that rules decided, and ask them."""
        for index in range(start, len(verdicts)):
            verdict = verdicts[index]
            if isinstance(verdict, Verdict) and verdict.audit is not None:
                verdicts[index] = msgspec.structs.replace(verdict, audit=None)
                if self._model is not None:
                    self._model.audit(verdict.audit)

    def _report(self, task: EncodedTask, found: list[TaskResult], seconds: float) -> None:
        if self._on_judged is None:
            return
        start = 0
        for verifier, num_completions in task.verifiers:
            self._on_judged(verifier, found[start : start + num_completions], seconds)
            start += num_completions

    @property
    def keeps_verdicts(self) -> bool:
        """Implements `Engine.keeps_verdicts`."""
        return not self.cache.is_off

    @property
    def max_questions(self) -> int | None:
        """Implements `Engine.max_questions`."""
        return None if self._model is None else self._model.max_questions

    async def ask(self, questions: Sequence[OpenQuestion], on_verdict: OnVerdict) -> None:
        """Implements `Engine.ask`."""

        async def ask(index: int, question: OpenQuestion) -> None:
            on_verdict(index, await self.verdict_on(question))

        await finish_all([ask(index, question) for index, question in enumerate(questions)])

    async def verdict_on(self, question: OpenQuestion) -> Verdict:
        """The verdict of the server that a question is for."""
        if is_lean_question(question):
            return await ask_lean(self._lean, question)
        return await (self._model or Models()).ask(question)

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """Implements `Engine.look_up`."""
        return self.cache.look_up(keys)

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """Implements `Engine.keep`."""
        for key, verdict in verdicts:
            self.cache.keep(key, verdict)

    @property
    def stored_texts(self) -> StoredTexts | None:
        """Implements `Engine.stored_texts`."""
        return None if self._recorder is None else self._recorder.texts

    async def record(self, record: bytes, num_verdicts: int) -> None:
        """Implements `Engine.record`."""
        if self._recorder is not None:
            self._recorder.put(record, num_verdicts)
