"""Routes whose bodies are parsed as strictly as the body of `/v1/score`."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pydantic_core
from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from verifier_service.engine.request_body import check_json
from verifier_service.errors import InvalidRequest


class StrictRoute(APIRoute):
    """A route that refuses lone surrogates, endless nesting and ambiguous JSON.

    FastAPI's own parser lets lone surrogates through, which then fail wherever text is encoded. It
    also turns every error while the body is read, such as BodyTooLarge, into a 400.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of `APIRoute`, which gets a request with a strict parser."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            strict = _StrictRequest(request.scope, await request.body())
            try:
                return await handle(strict)
            except HTTPException:
                if strict.flaw is not None:
                    raise strict.flaw from None
                raise

        return handle_strictly


class _StrictRequest(Request):
    """A request whose body has been read."""

    def __init__(self, scope: Any, body: bytes) -> None:
        super().__init__(scope)
        self._body = body
        self.flaw: InvalidRequest | None = None
        """The flaw in the body's JSON, which FastAPI would hide behind a 400."""

    async def json(self) -> Any:
        """The body as JSON. Raises JSONDecodeError, InvalidRequest."""
        try:
            found = pydantic_core.from_json(self._body)
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from error
        try:
            check_json(self._body)
        except InvalidRequest as error:
            self.flaw = error
            raise
        return found
