"""A judge: the replica that owns the workers of one kind, and nothing else."""

from __future__ import annotations

import asyncio
import logging.config
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import msgspec

from verifier_service.engine.engine import NoWorkers
from verifier_service.fleet.references import FetchedReferences, Stored
from verifier_service.fleet.settings import FleetSettings
from verifier_service.logs import log_config
from verifier_service.sandbox.layers import hide_process
from verifier_service.worker_pools import start_pools
from verifier_service.workers.tasks import EncodedTask, TaskResult, TaskVerdicts

PART_SECONDS = 0.1
"""Time after which the verdicts so far are sent, while a task goes on: a deadline keeps them."""


class JudgeReplica:
    """Judges tasks with worker processes of its own; Ray Serve makes and ends it.

    Args:
        settings: of the workers.
        kind: of the workers, `Verifier.workers`.
    """

    async def __init__(  # type: ignore[misc]  # Ray Serve awaits it
        self, settings: FleetSettings, kind: str
    ) -> None:
        hide_process()
        logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
        self._stack = AsyncExitStack()
        self._references = FetchedReferences()
        self._pool = (await start_pools(settings.of_kind(kind), self._stack))[kind]

    async def __del__(self) -> None:
        await self._stack.aclose()

    def check_health(self) -> None:
        """Have Ray Serve replace a judge whose workers do not run. Raises NoWorkers."""
        if self._pool.problem is not None:
            raise NoWorkers(self._pool.problem)

    async def judge(self, task: EncodedTask, stored: Stored) -> AsyncIterator[bytes]:
        """The verdicts of a task as they come, each time a `TaskVerdicts` in JSON.

        Cancelling the call ends the work.

        Args:
            task: completions to judge.
            stored: the object with the task's reference, where the task is without it.

        Raises:
            NoWorkers: no worker is running.
            RayError: the object is lost.
        """
        self.check_health()
        task = await self._references.restore(task, stored)
        found: list[TaskResult] = []
        work = asyncio.create_task(self._pool.judge(task, found))
        num_sent, is_done = 0, False
        try:
            while not is_done:
                await asyncio.wait([work], timeout=PART_SECONDS)
                is_done = work.done()
                if is_done:
                    work.result()
                part = found[num_sent:]
                num_sent += len(part)
                if part or is_done:
                    yield msgspec.json.encode(TaskVerdicts(part, finished=is_done))
        finally:
            work.cancel()
            await asyncio.wait([work])
