"""h11's side of a connection that reads only requests whose framing is beyond doubt."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import h11

from verifier_service.http.chunked_framing import ChunkedFraming
from verifier_service.http.request_head import MAX_HEAD_BYTES, HeadFault, head_fault

CHUNKS = (b"transfer-encoding", b"chunked")
"""The header that announces chunks, as h11 has it."""


class StrictConnection(h11.Connection):
    """A server's h11 connection that checks heads, and what stands between chunks, before h11 does.

    h11 asks for an event at every step, also where uvicorn goes on to a next request by itself. So
    no head gets past the check.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MAX_HEAD_BYTES)
        self.fault: HeadFault | None = None
        """Why the client is refused; None while it is right."""
        self._chunks: ChunkedFraming | None = None
        self._head: list[bytes] = []
        """The head of a response that waits for the first bytes of its body."""

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        """The bytes of an event, for `send`; a head comes with what follows, in one packet."""
        parts = super().send_with_data_passthrough(event)
        if isinstance(event, h11.Response):
            self._head = parts or []
            return []
        if parts is None:  # the end of the connection
            return None
        head, self._head = self._head, []
        return head + parts

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._chunks is not None:
            self._check_chunks(data)
        super().receive_data(data)

    def next_event(self) -> Any:
        """The next event of h11. Raises RemoteProtocolError, with the reason in `fault`."""
        if self.their_state is h11.IDLE and (received := self.trailing_data[0]):
            self._chunks = None
            self.fault = head_fault(received)
        if self.fault is not None:
            raise h11.RemoteProtocolError(self.fault.message, self.fault.status)
        event = super().next_event()
        if isinstance(event, h11.Request) and CHUNKS in event.headers:
            self._chunks = ChunkedFraming()
            self._check_chunks(self.trailing_data[0])
        return event

    def _check_chunks(self, received: bytes) -> None:
        assert self._chunks is not None
        if not self._chunks.accepts(received):
            message = "the body is not in chunks, as Transfer-Encoding says"
            self.fault = HeadFault(HTTPStatus.BAD_REQUEST, message)
