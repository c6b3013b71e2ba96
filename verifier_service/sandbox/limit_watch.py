"""The watch on the limits of a running program: CPU, wall, idle time and reserved memory.

`LimitWatch` says which limit the program has exceeded, and the runner then kills it. `exit_reason`
decides from the facts of the end. Memory stands in that decision only, unless a runtime reserves
address space: the kernel refuses memory beyond the limit, and the program fails by itself.
"""

from __future__ import annotations

import mmap
import time
from pathlib import Path

from verifier_service.sandbox import thread_states
from verifier_service.sandbox.execution import ExitReason, Limits

WATCH_SECONDS = 0.05
"""Time between two looks at what a running program uses."""
OVERLOAD_SHARE = 4
"""Times its wall or CPU limit, the larger, after which a program that still waits is given up.

Giving up means that it gets no verdict, so no program may be able to bring it about. While its main
thread waits for a processor, other threads run on that processor. Threads of its own use up its CPU
time. Alone on the machine it therefore ends after its wall time plus its CPU time at the latest; in
a pair, whose waits are added up, after the partner's CPU time more. Threads of other programs are
the load of the machine, which the service bounds."""
SHARE = 1 / 8
"""Share of its wall limit in which a program must have run, or slept, before `Limits.counts_waits`
ends it: one that did not get a processor is not said to have exceeded a limit."""
MOST_IDLE_SECONDS = 2 * WATCH_SECONDS
"""Most time that one look can count as idle, however long ago the last one was: where the runner
itself waits for a processor, one moment says little about the time before it."""


