"""Routes whose bodies are parsed as strictly as the body of `/v1/score`."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pydantic_core
from fastapi import Request, Response
from fastapi.routing import APIRoute


class StrictRoute(APIRoute):
    """A route that refuses lone surrogates and endless nesting, and passes our own errors on.

    FastAPI's own parser lets lone surrogates through, which then fail wherever text is encoded. It
    also turns every error while the body is read, such as BodyTooLarge, into a 400.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of `APIRoute`, which gets a request with a strict parser."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, await request.body()))

        return handle_strictly


class _StrictRequest(Request):
    """A request whose body has been read."""

    def __init__(self, scope: Any, body: bytes) -> None:
        super().__init__(scope)
        self._body = body

    async def json(self) -> Any:
        """The body as JSON. Raises JSONDecodeError."""
        try:
            return pydantic_core.from_json(self._body)
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from error
