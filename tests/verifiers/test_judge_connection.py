"""The connection to an endpoint: it reads HTTP as servers write it, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from verifier_service.model_judge.connection import (
    Address,
    BrokenExchange,
    Connection,
    HttpResponse,
    LargeBody,
)
from verifier_service.model_judge.connections import Connections

MAX_BYTES = 1000
OK = b"HTTP/1.1 200 OK\r\n"


async def served(
    answers: list[bytes], use: Callable[[Connections, str], Awaitable[None]]
) -> list[bytes]:
    """Requests to a server that answers each with the next bytes; an empty one hangs up.

    Bytes that end with `!` are the last of their connection, without it.
    """
    got: list[bytes] = []
    left = iter(answers)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                got.append(head + await reader.readexactly(length))
                content = next(left)
                writer.write(content.removesuffix(b"!"))
                await writer.drain()
                if not content or content.endswith(b"!"):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x"
    connections = Connections(key="k", max_body_bytes=MAX_BYTES)
    try:
        await use(connections, url)
    finally:
        await connections.close()
        server.close()
        await server.wait_closed()
    return got


def responses(answers: list[bytes], num_posts: int) -> tuple[list[HttpResponse], list[bytes]]:
    found = []

    async def use(connections: Connections, url: str) -> None:
        for _ in range(num_posts):
            found.append(await connections.post(url, b"{}"))

    return found, asyncio.run(served(answers, use))


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (OK + b"Content-Length: 2\r\n\r\nab", b"ab"),
        (OK + b"content-length:2\r\nX: y\r\n\r\nab", b"ab"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1;x=y\r\nb\r\n0\r\n\r\n", b"ab"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nTrailer: x\r\n\r\n", b"ab"),
        (OK + b"\r\nab!", b"ab"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", b""),
        (
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nab",
            b"ab",
        ),
        (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nab!", b"ab"),
    ],
)
def test_a_response_is_read_as_servers_write_it(answer: bytes, body: bytes) -> None:
    found, _ = responses([answer] * 3, 3)
    assert [(one.status, one.body) for one in found] == [(200, body)] * 3


def test_a_request_is_whole() -> None:
    _, got = responses([OK + b"Content-Length: 0\r\n\r\n"], 1)
    head, _, body = got[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/x HTTP/1.1"
    assert lines[1].startswith("Host: 127.0.0.1:")
    assert "Authorization: Bearer k" in lines
    assert (lines[-1], body) == ("Content-Length: 2", b"{}")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n!",
        b"nonsense\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 1e3\r\n\r\n",
        OK + b"Content-Length: 5\r\n\r\nab!",
        OK + b"Transfer-Encoding: gzip\r\n\r\nab!",
        OK + b"Transfer-Encoding: chunked\r\n\r\nx\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab!",
        b"A" * 100_000,
        OK + b"X: " + b"A" * 100_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_response_is_told(answer: bytes) -> None:
    with pytest.raises(BrokenExchange):
        responses([answer], 1)


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: 1001\r\n\r\n",
        OK + b"Content-Length: 99999999999999999999\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1F4\r\n" + b"x" * 500 + b"\r\n") * 3,
        OK + b"\r\n" + b"x" * 2000 + b"!",
    ],
)
def test_a_body_over_the_bound_is_not_read(answer: bytes) -> None:
    with pytest.raises(LargeBody):
        responses([answer], 1)


def test_a_kept_connection_that_the_server_closed_loses_no_call() -> None:
    good = OK + b"Content-Length: 2\r\n\r\nab"
    found, got = responses([good, b"", good], 2)
    assert [one.body for one in found] == [b"ab", b"ab"]
    assert len(got) == 3


def test_a_response_that_breaks_off_is_not_asked_for_again() -> None:
    good, broken = OK + b"Content-Length: 2\r\n\r\nab", OK + b"Content-Length: 2\r\n\r\na!"
    with pytest.raises(BrokenExchange):
        responses([good, broken, good], 2)


def test_a_call_that_is_given_up_leaves_nothing_to_the_next() -> None:
    async def use(connections: Connections, url: str) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await connections.post(url, b"{}")
        assert (await connections.post(url, b"{}")).body == b"ab"

    half, good = OK + b"Content-Length: 4\r\n\r\nla", OK + b"Content-Length: 2\r\n\r\nab"
    asyncio.run(served([half, good], use))


def test_an_address_is_read() -> None:
    assert Address.of("https://a.example/v1") == Address("a.example", 443, True, "a.example", "/v1")
    assert Address.of("http://[::1]:8000") == Address("::1", 8000, False, "[::1]:8000", "/")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 300])
def test_a_server_that_is_not_there_is_told(host: str) -> None:
    address = Address(host, 9, False, host, "/")
    with pytest.raises(BrokenExchange, match="no connection"):
        asyncio.run(Connection.open(address, None))
