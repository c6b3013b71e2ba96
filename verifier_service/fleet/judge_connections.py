"""The connections of a gateway to the judges of one kind, each lent to one task at a time."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from verifier_service.fleet.judge_connection import JudgeConnection

IDLE_SECONDS = 1.0
"""Time after which a connection without a task is closed: Ray Serve counts it as work."""
MAX_AGE_SECONDS = 10.0
"""Age from which a connection gets no other task: its successor may go to a judge that is new, and
a judge that is to end is left in time."""
NUM_BEYOND = 4
"""Connections that are asked for where all that judges can have are open: by them Ray Serve sees
that more judges are wanted."""


class JudgeConnections:
    """Opens connections as tasks wait for them, and keeps those in use.

    Args:
        connect: opens a connection to the judge that Ray Serve chooses. Raises JudgeLost.
        most: number of connections that all judges together take.
        max_age_seconds: age from which a connection gets no other task.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[JudgeConnection]],
        most: Callable[[], int],
        max_age_seconds: float = MAX_AGE_SECONDS,
    ) -> None:
        self._connect = connect
        self._most = most
        self._max_age_seconds = max_age_seconds
        self._open: set[JudgeConnection] = set()
        self._idle: list[JudgeConnection] = []
        self._num_taken: Counter[tuple[str, int]] = Counter()
        """Connections with a task by the address of the judge."""
        self._waiting: deque[asyncio.Future[JudgeConnection]] = deque()
        self._opening: set[asyncio.Task[JudgeConnection]] = set()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[JudgeConnection]:
        """A connection for one task, an idle one or the next that becomes free.

        Raises:
            JudgeLost: no connection could be opened.
        """
        connection = self._idle_one() or await self._next_one()
        self._num_taken[connection.judge_address] += 1
        try:
            yield connection
        finally:
            self._num_taken[connection.judge_address] -= 1
            self._num_taken += Counter()  # forgets judges that have none
            if connection.age_seconds > self._max_age_seconds:
                self._close(connection)
            self._hand_over(connection)

    def close_idle(self) -> None:
        """Close the connections that have had no task for a while."""
        idle, self._idle = self._idle, []
        for connection in idle:
            if connection.is_usable and connection.idle_seconds < IDLE_SECONDS:
                self._idle.append(connection)
            else:
                self._close(connection)

    async def close(self) -> None:
        """Close those that are idle, and open no others."""
        for connection in self._idle:
            self._close(connection)
        opening = list(self._opening)
        for task in opening:
            task.cancel()
        if opening:
            await asyncio.wait(opening)

    def _idle_one(self) -> JudgeConnection | None:
        """An idle connection to the judge that has the fewest tasks."""
        while self._idle:
            # The last of equals was used last: the others become idle enough to be closed.
            found = min(reversed(self._idle), key=lambda one: self._num_taken[one.judge_address])
            self._idle.remove(found)
            if found.is_usable:
                return found
            self._close(found)
        return None

    async def _next_one(self) -> JudgeConnection:
        """The next connection that becomes free, or is opened."""
        turn: asyncio.Future[JudgeConnection] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._open_more()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._hand_over(turn.result())
            raise
        finally:
            with suppress(ValueError):  # it is not waiting any more
                self._waiting.remove(turn)

    def _open_more(self) -> None:
        """Ask for a connection for each task that waits, as far as judges can have them."""
        room = self._most() + NUM_BEYOND - len(self._open)
        while len(self._opening) < min(len(self._waiting), room):
            task = asyncio.ensure_future(self._connect())
            self._opening.add(task)
            task.add_done_callback(self._has_opened)

    def _has_opened(self, task: asyncio.Future[JudgeConnection]) -> None:
        self._opening.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._open.add(task.result())
            self._hand_over(task.result())
        else:
            if (turn := self._next_turn()) is not None:
                turn.set_exception(error)
            self._open_more()  # or those that still wait would wait for nothing

    def _hand_over(self, connection: JudgeConnection) -> None:
        """Give a connection to the task that has waited longest, unless it has ended."""
        if not connection.is_usable:
            self._close(connection)
        elif (turn := self._next_turn()) is not None:
            turn.set_result(connection)
        else:
            self._idle.append(connection)
        self._open_more()

    def _close(self, connection: JudgeConnection) -> None:
        self._open.discard(connection)
        connection.close()

    def _next_turn(self) -> asyncio.Future[JudgeConnection] | None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                return turn
        return None
