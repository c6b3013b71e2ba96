"""The execution of a session: a process that lasts for many calls and is stopped between them.

A call begins when the process goes on, and ends when it has sent a frame, has ended, or has met a
limit. Between calls it is stopped (SIGSTOP) with all its threads, so that an idle session takes no
time of a processor and nothing happens in it. What it wrote counts from the beginning of a call.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING, Any

from verifier_service.sandbox import limit_watch
from verifier_service.sandbox.execution import ExitReason, Limits
from verifier_service.sandbox.execution_handle import GRACE_SECONDS, ExecutionHandle, OutputStream

if TYPE_CHECKING:
    from verifier_service.sandbox.zygote_handle import ZygoteHandle

FLOOD_BYTES = 64 * 2**20
"""Most bytes of one stream in one call; a call that writes more is ended with its session."""
INTERRUPT_SECONDS = 1.0
"""Time that a call has to end after it was interrupted."""
CALL_OVERLOAD_SHARE = 8
"""Times its limit after which a call that waits for a processor is given up with its session."""
OVERLOAD_SECONDS = 30.0
"""Least time after which a call is given up so."""


class CallOverloaded(Exception):
    """A call waited too long for a processor: the machine's fault."""


class SessionExecution(ExecutionHandle):
    """The process of a session.

    Args:
        zygote: forks it, and nothing else.
        limits: of the process; those on time do not count.
        output_bytes: most bytes of a stream that a call keeps.
    """

    def __init__(self, zygote: ZygoteHandle, limits: Limits, output_bytes: int) -> None:
        super().__init__(zygote, limits)
        self._output_bytes = output_bytes

    def _look(self) -> None:
        """Look once whether the process was forked; nothing else is watched between calls."""
        if self._pidfd >= 0 or self.ended.done():
            return
        if self.watch.wall_seconds > GRACE_SECONDS:
            self._zygote.die("it does not fork")
            return
        self._timer = self._loop.call_later(limit_watch.WATCH_SECONDS, self._look)

    def _open_stream(self, limit: int) -> int:
        reading, writing = os.pipe()
        self._streams.append(OutputStream(reading, self._output_bytes, _accept_flood))
        return writing

    @property
    def output(self) -> tuple[OutputStream, OutputStream]:
        """Standard output and standard error of the call."""
        stdout, stderr = self._streams
        return stdout, stderr

    def begin_call(self) -> None:
        """Forget the output of the last call, and have the process go on."""
        for stream in self.output:
            stream.start_again()
        self.go_on()

    def end_call(self) -> None:
        """Take what was written, and stop the process."""
        if self.ended.done():
            return
        self.stop()
        for stream in self.output:
            stream.drain()

    def interrupt(self) -> None:
        """Ask the process to end its call."""
        self._send(signal.SIGINT)

    async def watched(
        self, reply: asyncio.Future[Any], *, seconds: float, can_interrupt: bool
    ) -> bool:
        """Wait until a reply is there or the process has ended; it is killed over its limits.

        Args:
            reply: done when the process has sent one.
            seconds: limit on the time in which the call runs or sleeps, and on its CPU time.
            can_interrupt: whether the process can end a call when it is asked to.

        Returns:
            Whether the call was interrupted.

        Raises:
            CallOverloaded: the process waited too long for a processor.
        """
        clock = _CallClock(self)
        interrupted_at: float | None = None
        while not (reply.done() or self.ended.done()):
            under_way: list[asyncio.Future[Any]] = [reply, self.ended]
            await asyncio.wait(
                under_way,
                timeout=limit_watch.WATCH_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            self.runs()
            used = clock.used_seconds()
            if reply.done() or self.ended.done():
                pass  # in time, however late this process looks at it
            elif interrupted_at is not None and used > interrupted_at + INTERRUPT_SECONDS:
                self.kill(ExitReason.WALL_LIMIT)
            elif interrupted_at is None and used >= seconds:
                interrupted_at = used
                if can_interrupt:
                    self.interrupt()
                else:
                    self.kill(ExitReason.WALL_LIMIT)
            elif clock.elapsed_seconds() > max(CALL_OVERLOAD_SHARE * seconds, OVERLOAD_SECONDS):
                raise CallOverloaded(f"a call of {seconds:g} s waited for a processor")
            if self._has_exceeded_space():
                self.kill(ExitReason.OUTPUT_LIMIT)
        return interrupted_at is not None

    def _has_exceeded_space(self) -> bool:
        if any(stream.num_bytes > FLOOD_BYTES for stream in self.output):
            return True
        limit = self.limits.file_bytes
        return bool(limit) and self._zygote.is_scratch_full(limit)


def _accept_flood() -> None:
    """Output beyond the limit is dropped, and no reason to kill."""


class _CallClock:
    """The time that a call has used."""

    def __init__(self, execution: SessionExecution) -> None:
        self._execution = execution
        self._start = time.monotonic()
        self._cpu_before = execution.watch.cpu_seconds()
        self._waited_before = self._waited()

    def _waited(self) -> float:
        pid = self._execution.watch.pid
        return 0.0 if pid is None else limit_watch.waited_seconds(pid)

    def elapsed_seconds(self) -> float:
        """Time since the call began."""
        return time.monotonic() - self._start

    def used_seconds(self) -> float:
        """The larger of CPU time and of time without waits for a processor."""
        waited = max(0.0, self._waited() - self._waited_before)
        cpu_seconds = self._execution.watch.cpu_seconds() - self._cpu_before
        return max(self.elapsed_seconds() - waited, cpu_seconds)
