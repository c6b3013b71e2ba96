"""Connections between gateways and judges of a fleet, over loopback and without Ray."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from verifier_service import frames
from verifier_service.completion import Completion
from verifier_service.engine.chunks import digest
from verifier_service.engine.engine import NoWorkers
from verifier_service.fleet import judge_connections
from verifier_service.fleet.judge_connection import JudgeConnection, JudgeLost, connect
from verifier_service.fleet.judge_connections import JudgeConnections
from verifier_service.fleet.messages import JudgedPart, LentPlace, TaskHead
from verifier_service.fleet.task_server import TaskServer
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.accuracy import AccuracyReason
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

HOST = "127.0.0.1"


class EchoPool:
    """Workers whose verdict on a text is the number in it.

    Args:
        waits_after: verdicts of each task after which the pool waits for `may_go_on`; None: never.
    """

    size = 1

    def __init__(self, waits_after: int | None = None) -> None:
        self.problem: str | None = None
        self.waits_after = waits_after
        self.may_go_on = asyncio.Event()
        self.has_begun = asyncio.Event()
        self.references: list[tuple[bytes, ...]] = []
        self.num_cancelled = 0

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append a verdict for each completion."""
        self.references.append(task.shared_reference)
        texts = [one.text for part in task.decode().parts for one in part.completions]
        try:
            for number, text in enumerate(texts):
                if number == self.waits_after:
                    self.has_begun.set()
                    await self.may_go_on.wait()
                verdicts.append(Verdict(Outcome.SCORED, float(text), AccuracyReason.EQUAL, 0.0))
        except asyncio.CancelledError:
            self.num_cancelled += 1
            raise


def task_of(*texts: str, reference: bytes | None = None) -> EncodedTask:
    """A task with these completions, and a shared reference if one is given."""
    part = TaskPart.of({"answer": "1"}, [Completion(text) for text in texts])
    task = EncodedTask.of(Task.of({"type": "accuracy"}, [part]), "text")
    if reference is None:
        return task
    return msgspec.structs.replace(
        task, shared_name=digest(reference).hex(), shared_reference=(reference[:3], reference[3:])
    )


def scores(verdicts: list[TaskResult]) -> list[float | None]:
    return [one.score for one in verdicts if isinstance(one, Verdict)]


async def judged(connection: JudgeConnection, *texts: str, **given: Any) -> list[float | None]:
    found: list[TaskResult] = []
    await connection.judge(task_of(*texts, **given), found)
    return scores(found)


@asynccontextmanager
async def connected(pool: EchoPool) -> AsyncIterator[JudgeConnection]:
    async with TaskServer(pool, "text", HOST) as server, server.lent() as place:
        connection = await connect(place)
        try:
            yield connection
        finally:
            connection.close()


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(60):
            await test()
            while len(asyncio.all_tasks()) > 1:  # of connections that end  # noqa: ASYNC110
                await asyncio.sleep(0)

    asyncio.run(limited())


def test_a_connection_carries_one_task_after_the_other() -> None:
    async def test() -> None:
        pool = EchoPool()
        async with connected(pool) as connection:
            assert await judged(connection, "0", "1", "0.5") == [0.0, 1.0, 0.5]
            assert await judged(connection, "0.25") == [0.25]
            assert await judged(connection, *["1"] * 3000) == [1.0] * 3000
            assert connection.is_usable

    run(test)


def test_verdicts_arrive_while_the_task_goes_on() -> None:
    """A deadline keeps them."""

    async def test() -> None:
        pool = EchoPool(waits_after=2)
        async with connected(pool) as connection:
            found: list[TaskResult] = []
            work = asyncio.create_task(connection.judge(task_of("0", "1", "0.5"), found))
            await pool.has_begun.wait()
            await until(lambda: len(found) == 2)
            assert not work.done()
            pool.may_go_on.set()
            await work
            assert scores(found) == [0.0, 1.0, 0.5]

    run(test)


