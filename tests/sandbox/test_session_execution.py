"""The process of a session, where the service hears of its fork or of its reply late."""

from __future__ import annotations

import asyncio
import os
import subprocess
from typing import Any

import pytest

from tests.processes import state_of, until_async
from verifier_service.sandbox import limit_watch, session_execution
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


def test_a_call_that_has_replied_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service may be so late that the time of the call is over by its clock."""
    monkeypatch.setattr(limit_watch, "WATCH_SECONDS", 3600.0)
    monkeypatch.setattr(session_execution._CallClock, "used_seconds", lambda _: 100.0)
    assert asyncio.run(is_interrupted()) is False


async def is_interrupted() -> bool:
    """Whether a call of one second is interrupted that replies before its execution looks."""
    execution = SessionExecution(UNUSED, Limits(file_bytes=0), 100)
    for theirs in (execution._open_status(), *(execution._open_stream(100) for _ in range(2))):
        os.close(theirs)
    reply = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(reply.set_result, None)
    try:
        return await execution.watched(reply, seconds=1.0, can_interrupt=True)
    finally:
        execution.close()
