"""Plain requests are answered as h11 would answer them, and all others are left to it."""

from __future__ import annotations

import asyncio
import logging

import h11
import pytest
from uvicorn.protocols.http.flow_control import FlowControl

from tests.verifier_service.test_connection import (
    HEAD,
    MALFORMED_HEADS,
    NEXT,
    Running,
    connected,
    soon,
    with_server,
)
from verifier_service.http.plain_exchange import PlainExchange, plain_head

PLAIN = HEAD + b"X-Request-Id:  a b\t\r\nContent-Length: 3\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        PLAIN,
        PLAIN.replace(b"X-Request-Id", b"Connection").replace(b"a b", b"Keep-Alive"),
        PLAIN.replace(b"/echo", b"/echo%20here?x=%31"),
        HEAD + b"content-length: 0\r\n\r\n",
        HEAD + b"A:\r\na: \xe9\r\nCONTENT-LENGTH:3\r\n\r\n",
    ],
    ids=["usual", "kept alive", "target", "no body", "headers"],
)
def test_a_plain_head_is_read_as_h11_reads_it(head: bytes) -> None:
    peer = h11.Connection(h11.SERVER)
    peer.receive_data(head)
    expected = peer.next_event()
    found = plain_head(head + b"abc")
    assert found is not None
    assert isinstance(expected, h11.Request)
    assert found.headers == list(expected.headers)
    assert found.target == expected.target
    assert (found.end, found.num_body_bytes) == (len(head), 0 if b": 0" in head else 3)


@pytest.mark.parametrize(
    "head",
    [
        *MALFORMED_HEADS.values(),
        NEXT,
        PLAIN[:-1],
        PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"),
        HEAD + b"\r\n",
        *(
            PLAIN.replace(b"X-Request-Id:  a b", header)
            for header in (b"Expect: 100-continue", b"Connection: close", b"Upgrade: h2c")
        ),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_every_other_head_is_left_to_h11(head: bytes) -> None:
    assert plain_head(head) is None


def test_a_body_in_pieces_is_whole() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            body = bytes(range(256)) * 2**11
            length = HEAD + b"Content-Length: %d\r\n\r\n" % len(body)
            for piece in (length, body[:1], body[1 : 2**18], body[2**18 :]):
                client.writer.write(piece)
                await client.writer.drain()
                await asyncio.sleep(0)
            assert await client.answer() == (200, b"/echo " + body)

    with_server(check)


def test_requests_that_come_early_are_answered_in_order() -> None:
    """Plain ones and others, on one connection."""

    async def check(server: Running) -> None:
        async with connected(server) as client:
            chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabd\r\n0\r\n\r\n"
            client.writer.write((PLAIN + b"abc" + NEXT + chunked) * 3)
            for _ in range(3):
                assert await client.answer() == (200, b"/echo abc")
                assert await client.answer() == (200, b"/next ")
                assert await client.answer() == (200, b"/echo abd")

    with_server(check)


@pytest.mark.parametrize("is_malformed", [False, True])
def test_bytes_behind_a_body_are_a_request_of_their_own(is_malformed: bool) -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            rest = NEXT.replace(b"\r\n", b"\n") if is_malformed else NEXT
            client.writer.write(PLAIN + b"abc" + rest)
            assert await client.answer() == (200, b"/echo abc")
            assert (await client.answer())[0] == (400 if is_malformed else 200)

    with_server(check)


def test_a_response_without_a_length_is_in_chunks() -> None:
    async def check(server: Running) -> None:
        async with connected(server) as client:
            client.writer.write(PLAIN.replace(b"/echo", b"/big") + b"abc" + PLAIN + b"abc")
            head = await soon(client.reader.readuntil(b"\r\n\r\n"))
            assert b"\r\ntransfer-encoding: chunked\r\n" in head
            num_bytes = 0
            while size := int(await client.reader.readline(), 16):
                num_bytes += len(await client.reader.readexactly(size + 2)) - 2
            assert num_bytes == 2 * 2**24
            assert await client.reader.readexactly(2) == b"\r\n"
            assert await client.answer() == (200, b"/echo abc")

    with_server(check)


def test_bytes_behind_the_body_wake_nobody() -> None:
    """A call that waits for its client to hang up would read on, and they be stored without end."""

    async def check() -> None:
        exchange = an_exchange(num_body_bytes=3)
        assert exchange.add(b"abcdef") == b"def"
        assert (await exchange.receive())["body"] == b"abc"  # type: ignore[typeddict-item]
        assert exchange.add(b"ghi") == b"ghi"
        assert not exchange.message_event.is_set()

    asyncio.run(check())


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"3"), (b"x", b"a\r\nSet-Cookie: b")],
        [(b"content-length", b"3"), (b"x\n", b"a")],
    ],
)
def test_a_header_with_a_line_break_is_not_sent(headers: list[tuple[bytes, bytes]]) -> None:
    async def check() -> None:
        exchange = an_exchange(num_body_bytes=0)
        with pytest.raises(RuntimeError, match="line break"):
            await exchange.send({"type": "http.response.start", "status": 200, "headers": headers})

    asyncio.run(check())


def an_exchange(*, num_body_bytes: int) -> PlainExchange:
    flow = FlowControl(asyncio.Transport())
    flow.resume_reading = lambda: None  # type: ignore[method-assign]
    exchange = PlainExchange(
        scope={},  # type: ignore[typeddict-item]
        conn=h11.Connection(h11.SERVER),
        transport=asyncio.Transport(),
        flow=flow,
        logger=logging.getLogger(),
        access_logger=logging.getLogger(),
        access_log=False,
        default_headers=[],
        message_event=asyncio.Event(),
        on_response=lambda: None,
    )
    exchange.num_left = num_body_bytes
    return exchange
