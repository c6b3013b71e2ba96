"""Connections: framing that every reader takes for the same, and bounds on time and number."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import h11
import pytest
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.processes import until_async
from verifier_service.http.connection import ConnectionLimits, Guard, guarded
from verifier_service.http.metrics import Metrics
from verifier_service.http.request_head import MAX_HEAD_BYTES
from verifier_service.http.strict_connection import StrictConnection
from verifier_service.server import listen

ENDLESS = 10**9
"""Seconds of the limits that a test is not about."""
BIG = b"x" * 2**24
HEAD = b"POST /echo HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
NEXT = b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the path and the body; `/unread` leaves its body, `/big` has a big response."""
    if scope["type"] != "http":
        return
    request = Request(scope, receive)
    response: Response
    if scope["path"] == "/unread":
        response = PlainTextResponse("unread")
    elif scope["path"] == "/big":
        response = StreamingResponse(_pieces())
    else:
        try:
            response = PlainTextResponse(scope["path"].encode() + b" " + await request.body())
        except ClientDisconnect:
            return
    await response(scope, receive, send)


async def _pieces() -> AsyncIterator[bytes]:
    yield BIG
    yield BIG


@dataclass(frozen=True)
class Running:
    port: int
    guard: Guard

    def refusals(self, cause: str) -> float:
        found = self.guard.metrics.registry.get_sample_value(
            "verifier_rejected_total", {"cause": cause}
        )
        return found or 0.0

    @property
    def num_connections(self) -> float:
        found = self.guard.metrics.registry.get_sample_value("verifier_connections")
        assert found is not None
        return found


Check = Callable[[Running], Awaitable[None]]


def with_server(
    check: Check,
    *,
    max_connections: int = 10_000,
    head_seconds: float = ENDLESS,
    reading_seconds: float = ENDLESS,
    keep_alive_seconds: int = ENDLESS,
) -> None:
    """Run a check against a server in this process."""
    limits = ConnectionLimits(max_connections, head_seconds, reading_seconds)

    async def run() -> None:
        async with running(limits, keep_alive_seconds) as found:
            await check(found)

    asyncio.run(run())


@asynccontextmanager
async def running(limits: ConnectionLimits, keep_alive_seconds: int) -> AsyncIterator[Running]:
    guard = Guard(limits, Metrics())
    config = uvicorn.Config(
        app,
        http=guarded(guard),
        ws="none",
        lifespan="off",
        log_config=None,
        timeout_keep_alive=keep_alive_seconds,
    )
    server = uvicorn.Server(config)
    (listener,) = listen("127.0.0.1", 0)
    serving = asyncio.create_task(server._serve([listener]))
    await until_async(lambda: server.started)
    try:
        yield Running(listener.getsockname()[1], guard)
    finally:
        server.should_exit = True
        await serving
        await until_async(lambda: guard.num_lingering == 0)


async def soon(reading: Coroutine[None, None, bytes]) -> bytes:
    """The result; a server that sends nothing fails the test instead of holding it up."""
    task = asyncio.create_task(reading)
    await until_async(task.done)
    return task.result()


