"""Conversations with a verifier service over httpx, for code that blocks and code that awaits.

Time limits and numbers of attempts are arguments of `verifier.Verifier`, with their defaults.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, ExitStack
from functools import cache
from ssl import SSLContext
from typing import Any, Generic, TypeVar

import httpx

from reward_verifier.errors import VerifierNonsense, VerifierUnauthorized
from reward_verifier.protocol import Conversation, NoResponse, Request, Response
from reward_verifier.request_content import request_content
from reward_verifier.retries import Wait
from reward_verifier.service_access import ServiceAccess
from reward_verifier.streaming import GroupScores, Line, StreamedConversation

Step = TypeVar("Step")
T = TypeVar("T")

LOG = logging.getLogger("reward_verifier")
CONNECT_SECONDS = 10.0
"""Time limit for a connection."""
MAX_CONNECTIONS = 64
MAX_LINE_BYTES = 2**28
"""Longest line of a stream, the longest that the service sends."""


def connection_options(access: ServiceAccess) -> dict[str, Any]:
    """Arguments of `httpx.Client` and `httpx.AsyncClient`."""
    return {
        "base_url": access.url,
        "headers": {"Authorization": f"Bearer {access.key}"} if access.key else {},
        # Waiting for a free connection of this client is no sign of a slow service.
        "timeout": httpx.Timeout(access.timeout_seconds, connect=CONNECT_SECONDS, pool=None),
        "limits": httpx.Limits(max_connections=MAX_CONNECTIONS),
        # Reading the certificates takes longer than judging, and http needs none.
        "verify": False if access.url.startswith("http://") else _certificates(),
        # A proxy of the environment has another loopback.
        "trust_env": not access.is_on_this_machine,
    }


def converse(conversation: Conversation[T], http: httpx.Client) -> T:
    """The result of a conversation; raises its errors, such as VerifierError."""
    progress = _Progress(conversation)
    while (step := progress.next_step()) is not None:
        if isinstance(step, Wait):
            _tell(step)
            time.sleep(step.seconds)
            continue
        try:
            progress.received(http.request(step.method, step.path, **request_content(step)))
        except httpx.RequestError as error:
            progress.failed(error)
    result: T = progress.result
    return result


async def sleep(wait: Wait) -> None:
    """Pause before the next attempt."""
    _tell(wait)
    await asyncio.sleep(wait.seconds)


def _tell(wait: Wait) -> None:
    """Log why there is another attempt: ten silent seconds look like a hang."""
    if wait.trouble is not None:
        LOG.warning("verifier service: %s; trying again in %.1f s", wait.trouble, wait.seconds)


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
            progress.received(await http.request(step.method, step.path, **request_content(step)))
        except httpx.RequestError as error:
            progress.failed(error)
    result: T = progress.result
    return result


def converse_streaming(
    conversation: StreamedConversation, http: httpx.Client
) -> Generator[GroupScores, None, None]:
    """The groups of a conversation as they come; raises its errors, such as VerifierError."""
    progress, lines = _Progress(conversation), Lines()
    with ExitStack() as under_way:
        while (step := progress.next_step()) is not None:
            if isinstance(step, list):
                yield step
                continue
            if isinstance(step, Wait):
                _tell(step)
                time.sleep(step.seconds)
                continue
            try:
                if isinstance(step, Request):
                    under_way.close()  # the response before
                    call = http.stream(step.method, step.path, **request_content(step))
                    response = under_way.enter_context(call)
                    if response.status_code != httpx.codes.OK:
                        response.read()
                    lines, parts = Lines(), response.iter_bytes()
                    progress.received(response)
                else:
                    while (line := lines.next_line()) is None and lines.add(next(parts, None)):
                        pass
                    progress.read(line)
            except httpx.RequestError as error:
                progress.failed(error)


async def converse_streaming_async(
    conversation: StreamedConversation, http: httpx.AsyncClient
) -> AsyncGenerator[GroupScores, None]:
    """The groups of a conversation as they come; raises its errors, such as VerifierError."""
    progress, lines = _Progress(conversation), Lines()
    async with AsyncExitStack() as under_way:
        while (step := progress.next_step()) is not None:
            if isinstance(step, list):
                yield step
                continue
            if isinstance(step, Wait):
                await sleep(step)
                continue
            try:
                if isinstance(step, Request):
                    await under_way.aclose()  # the response before
                    call = http.stream(step.method, step.path, **request_content(step))
                    response = await under_way.enter_async_context(call)
                    if response.status_code != httpx.codes.OK:
                        await response.aread()
                    lines, parts = Lines(), response.aiter_bytes()
                    progress.received(response)
                else:
                    while (line := lines.next_line()) is None and lines.add(
                        await anext(parts, None)
                    ):
                        pass
                    progress.read(line)
            except httpx.RequestError as error:
                progress.failed(error)


class Lines:
    """Lines of a stream, put together from the parts in which they arrive.

    A line ends in LF alone: texts of JSON may have other signs that `splitlines` takes for breaks.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._num_bytes = 0
        self._whole: list[bytes] = []
        """Lines that nobody has taken yet, the last one first."""

    def add(self, part: bytes | None) -> bool:
        """Take the next part; False at the end. Raises VerifierNonsense for an endless line."""
        if part is None:
            return False
        *ends, rest = part.split(b"\n")
        if ends:
            ends[0] = b"".join([*self._parts, ends[0]])
            self._parts.clear()
            self._num_bytes = 0
            self._whole = [line for line in reversed(ends) if line.strip()]
        self._parts.append(rest)
        self._num_bytes += len(rest)
        if self._num_bytes > MAX_LINE_BYTES:
            raise VerifierNonsense(f"the stream has a line of more than {MAX_LINE_BYTES} bytes")
        return True

    def next_line(self) -> bytes | None:
        """The next line; None where more parts are needed."""
        return self._whole.pop() if self._whole else None


class _Progress(Generic[Step]):
    """A conversation under way; `result` is set when no step is left."""

    result: Any

    def __init__(self, conversation: Generator[Step, Any, Any]) -> None:
        self._conversation = conversation
        self._reply: Response | NoResponse | Line | None = None

    def next_step(self) -> Step | None:
        reply, self._reply = self._reply, None
        try:
            return self._conversation.send(reply)
        except StopIteration as end:
            self.result = end.value
            return None

    def received(self, response: httpx.Response) -> None:
        """Hand on a response that was read to its end, or the head of a stream."""
        self._reply = Response(
            str(response.url),
            response.status_code,
            response.content if response.is_closed else b"",
            response.headers.get("retry-after"),
            response.headers.get("x-request-id"),
            response.headers.get("location"),
        )

    def read(self, line: bytes | None) -> None:
        """Hand on a line of a stream, or None at its end."""
        self._reply = Line(line)

    def failed(self, error: httpx.RequestError) -> None:
        """Note that no response came; raises VerifierUnauthorized for a header of no use."""
        if not isinstance(error, httpx.LocalProtocolError):
            self._reply = NoResponse(f"{type(error).__name__}: {error}")
            return
        # Its message may quote a header's value, which may be the key.
        if str(error).startswith("Illegal header"):
            raise VerifierUnauthorized(
                "a header of the request has a value that cannot be sent, which is not shown here "
                "because it may be a key"
            ) from None
        self._reply = NoResponse(type(error).__name__)


@cache
def _certificates() -> SSLContext:
    """The certificates that are trusted; reading them takes longer than judging."""
    return httpx.create_ssl_context()
