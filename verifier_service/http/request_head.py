"""The head of a request, its request line and headers, checked as strictly as RFC 9112 permits.

Where two programs on the way of a request disagree about its end, one takes the rest of it for a
request of its own (request smuggling). h11 reads leniently what others read otherwise: lines that
end in LF alone, folded lines, a length beside `Transfer-Encoding`. All that is refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus

MAX_HEAD_BYTES = 2**14
"""Largest head; as much as h11 keeps while it waits for the rest."""
END = b"\r\n\r\n"

# A request line: `POST /v1/score?x=1 HTTP/1.1`; a target is a path or the star of OPTIONS.
_REQUEST_LINE = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (?:/[\x21-\x7e]*|\*) HTTP/1\.(?P<minor>[01])\r\n"
# A header: `Content-Type: application/json`; no space before the colon, no control characters.
_HEADER = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n"
# The first line of a head, as above.
_FIRST_LINE = re.compile(_REQUEST_LINE)
# A head without the empty line at its end: a request line and headers, as above.
_HEAD = re.compile(rb"%b(?:%b)*" % (_REQUEST_LINE, _HEADER))
# A line of a trailer, which is a header as above.
HEADER = re.compile(_HEADER)
# A header, in a head in lower case, that says where a request ends or for whom it is: `host: a`.
_FRAMING = re.compile(rb"\r\n(content-length|transfer-encoding|host):[ \t]*([^\r]*)")
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
    if not _ends_lines_in_cr_lf(head):
        return _malformed("a line of the head does not end in CR LF")
    if length < 0:
        return None
    found = _HEAD.fullmatch(head)
    if found is None:
        if _FIRST_LINE.match(head) is None:
            return _malformed("the request line is not: method, path, HTTP/1.1")
        return _malformed("a header is not: name, colon, value on one line")
    return _framing_fault(head, is_old=found["minor"] == b"0")


def _ends_lines_in_cr_lf(head: bytes) -> bool:
    """Whether each CR stands before an LF, and each LF after a CR; a CR at the end may get its LF.

    Readers that take one of them alone for the end of a line see other headers than others do.
    """
    num_cr = head.count(b"\r") - head.endswith(b"\r")
    return head.count(b"\n") == head.count(b"\r\n") == num_cr


def _framing_fault(head: bytes, *, is_old: bool) -> HeadFault | None:
    found: dict[bytes, list[bytes]] = {}
    for name, value in _FRAMING.findall(head.lower()):
        found.setdefault(name, []).append(value.rstrip(b" \t"))
    lengths = found.get(b"content-length", [])
    encodings = found.get(b"transfer-encoding", [])
    hosts = found.get(b"host", [])
    if encodings and lengths:
        return _malformed("there are both Transfer-Encoding and Content-Length")
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        return _malformed("Content-Length is not one number")
    if encodings and (is_old or encodings != [b"chunked"]):
        return _malformed("Transfer-Encoding is not: chunked, in HTTP/1.1")
    if len(hosts) > 1 or (not hosts and not is_old) or not all(map(_HOST.fullmatch, hosts)):
        return _malformed("Host is not one host with or without a port")
    return None


def _malformed(why: str) -> HeadFault:
    return HeadFault(HTTPStatus.BAD_REQUEST, why)
