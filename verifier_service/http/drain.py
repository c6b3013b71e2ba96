"""The end of the service: it finishes the calls that it accepted, within a limit, and no others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)


class Drain:
    """Tells whether the service is ending, and waits for the calls under way."""

    def __init__(self) -> None:
        self.is_draining = False
        self.num_under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopped = asyncio.Event()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """A call that the service finishes before it ends."""
        self.num_under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.num_under_way -= 1
            if self.num_under_way == 0:
                self._idle.set()

    async def run(self, limit_seconds: float) -> None:
        """Wait until no call is under way; give up the calls that take longer than the limit."""
        self.is_draining = True
        log.info("ending: %d calls are under way", self.num_under_way)
        try:
            async with asyncio.timeout(limit_seconds):
                await self._idle.wait()
        except TimeoutError:
            log.warning("%d calls are given up", self.num_under_way)
            self._stopped.set()

    async def wait_stopped(self) -> None:
        """Wait until the calls under way are given up."""
        await self._stopped.wait()
