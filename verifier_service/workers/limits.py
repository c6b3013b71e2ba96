"""Limits on each item of a worker's work, and when they are looked at.

`settings.EngineSettings` has the numbers of seconds and bytes. Limits of a program in the sandbox,
its output among them, are `sandbox.execution.Limits`; their defaults stand in `verifiers.code`,
`code.plain_run` (`/v1/execute`) and `sessions.wire`.
"""

from __future__ import annotations

from dataclasses import dataclass

WATCH_SECONDS = 0.02
"""Time between two looks at what busy workers have used."""
NEAR_LIMIT = 0.8
"""Share of the memory limit above which memory is taken for the cause of an unexplained death."""
RECYCLE_SHARE = 0.5
"""Share of the memory limit above which a worker is replaced after its task."""


@dataclass(frozen=True)
class ItemLimits:
    """Limits on judging one completion, or on reading one reference."""

    cpu_seconds: float
    memory_bytes: int
    """Resident memory of the worker, its inherited part included."""
    stuck_seconds: float = 20.0
    """A busy worker that has not used the CPU for so long is killed. The item is not blamed."""
