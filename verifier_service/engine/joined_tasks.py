"""An engine for a request of many choices of verifiers: their small tasks go to workers together.

A task costs half a millisecond on its way to a worker and back, whatever it holds. Ten thousand
groups with verifiers of their own are as many tasks, of a few completions each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from verifier_service.engine.engine import Engine, OnVerdict
from verifier_service.verdict import Verdict
from verifier_service.verdict_store.records import StoredTexts
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

MAX_COMPLETIONS = 32
"""Most completions of tasks that are joined: one of some verifiers takes tens of milliseconds."""
MAX_BODY_BYTES = 2**15
"""Largest task that is joined with others."""


class JoinedEngine:
    """An engine whose small tasks for text workers are joined while they wait for a turn.

    Only tasks whose verdicts may be cached are joined: not those of explained requests, nor those
    that settle questions.

    Args:
        engine: judges.
        turns: of the request's tasks with text workers.
    """

    def __init__(self, engine: Engine, turns: asyncio.Semaphore) -> None:
        self._engine = engine
        self._turns = turns
        self._open: _JoinedTask | None = None
        """The task that others may join."""
        self._looking_up: _JoinedLookUp | None = None
        self.keeps_verdicts = engine.keeps_verdicts
        self.max_questions = engine.max_questions
        self.stored_texts: StoredTexts | None = engine.stored_texts

    def num_workers(self, kind: str) -> int:
        """Implements `Engine.num_workers`."""
        return self._engine.num_workers(kind)

    async def judge(
        self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes] = ()
    ) -> None:
        """Implements `Engine.judge`."""
        if task.workers != "text":
            await self._engine.judge(task, verdicts, keys)
        elif not keys or task.shared_name is not None or len(task.body) > MAX_BODY_BYTES:
            async with self._turns:
                await self._engine.judge(task, verdicts, keys)
        else:
            if self._open is None or not self._open.has_room_for(task):
                self._open = _JoinedTask(self._engine, self._turns)
            await self._open.judge(task, verdicts, keys)

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """Implements `Engine.look_up`, once for all calls of one turn of the event loop."""
        if self._looking_up is None or self._looking_up.is_sent:
            self._looking_up = _JoinedLookUp(self._engine)
        return await self._looking_up.found(keys)

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """Implements `Engine.keep`."""
        self._engine.keep(verdicts)

    async def ask(self, questions: Sequence[OpenQuestion], on_verdict: OnVerdict) -> None:
        """Implements `Engine.ask`."""
        await self._engine.ask(questions, on_verdict)

    async def record(self, record: bytes, num_verdicts: int) -> None:
        """Implements `Engine.record`."""
        await self._engine.record(record, num_verdicts)


class _JoinedTask:
    """Tasks that become one when a worker is free."""

    def __init__(self, engine: Engine, turns: asyncio.Semaphore) -> None:
        self._engine = engine
        self._turns = turns
        self._parts: list[TaskPart] = []
        self._request_id: str | None = None
        self._keys: list[bytes] = []
        self._found: list[TaskResult] = []
        self._is_sent = False
        self._judging = asyncio.create_task(self._judge())

    def has_room_for(self, task: EncodedTask) -> bool:
        """Whether a task can still join."""
        if self._is_sent or self._judging.done():
            return False
        return not self._keys or len(self._keys) + task.num_completions <= MAX_COMPLETIONS

    async def judge(
        self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes]
    ) -> None:
        """Append the verdicts of a task that joins, fewer after the deadline; see `Engine.judge`.

        All that joined have one deadline: the first whose call is cancelled ends the work.
        """
        own = task.decode()
        start, end = len(self._keys), len(self._keys) + task.num_completions
        self._parts += own.parts
        self._request_id = own.request_id
        self._keys += keys
        try:
            await asyncio.wait([self._judging])
        except asyncio.CancelledError:
            self._judging.cancel()
            await asyncio.wait([self._judging])
            raise
        finally:
            verdicts += self._found[start:end]
        if not self._judging.cancelled():
            self._judging.result()  # raises what the engine raised

    async def _judge(self) -> None:
        async with self._turns:
            self._is_sent = True
            task = EncodedTask.of(Task(self._parts, request_id=self._request_id), "text")
            await self._engine.judge(task, self._found, self._keys)


class _JoinedLookUp:
    """Cache keys that are looked up together."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._keys: list[bytes] = []
        self.is_sent = False
        self._looking_up = asyncio.create_task(self._look_up())

    async def found(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """The cached verdicts of some of the keys."""
        start = len(self._keys)
        self._keys += keys
        every = await asyncio.shield(self._looking_up)
        return every[start : start + len(keys)]

    async def _look_up(self) -> list[Verdict | None]:
        self.is_sent = True
        return await self._engine.look_up(self._keys)
