"""Turns on the processors: which of the executions under way run now, and which are stopped.

    place of each slot:  CPU seconds of its program | until when that counts | of all its programs
    [0.000 | now + .. | 7.1]  [0.412 | now + .. | 9.3]  [sleeps]  [0.398 | now + .. | 0.4]

More programs may be under way than there are processors. Each slot has a place in a table that the
processes of all sandboxes share. While a program lasts, its own runner looks at the table every
`LOOK_SECONDS`, or `REST_SECONDS` where little can change. It stops the program (SIGSTOP) while as
many others as there are processors have used less CPU time, and has it go on (SIGCONT) when it is
among the first again. So a short program waits for no long one, and long ones take turns of
`QUANTUM_SECONDS`.

Nothing is locked, because a process can be killed at any moment: a place that is not written again
ends by itself. The kernel's priorities would not do. Where sessions are scheduled as groups
(sched(7), autogroup) they count within a session only, and another user's process cannot be given
one without CAP_SYS_NICE. Signals are permitted wherever the runner may kill.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import struct
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from verifier_service.sandbox import thread_states
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.execution_handle import ExecutionHandle

FIRST_LOOK_SECONDS = 0.006
"""Time until the first look at a program, at the table and at what it has used."""
LOOK_SECONDS = 0.01
"""Time between two later looks at the table, of a program that wants to run."""
REST_SECONDS = 0.05
"""Time between two looks at a program that sleeps, or that is stopped while short ones run."""
FIRST_QUANTUM_SECONDS = 0.005
"""CPU time after which a program is a long one: twice what short programs take.

A little less than `FIRST_LOOK_SECONDS`, so that a program that never sleeps is found out at the
first look, and not at the next."""
QUANTUM_SECONDS = 0.1
"""CPU time of a turn of long programs."""
VALID_SECONDS = 0.5
"""Time for which a place counts after its runner wrote it: many looks.

Only the place of a runner that was killed ends by this. On a machine that other work keeps busy a
look comes late, and a place that had ended meanwhile would let long programs run before it."""
GAP_SECONDS = 0.02
"""Time for which a place counts after a short program has ended: the next often follows, once its
worker has been given it, and long ones would be started and stopped between any two."""
LEAST_SHARE = 1 / 16
"""Share of a processor's time that every program gets, however many short ones there are.

That time is what programs got, and not the clock's: on a machine that other work keeps busy, a
sixteenth of the clock's is all that anyone has, and no long program would ever be stopped."""
GRACE_SECONDS = 0.5
"""Time that programs got on each processor before that share counts."""
PATIENCE = 3
"""Times its wall or CPU limit, the larger, within which every program gets all of its CPU time.

Less than `limit_watch.OVERLOAD_SHARE`: one that others' turns kept from the processor until then
would be given up as if the machine were overloaded."""

_PLACE = struct.Struct("=ddd")
_USUAL_LIMITS = Limits()


class Turn:
    """The place of one slot in the table.

    Args:
        descriptor: of a file of `create_file`; it can be closed afterwards.
        index: of the slot, below the number of places. No two slots in use have the same.
        num_processors: programs that may run at a time.
        on_long: is called when a program turns out to be long, or to sleep.
    """

    def __init__(
        self,
        descriptor: int,
        index: int,
        num_processors: int,
        *,
        on_long: Callable[[], None] = lambda: None,
    ) -> None:
        self._table = mmap.mmap(descriptor, 0)  # all of the file
        self._index = index
        self._num_processors = num_processors
        self.on_long = on_long
        _, _, self._ended_seconds = _PLACE.unpack_from(self._table, self._offset)
        """CPU time of all executions of this place that have ended, of earlier owners too."""
        self._used_seconds = 0.0
        self._began, self._served_before = time.monotonic(), self._served_seconds()

    @property
    def _offset(self) -> int:
        return self._index * _PLACE.size

    @staticmethod
    def create_file(num_places: int) -> int:
        """The descriptor of a new table for processes to share."""
        descriptor = os.memfd_create("turns")
        os.ftruncate(descriptor, num_places * _PLACE.size)
        return descriptor

    def begin_program(self) -> None:
        """Count CPU time from 0 again: the executions that follow are another program's."""
        self._used_seconds = 0.0
        self._began, self._served_before = time.monotonic(), self._served_seconds()

    def enter(self, seconds: float = VALID_SECONDS) -> None:
        """Take the place for an execution, or for something else that long programs wait for.

        Args:
            seconds: time for which that counts at most.
        """
        self._write(self._used_seconds, seconds)

    def leave(self, cpu_seconds: float) -> None:
        """Give up the place of an execution that has ended.

        Args:
            cpu_seconds: CPU time of the execution.
        """
        self._used_seconds += cpu_seconds
        self._ended_seconds += cpu_seconds
        is_short = _level(self._used_seconds) == 0
        self._write(self._used_seconds, GAP_SECONDS if is_short else 0.0)

    def rest(self) -> None:
        """Give up the place while the execution sleeps."""
        self._write(self._used_seconds, 0.0)

    def may_run(self, cpu_seconds: float, limits: Limits = _USUAL_LIMITS) -> bool:
        """Whether the program of this slot is among the first. Says in the table how it stands.

        One that is in its first quantum always may: most end in it, and sleepers stay in it.

        Args:
            cpu_seconds: CPU time of the execution so far.
            limits: limits of the execution.
        """
        used = self._used_seconds + cpu_seconds
        self._write(used, VALID_SECONDS, cpu_seconds)
        under_way = time.monotonic() - self._began
        served = (self._served_seconds() - self._served_before) / self._num_processors
        if _level(used) == 0 or used < due_seconds(under_way, served, limits):
            return True
        return self._num_before(used) < self._num_processors

    def is_long(self, cpu_seconds: float) -> bool:
        """Whether the program has used its first quantum.

        Args:
            cpu_seconds: CPU time of the execution so far.
        """
        return _level(self._used_seconds + cpu_seconds) > 0

    def is_behind_short_ones(self) -> bool:
        """Whether programs in their first quantum, as many as may run at a time, are under way."""
        return self._num_before(0.0) >= self._num_processors

    def _num_before(self, used: float) -> int:
        """Number of programs that have used less; of equals, the one with the lower index is first.

        A record that another process is writing may be read half written: one wrong turn.
        """
        now = time.monotonic()
        own = _level(used), self._index
        places = _PLACE.iter_unpack(self._table[:])
        return sum(
            until > now and (_level(seconds), index) < own
            for index, (seconds, until, _) in enumerate(places)
        )

    def _served_seconds(self) -> float:
        """CPU time that the programs of all places got so far."""
        return float(sum(total for _, _, total in _PLACE.iter_unpack(self._table[:])))

    def _write(self, used: float, valid_seconds: float, cpu_seconds: float = 0.0) -> None:
        until = time.monotonic() + valid_seconds if valid_seconds else 0.0
        total = self._ended_seconds + cpu_seconds
        _PLACE.pack_into(self._table, self._offset, used, until, total)


