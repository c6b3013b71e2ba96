"""Why an execution ended: the decision from the facts of its end.

`limit_watch` kills a program that exceeds a limit while it runs.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

from verifier_service.sandbox.execution import ExitReason, Limits

NEAR_MEMORY_LIMIT = 0.8
"""Share of the memory limit above which an unexplained failure is attributed to memory."""


@dataclass(frozen=True, kw_only=True)
class ProcessEnd:
    """Facts about the end of a process, none of which the process itself can invent."""

    killed_for: ExitReason | None
    """The reason for which the runner killed it; None if the runner did not."""
    cpu_seconds: float
    own_memory_bytes: int
    """Peak of its resident memory beyond that of its zygote."""
    is_flooded: bool
    """Whether it wrote more to a stream than the limit on output."""
    is_compile_error: bool
    """Whether it said, before any foreign code ran, that the payload is not a program."""
    exit_code: int | None
    signal: int | None


def exit_reason(end: ProcessEnd, limits: Limits) -> ExitReason:
    """The first reason that applies, in the order of `ExitReason`.

    A process may exceed a limit and end by itself before the watch looks again, so its CPU time
    and its output are compared once more.
    """
    if end.cpu_seconds >= limits.cpu_seconds:
        return ExitReason.CPU_LIMIT
    if end.killed_for is not None:
        return end.killed_for
    if end.is_flooded:
        return ExitReason.OUTPUT_LIMIT
    if end.is_compile_error:
        return ExitReason.COMPILE_ERROR
    if end.signal == signal.SIGSYS:
        return ExitReason.FORBIDDEN
    if end.exit_code != 0 and end.own_memory_bytes >= NEAR_MEMORY_LIMIT * limits.memory_bytes:
        return ExitReason.MEMORY_LIMIT
    return ExitReason.EXITED if end.signal is None else ExitReason.SIGNALED
