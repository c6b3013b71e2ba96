"""Connections whose body nobody reads are closed."""

from __future__ import annotations

import asyncio

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verifier_service.http.intake import declares_body

LINGER_SECONDS = 5.0
"""Longest time in which the rest of a refused body is thrown away. A connection that is closed
while its client sends loses the response, which the client has not read yet."""


class CloseUnread:
    """Middleware that ends the connection of a call that was answered before its body was there.

    The server would wait for the rest of the body as long as the client sends any of it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on."""
        if scope["type"] == "http" and declares_body(scope):
            call = _Call(scope, receive, send)
            await self._app(scope, call.receive, call.send)
        else:
            await self._app(scope, receive, send)


class _Call:
    """A call with a body."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False
        # A client that waits for `100 Continue` sends no body before that.
        self._is_coming = all(name != b"expect" for name, _ in scope["headers"])
        self._is_closing = False

    async def receive(self) -> Message:
        """The next message."""
        self._is_coming = True
        message = await self._receive()
        self._is_read = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response; after the last one, throw the rest of the body away."""
        if message["type"] == "http.response.start" and not self._is_read:
            self._is_closing = True
            MutableHeaders(scope=message)["Connection"] = "close"
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not self._is_closing or not is_last:
            await self._send(message)
            return
        await self._send({**message, "more_body": True})
        await self._throw_away()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _throw_away(self) -> None:
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while self._is_coming and not self._is_read:
                    await self.receive()
        except TimeoutError:
            return