def test_a_task_that_is_given_up_ends_at_the_judge_and_leaves_no_verdict_for_the_next() -> None:
    async def test() -> None:
        pool = EchoPool(waits_after=1)
        async with TaskServer(pool, "text", HOST) as server, server.lent() as place:
            connection = await connect(place)
            found: list[TaskResult] = []
            work = asyncio.create_task(connection.judge(task_of("0", "0"), found))
            await pool.has_begun.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            assert not connection.is_usable
            await server.until_left(place)
            assert pool.num_cancelled == 1
            pool.waits_after = None
            async with server.lent() as another:
                honest = await connect(another)
                assert await judged(honest, "1", "1") == [1.0, 1.0]
                honest.close()

    run(test)


def test_a_place_is_for_the_first_who_knows_its_token() -> None:
    async def test() -> None:
        pool = EchoPool()
        async with TaskServer(pool, "text", HOST) as server, server.lent() as place:
            guessed = await connect(LentPlace(place.host, place.port, "0" * len(place.token)))
            with pytest.raises(JudgeLost):
                await judged(guessed, "1")
            honest = await connect(place)
            assert await judged(honest, "1") == [1.0]
            with pytest.raises(JudgeLost):
                await judged(await connect(place), "1")
            assert await judged(honest, "1") == [1.0]
            honest.close()

    run(test)


def test_what_is_no_frame_of_a_gateway_ends_the_connection_alone() -> None:
    async def test() -> None:
        async with TaskServer(EchoPool(), "text", HOST) as server, server.lent() as place:
            for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 8, frames.pack(b"\xff\x00"), b""):
                reader, writer = await asyncio.open_connection(place.host, place.port)
                writer.write(sent)
                writer.write_eof()
                assert await reader.read() == b""
                writer.close()
            honest = await connect(place)
            assert await judged(honest, "1") == [1.0]
            honest.close()

    run(test)


def test_a_reference_is_asked_for_once_and_must_have_its_name() -> None:
    async def test() -> None:
        pool = EchoPool()
        tests, others = b'{"answer": "1"}' * 9, b'{"answer": "2"}' * 9
        async with TaskServer(pool, "text", HOST) as server:
            async with server.lent() as place:
                connection = await connect(place)
                assert await judged(connection, "1", reference=tests) == [1.0]
                assert await judged(connection, "0", reference=tests) == [0.0]
                connection.close()
            assert pool.references == [(tests,)] * 2
            async with server.lent() as place:
                forger = await connect(place)
                forged = msgspec.structs.replace(
                    task_of("1", reference=others), shared_reference=(tests,)
                )
                with pytest.raises(JudgeLost):
                    await forger.judge(forged, [])
            async with server.lent() as place:
                honest = await connect(place)
                bare = msgspec.structs.replace(
                    task_of("1", reference=tests), shared_reference=(b"never sent",)
                )
                await honest.judge(bare, found := list[TaskResult]())
                assert scores(found) == [1.0]
                assert await judged(honest, "1", reference=others) == [1.0]
                honest.close()
            assert pool.references == [(tests,)] * 3 + [(others,)]

    run(test)


