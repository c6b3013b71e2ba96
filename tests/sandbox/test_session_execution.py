"""A process is stopped when its call has ended, whenever its zygote tells that it has forked it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from typing import Any

import pytest

from tests.processes import state_of, until_async
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.session_execution import SessionExecution

UNUSED: Any = None


@pytest.mark.parametrize("is_late", [True, False])
def test_a_process_stops_and_goes_on(*, is_late: bool) -> None:
    """Whether its execution gets it after `stop` or before."""
    with subprocess.Popen(["sleep", "3600"]) as process:
        try:
            asyncio.run(stop_and_go_on(process.pid, is_late=is_late))
        finally:
            process.kill()


async def stop_and_go_on(pid: int, *, is_late: bool) -> None:
    execution = SessionExecution(UNUSED, Limits(), 100)
    if is_late:
        execution.stop()
    execution.begin(os.pidfd_open(pid))
    if not is_late:
        assert state_of(pid) != "T"
        execution.stop()
    await until_async(lambda: state_of(pid) == "T")
    execution.go_on()
    await until_async(lambda: state_of(pid) != "T")
    execution.close()
