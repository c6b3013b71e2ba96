"""`OpenSessions` in this process: nothing is left of sessions that have ended."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.processes import tree, until_async
from verifier_service.http.drain import Drain
from verifier_service.sandbox import nursery_handle, zygote_handle
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sandbox.users import Users
from verifier_service.sandbox.zygote_handle import ZygoteDied
from verifier_service.sessions.interpreter import interpreter_of
from verifier_service.sessions.open_sessions import OpenSessions, SessionsFull
from verifier_service.sessions.session import Session, SessionCall
from verifier_service.sessions.session_memory import SessionMemory, SessionsMemoryFull
from verifier_service.sessions.wire import LostReason, SessionRequest

ENDS = (
    "1",
    "import os; os._exit(1)",
    "import os; os.close(5); os._exit(0)",
    "while True: print('x' * 60_000)",
)
"""Calls after which sessions are open or ended, by themselves or by the service."""


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def files_in(directory: Path) -> list[str]:
    return os.listdir(directory)


def is_there(path: Path) -> bool:
    return path.exists()


async def opened(sessions: OpenSessions, **asked: object) -> Session:
    return await sessions.open(SessionRequest.model_validate(asked), {}, None)


async def call(session: Session, code: str) -> str:
    report = await session.begin_call(SessionCall(code=code, seconds=60.0, files={}))
    return str(report.outcome)


@pytest.mark.parametrize(
    "num_rounds",
    [pytest.param(2, marks=pytest.mark.quick), pytest.param(30, marks=pytest.mark.slow)],
)
def test_sessions_leave_no_process_no_descriptor_and_no_file(num_rounds: int) -> None:
    async def run() -> None:
        async with OpenSessions(16, Drain()) as sessions:
            first = [await opened(sessions), await opened(sessions, language="bash")]
            for session in first:
                await sessions.close(session, LostReason.CLOSED)
            processes, num_descriptors = set(tree(os.getpid())), descriptors()
            for _ in range(num_rounds):
                found = [await opened(sessions) for _ in ENDS]
                found.append(await opened(sessions, language="bash"))
                outcomes = [
                    await call(one, code) for one, code in zip(found, (*ENDS, "x=1"), strict=True)
                ]
                assert outcomes == ["ran"] * len(found)
                for session in found:
                    await sessions.close(session, LostReason.CLOSED)
            assert sessions.num_open == 0
            await until_async(lambda: set(tree(os.getpid())) <= processes)
            assert descriptors() <= num_descriptors
            directory = sessions._directory
            assert directory is not None
            assert files_in(directory) == []
        assert not is_there(directory)

    asyncio.run(run())


@pytest.mark.slow
def test_the_end_of_all_ends_every_session_and_its_calls() -> None:
    before = tree(os.getpid())  # of other tests in this process

    async def run() -> tuple[str, list[int]]:
        async with OpenSessions(4, Drain()) as sessions:
            session = await opened(sessions)
            under_way = asyncio.create_task(call(session, "while True: pass"))
            await until_async(lambda: session.running is not None)
        left = [pid for pid in tree(os.getpid()) if pid not in before]
        return await under_way, left

    outcome, left = asyncio.run(run())
    assert outcome == "failed"
    assert [pid for pid in left if Path(f"/proc/{pid}/exe").exists()] == []


def test_none_may_be_open() -> None:
    async def run() -> None:
        async with OpenSessions(0, Drain()) as sessions:
            with pytest.raises(SessionsFull, match="0 sessions are open, of at most 0"):
                await opened(sessions)

    asyncio.run(run())


GROWS = "kept = bytearray({mebibytes} << 20)"


@pytest.mark.slow
def test_sessions_share_a_bound_on_memory_and_the_one_that_grows_beyond_it_is_lost() -> None:
    async def run() -> None:
        async with OpenSessions(8, Drain(), max_bytes=160 * 2**20) as sessions:
            honest, greedy = await opened(sessions), await opened(sessions)
            assert await call(honest, "x = 41") == "ran"
            assert await call(honest, GROWS.format(mebibytes=16)) == "ran"
            assert await call(greedy, GROWS.format(mebibytes=40)) == "ran"
            await until_async(lambda: sessions.memory.num_bytes > 100 * 2**20)
            with pytest.raises(SessionsMemoryFull, match="of at most 167772160"):
                await opened(sessions, limits={"file_bytes": 64 * 2**20})
            assert sessions.num_open == 2
            more = "more = bytearray(100 << 20)\nwhile True: pass"
            assert await call(greedy, more) == "failed"
            await until_async(lambda: sessions.found(greedy.name) is LostReason.SERVICE_MEMORY)
            assert await call(honest, "x + 1") == "ran"
            await opened(sessions, limits={"file_bytes": 64 * 2**20})

    asyncio.run(run())


@pytest.mark.slow
def test_a_session_that_has_ended_takes_no_memory() -> None:
    async def run() -> None:
        async with OpenSessions(8, Drain(), max_bytes=64 * 2**20) as sessions:
            for _ in range(4):
                one = await opened(sessions, limits={"file_bytes": 32 * 2**20})
                assert await call(one, "1") == "ran"
                await sessions.close(one, LostReason.CLOSED)
                assert sessions.memory.num_bytes == 0

    asyncio.run(run())


def test_a_service_that_ends_opens_no_session() -> None:
    async def run() -> None:
        sessions = OpenSessions(1, Drain())
        with pytest.raises(SandboxError, match="the service is ending"):
            await opened(sessions)

    asyncio.run(run())


def test_a_zygote_that_dies_each_time_is_a_failure_of_the_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = Session.start

    async def start_and_kill(session: Session, files: Mapping[str, bytes]) -> None:
        session._zygote.die("it was killed")
        await start(session, files)

    async def run() -> int:
        async with OpenSessions(1, Drain()) as sessions:
            with pytest.raises(SandboxError, match="tried 3 times; the last: "):
                await opened(sessions, packages="standard")
            return len(sessions._users)

    monkeypatch.setattr(Session, "start", start_and_kill)
    assert asyncio.run(run()) == 0


def test_every_caller_of_the_end_waits_for_it() -> None:
    async def run() -> None:
        async with OpenSessions(1, Drain()) as sessions:
            session = await opened(sessions, packages="standard")
            held = asyncio.Event()
            session._stack.push_async_callback(held.wait)
            first = asyncio.create_task(session.end(LostReason.OWN_END))
            await until_async(lambda: session.lost is not None)
            second = asyncio.create_task(sessions.close(session, LostReason.CLOSED))
            first.cancel()  # its client is gone, and the end goes on
            done, _ = await asyncio.wait([second], timeout=0.2)
            assert not done
            assert session.name in sessions._users
            held.set()
            await second
            assert session.name not in sessions._users

    asyncio.run(run())


@pytest.mark.parametrize("hangs", ["as it starts", "later"])
def test_a_nursery_that_hangs_is_replaced(hangs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with OpenSessions(2, Drain()) as sessions:
            interpreter, users = interpreter_of("python", "standard"), Users()
            nursery = await sessions._nursery(interpreter)
            if hangs == "later":
                await opened(sessions, packages="standard")
            os.kill(nursery._process.pid, signal.SIGSTOP)
            for module in (nursery_handle, zygote_handle):
                monkeypatch.setattr(module, "START_TIMEOUT_SECONDS", 0.2)
            with pytest.raises(ZygoteDied, match="start"):
                await sessions._zygote(interpreter, users)
            users.close()
            monkeypatch.undo()
            assert not nursery.alive
            assert await call(await opened(sessions, packages="standard"), "1") == "ran"

    asyncio.run(run())


def test_a_bug_in_what_looks_after_sessions_is_told_and_opens_no_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def look(memory: SessionMemory, sessions: object) -> None:
        raise ZeroDivisionError

    async def run() -> None:
        async with OpenSessions(1, Drain()) as sessions:
            await until_async(lambda: "looks after sessions has a bug" in caplog.text)
            with pytest.raises(SandboxError, match="has a bug: ZeroDivisionError"):
                await opened(sessions)

    monkeypatch.setattr(SessionMemory, "look", look)
    asyncio.run(run())
    assert "Traceback" in caplog.text
