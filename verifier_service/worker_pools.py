"""The worker pools that the settings ask for."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from verifier_service.settings import EngineSettings
from verifier_service.usable_resources import usable_memory_bytes
from verifier_service.verifiers import VERIFIERS
from verifier_service.workers.limits import ItemLimits
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.server_process import end_early
from verifier_service.workers.sources import CodeWorkers

CODE_LIMITS = ItemLimits(cpu_seconds=600.0, memory_bytes=2 * 2**30, stuck_seconds=3600.0)
"""Limits on a code worker itself, which only compares output; programs have their own limits."""
MAX_PROGRAMS = 256
"""Most programs under way."""
PROGRAMS_PER_PROCESSOR = 8
"""Programs under way for each that runs, so that those that loop or sleep hold up no others."""
PROGRAM_MEMORY_BYTES = 2**30
"""Memory that each program under way may take: most that callers permit."""
MEMORY_SHARE = 0.75
"""Share of the memory that text workers leave, which all programs under way may take together."""


def num_programs(code_workers: int, memory_bytes: int) -> int:
    """Number of programs that may be under way, most of them stopped or asleep.

    >>> num_programs(2, 24 * 2**30), num_programs(2, 8 * 2**30), num_programs(2, 2**30)
    (16, 6, 2)

    Args:
        code_workers: programs that run at a time.
        memory_bytes: memory of the machine, or of the container, that text workers leave.
    """
    have_room = int(MEMORY_SHARE * memory_bytes / PROGRAM_MEMORY_BYTES)
    return max(code_workers, min(PROGRAMS_PER_PROCESSOR * code_workers, have_room, MAX_PROGRAMS))


async def start_pools(settings: EngineSettings, stack: AsyncExitStack) -> dict[str, WorkerPool]:
    """The worker pools that the enabled verifiers need, by kind; they end with the stack."""
    limits = ItemLimits(settings.item_cpu_seconds, settings.item_memory_bytes)
    kinds = {VERIFIERS[name].workers for name in settings.enabled}
    pools = {}
    if "text" in kinds:
        pools["text"] = WorkerPool(settings.workers, limits)
    if "code" in kinds:
        pools["code"] = _code_pool(settings)
    async with asyncio.TaskGroup() as group:
        for pool in pools.values():
            group.create_task(stack.enter_async_context(pool))
    end_early()  # what was started for workers that are not wanted
    return pools


def _code_pool(settings: EngineSettings) -> WorkerPool:
    left_bytes = usable_memory_bytes() - settings.workers * settings.item_memory_bytes
    num_workers = num_programs(settings.code_workers, left_bytes)
    return WorkerPool(
        num_workers,
        CODE_LIMITS,
        lambda: CodeWorkers(settings.unsafe_code_without, settings.code_workers, num_workers),
        num_first=settings.code_workers,
    )