def due_seconds(under_way: float, served: float, limits: Limits) -> float:
    """CPU time that a program has a right to, however many short ones there are.

    It is the larger of two: `LEAST_SHARE`, and a part of its limit that grows with the cube of the
    time, little at first and all of it within `PATIENCE`.

    Args:
        under_way: time by the clock since the program began.
        served: CPU time that all programs got meanwhile, for each processor.
        limits: limits of the program.

    >>> limits = Limits(cpu_seconds=4, wall_seconds=12)
    >>> [round(due_seconds(seconds, 0.0, limits), 2) for seconds in (1, 6, 12, 24, 36)]
    [0.0, 0.02, 0.15, 1.19, 4.0]
    """
    longest = PATIENCE * max(limits.wall_seconds, limits.cpu_seconds)
    cubic = limits.cpu_seconds * (under_way / longest) ** 3
    return max(cubic, LEAST_SHARE * (served - GRACE_SECONDS))


def _level(cpu_seconds: float) -> int:
    """The quantum that a program is in: 0 is the first.

    >>> [_level(seconds) for seconds in (0.0, 0.004, 0.005, 0.11, 0.31)]
    [0, 0, 1, 2, 4]
    """
    if cpu_seconds < FIRST_QUANTUM_SECONDS:
        return 0
    return 1 + int(cpu_seconds / QUANTUM_SECONDS)


class TurnTaking:
    """Has the processes of one execution, or of a pair, run in their turns, within its context."""

    def __init__(self, turn: Turn | None, *handles: ExecutionHandle) -> None:
        self._turn = turn
        self._handles: Sequence[ExecutionHandle] = handles
        self._cpu_seconds = 0.0
        self._is_stopped = False
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        if self._turn is not None:
            self._turn.enter()
            self._look_after(FIRST_LOOK_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._turn is None or self._timer is None:
            return
        self._timer.cancel()
        if self._is_stopped:  # the other process of the pair may still end by itself
            self._change()
        self._turn.leave(self._measured())

    def _look_after(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """Stop the processes, or have them go on, as it is their turn; now and again."""
        turn = self._turn
        assert turn is not None
        if not all(handle.ended.done() or handle.runs() for handle in self._handles):
            turn.enter()
            self._look_after(LOOK_SECONDS)
            return
        wants_to_run = self._is_stopped or self._is_awake()
        if not wants_to_run or turn.is_long(self._cpu_seconds):
            turn.on_long()
        if not wants_to_run:
            turn.rest()
        elif turn.may_run(self._cpu_seconds, self._handles[0].limits) is self._is_stopped:
            self._change()
        waits = not wants_to_run or (self._is_stopped and turn.is_behind_short_ones())
        self._look_after(REST_SECONDS if waits else LOOK_SECONDS)

    def _change(self) -> None:
        """Stop the processes, or have stopped ones go on."""
        self._is_stopped = not self._is_stopped
        for handle in self._handles:
            if self._is_stopped:
                handle.stop()
            else:
                handle.go_on()

    def _is_awake(self) -> bool:
        """Whether a process has run since the last look, or wants to run now."""
        before = self._cpu_seconds
        return self._measured() > before or not all(map(_is_asleep, self._handles))

    def _measured(self) -> float:
        """CPU time of the processes so far."""
        # The clock of a process ends with it, before the runner hears of the end.
        self._cpu_seconds = max(self._cpu_seconds, sum(map(_cpu_seconds, self._handles)))
        return self._cpu_seconds


def _cpu_seconds(handle: ExecutionHandle) -> float:
    if not handle.ended.done():
        return handle.watch.cpu_seconds()
    return 0.0 if handle.ended.exception() else handle.ended.result().cpu_seconds


def _is_asleep(handle: ExecutionHandle) -> bool:
    if handle.ended.done():  # its pid may be another process's by now
        return True
    assert handle.watch.pid is not None
    return thread_states.is_asleep(handle.watch.pid)
