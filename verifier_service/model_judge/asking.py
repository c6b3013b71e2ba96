"""Calls for questions: endpoints in turn, tries, budgets and bounds, counted."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from verifier_service.model_judge.call_failed import CallFailed
from verifier_service.model_judge.calls import MAX_REPLY_BYTES, post
from verifier_service.model_judge.connections import Connections
from verifier_service.model_judge.endpoints import Endpoint, Rotation
from verifier_service.model_judge.reasons import CallReason
from verifier_service.model_judge.replies import JudgeReply, Said, read_reply
from verifier_service.model_judge.tries import first_reply
from verifier_service.model_judge.wording import Wording

MINUTE_SECONDS = 60.0

_Read = TypeVar("_Read")


@dataclass(frozen=True, kw_only=True)
class AskingOptions:
    """Endpoints, and how often they are called."""

    endpoints: tuple[Endpoint, ...]
    key: str | None = None
    num_calls_at_once: int = 64
    max_calls_per_minute: int | None = None
    seconds: float = 30.0
    """Longest time that one reply may take, with all its calls."""


class Asking:
    """Calls endpoints that serve one model; open as long as its context.

    Args:
        options: whom to call, and how often.
    """

    def __init__(self, options: AskingOptions) -> None:
        self.num_tokens: Counter[str] = Counter()
        """Tokens by `prompt` and `reply`, as the endpoints count them."""
        self.num_calls: Counter[str] = Counter()
        """Calls by their result: `answered`, or the reason of a failure."""
        self._options = options
        self._rotation = Rotation(options.endpoints)
        self._slots = asyncio.Semaphore(options.num_calls_at_once)
        self._secret = secrets.token_bytes(32)
        self._minute = 0
        self._num_in_minute = 0
        self._connections = Connections(key=options.key, max_body_bytes=MAX_REPLY_BYTES)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._connections.close()

    def mark(self, question: str) -> str:
        """A code for a question that nobody who writes a completion can know."""
        return hashlib.blake2b(question.encode(), key=self._secret, digest_size=12).hexdigest()

    async def said(self, wording: Wording, model: str, messages: list[dict[str, str]]) -> Said:
        """The decision of a model on messages, at temperature 0. Raises CallFailed."""
        content = {
            "model": model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": wording.max_tokens,
            **wording.constraint,
        }

        def read(reply: JudgeReply) -> Said:
            said = wording.said(reply)
            if said is None:  # at temperature 0, it would say the same again
                raise CallFailed(CallReason.UNREADABLE, may_pass=False)
            return said

        return await self.reply(content, read)

    async def reply(self, content: Mapping[str, Any], read: Callable[[JudgeReply], _Read]) -> _Read:
        """The content of the first readable reply to a chat completion. Raises CallFailed."""

        def read_counted(body: bytes) -> _Read:
            reply = read_reply(body)
            self.num_tokens["prompt"] += reply.num_prompt_tokens
            self.num_tokens["reply"] += reply.num_reply_tokens
            return read(reply)

        return await self.called("/chat/completions", content, read_counted)

    async def called(
        self, path: str, content: Mapping[str, Any], read: Callable[[bytes], _Read]
    ) -> _Read:
        """The content of the first response that can be read.

        Args:
            path: behind the address of an endpoint.
            content: that is sent, as JSON.
            read: reads the body of a response, and may raise CallFailed.

        Raises:
            CallFailed: no call had such a response.
        """
        async with self._slots:
            try:
                async with asyncio.timeout(self._options.seconds):
                    return await self._tried(path, content, read)
            except TimeoutError as error:
                self.num_calls[CallReason.TIMED_OUT] += 1
                raise CallFailed(CallReason.TIMED_OUT) from error

    async def _tried(
        self, path: str, content: Mapping[str, Any], read: Callable[[bytes], _Read]
    ) -> _Read:
        async def counted() -> _Read:
            try:
                return await self._once(path, content, read)
            except CallFailed as error:
                self.num_calls[error.reason] += 1
                raise

        return await first_reply(counted, seconds=self._options.seconds)

    async def _once(
        self, path: str, content: Mapping[str, Any], read: Callable[[bytes], _Read]
    ) -> _Read:
        self._spend_call()
        url = f"{self._rotation.take().url}{path}"
        found = read(await post(self._connections, url, content))
        self.num_calls["answered"] += 1
        return found

    def _spend_call(self) -> None:
        """Take a call from the minute's budget. Raises CallFailed."""
        minute = int(time.monotonic() / MINUTE_SECONDS)
        if minute != self._minute:
            self._minute, self._num_in_minute = minute, 0
        most = self._options.max_calls_per_minute
        if most is not None and self._num_in_minute >= most:
            raise CallFailed(CallReason.OVER_BUDGET, may_pass=False)
        self._num_in_minute += 1