def test_a_judge_without_workers_says_so() -> None:
    async def test() -> None:
        pool = EchoPool()
        async with connected(pool) as connection:
            pool.problem = "no worker process can be started"
            with pytest.raises(NoWorkers, match="can be started"):
                await judged(connection, "1")
            pool.problem = None
            assert await judged(connection, "1") == [1.0]

    run(test)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ([JudgedPart([], finished=True)], "fewer verdicts than completions"),
        ([JudgedPart([Verdict(Outcome.SCORED, 1.0, AccuracyReason.EQUAL, 0.0)] * 3, True)], "more"),
    ],
    ids=["fewer", "more"],
)
def test_verdicts_that_do_not_fit_are_not_taken(parts: list[JudgedPart], error: str) -> None:
    async def test() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for part in parts:
                writer.write(frames.pack(msgspec.json.encode(part)))
            await reader.read()
            writer.close()

        async with await asyncio.start_server(answer, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            found: list[TaskResult] = []
            connection = await connect(LentPlace(HOST, port, "0"))
            with pytest.raises(JudgeLost, match=error):
                await connection.judge(task_of("1", "1"), found)
            assert len(found) <= 2

    run(test)


def test_the_head_has_all_that_a_judge_is_told() -> None:
    told = {*TaskHead.__struct_fields__, "workers", "body", "shared_reference"}
    assert told == set(EncodedTask.__struct_fields__)


class Opening:
    """Opens connections to one judge, or fails.

    Args:
        server: of the judge.
    """

    def __init__(self, server: TaskServer) -> None:
        self._server = server
        self.num_opened = 0
        self.is_lost = False
        self._ended = asyncio.Event()
        self._places: set[asyncio.Task[None]] = set()

    async def __call__(self) -> JudgeConnection:
        self.num_opened += 1
        if self.is_lost:
            raise JudgeLost("nobody is there")
        place: asyncio.Future[LentPlace] = asyncio.get_running_loop().create_future()

        async def lend() -> None:
            async with self._server.lent() as lent:
                place.set_result(lent)
                await self._ended.wait()

        self._places.add(asyncio.create_task(lend()))
        return await connect(await place)

    async def end(self) -> None:
        self._ended.set()
        await asyncio.gather(*self._places)


@asynccontextmanager
async def opening(pool: EchoPool) -> AsyncIterator[Opening]:
    async with TaskServer(pool, "text", HOST) as server:
        found = Opening(server)
        try:
            yield found
        finally:
            await found.end()


async def one_task(connections: JudgeConnections, text: str = "1") -> list[float | None]:
    async with connections.taken() as connection:
        return await judged(connection, text)


def test_connections_are_used_again_and_no_more_are_open_than_judges_take() -> None:
    async def test() -> None:
        async with opening(EchoPool()) as opens:
            connections = JudgeConnections(opens, lambda: 2)
            texts = [str(number / 64) for number in range(64)]
            found = await asyncio.gather(*(one_task(connections, text) for text in texts))
            assert found == [[float(text)] for text in texts]
            assert opens.num_opened <= 2 + judge_connections.NUM_BEYOND
            await one_task(connections)
            await connections.close()

    run(test)


def test_a_freed_connection_goes_to_the_task_that_waits_longest() -> None:
    async def test() -> None:
        pool = EchoPool(waits_after=0)
        async with opening(pool) as opens:
            connections = JudgeConnections(opens, lambda: 1)
            ended: list[int] = []

            async def task(number: int) -> None:
                await one_task(connections)
                ended.append(number)

            tasks = []
            for number in range(30):
                tasks.append(asyncio.create_task(task(number)))
                await asyncio.sleep(0)
            tasks[7].cancel()
            pool.may_go_on.set()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert ended == [number for number in range(30) if number != 7]
            await connections.close()

    run(test)


def test_each_of_many_tasks_is_told_that_no_judge_can_be_reached() -> None:
    async def test() -> None:
        connections = JudgeConnections(lost := Opening(None), lambda: 2)  # type: ignore[arg-type]
        lost.is_lost = True
        found = await asyncio.gather(
            *(one_task(connections) for _ in range(40)), return_exceptions=True
        )
        assert {type(one) for one in found} == {JudgeLost}
        await connections.close()

    run(test)


def test_an_old_connection_and_one_whose_judge_is_gone_are_not_used_again() -> None:
    async def test() -> None:
        pool = EchoPool()
        async with opening(pool) as first:
            connections = JudgeConnections(first, lambda: 1, max_age_seconds=0.0)
            await one_task(connections)
            await one_task(connections)
            assert first.num_opened == 2
            connections = JudgeConnections(first, lambda: 1)
            await one_task(connections)
            assert first.num_opened == 3
        await until(lambda: not connections._idle[0].is_usable)  # the judge has ended
        connections._connect = failing = Opening(None)  # type: ignore[arg-type]
        failing.is_lost = True
        with pytest.raises(JudgeLost, match="nobody is there"):
            await one_task(connections)
        await connections.close()

    run(test)


def test_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with opening(EchoPool()) as opens:
            connections = JudgeConnections(opens, lambda: 1)
            await one_task(connections)
            connections.close_idle()
            await one_task(connections)
            assert opens.num_opened == 1
            monkeypatch.setattr(judge_connections, "IDLE_SECONDS", 0.0)
            connections.close_idle()
            await one_task(connections)
            assert opens.num_opened == 2
            await connections.close()

    run(test)
