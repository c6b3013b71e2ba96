"""A plain request and its response: the form that nearly all calls have, without h11.

A request is plain if it is a POST in HTTP/1.1 whose head arrives at once, whose body has a declared
length, and whose head asks for nothing else of the connection. h11 reads all others. Its objects
for each header and each part of a body take longer than a usual call is worth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.h11_impl import RequestResponseCycle

from verifier_service.http.request_head import END, head_fault

PLAIN_START = b"POST "
_VERSION = b" HTTP/1.1"
_NOT_PLAIN = frozenset((b"expect", b"transfer-encoding", b"upgrade"))
"""Headers that ask for more than a response."""
_STATUSES_WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
_Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class PlainHead:
    """The head of a plain request."""

    target: bytes
    headers: _Headers
    """Names in lower case, and values without white space around them."""
    num_body_bytes: int
    end: int
    """Number of bytes of the head."""


def plain_head(received: bytes) -> PlainHead | None:
    """The head of a plain request; None if h11 is to read it, and to find its fault.

    Args:
        received: the first bytes of a request.
    """
    end = received.find(END) if received.startswith(PLAIN_START) else -1
    if end < 0:
        return None
    if head_fault(received[: end + len(END)]) is not None:
        return None
    line, *lines = received[:end].split(b"\r\n")
    if not line.endswith(_VERSION):
        return None
    headers = []
    num_body_bytes = None
    for one in lines:
        name, _, value = one.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        headers.append((name, value))
        if name in _NOT_PLAIN or (name == b"connection" and value.lower() != b"keep-alive"):
            return None
        if name == b"content-length":
            num_body_bytes = int(value)
    if num_body_bytes is None:
        return None
    target = line[len(PLAIN_START) : -len(_VERSION)]
    return PlainHead(target, headers, num_body_bytes, end + len(END))


class PlainExchange(RequestResponseCycle):
    """uvicorn's cycle of a request and its response, which counts the body and frames its own."""

    num_left = 0
    """Bytes of the body that have not arrived."""
    _head: bytes | None = None
    """The head of the response, until it is sent with the first bytes of the body."""
    _num_unsent: int | None = None
    """Bytes of the response's body that its head announces and that are not sent; None: chunks."""

    def add(self, data: bytes) -> bytes:
        """Take the next bytes of the body, and return those after its end."""
        if not self.more_body:
            return data
        taken = data[: self.num_left]
        self.num_left -= len(taken)
        # One piece, the usual body, is never copied; uvicorn makes bytes of what is here.
        if not self.response_complete:  # else nobody reads it
            self.body = self.body + taken if self.body else taken  # type: ignore[assignment]
        self.more_body = self.num_left > 0
        if self.more_body and len(self.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        self.message_event.set()
        return data[len(taken) :]

    async def send(self, message: ASGISendEvent) -> None:
        """Send a part of the response."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if self.response_complete:
            raise RuntimeError("the response was complete already")
        if message["type"] == "http.response.start":
            self._start(message["status"], message.get("headers", ()))
        elif message["type"] == "http.response.body" and self.response_started:
            self._add(message.get("body", b""), is_last=not message.get("more_body", False))
        else:
            raise RuntimeError(f"a response has no {message['type']} here")

    def _start(self, status: int, given: Iterable[tuple[bytes, bytes]]) -> None:
        if self.response_started:
            raise RuntimeError("the response was started already")
        headers = [*self.default_headers, *given]
        self.response_started = True
        for name, value in headers:
            if name.lower() == b"content-length":
                self._num_unsent = int(value)
            elif name.lower() == b"connection" and value.lower() == b"close":
                self.keep_alive = False
        if status in _STATUSES_WITHOUT_BODY:
            self._num_unsent = 0
        elif self._num_unsent is None:
            headers.append((b"transfer-encoding", b"chunked"))
        lines = [b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode())]
        lines += [b"%b: %b" % header for header in headers]
        self._head = b"\r\n".join(lines)
        if self._head.count(b"\n") != len(headers) or self._head.count(b"\r") != len(headers):
            raise RuntimeError("a header of the response has a line break")

    def _add(self, body: bytes, *, is_last: bool) -> None:
        """Send bytes of the body, with the head before the first of them in one packet."""
        head = b"" if self._head is None else self._head + END
        self._head = None
        if self._num_unsent is None:
            chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            self.transport.write(head + chunk + (b"0\r\n\r\n" if is_last else b""))
        else:
            self._num_unsent -= len(body)
            if self._num_unsent < 0 or (is_last and self._num_unsent):
                self.transport.abort()  # the client would take the next response for this one
                raise RuntimeError("the body of the response has another length than its head says")
            self.transport.write(head + body)
        if is_last:
            self._end()

    def _end(self) -> None:
        self.response_complete = True
        self.body = bytearray()
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
