"""The worker pools that the settings ask for."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from verifier_service.settings import EngineSettings
from verifier_service.verifiers import VERIFIERS
from verifier_service.workers.limits import ItemLimits
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.sources import CodeWorkers

CODE_LIMITS = ItemLimits(cpu_seconds=600.0, memory_bytes=2 * 2**30, stuck_seconds=3600.0)
"""Limits on a code worker itself, which only compares output; programs have their own limits."""


async def start_pools(settings: EngineSettings, stack: AsyncExitStack) -> dict[str, WorkerPool]:
    """The worker pools that the enabled verifiers need, by kind; they end with the stack."""
    limits = ItemLimits(settings.item_cpu_seconds, settings.item_memory_bytes)
    kinds = {VERIFIERS[name].workers for name in settings.enabled}
    pools = {}
    if "text" in kinds:
        pools["text"] = WorkerPool(settings.workers, limits)
    if "code" in kinds:
        pools["code"] = WorkerPool(
            settings.code_workers, CODE_LIMITS, lambda: CodeWorkers(settings.unsafe_code_without)
        )
    async with asyncio.TaskGroup() as group:
        for pool in pools.values():
            group.create_task(stack.enter_async_context(pool))
    return pools
