"""The context of each call: its id, its API key, its line in the log, its metrics."""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verifier_service.current_call import enter_call
from verifier_service.engine.allowance import Allowance
from verifier_service.errors import Draining, KeyLimitReached, RequestError, TryLater
from verifier_service.http.api_keys import KeyRing
from verifier_service.http.drain import Drain
from verifier_service.http.error_handlers import internal_error, refused
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.every_route import every_route
from verifier_service.http.hosts_and_origins import Sites
from verifier_service.http.metrics import Metrics
from verifier_service.http.open_paths import NOT_LOGGED_PATHS, is_open
from verifier_service.http.request_id import REQUEST_ID_HEADER, own_or_new_id
from verifier_service.http.service import ALLOWANCE
from verifier_service.http.traces import TRACE_HEADERS, CallTrace, Traces

access_log = logging.getLogger("verifier_service.access")

_REQUEST_ID = REQUEST_ID_HEADER.lower().encode()
OWN_PREFIX = "/v1/"
"""Prefix of our own protocol, whose clients try again after 429; those of other frameworks may take
that for a verdict on the completion."""

_Headers = dict[bytes, bytes]
E2B_KEY_HEADERS = ("x-api-key", "x-access-token")
"""Headers with the API key of E2B's SDK: to open and end sandboxes, and to run code in them."""


class CallContext:
    """Gives calls an id, refuses calls of strangers, and counts and logs all of them.

    Args:
        app: the next layer.
        keys: that open the service; without any, no key is asked for.
        sites: under which the service may be asked, and whose pages may ask.
        drain: tells whether the service is ending, and counts the calls under way.
        metrics: count each call.
        try_later_statuses: statuses of refusals that ask the client to try again, by path, for
            clients that retry another status than 503.
        traces: get a span of each call; None where nobody collects them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyRing,
        sites: Sites,
        drain: Drain,
        metrics: Metrics,
        try_later_statuses: Mapping[str, HTTPStatus],
        traces: Traces | None = None,
    ) -> None:
        self._app = app
        self._traces = traces
        self._keys = keys
        self._sites = sites
        self._drain = drain
        self._metrics = metrics
        self._try_later_statuses = try_later_statuses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        # One pass and bytes: `Headers` reads and decodes all of them again for each that is asked.
        headers: _Headers = dict(scope["headers"])
        call_id = own_or_new_id(headers.get(_REQUEST_ID, b"").decode("latin-1"))
        state = scope.setdefault("state", {})
        state["request_id"] = call_id
        trace = self._begin_trace(scope["path"], headers)
        # Never left: the server logs the traceback of a bug after this layer has ended.
        enter_call(call_id, None if trace is None else trace.times)
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (_REQUEST_ID, call_id.encode())]
            await send(message)

        self._metrics.in_flight.inc()
        try:
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await refusal(scope, receive, send_with_id)
            elif scope["method"] == "POST":
                with self._drain.under_way():
                    await self._app(scope, receive, send_with_id)
            else:
                await self._app(scope, receive, send_with_id)
        except Exception as error:  # the layer around this one logs its traceback
            # Refused after its first line: Starlette and `DirectRoute` raise another error from
            # it, and the server breaks the response off.
            if status and isinstance(error.__cause__, RequestError):
                return
            state["error"] = "internal_error"
            if not status:
                await internal_error(call_id)(scope, receive, send_with_id)
            raise
        finally:
            self._metrics.in_flight.dec()
            self._finish(scope, status, time.perf_counter() - start, trace)

    def _begin_trace(self, path: str, headers: _Headers) -> CallTrace | None:
        if self._traces is None or path in NOT_LOGGED_PATHS:
            return None
        return self._traces.begin({name: headers.get(name, b"") for name in TRACE_HEADERS})

    def _refusal(self, scope: Scope, headers: _Headers) -> JSONResponse | None:
        """The refusal of a call by its headers, before its body is read; None if there is none."""
        path = scope["path"]
        accept = headers.get(b"accept", b"").decode("latin-1")
        needs_no_key = is_open(path, scope["method"], accept)
        error = None if needs_no_key else self._stranger_error(scope["state"], headers)
        if error is None and self._drain.is_draining and scope["method"] == "POST":
            error = Draining()
        if error is None:
            return None
        status = None
        if isinstance(error, TryLater) and not path.startswith(OWN_PREFIX):
            status = self._try_later_statuses.get(path, HTTPStatus.SERVICE_UNAVAILABLE)
        return refused(error, scope, self._metrics, status=status)

    def _stranger_error(self, state: dict[str, Any], headers: _Headers) -> RequestError | None:
        """Why the host, the page or the key of a call is refused; None if they are welcome."""
        host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        error = self._sites.refusal(host, origin if b"origin" in headers else None)
        if error is not None or self._keys.is_empty:
            return error
        key = key_of({one.decode("latin-1"): headers[one].decode("latin-1") for one in headers})
        allowance = None if key is None else self._keys.allowance(key)
        if allowance is None:
            return _unauthorized(has_key=key is not None)
        state[ALLOWANCE] = allowance
        try:
            allowance.take_request()
        except KeyLimitReached as limit:
            return limit
        return None

    def _finish(self, scope: Scope, status: int, seconds: float, trace: CallTrace | None) -> None:
        path = _path(scope)
        state = scope["state"]
        allowance: Allowance | None = state.get(ALLOWANCE)
        self._metrics.count_response(path, status, seconds)
        if allowance is not None:
            self._metrics.count_key(allowance.name, status, state.get("num_completions", 0))
        if path in NOT_LOGGED_PATHS:
            return
        fields = {
            "request_id": state["request_id"],
            "method": scope["method"],
            "path": path,
            "status": status,
            "seconds": round(seconds, 6),
        }
        if allowance is not None:
            fields["key"] = allowance.name
        if "num_completions" in state:
            fields["completions"] = state["num_completions"]
        if "error" in state:
            fields["error"] = state["error"]
        if trace is not None:
            trace.end(fields)
        line = " ".join(f"{key}={value}" for key, value in fields.items())
        access_log.info("%s", line, extra={"fields": fields})


def _path(scope: Scope) -> str:
    """The path of a call's route, which is looked up if the call was refused before routing."""
    route = scope.get("route")
    if route is None:
        routes = getattr(scope.get("app"), "routes", ())
        matching = (one for one in every_route(routes) if one.matches(scope)[0] is not Match.NONE)
        route = next(matching, None)
    return getattr(route, "path", None) or "other"


def key_of(headers: Mapping[str, str]) -> str | None:
    """The API key of a call: its bearer token, the password in its URL, or a header of E2B's SDK.

    Clients without a setting for keys accept a URL with one: http://any:KEY@host.

    Args:
        headers: of the call, their names in lower case.
    """
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    if scheme.lower() != "basic":
        return next((headers[name] for name in E2B_KEY_HEADERS if name in headers), None)
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:
        return None


def _unauthorized(*, has_key: bool) -> ApiError:
    needed = "an API key is needed: Authorization: Bearer KEY"
    return ApiError(
        HTTPStatus.UNAUTHORIZED,
        "unauthorized",
        "this API key is not one of the service's" if has_key else needed,
        headers={"WWW-Authenticate": "Bearer"},
    )
