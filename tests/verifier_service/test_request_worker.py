"""The process of a large request, seen from the other end of its connection."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import msgspec
import pytest

from tests.verifier_service.poison import POISON
from verifier_service import frame_stream, frames
from verifier_service.completion import Completion
from verifier_service.engine.engine import NoWorkers
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.large_requests.messages import (
    Accepted,
    Ask,
    Done,
    FromProcess,
    GiveUp,
    JudgeTask,
    Keep,
    LargeRequest,
    LookUp,
    Parsed,
    TaskReply,
    ToProcess,
    from_process,
)
from verifier_service.large_requests.request_process import ParentEngine
from verifier_service.model_judge.reasons import JudgeReason
from verifier_service.verdict import Outcome, Verdict
from verifier_service.workers.sources import ForkServer
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

BODY = msgspec.json.encode(
    {
        "verifiers": [{"type": "accuracy"}],
        "groups": [{"reference": {"answer": "2"}, "completions": [POISON]}],
    }
)
LIMITS = RequestLimits(("accuracy",), 2**20, 100, 60.0)


@contextmanager
def process() -> Iterator[socket.socket]:
    """The connection to a process that is to answer BODY, and has been told so."""
    source = ForkServer("verifier_service.large_requests.request_process", 2**30)
    try:
        with tempfile.TemporaryFile() as body:
            body.write(BODY)
            body.flush()
            _, pidfd, stat, connection = source.fork_with(body.fileno())
        os.close(pidfd)
        os.close(stat)
        with connection:
            connection.settimeout(60)
            started = time.monotonic()
            large = LargeRequest(len(BODY), "identity", False, started, LIMITS, b"{}", {"text": 1})
            send(connection, large)
            yield connection
    finally:
        source.close()


def send(connection: socket.socket, message: ToProcess) -> None:
    connection.sendall(frames.pack(msgspec.msgpack.encode(message)))


def receive(connection: socket.socket) -> FromProcess:
    return from_process.decode(frames.receive_frame(connection))


def test_a_process_that_does_not_understand_its_parent_ends() -> None:
    """It would wait for an answer for ever."""
    with process() as connection:
        assert receive(connection) == Parsed(1, len(BODY))
        send(connection, Accepted())
        assert isinstance(receive(connection), LookUp)
        connection.sendall(frames.pack(b"not msgpack"))
        with pytest.raises(EOFError):
            receive(connection)


class Parent:
    """The API process, as the engine of a request sees it: messages are read and replied to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def received(self) -> FromProcess:
        """The next message."""
        async with asyncio.timeout(60):
            return from_process.decode(await frame_stream.read_frame(self._reader))

    def send(self, message: ToProcess) -> None:
        """Send a message."""
        self._writer.write(frames.pack(msgspec.msgpack.encode(message)))


@asynccontextmanager
async def engine_and_parent() -> AsyncIterator[tuple[ParentEngine, Parent]]:
    """An engine that listens to its parent."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=ours)
    engine = ParentEngine(reader, writer)
    listening = asyncio.create_task(engine.listen())
    other_reader, other_writer = await asyncio.open_connection(sock=theirs)
    try:
        yield engine, Parent(other_reader, other_writer)
    finally:
        listening.cancel()
        for one in (writer, other_writer):
            one.close()
            await one.wait_closed()


@pytest.mark.parametrize("num_bytes", [10, 2**24], ids=["sent", "on its way"])
def test_a_task_that_is_given_up_is_given_up_there_too(num_bytes: int) -> None:
    """The task counts as cancelled, even if there are no workers for it any more."""

    async def run() -> None:
        part = TaskPart.of({}, [Completion("x" * num_bytes)])
        task = EncodedTask.of(Task.of({"type": "accuracy"}, [part]), "text")
        verdicts: list[TaskResult] = []
        async with engine_and_parent() as (engine, parent):
            judging = asyncio.create_task(engine.judge(task, verdicts))
            await asyncio.sleep(0)  # until it has been written, and what fits has been sent
            judging.cancel()
            asked = await parent.received()
            assert isinstance(asked, JudgeTask)
            assert await parent.received() == GiveUp(asked.number)
            parent.send(TaskReply(asked.number, b"[]", no_workers=True))
            await asyncio.wait([judging], timeout=600)
            assert judging.cancelled()

    asyncio.run(run())


def reply(asked: FromProcess, score: float) -> TaskReply:
    """The reply to a question."""
    assert isinstance(asked, Ask), asked
    verdict = Verdict(Outcome.SCORED, score, JudgeReason.EQUAL, 0.0)
    return TaskReply(asked.number, msgspec.json.encode([verdict]))


def test_verdicts_on_questions_come_in_any_order_and_the_rest_is_given_up() -> None:
    async def run() -> None:
        found: list[tuple[int, float | None]] = []
        both_came = asyncio.Event()

        def take(index: int, verdict: Verdict) -> None:
            found.append((index, verdict.score))
            if len(found) == 2:
                both_came.set()

        async with engine_and_parent() as (engine, parent):
            asking = asyncio.create_task(engine.ask(["a", "b", "c"], take))
            asked = [await parent.received() for _ in range(3)]
            assert [one.question for one in asked if isinstance(one, Ask)] == ["a", "b", "c"]
            parent.send(reply(asked[2], 0.5))
            parent.send(reply(asked[0], 1.0))
            await both_came.wait()
            assert not asking.done()
            asking.cancel()
            assert await parent.received() == GiveUp(asked[1].number)  # type: ignore[union-attr]
            parent.send(reply(asked[1], 0.0))  # it was on its way
            verdict = Verdict(Outcome.SCORED, 1.0, JudgeReason.EQUAL, 0.0)
            for key in (b"1", b"2"):
                engine.keep([(key, verdict)])
            engine.send(Done(b"", [], 1))
            kept = await parent.received()
            assert isinstance(kept, Keep)
            assert kept.keys == [b"1", b"2"]
            assert isinstance(await parent.received(), Done)
        assert found == [(2, 0.5), (0, 1.0)]
        assert asking.cancelled()

    asyncio.run(run())


def test_questions_that_nobody_could_ask_are_an_error() -> None:
    async def run() -> None:
        async with engine_and_parent() as (engine, parent):
            asking = asyncio.create_task(engine.ask(["a"], lambda index, one: None))
            asked = await parent.received()
            assert isinstance(asked, Ask)
            parent.send(TaskReply(asked.number, b"[]", no_workers=True))
            with pytest.raises(NoWorkers):
                await asking

    asyncio.run(run())
