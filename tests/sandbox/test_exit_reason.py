"""The decision how an execution ended, from the facts alone."""

from __future__ import annotations

import dataclasses
import signal

import pytest

from verifier_service.sandbox.execution import ExitReason, Limits
from verifier_service.sandbox.exit_reason import End, exit_reason

LIMITS = Limits(cpu_seconds=2.0, memory_bytes=1000)
FINE = End(
    killed_for=None,
    cpu_seconds=0.1,
    own_memory_bytes=100,
    is_flooded=False,
    is_compile_error=False,
    exit_code=0,
    signal=None,
)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, ExitReason.EXITED),
        ({"exit_code": 3}, ExitReason.EXITED),
        ({"exit_code": None, "signal": signal.SIGSEGV}, ExitReason.SIGNALED),
        ({"exit_code": None, "signal": signal.SIGSYS}, ExitReason.FORBIDDEN),
        ({"own_memory_bytes": 900}, ExitReason.EXITED),
        ({"own_memory_bytes": 900, "exit_code": 1}, ExitReason.MEMORY_LIMIT),
        ({"own_memory_bytes": 700, "exit_code": 1}, ExitReason.EXITED),
        (
            {"own_memory_bytes": 900, "exit_code": None, "signal": signal.SIGSEGV},
            ExitReason.MEMORY_LIMIT,
        ),
        ({"is_compile_error": True, "exit_code": 1}, ExitReason.COMPILE_ERROR),
        ({"is_flooded": True}, ExitReason.OUTPUT_LIMIT),
        ({"killed_for": ExitReason.WALL_LIMIT, "is_flooded": True}, ExitReason.WALL_LIMIT),
        ({"cpu_seconds": 2.0}, ExitReason.CPU_LIMIT),
        ({"cpu_seconds": 2.0, "killed_for": ExitReason.WALL_LIMIT}, ExitReason.CPU_LIMIT),
    ],
)
def test_the_first_reason_that_applies(facts: dict[str, object], reason: ExitReason) -> None:
    assert exit_reason(dataclasses.replace(FINE, **facts), LIMITS) is reason  # type: ignore[arg-type]
