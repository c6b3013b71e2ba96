"""Conversations with a verifier service over httpx, for code that blocks and code that awaits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import httpx

from reward_verifier.protocol import (
    Conversation,
    NoResponse,
    Reply,
    Request,
    Response,
    ServiceAccess,
)
from reward_verifier.retries import Wait

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""Time limit for a connection."""
MAX_CONNECTIONS = 64


def connection_options(access: ServiceAccess) -> dict[str, Any]:
    """Arguments of `httpx.Client` and `httpx.AsyncClient`."""
    return {
        "base_url": access.url,
        "headers": {"Authorization": f"Bearer {access.key}"} if access.key else {},
        # Waiting for a free connection of this client is no sign of a slow service.
        "timeout": httpx.Timeout(access.timeout_seconds, connect=CONNECT_SECONDS, pool=None),
        "limits": httpx.Limits(max_connections=MAX_CONNECTIONS),
        # Reading the certificates takes longer than judging, and http needs none.
        "verify": not access.url.startswith("http://"),
    }


def converse(conversation: Conversation[T], http: httpx.Client) -> T:
    """The result of a conversation; raises its errors, such as VerifierError."""
    progress = _Progress(conversation)
    while (step := progress.next_step()) is not None:
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            continue
        try:
            progress.received(http.request(step.method, step.path, json=step.body))
        except httpx.RequestError as error:
            progress.failed(error)
    return progress.result


async def sleep(wait: Wait) -> None:
    """Pause before the next attempt."""
    await asyncio.sleep(wait.seconds)


async def converse_async(
    conversation: Conversation[T],
    http: httpx.AsyncClient,
    wait: Callable[[Wait], Awaitable[None]] = sleep,
) -> T:
    """The result of a conversation; raises its errors, such as VerifierError.

    Args:
        conversation: one of `reward_verifier.protocol`.
        http: a client made with `connection_options`.
        wait: makes each pause.
    """
    progress = _Progress(conversation)
    while (step := progress.next_step()) is not None:
        if isinstance(step, Wait):
            await wait(step)
            continue
        try:
            progress.received(await http.request(step.method, step.path, json=step.body))
        except httpx.RequestError as error:
            progress.failed(error)
    return progress.result


class _Progress(Generic[T]):
    """A conversation under way; `result` is set when no step is left."""

    result: T

    def __init__(self, conversation: Conversation[T]) -> None:
        self._conversation = conversation
        self._reply: Reply | None = None

    def next_step(self) -> Request | Wait | None:
        reply, self._reply = self._reply, None
        try:
            return self._conversation.send(reply)
        except StopIteration as end:
            self.result = end.value
            return None

    def received(self, response: httpx.Response) -> None:
        self._reply = Response(
            str(response.url),
            response.status_code,
            response.content,
            response.headers.get("retry-after"),
        )

    def failed(self, error: httpx.RequestError) -> None:
        self._reply = NoResponse(f"{type(error).__name__}: {error}")
