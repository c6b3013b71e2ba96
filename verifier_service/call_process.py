"""The process of one large call with a route: parses its body and calls the route.

    API process --socket--> this process (JSON, validation, the route, its response)
        '-- passes tasks and verdicts on --> workers

It is to these calls what `large_requests.request_process` is to `/v1/score`.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.types import Message

from verifier_service.compat.judging import Judging
from verifier_service.compat.routers import ROUTERS
from verifier_service.current_call import enter_call
from verifier_service.engine.response_json import PIECE_BYTES
from verifier_service.errors import BodyTooLarge, RequestError
from verifier_service.executions import routes as executions
from verifier_service.http.error_statuses import ApiError
from verifier_service.large_requests.messages import Done, LargeCall, Refusal, ResponsePiece
from verifier_service.large_requests.request_process import (
    TOO_MUCH_MEMORY,
    ParentEngine,
    while_listening,
)
from verifier_service.profiles import profiles_from_json
from verifier_service.validation import invalid_request
from verifier_service.workers.fork_server import fork_server


def serve(control: socket.socket) -> None:
    """Fork a process for each call until the other side of control is closed."""
    fork_server(control, serve_call)


def serve_call(connection: socket.socket, body: int) -> None:
    """Respond to one call.

    Args:
        connection: to the API process.
        body: descriptor of a file with the body.
    """
    asyncio.run(_serve_call(connection, body))


async def _serve_call(connection: socket.socket, body: int) -> None:
    parent = await ParentEngine.connected_by(connection)
    call = await parent.receive()
    assert isinstance(call, LargeCall), call
    enter_call(call.request_id)
    parent.worker_counts = call.num_workers
    parent.max_questions = call.max_questions
    parent.stored_texts = call.stored_texts
    try:
        response = await while_listening(_respond(call, body, parent), parent)
    except ApiError as error:
        parent.send(Refusal.of(error, status=error.status))
    except RequestError as error:
        parent.send(Refusal.of(error))
    except MemoryError:
        parent.send(Refusal.of(BodyTooLarge(TOO_MUCH_MEMORY)))
    else:
        for start in range(0, len(response.content), PIECE_BYTES):
            parent.send(ResponsePiece(bytes(response.content[start : start + PIECE_BYTES])))
            await parent.drain()
        parent.send(Done(b"", [], 0, response.status))
    await parent.close()


@dataclass
class _Response:
    """A response as the application sends it."""

    status: int = 0
    content: bytearray = field(default_factory=bytearray)

    async def send(self, message: Message) -> None:
        """Take the next part."""
        self.status = message.get("status", self.status)
        self.content += message.get("body", b"")


async def _respond(call: LargeCall, body: int, parent: ParentEngine) -> _Response:
    """The response of the call's route. Raises RequestError, MemoryError."""
    judging = Judging(
        limits=call.limits,
        profiles=profiles_from_json(call.profiles),
        engine=parent,
        room=parent.room,
        started=call.started,
        hold=_hold_nothing,
    )
    scope: MutableMapping[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": call.path,
        "query_string": call.query_string,
        "headers": [
            (b"content-type", call.content_type.encode("latin-1")),
            (b"accept", call.accept.encode("latin-1")),
        ],
        "state": {"judging": judging, "content": os.pread(body, call.num_bytes, 0)},
    }
    response = _Response()
    await _routes(scope, _receive, response.send)
    return response


def _hold_nothing(_num_bytes: int) -> None:
    """The API process counts the response as it takes it."""


async def _receive() -> Message:
    """Never returns: the body is in the state of the call, and the process ends with the client."""
    await asyncio.Event().wait()
    raise AssertionError


async def _raise_invalid_request(_request: Request, error: Exception) -> Any:
    assert isinstance(error, RequestValidationError)
    raise invalid_request(error.errors()) from error


_routes = FastAPI(openapi_url=None)
_routes.add_exception_handler(RequestValidationError, _raise_invalid_request)
for _router in (executions.router, *ROUTERS.values()):
    _routes.include_router(_router)
