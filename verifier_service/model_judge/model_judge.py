"""The judge that is a model: questions become votes, votes become calls, and calls a verdict.

Nothing here decides for want of a vote. An answer has a score once more than half of all votes
agree, so lost votes change no score: they only leave it out.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import msgspec

from verifier_service.model_judge.calls import CallFailed, JudgeReply, call
from verifier_service.model_judge.clients import Clients
from verifier_service.model_judge.endpoints import Endpoint, Rotation
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.model_judge.reasons import JudgeReason
from verifier_service.model_judge.templates import Template
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import MAX_EXTRACTED_CHARACTERS

TRIES = 3
"""Calls for one vote, one after the other; each goes to the next endpoint."""
FIRST_PAUSE_SECONDS = 0.05
"""Pause before the second call for a vote; before the third it is four times as long."""
MINUTE_SECONDS = 60.0

_open_answer = msgspec.json.Decoder(OpenAnswer)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The model to ask, and how often it is asked."""

    endpoints: tuple[Endpoint, ...]
    model: str
    template_name: str
    template: Template
    key: str | None = None
    num_votes: int = 1
    """Votes on an answer, an odd number."""
    num_calls_at_once: int = 64
    max_questions_per_request: int | None = None
    max_calls_per_minute: int | None = None
    seconds: float = 30.0
    """Longest time that one vote may take, with all its calls."""


@dataclass(frozen=True)
class _Vote:
    """A vote, or the reason why it is lost."""

    is_equal: bool | None
    reason: JudgeReason | None = None


class ModelJudge:
    """Asks the model; open as long as its context.

    Args:
        options: whom to ask, and how often.
    """

    def __init__(self, options: JudgeOptions) -> None:
        self.max_questions = options.max_questions_per_request
        self.num_decided = 0
        """Answers that the model has scored."""
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
        key = {"Authorization": f"Bearer {options.key}"} if options.key else {}
        self._clients = Clients(headers=key, seconds=options.seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._clients.close()

    async def ask(self, question: str) -> Verdict:
        """The verdict on an `OpenAnswer` in JSON."""
        start = time.perf_counter()
        answer = _open_answer.decode(question)
        mark = hmac.digest(self._secret, question.encode(), "sha256").hex()[:24]
        votes = await self._votes(answer, mark)
        return self._verdict(answer, votes, time.perf_counter() - start)

    async def _votes(self, answer: OpenAnswer, mark: str) -> list[_Vote]:
        """Votes until more than half of all agree, or no longer can."""
        needed = self._options.num_votes // 2 + 1
        votes: list[_Vote] = []
        while True:
            most = max(sum(one.is_equal is side for one in votes) for side in (True, False))
            left = self._options.num_votes - len(votes)
            missing = needed - most
            if missing <= 0 or missing > left:
                return votes
            first = len(votes)
            votes += await asyncio.gather(
                *(self._vote(answer, mark, first + number) for number in range(missing))
            )

    async def _vote(self, answer: OpenAnswer, mark: str, number: int) -> _Vote:
        """One vote; every other one sees the answers in the other order."""
        template = self._options.template
        messages = template.messages(answer, mark=mark, swapped=number % 2 == 1)
        content = {
            "model": self._options.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": template.max_tokens,
            **template.constraint,
        }
        async with self._slots:
            try:
                async with asyncio.timeout(self._options.seconds):
                    return await self._tried(content)
            except TimeoutError:
                self.num_calls[JudgeReason.TIMED_OUT] += 1
                return _Vote(None, JudgeReason.TIMED_OUT)

    async def _tried(self, content: dict[str, Any]) -> _Vote:
        """The vote of the first call that has one."""
        end = time.monotonic() + self._options.seconds
        pause = FIRST_PAUSE_SECONDS
        for number in range(TRIES):
            try:
                return _Vote(await self._decision(content))
            except CallFailed as error:
                self.num_calls[error.reason] += 1
                wait = max(error.retry_after_seconds, pause)
                is_last = number == TRIES - 1 or not error.may_pass
                if is_last or time.monotonic() + wait >= end:
                    return _Vote(None, error.reason)
            await asyncio.sleep(wait)
            pause *= 4
        raise AssertionError("the last try returns")

    async def _decision(self, content: dict[str, Any]) -> bool:
        """The decision of one call. Raises CallFailed."""
        self._spend_call()
        with self._clients.borrowed() as client:
            reply = await call(client, self._rotation.take(), content)
        self._count(reply)
        is_equal = self._options.template.decision(reply.text)
        if is_equal is None:  # at temperature 0, it would say the same again
            raise CallFailed(JudgeReason.UNREADABLE, may_pass=False)
        self.num_calls["answered"] += 1
        return is_equal

    def _spend_call(self) -> None:
        """Take a call from the minute's budget. Raises CallFailed."""
        minute = int(time.monotonic() / MINUTE_SECONDS)
        if minute != self._minute:
            self._minute, self._num_in_minute = minute, 0
        most = self._options.max_calls_per_minute
        if most is not None and self._num_in_minute >= most:
            raise CallFailed(JudgeReason.OVER_BUDGET, may_pass=False)
        self._num_in_minute += 1

    def _count(self, reply: JudgeReply) -> None:
        self.num_tokens["prompt"] += reply.num_prompt_tokens
        self.num_tokens["reply"] += reply.num_reply_tokens

    def _verdict(self, answer: OpenAnswer, votes: list[_Vote], seconds: float) -> Verdict:
        num_equal = sum(one.is_equal is True for one in votes)
        num_different = sum(one.is_equal is False for one in votes)
        options = self._options
        details: dict[str, Any] = {
            "by": "model",
            "model": options.model,
            "template": f"{options.template_name}@{options.template.version}",
            "votes": {"equal": num_equal, "different": num_different},
            "milliseconds": round(seconds * 1000),
        }
        extracted = answer.answer[:MAX_EXTRACTED_CHARACTERS]
        if max(num_equal, num_different) <= options.num_votes // 2:
            lost = [one.reason for one in votes if one.reason is not None]
            return Verdict(Outcome.FAILED, None, lost[-1], seconds, extracted, details)
        self.num_decided += 1
        is_equal = num_equal > num_different
        reason = JudgeReason.EQUAL if is_equal else JudgeReason.DIFFERENT
        return Verdict(Outcome.SCORED, float(is_equal), reason, seconds, extracted, details)