class LimitWatch:
    """The CPU, wall and idle time of one running process, against its limits."""

    def __init__(self, limits: Limits) -> None:
        self.partner: LimitWatch | None = None
        """The watch on the other process of a pair. Time that one waits counts for both."""
        self.talks = False
        """Whether the partner is a program too, and so does not say when it waits for this one."""
        self.pid: int | None = None
        """The process, once it has said that it runs."""
        self.waited_seconds = 0.0
        """Time that the process has waited for a processor so far."""
        self.is_overloaded = False
        """Whether the process was given up because it waited too long for a processor."""
        self.idle_seconds = 0.0
        """Time between two looks, all together, at whose end the process was idle."""
        self._limits = limits
        self._stopped_at: tuple[float, float] | None = None
        """Time at which the process was stopped, and its wait for a processor until then."""
        self._stopped_seconds = 0.0
        self._slept_seconds = 0.0
        """Time between two looks, all together, at whose end the process slept."""
        self._start = self._last_look = time.monotonic()

    @property
    def wall_seconds(self) -> float:
        """Time since the order to fork."""
        return time.monotonic() - self._start

    @property
    def stopped_seconds(self) -> float:
        """Time in which the process was stopped because it was others' turn."""
        if self._stopped_at is None:
            return self._stopped_seconds
        # A process that waits for a processor stops when it gets one: that is counted as waiting.
        stopped_at, waited_before = self._stopped_at
        stopped = time.monotonic() - stopped_at - (self.waited_seconds - waited_before)
        return self._stopped_seconds + max(stopped, 0.0)

    @property
    def all_waited_seconds(self) -> float:
        """Time that the process and its partner have waited for a processor.

        The two are stopped together, so that this time counts once.
        """
        waited = self.waited_seconds + (self.partner.waited_seconds if self.partner else 0.0)
        return waited + self.stopped_seconds

    def stop(self) -> None:
        """Take note that the process is stopped from now on."""
        if self._stopped_at is None:
            self._look_at_waits()
            self._stopped_at = time.monotonic(), self.waited_seconds

    def go_on(self) -> None:
        """Take note that the process goes on."""
        self._look_at_waits()
        self._stopped_seconds, self._stopped_at = self.stopped_seconds, None

    def _look_at_waits(self) -> None:
        if self.pid is not None:
            self.waited_seconds = max(self.waited_seconds, waited_seconds(self.pid))

    def exceeded(self, *, has_written: bool = False) -> ExitReason | None:
        """The limit on time that the process has exceeded; None if it is within all.

        Args:
            has_written: whether it has just written something, and may be waiting for its reader.
        """
        since_look = min(time.monotonic() - self._last_look, MOST_IDLE_SECONDS)
        if self._stopped_at is None:
            if not has_written and self._is_idle():
                self.idle_seconds += since_look
            if self._limits.counts_waits and self._sleeps():
                self._slept_seconds += since_look
        self._last_look = time.monotonic()
        if self.cpu_seconds() >= self._limits.cpu_seconds:
            return ExitReason.CPU_LIMIT
        self._look_at_waits()
        if self._is_over_memory():
            return ExitReason.MEMORY_LIMIT
        if self._is_over_wall_limit():
            return ExitReason.WALL_LIMIT
        if self._limits.idle_seconds is not None and self.idle_seconds >= self._limits.idle_seconds:
            return ExitReason.IDLE_LIMIT
        return None

    def _is_over_wall_limit(self) -> bool:
        """Whether the process has exceeded its wall time, or waits for too long."""
        limit, elapsed = self._limits.wall_seconds, self.wall_seconds
        if self._limits.counts_waits:
            is_over = elapsed >= limit
            is_over &= self.cpu_seconds() + self._slept_seconds >= SHARE * limit
        else:
            is_over = elapsed - self.all_waited_seconds >= limit
        if is_over:
            return True
        self.is_overloaded = elapsed >= OVERLOAD_SHARE * max(limit, self._limits.cpu_seconds)
        return self.is_overloaded

    def _is_over_memory(self) -> bool:
        """Whether a runtime that reserves address space uses more memory than it may.

        The kernel cannot limit that: RLIMIT_AS counts what is reserved.
        """
        if self.pid is None or not self._limits.reserved_bytes:
            return False
        own = resident_bytes(self.pid) - self._limits.runtime_bytes
        return own > self._limits.memory_bytes

    def _sleeps(self) -> bool:
        return self.pid is not None and thread_states.is_asleep(self.pid)

    def _is_idle(self) -> bool:
        """Whether the process sleeps, and not because its judge has yet to answer it.

        Its state counts and not its CPU time: on a busy machine a process that wants to run does
        not.
        """
        if self._limits.idle_seconds is None:
            return False
        watches = [self] if self.partner is None else [self, self.partner]
        if any(watch.pid is None for watch in watches):
            return False
        # Threads that wake each other in turns may each be asleep when it is looked at. So nothing
        # may have run meanwhile.
        before = [watch.cpu_seconds() for watch in watches]
        return self._is_asleep() and [watch.cpu_seconds() for watch in watches] == before

    def _is_asleep(self) -> bool:
        assert self.pid is not None
        if self.partner is None:
            return thread_states.is_asleep(self.pid)
        assert self.partner.pid is not None
        waits = thread_states.is_asleep if self.talks else thread_states.awaits_partner
        return thread_states.is_asleep(self.pid) and waits(self.partner.pid)

    def cpu_seconds(self) -> float:
        """CPU time of all threads so far; 0 before the process runs and after its end."""
        if self.pid is None:
            return 0.0
        try:
            return time.clock_gettime(~self.pid << 3 | 2)  # see clock_getcpuclockid(3)
        except OSError:
            return 0.0  # the process has ended


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * mmap.PAGESIZE
    except (OSError, IndexError):  # the file of a process that ends may be empty
        return 0


def waited_seconds(pid: int) -> float:
    """Time that the main thread of a process has waited for a processor, as the kernel counts it.

    0 where the kernel does not count: schedstat needs CONFIG_SCHED_INFO, see
    Documentation/scheduler/sched-stats.rst.
    """
    try:
        _, waited, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):  # the file of a process that ends may be empty
        return 0.0
    return int(waited) * 1e-9
