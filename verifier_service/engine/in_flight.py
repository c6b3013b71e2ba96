"""A window of requests of which some are judged at the same time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, TypeVar

REQUESTS_IN_FLIGHT = 4

T = TypeVar("T")


@asynccontextmanager
async def in_flight(requests: Iterable[Coroutine[Any, Any, T]]) -> AsyncIterator[AsyncIterator[T]]:
    """The results of requests, in order. None is at work when the context has ended.

    Args:
        requests: each is taken, and begins, when one of REQUESTS_IN_FLIGHT before it has ended.
    """
    waiting: deque[asyncio.Task[T]] = deque()
    try:
        yield _results(iter(requests), waiting)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _results(
    left: Iterable[Coroutine[Any, Any, T]], waiting: deque[asyncio.Task[T]]
) -> AsyncIterator[T]:
    while True:
        room = REQUESTS_IN_FLIGHT - len(waiting)
        waiting += [asyncio.create_task(one) for one in islice(left, room)]
        if not waiting:
            return
        yield await waiting.popleft()
