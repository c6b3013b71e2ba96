"""One call of an application without HTTP."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
from starlette.types import ASGIApp

Headers = Sequence[tuple[bytes, bytes]]
WholeResponse = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers and whole body of a response."""


async def asgi_response(
    app: ASGIApp, method: str, path: str, headers: Headers, body: bytes
) -> WholeResponse:
    """The response of an application.

    Args:
        app: the application, which has been started.
        method: of HTTP.
        path: with the query, quoted.
        headers: as they came.
        body: whole.
    """
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    request = httpx.Request(method, f"http://localhost{path}", headers=list(headers), content=body)
    response = await transport.handle_async_request(request)
    return response.status_code, response.headers.raw, await response.aread()
