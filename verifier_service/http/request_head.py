"""The head of a request, its request line and headers, checked as strictly as RFC 9112 permits.

Where two programs on the way of a request disagree about its end, one takes the rest of it for a
request of its own (request smuggling). h11 reads leniently what others read otherwise: lines that
end in LF alone, folded lines, a length beside `Transfer-Encoding`. All that is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

MAX_HEAD_BYTES = 2**14
"""Largest head; as much as h11 keeps while it waits for the rest."""
END = b"\r\n\r\n"

# A byte that ends a line for some readers only: LF after anything but CR, or CR before anything
# but LF (`a\nb`, `a\rb`); a CR at the very end may still get its LF.
_LONE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
# A request line: `POST /v1/score?x=1 HTTP/1.1`; a target is a path or the star of OPTIONS.
_REQUEST_LINE = re.compile(
    rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (?:/[\x21-\x7e]*|\*) HTTP/1\.(?P<minor>[01])"
)
# A header: `Content-Type: application/json`; no space before the colon, no control characters.
HEADER = re.compile(
    rb"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>[\t\x20-\x7e\x80-\xff]*)"
)
# A length in bytes: `1024`.
_LENGTH = re.compile(rb"[0-9]{1,18}")
# A host with or without a port: `localhost:8080`, `[::1]`, or nothing.
_HOST = re.compile(rb"(?:(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::[0-9]{0,5})?)?")


@dataclass(frozen=True)
class HeadFault:
    """Why the head of a request is refused."""

    status: HTTPStatus
    message: str


def head_fault(received: bytes) -> HeadFault | None:
    """The fault of a head, as far as it has been received; None if it has none so far.

    Args:
        received: bytes from the start of a request on; more may follow the head.
    """
    length = received.find(END)
    head = received if length < 0 else received[: length + 2]
    if len(head) > MAX_HEAD_BYTES:
        return HeadFault(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
            f"the request line and the headers are larger than {MAX_HEAD_BYTES} bytes",
        )
    if _LONE_LINE_END.search(head):
        return _malformed("a line of the head does not end in CR LF")
    if length < 0:
        return None
    request_line, *lines = head[:-2].split(b"\r\n")
    found = _REQUEST_LINE.fullmatch(request_line)
    if found is None:
        return _malformed("the request line is not: method, path, HTTP/1.1")
    return _headers_fault(lines, is_old=found["minor"] == b"0")


def _headers_fault(lines: Sequence[bytes], *, is_old: bool) -> HeadFault | None:
    framing: dict[bytes, list[bytes]] = {}
    for line in lines:
        found = HEADER.fullmatch(line)
        if found is None:
            return _malformed("a header is not: name, colon, value on one line")
        framing.setdefault(found["name"].lower(), []).append(found["value"].rstrip(b" \t"))
    return _framing_fault(framing, is_old=is_old)


def _framing_fault(headers: dict[bytes, list[bytes]], *, is_old: bool) -> HeadFault | None:
    lengths = headers.get(b"content-length", [])
    encodings = headers.get(b"transfer-encoding", [])
    hosts = headers.get(b"host", [])
    if encodings and lengths:
        return _malformed("there are both Transfer-Encoding and Content-Length")
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        return _malformed("Content-Length is not one number")
    if encodings and (is_old or [one.lower() for one in encodings] != [b"chunked"]):
        return _malformed("Transfer-Encoding is not: chunked, in HTTP/1.1")
    if len(hosts) > 1 or (not hosts and not is_old) or not all(map(_HOST.fullmatch, hosts)):
        return _malformed("Host is not one host with or without a port")
    return None


def _malformed(why: str) -> HeadFault:
    return HeadFault(HTTPStatus.BAD_REQUEST, why)
