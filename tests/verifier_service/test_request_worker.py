"""The process of a large request, seen from the other end of its connection."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from tests.verifier_service.poison import POISON
from verifier_service import frame_stream, frames
from verifier_service.completion import Completion
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.large_requests.messages import (
    Accepted,
    FromProcess,
    GiveUp,
    JudgeTask,
    LargeRequest,
    LookUp,
    Parsed,
    TaskReply,
    ToProcess,
    from_process,
)
from verifier_service.large_requests.request_process import ParentEngine
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
            _, pidfd, connection = source.fork_with(body.fileno())
        os.close(pidfd)
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


@pytest.mark.parametrize("num_bytes", [10, 2**24], ids=["sent", "on its way"])
def test_a_task_that_is_given_up_is_given_up_there_too(num_bytes: int) -> None:
    """The task counts as cancelled, even if there are no workers for it any more."""

    async def run() -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours)
        parent = ParentEngine(reader, writer)
        listening = asyncio.create_task(parent.listen())
        other_reader, other_writer = await asyncio.open_connection(sock=theirs)

        async def received() -> FromProcess:
            async with asyncio.timeout(60):
                return from_process.decode(await frame_stream.read_frame(other_reader))

        part = TaskPart.of({}, [Completion("x" * num_bytes)])
        task = EncodedTask.of(Task.of({"type": "accuracy"}, [part]), "text")
        verdicts: list[TaskResult] = []
        judging = asyncio.create_task(parent.judge(task, verdicts))
        await asyncio.sleep(0)  # until it has been written, and what fits has been sent
        judging.cancel()
        asked = await received()
        assert isinstance(asked, JudgeTask)
        assert await received() == GiveUp(asked.number)
        reply = TaskReply(asked.number, b"[]", no_workers=True)
        other_writer.write(frames.pack(msgspec.msgpack.encode(reply)))
        await asyncio.wait([judging], timeout=600)
        assert judging.cancelled()
        listening.cancel()
        for end in (writer, other_writer):
            end.close()
            await end.wait_closed()

    asyncio.run(run())
