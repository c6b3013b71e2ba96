"""Headers that Ray Serve's proxy adds to responses too: the id of a call."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verifier_service.http.request_id import REQUEST_ID_HEADER


class OneRequestId:
    """Leaves the header with the id to Ray Serve's proxy; else the response has it twice.

    The proxy adds the id with which it has sent the request. It is the application's, unless that
    has refused it; both ids stay then.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(REQUEST_ID_HEADER)

        async def send_once(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get(REQUEST_ID_HEADER) == sent:
                    del headers[REQUEST_ID_HEADER]
            await send(message)

        await self._app(scope, receive, send_once)
