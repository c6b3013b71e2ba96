"""Connections to OpenEnv servers: HTTP as in version 0.1, and WebSockets as from version 0.2.

Over HTTP a server is one environment, unless each episode has an address of its own. Over a
WebSocket (`ws://HOST/ws`) each connection is an environment of its own.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal, Protocol

import httpx

from trainer_client.episodes.environment import EnvironmentLost

MAX_ANSWER_BYTES = 16 * 2**20
"""Longest answer of a server."""
Request = Literal["reset", "step"]


@dataclass(frozen=True)
class ServerAnswer:
    """An answer to `reset` or `step`."""

    observation: dict[str, Any]
    reward: float | None
    done: bool


class ActionRefused(Exception):
    """The action has not the form that the environment wants: the policy's fault."""


class ServerConnection(Protocol):
    """One environment of a server; its methods raise EnvironmentLost."""

    def ask(self, request: Request, data: Mapping[str, Any]) -> ServerAnswer:
        """The answer to a request; raises ActionRefused."""
        ...

    def close(self) -> None:
        """End the environment."""
        ...


class HttpConnection:
    """An environment whose state the server keeps between HTTP requests.

    Args:
        url: address below which `reset`, `step` and `state` are.
        headers: of each request.
        seconds: time limit of a request.
    """

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float) -> None:
        self._url = url.rstrip("/")
        self._http = httpx.Client(timeout=seconds, headers=dict(headers), trust_env=False)
        self._seconds = seconds
        self._keeps_state: bool | None = None

    def ask(self, request: Request, data: Mapping[str, Any]) -> ServerAnswer:
        """See `ServerConnection`."""
        body = {"action": data, "timeout_s": self._seconds} if request == "step" else data
        response = self._send("POST", request, json=body)
        if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            raise ActionRefused(response.text)
        if response.is_error:
            raise EnvironmentLost(
                f"{self._url}/{request}: {response.status_code}: {_text(response)}"
            )
        if request == "step" and self._keeps_state is None:
            self._check_state()
        return _answer(_json(response.text), f"{self._url}/{request}")

    def close(self) -> None:
        """See `ServerConnection`."""
        self._http.close()

    def _check_state(self) -> None:
        """Raise RuntimeError where the step was made in an environment of its own.

        Servers of version 0.2 and later forget the environment after each HTTP request.
        """
        self._keeps_state = True
        response = self._send("GET", "state")
        state = _json(response.text) if response.is_success else None
        if isinstance(state, dict) and state.get("step_count") == 0:
            raise RuntimeError(
                f"{self._url} keeps no state between HTTP requests: its state counts no step after "
                "a step. Set options.url to its WebSocket, such as ws://HOST:8000/ws"
            )

    def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        try:
            with self._http.stream(method, f"{self._url}/{path}", **arguments) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > MAX_ANSWER_BYTES:
                        raise EnvironmentLost(f"{self._url}/{path}: a body over {MAX_ANSWER_BYTES}")
                return httpx.Response(response.status_code, content=bytes(content))
        except httpx.HTTPError as error:
            raise EnvironmentLost(f"no answer from {self._url}/{path}: {error!r}") from error


class SocketConnection:
    """An environment that lives as long as its WebSocket.

    Args:
        url: address of the WebSocket.
        headers: of the handshake.
        seconds: time limit of a request.

    Raises:
        ValueError: the library `websockets` is not installed.
    """

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float) -> None:
        try:
            self._library: Any = importlib.import_module("websockets.sync.client")
        except ImportError as error:
            raise ValueError(
                f"openenv at a WebSocket needs websockets ({error}): "
                "pip install 'reward-verifier[openenv]'"
            ) from error
        self._url, self._headers, self._seconds = url, dict(headers), seconds
        self._socket: Any = None
        self._open = ExitStack()

    def ask(self, request: Request, data: Mapping[str, Any]) -> ServerAnswer:
        """See `ServerConnection`; the first request opens the socket."""
        try:
            if self._socket is None:
                self._socket = self._open.enter_context(self._connected())
            self._socket.send(json.dumps({"type": request, "data": data}))
            found = _json(self._socket.recv(timeout=self._seconds))
        # The errors of the library have no other common class.
        except Exception as error:
            self.close()
            raise EnvironmentLost(f"no answer from {self._url}: {error!r}") from error
        message = found if isinstance(found, dict) else {}
        if message.get("type") == "error":
            raise self._error(request, message.get("data"))
        return _answer(message.get("data"), self._url)

    def close(self) -> None:
        """See `ServerConnection`."""
        socket, self._socket = self._socket, None
        if socket is not None:
            with suppress(Exception):  # the connection may be gone
                socket.send(json.dumps({"type": "close"}))
            with suppress(Exception):
                self._open.close()

    def _connected(self) -> Any:
        return self._library.connect(
            self._url,
            additional_headers=self._headers,
            open_timeout=self._seconds,
            close_timeout=1.0,
            max_size=MAX_ANSWER_BYTES,
            proxy=None,
        )

    def _error(self, request: Request, data: Any) -> Exception:
        found = data if isinstance(data, dict) else {}
        if request == "step" and found.get("code") == "VALIDATION_ERROR":
            return ActionRefused(json.dumps(found))
        return EnvironmentLost(f"{self._url}: {json.dumps(found)[:500]}")


def open_connection(url: str, headers: Mapping[str, str], seconds: float) -> ServerConnection:
    """The connection for an address; raises ValueError where it is neither HTTP nor WebSocket."""
    scheme = url.partition("://")[0]
    if scheme in ("ws", "wss"):
        return SocketConnection(url, headers, seconds)
    if scheme in ("http", "https"):
        return HttpConnection(url, headers, seconds)
    raise ValueError(f"url must begin with http://, https://, ws:// or wss://, found {url!r}")


def _answer(found: Any, place: str) -> ServerAnswer:
    """The answer in a server's JSON; raises EnvironmentLost where it is something else."""
    values = found if isinstance(found, dict) else {}
    observation, reward = values.get("observation"), values.get("reward")
    done = values.get("done", False)
    is_number = isinstance(reward, int | float)
    if not isinstance(observation, dict) or not isinstance(done, bool):
        raise EnvironmentLost(f"{place} does not answer as an OpenEnv server: {repr(found)[:200]}")
    if reward is not None and not is_number:
        raise EnvironmentLost(f"{place}: reward must be a number or null, found {reward!r}"[:300])
    return ServerAnswer(observation, None if reward is None else float(reward), done)


def _json(text: str | bytes) -> Any:
    """The value of a JSON text; None where it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(response: httpx.Response) -> str:
    return response.text[:500]
