"""A judge: the replica that owns the workers of one kind, and nothing else."""

from __future__ import annotations

import logging.config
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import msgspec
from ray.util import get_node_ip_address

from verifier_service.engine.engine import NoWorkers
from verifier_service.fleet.settings import FleetSettings
from verifier_service.fleet.task_server import TaskServer
from verifier_service.logs import log_config
from verifier_service.sandbox.layers import hide_process
from verifier_service.worker_pools import start_pools


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
        self._pool = (await start_pools(settings.of_kind(kind), self._stack))[kind]
        self._server = await self._stack.enter_async_context(
            TaskServer(self._pool, kind, get_node_ip_address())
        )

    async def __del__(self) -> None:
        await self._stack.aclose()

    def check_health(self) -> None:
        """Have Ray Serve replace a judge whose workers do not run. Raises NoWorkers."""
        if self._pool.problem is not None:
            raise NoWorkers(self._pool.problem)

    async def lend(self) -> AsyncIterator[bytes]:
        """A `LentPlace` in JSON; the call goes on until the gateway leaves that place.

        Ray Serve counts the call as work, as long as the place is taken. Cancelling it ends the
        task at that place.
        """
        async with self._server.lent() as place:
            yield msgspec.json.encode(place)
            await self._server.until_left(place)
