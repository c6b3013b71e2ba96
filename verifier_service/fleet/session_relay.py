"""The way of a session's calls from any gateway to the session host that has the session.

    gateway --handle--> host 0: sessions s-00......-SECRET
            `-handle--> host 1: sessions s-01......-SECRET

The name of a session begins with the number of its host; E2B's SDK has it in the path or in a
header. An OpenEnv environment has the host that its name chooses.
"""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from itertools import count
from urllib.parse import quote

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from verifier_service.errors import RequestError, RequestFailed
from verifier_service.fleet.asgi_call import Headers, WholeResponse
from verifier_service.http.error_handlers import error_response
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.request_id import REQUEST_ID_HEADER
from verifier_service.sessions.wire import LostReason

SESSIONS_PATH, OPENENV_PATH, E2B_PATH = "/v1/sessions", "/openenv/", "/compat/e2b/"
_OPENING_PATHS = {SESSIONS_PATH, f"{E2B_PATH}sandboxes", f"{E2B_PATH}v2/sandboxes"}
_SANDBOX_HEADER = b"e2b-sandbox-id"

Host = Callable[[str, str, Headers, bytes], Awaitable[WholeResponse]]
"""Answers a call with this method, path, headers and body. Raises HostUnavailable."""
_REQUEST_ID = REQUEST_ID_HEADER.lower().encode()
# The number of a host, at the beginning of what `s-` stands before: `01` of `01c3a9f2-SECRET`.
_STARTS_WITH_NUMBER = re.compile(r"[0-9a-f]{2}")


class HostUnavailable(Exception):
    """A session host does not answer; its sessions may still be there."""


class HostLost(HostUnavailable):
    """A session host has ended, and its sessions with it."""


def relay_sessions(app: FastAPI, hosts: Sequence[Host]) -> None:
    """Have the application of a gateway pass the calls of sessions on.

    The relay is the innermost layer, so keys, names of the service, bodies and the drain are looked
    at as for any other call.
    """
    app.user_middleware.append(Middleware(SessionRelay, hosts=hosts))


class SessionRelay:
    """Surrounds the application of a gateway, and passes the calls of sessions on.

    Args:
        app: the gateway's application, which has no sessions.
        hosts: the session hosts by their numbers.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[Host]) -> None:
        self._app = app
        self._hosts = hosts
        self._openings = count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        if scope["type"] != "http" or not _is_of_sessions(scope["path"]):
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:  # the caller has gone
            return
        query = scope["query_string"].decode("latin-1")
        path = quote(scope["path"]) + (f"?{query}" if query else "")
        # The layers around this one have named the call, and name it in the response.
        call_id = scope["state"]["request_id"].encode()
        given = [*_without_id(scope["headers"]), (_REQUEST_ID, call_id)]
        status, headers, content = await self._response(scope["method"], path, given, body)
        headers = _without_id(headers)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _response(
        self, method: str, path: str, headers: Headers, body: bytes
    ) -> WholeResponse:
        place = path.partition("?")[0]
        if place not in _OPENING_PATHS:
            return await self._of_host(self._number(place, headers), method, path, headers, body)
        if method == "GET" and len(self._hosts) > 1:
            return await self._all(method, path, headers, body)
        return await self._of_any(method, path, headers, body)

    def _number(self, path: str, headers: Headers) -> int:
        """The number of the host that has what the path or a header names."""
        if path.startswith(OPENENV_PATH):
            environment = path.removeprefix(OPENENV_PATH).partition("/")[0]
            return zlib.crc32(environment.encode()) % len(self._hosts)
        replica = _session_in(path, headers).removeprefix("s-")
        number = int(replica[:2], 16) if _STARTS_WITH_NUMBER.match(replica) else 0
        return number if number < len(self._hosts) else 0  # host 0 knows no such session

    async def _of_host(
        self, number: int, method: str, path: str, headers: Headers, body: bytes
    ) -> WholeResponse:
        try:
            return await self._hosts[number](method, path, headers, body)
        except HostLost as error:
            if path.startswith(OPENENV_PATH):
                return _unavailable(error)
            is_sandbox = path.startswith(E2B_PATH)
            status = HTTPStatus.BAD_GATEWAY if is_sandbox else HTTPStatus.GONE
            reason = LostReason.MACHINE
            gone = ApiError(status, "session_lost", f"the session is gone: {reason.meaning}")
            gone.details = {"reason": reason}
            return _refusal(gone, is_flat=is_sandbox)
        except HostUnavailable as error:
            return _unavailable(error)

    async def _of_any(self, method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        """The response of the next host in turn that has room, or why the last one has none."""
        first = next(self._openings)
        for turn in range(len(self._hosts)):
            host = self._hosts[(first + turn) % len(self._hosts)]
            try:
                response = await host(method, path, headers, body)
            except HostUnavailable as error:
                response = _unavailable(error)
            if response[0] != HTTPStatus.SERVICE_UNAVAILABLE:
                break
        return response

    async def _all(self, method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        """The numbers of all hosts together; the first refusal if one refuses."""
        try:
            answers = await asyncio.gather(
                *(host(method, path, headers, body) for host in self._hosts)
            )
        except HostUnavailable as error:
            return _unavailable(error)
        for answer in answers:
            if answer[0] != HTTPStatus.OK:
                return answer
        found = [json.loads(content) for _, _, content in answers]
        total = {
            name: ",".join(one[name] for one in found)
            if name == "replica"
            else sum(one[name] for one in found)
            for name in found[0]
        }
        content = json.dumps(total).encode()
        kept = [one for one in answers[0][1] if one[0].lower() != b"content-length"]
        return answers[0][0], [*kept, (b"content-length", b"%d" % len(content))], content


def _is_of_sessions(path: str) -> bool:
    if {".", ".."} & {*path.split("/")}:  # the host would take it for another path
        return False
    return path == SESSIONS_PATH or path.startswith((f"{SESSIONS_PATH}/", OPENENV_PATH, E2B_PATH))


def _session_in(path: str, headers: Headers) -> str:
    """The name of the session that a call is for; empty where it names none."""
    for prefix in (f"{SESSIONS_PATH}/", f"{E2B_PATH}sandboxes/"):
        if path.startswith(prefix):
            return path.removeprefix(prefix).partition("/")[0]
    named = next((value for name, value in headers if name.lower() == _SANDBOX_HEADER), b"")
    return named.decode("latin-1")


def _without_id(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [one for one in headers if one[0].lower() != _REQUEST_ID]


async def _body(receive: Receive) -> bytes | None:
    """The whole body, which a layer around this one has taken in; None: the caller has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _unavailable(error: HostUnavailable) -> WholeResponse:
    message = f"the replica with the sessions does not answer: {error}"
    return _refusal(RequestFailed(message))


def _refusal(error: RequestError, *, is_flat: bool = False) -> WholeResponse:
    response = error_response(error, None, is_flat=is_flat)
    return response.status_code, response.raw_headers, bytes(response.body)
