"""A budget of bytes that several holders share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ByteBudget:
    """Lets holders wait, in their order, until the bytes of all of them are within a bound.

    Args:
        bound: bytes that may be held at the same time; a holder alone may have more.
    """

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._num_held = 0
        self._waiting: deque[Share] = deque()

    @asynccontextmanager
    async def share(self, num_bytes: int) -> AsyncIterator[Share]:
        """A share of so many bytes, held in the context at most; entering it waits for them.

        A share of no bytes waits for nobody.
        """
        share = Share(self, num_bytes)
        try:
            if num_bytes:
                self._waiting.append(share)
                self.give_turns()
                await share.turn
            yield share
        finally:
            if share in self._waiting:
                self._waiting.remove(share)
            share.end()

    def give_turns(self) -> None:
        """Let those in who wait and fit, in their order."""
        while self._waiting:
            share = self._waiting[0]
            if self._num_held and self._num_held + share.num_bytes > self._bound:
                return
            self._waiting.popleft()
            self._num_held += share.num_bytes
            share.is_held = True
            if not share.turn.done():  # it may have been cancelled
                share.turn.set_result(None)

    def give_back(self, num_bytes: int) -> None:
        """Take bytes back from a holder."""
        self._num_held -= num_bytes
        self.give_turns()


class Share:
    """The bytes of one holder, or of one who waits."""

    def __init__(self, budget: ByteBudget, num_bytes: int) -> None:
        self.num_bytes = num_bytes
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_held = False
        self._budget = budget

    def end(self) -> None:
        """Give the bytes back, if they are held."""
        num_bytes = self.num_bytes if self.is_held else 0
        self.is_held = False
        self._budget.give_back(num_bytes)