@dataclass(frozen=True)
class Client:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next response; the status is 0 where the connection ends."""
        try:
            head = await soon(self.reader.readuntil(b"\r\n\r\n"))
        except (asyncio.IncompleteReadError, ConnectionResetError):
            return 0, b""
        lines = head.lower().split(b"\r\n")
        (length,) = (int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        return int(head.split(b" ")[1]), await self.reader.readexactly(length)

    async def is_closed(self) -> bool:
        """Wait for the end of the connection."""
        try:
            return await soon(self.reader.read()) == b""
        except ConnectionResetError:
            return True


@asynccontextmanager
async def connected(server: Running) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def pass_by(seconds: float) -> None:
    """Have the clock of the event loop, and so every time limit in it, go on at once."""
    loop = asyncio.get_running_loop()
    ahead = loop.time() + seconds - time.monotonic()
    loop.time = lambda: ahead + time.monotonic()  # type: ignore[method-assign]


def with_header(*lines: bytes) -> bytes:
    return HEAD + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


GET = b"GET / HTTP/1.1\r\nHost: a\r\n"
MALFORMED_HEADS = {
    "length and chunks": with_header(b"Content-Length: 3", b"Transfer-Encoding: chunked")
    + b"0\r\n\r\n",
    "chunks and length": with_header(b"Transfer-Encoding: chunked", b"Content-Length: 3")
    + b"0\r\n\r\n",
    "two lengths": with_header(b"Content-Length: 3", b"Content-Length: 4"),
    "one length twice": with_header(b"Content-Length: 3", b"Content-Length: 3"),
    "lengths in a list": with_header(b"Content-Length: 3, 3"),
    "length with sign": with_header(b"Content-Length: +3"),
    "negative length": with_header(b"Content-Length: -3"),
    "length in hexadecimal": with_header(b"Content-Length: 0x3"),
    "length with underscore": with_header(b"Content-Length: 1_0"),
    "length with space": with_header(b"Content-Length: 1 0"),
    "length without digits": with_header(b"Content-Length:"),
    "length in other digits": with_header("Content-Length: ٣".encode()),
    "huge length": with_header(b"Content-Length: " + b"9" * 30),
    "unknown encoding": with_header(b"Transfer-Encoding: gzip"),
    "encodings in a list": with_header(b"Transfer-Encoding: gzip, chunked"),
    "chunked twice": with_header(b"Transfer-Encoding: chunked, chunked"),
    "chunked in two headers": with_header(
        b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"
    ),
    "chunked in quotes": with_header(b'Transfer-Encoding: "chunked"'),
    "chunked with a vertical tab": with_header(b"Transfer-Encoding: \x0bchunked"),
    "chunked without a comma's partner": with_header(b"Transfer-Encoding: chunked,"),
    "identity": with_header(b"Transfer-Encoding: identity"),
    "empty encoding": with_header(b"Transfer-Encoding:"),
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "lines end in LF": HEAD.replace(b"\r\n", b"\n") + b"\n",
    "one line ends in LF": GET + b"X: a\nY: b\r\n\r\n",
    "head ends in LF LF": GET + b"X: a\n\n",
    "head ends in CR LF LF": GET + b"\n",
    "CR in a value": GET + b"X: a\rContent-Length: 3\r\n\r\n",
    "CR CR LF": GET + b"X: a\r\r\n\r\n",
    "NUL in a value": GET + b"X: a\0b\r\n\r\n",
    "control character in a value": GET + b"X: a\x01b\r\n\r\n",
    "folded header": GET + b"X: a\r\n b\r\n\r\n",
    "folded with a tab": GET + b"X: a\r\n\tb\r\n\r\n",
    "folded first header": b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    "space before the colon": GET + b"Content-Length : 3\r\n\r\n",
    "tab before the colon": GET + b"Transfer-Encoding\t: chunked\r\n\r\n",
    "space in a name": GET + b"Content Length: 3\r\n\r\n",
    "empty name": GET + b": 3\r\n\r\n",
    "no colon": GET + b"Content-Length\r\n\r\n",
    "name beyond ASCII": GET + "Läng: 3\r\n\r\n".encode(),
    "two hosts": GET + b"Host: b\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts in one": b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "host with a path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "host with a user": b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "host in the target": b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "no version": b"GET /\r\nHost: a\r\n\r\n",
    "version 2": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "version 1.2": b"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
    "version in lower case": b"GET / http/1.1\r\nHost: a\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "tab in the request line": b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "space after the version": b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
    "target beyond ASCII": "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
    "method in brackets": b"G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
    "empty line first": b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
MALFORMED_BODIES = {
    "size with sign": b"+3\r\nabc\r\n0\r\n\r\n",
    "size with prefix": b"0x3\r\nabc\r\n0\r\n\r\n",
    "size with space before": b" 3\r\nabc\r\n0\r\n\r\n",
    "size with space after": b"3 \r\nabc\r\n0\r\n\r\n",
    "no size": b"\r\nabc\r\n0\r\n\r\n",
    "huge size": b"1" * 30 + b"\r\nabc\r\n0\r\n\r\n",
    "size ends in LF": b"3\nabc\r\n0\r\n\r\n",
    "LF in an extension": b"3;a\nb\r\nabc\r\n0\r\n\r\n",
    "CR in an extension": b"3;a\rb\r\nabc\r\n0\r\n\r\n",
    "endless extension": b"3;" + b"a" * 10_000,
    "chunk ends in LF": b"3\r\nabc\n0\r\n\r\n",
    "chunk is longer than it says": b"3\r\nabcd\r\n0\r\n\r\n",
    "end in LF": b"3\r\nabc\r\n0\r\n\n",
    "last size ends in LF": b"3\r\nabc\r\n0\n\r\n",
    "trailer ends in LF": b"3\r\nabc\r\n0\r\nX: a\n\r\n",
    "folded trailer": b"3\r\nabc\r\n0\r\nX: a\r\n b\r\n\r\n",
    "trailer without colon": b"3\r\nabc\r\n0\r\nX\r\n\r\n",
}
MALFORMED = MALFORMED_HEADS | {name: CHUNKED + body for name, body in MALFORMED_BODIES.items()}


def test_what_readers_take_differently_is_400_and_the_end() -> None:
    """Nothing behind it is taken for a request; its connection ends."""

    async def check(server: Running) -> None:
        found = {name: await outcome(server, sent + NEXT) for name, sent in MALFORMED.items()}
        assert {name: one for name, one in found.items() if one != (400, "malformed_request")} == {}
        assert server.refusals("malformed_request") == len(MALFORMED)

    async def outcome(server: Running, sent: bytes) -> tuple[int, str]:
        async with connected(server) as client:
            client.writer.write(sent)
            status, body = await client.answer()
            if status != 400:
                return status, body.decode()
            assert await client.is_closed()  # nothing behind it is answered
            return status, json.loads(body)["error"]["type"]

    with_server(check)


WELL_FORMED = {
    "no body": (b"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", b""),
    "length": (with_header(b"Content-Length: 3") + b"abc", b"abc"),
    "length with spaces": (with_header(b"content-length:  3 \t") + b"abc", b"abc"),
    "no space": (with_header(b"CONTENT-LENGTH:3") + b"abc", b"abc"),
    "one chunk": (CHUNKED + b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
    "chunks": (CHUNKED + b'2\r\nab\r\n001;x="y"\r\nc\r\n0\r\n\r\n', b"abc"),
    "chunks with line ends": (CHUNKED + b"4\r\n\r\n\n\n\r\n0\r\n\r\n", b"\r\n\n\n"),
    "trailer": (CHUNKED + b"3\r\nabc\r\n0\r\nX: a\r\nY:\r\n\r\n", b"abc"),
    "chunked in capitals": (
        with_header(b"Transfer-Encoding: CHUNKED") + b"A\r\n0123456789\r\n0\r\n\r\n",
        b"0123456789",
    ),
    "header that tells of chunks": (
        with_header(b"X-Note: transfer-encoding: chunked", b"Content-Length: 3") + b"abc",
        b"abc",
    ),
    "header beyond ASCII": (
        with_header("X-Name: Jörg\t1".encode(), b"X-None:", b"Content-Length: 3") + b"abc",
        b"abc",
    ),
    "length of a body with ends of heads": (
        with_header(b"Content-Length: 9") + b"a\r\n\r\nb\n\nc",
        b"a\r\n\r\nb\n\nc",
    ),
}


@pytest.mark.parametrize("size", [1, 7, 10_000], ids=["bytes", "pieces", "whole"])
def test_right_requests_are_answered_however_they_are_cut(size: int) -> None:
    """Each follows others on its connection."""

    async def check(server: Running) -> None:
        async with connected(server) as client:
            for sent, expected in WELL_FORMED.values():
                for start in range(0, len(sent), size):
                    client.writer.write(sent[start : start + size])
                    await asyncio.sleep(0)
                assert await client.answer() == (200, b"/echo " + expected)
        assert server.refusals("malformed_request") == 0

    with_server(check)


@pytest.mark.parametrize("body", [b"", b"content"])
def test_the_head_of_a_response_is_in_one_packet_with_its_body(body: bytes) -> None:
    connection = StrictConnection()
    connection.receive_data(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert isinstance(connection.next_event(), h11.Request)
    length = str(len(body)).encode()
    head = h11.Response(status_code=200, headers=[(b"content-length", length)], reason=b"OK")
    continued = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
    sent = [connection.send(continued), connection.send(head)]
    sent += [connection.send(h11.Data(data=body)), connection.send(h11.EndOfMessage())]
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: " + length + b"\r\n\r\n" + body
    assert sent == [b"HTTP/1.1 100 Continue\r\n\r\n", b"", whole, b""]


def test_requests_that_are_sent_at_once_are_all_answered_and_all_checked() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            sent = [one for one, _ in WELL_FORMED.values()]
            client.writer.write(b"".join(sent) + MALFORMED_HEADS["one line ends in LF"] + NEXT)
            for _, expected in WELL_FORMED.values():
                assert await client.answer() == (200, b"/echo " + expected)
            assert (await client.answer())[0] == 400
            assert await client.is_closed()

    with_server(check)


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "malformed"])
def test_a_request_behind_a_body_that_nobody_reads_is_checked(is_right: bool) -> None:
    """uvicorn goes on to it on its own."""

    async def check(server: Running) -> None:
        async with connected(server) as client:
            head = b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
            client.writer.write(head + b"ab")
            assert await client.answer() == (200, b"unread")
            client.writer.write(b"cde" + (NEXT if is_right else NEXT.replace(b"\r\n", b"\n")))
            found = await client.answer()
            assert found[0] == (200 if is_right else 400)

    with_server(check)


def test_a_chunk_that_is_malformed_ends_a_call_that_waits_for_it() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            client.writer.write(CHUNKED + b"3\r\nabc\r\n")
            await until_async(lambda: server.num_connections == 1)
            client.writer.write(b"3\nabc\r\n0\r\n\r\n")
            assert (await client.answer())[0] == 400
            assert await client.is_closed()

    with_server(check)


def test_a_head_that_is_too_large_is_431() -> None:
    async def check(server: Running) -> None:
        for end in (b"", b"\r\n\r\n"):
            async with connected(server) as client:
                client.writer.write(HEAD + b"X: " + b"a" * MAX_HEAD_BYTES + end)
                assert (await client.answer())[0] == 431
                assert await client.is_closed()
        async with connected(server) as client:
            client.writer.write(with_header(b"X: " + b"a" * (MAX_HEAD_BYTES - 100)))
            assert (await client.answer())[0] == 200

    with_server(check)


@pytest.mark.parametrize("is_fresh", [True, False], ids=["first", "second"])
def test_half_a_head_is_408_and_the_end(is_fresh: bool) -> None:
    """A client that sends a line now and then does not live on."""

    async def check(server: Running) -> None:
        async with connected(server) as client:
            if not is_fresh:
                client.writer.write(NEXT)
                assert await client.answer() == (200, b"/next ")
            client.writer.write(HEAD)
            answering = asyncio.create_task(client.answer())
            for _ in range(1000):
                if answering.done():
                    break
                client.writer.write(b"X: a\r\n")
                pass_by(10)
                await asyncio.sleep(0)
            status, body = await answering
            assert (status, json.loads(body)["error"]["type"]) == (408, "head_too_slow")
            assert await client.is_closed()
        assert server.refusals("head_too_slow") == 1

    with_server(check, head_seconds=100)


def test_a_connection_that_says_nothing_is_closed() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            await until_async(lambda: server.num_connections == 1)
            pass_by(200)
            assert await client.answer() == (0, b"")
        assert server.refusals("head_too_slow") == 0

    with_server(check, head_seconds=100)


def test_the_time_for_a_head_does_not_end_a_call_or_an_idle_connection() -> None:
    """A connection that says nothing is their witness: its time is over."""

    async def check(server: Running) -> None:
        async with connected(server) as slow, connected(server) as idle, connected(server) as mute:
            slow.writer.write(HEAD)
            idle.writer.write(NEXT)
            assert await idle.answer() == (200, b"/next ")
            slow.writer.write(b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            assert (await slow.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
            await until_async(lambda: server.num_connections == 3)
            pass_by(200)
            assert await mute.answer() == (0, b"")
            slow.writer.write(b"abc")
            assert await slow.answer() == (200, b"/echo abc")
            idle.writer.write(NEXT)
            assert await idle.answer() == (200, b"/next ")

    with_server(check, head_seconds=100)


def test_an_idle_connection_is_closed() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            client.writer.write(NEXT)
            assert await client.answer() == (200, b"/next ")
            pass_by(200)
            assert await client.is_closed()

    with_server(check, keep_alive_seconds=100)


def test_the_rest_of_a_body_that_nobody_reads_has_limited_time() -> None:
    """A client that sends a byte now and then does not live on."""

    async def check(server: Running) -> None:
        async with connected(server) as client:
            head = b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n"
            client.writer.write(head)
            assert await client.answer() == (200, b"unread")
            ending = asyncio.create_task(client.is_closed())
            for _ in range(1000):
                if ending.done():
                    break
                client.writer.write(b"a")
                pass_by(10)
                await asyncio.sleep(0)
            assert await ending
        assert server.refusals("rest_too_slow") == 1

    with_server(check, head_seconds=100)


def test_a_client_that_does_not_read_is_given_up() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]
            client.writer.write(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")

            def is_given_up() -> bool:
                pass_by(10)
                return server.refusals("reader_too_slow") == 1

            await until_async(is_given_up)
            await until_async(lambda: server.num_connections == 0)

    with_server(check, reading_seconds=100)


def test_a_client_that_reads_gets_all() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            client.writer.write(b"GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert len(await client.reader.read()) > 2 * len(BIG)

    with_server(check)


def test_a_connection_beyond_the_bound_is_503_and_the_end() -> None:
    """It is told before it asks; when one of the others ends, the next is welcome."""

    async def check(server: Running) -> None:
        async with connected(server) as first:
            async with connected(server) as second:
                for client in (first, second):
                    client.writer.write(NEXT)
                    assert await client.answer() == (200, b"/next ")
                for _ in range(3):
                    async with connected(server) as third:
                        status, body = await third.answer()
                        message = json.loads(body)["error"]["message"]
                        assert (status, "VERIFIER_MAX_CONNECTIONS" in message) == (503, True)
                        assert await third.is_closed()
                for client in (first, second):
                    client.writer.write(NEXT)
                    assert await client.answer() == (200, b"/next ")
            await until_async(lambda: server.num_connections == 1)
            async with connected(server) as fourth:
                fourth.writer.write(NEXT)
                assert await fourth.answer() == (200, b"/next ")
        assert server.refusals("too_many_connections") == 3

    with_server(check, max_connections=2)
