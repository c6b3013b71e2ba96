"""The trainer's client of a verifier service: scores groups of completions."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from reward_verifier.client import connection_options, converse_async
from reward_verifier.completion_group import CompletionGroup
from reward_verifier.errors import VerifierRejected
from reward_verifier.protocol import Conversation, check_readiness, check_selection, score
from reward_verifier.retries import Wait
from reward_verifier.service_access import ServiceAccess
from reward_verifier.verdict import Verdicts
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.reward.selection import VerifierSelection
from trainer_client.run.console import say

T = TypeVar("T")

MAX_REMEMBERED_FAILURES = 10_000
"""Completions with verdicts that failed, by 16 bytes each."""


@dataclass(frozen=True)
class SampledText:
    """A completion and the sampler's facts about it, which verifiers of length need."""

    text: str
    num_tokens: int
    truncated: bool


@dataclass(frozen=True)
class SampledChat:
    """A completion of several turns, whose last message of the assistant the service judges."""

    messages: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class ScoreRequest:
    """One group to score."""

    completions: tuple[str | SampledText | SampledChat, ...]
    reference: dict[str, Any]
    prompt: str | None = None
    selection: VerifierSelection | None = None
    """None: the run's verifiers."""


class VerifierClient:
    """Scores groups, one request each, any number at a time.

    The service's API key, if it wants one, is the environment's REWARD_VERIFIER_API_KEY: a run
    writes its configuration down, and a secret does not belong there.

    | call | waits until |
    |---|---|
    | `await client.score(group)` | the group has verdicts, in order |
    | `await client.check()` | the service is ready and has accepted the run's verifiers |
    | `await client.check_ready()` | the service is ready |
    | `await client.check_accepted(selection)` | the service has accepted these verifiers |

    A group with `failed` verdicts (the service's fault) is sent again, whole, within the attempts;
    a verdict that keeps failing is returned as `failed`. It has no score and is never a 0. The
    client remembers its text: a group that has it again is asked for once, not waited for in each
    step, and a verdict with a score ends the memory.
    """

    def __init__(
        self,
        config: RewardConfig,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._access = ServiceAccess(
            url=config.url,
            url_setting="reward.url",
            timeout_seconds=config.timeout_seconds,
            max_attempts=config.max_attempts,
            backoff_seconds=config.backoff_seconds,
        )
        self._selection = VerifierSelection(config.verifiers)
        self._http = httpx.AsyncClient(transport=transport, **connection_options(self._access))
        self._sleep = sleep
        self._failing: dict[bytes, None] = {}
        self._has_responded = False
        self._has_announced_wait = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def check(self, *asked: tuple[str, VerifierSelection]) -> None:
        """Raise VerifierError unless the service is ready and accepts the verifiers to be used.

        Args:
            asked: choices of verifiers, each with the place that names it; the run's own are
                checked where no choice is given.
        """
        await self.check_ready()
        for place, selection in asked or [("reward.verifiers", self._selection)]:
            if selection == VerifierSelection():
                continue
            try:
                await self.check_accepted(selection)
            except VerifierRejected as error:
                raise VerifierRejected(f"{error} (asked by {place})") from error

    async def check_ready(self) -> None:
        """Raise VerifierError unless a verifier service is ready at the address."""
        await self._converse(check_readiness(self._access))

    async def check_accepted(self, selection: VerifierSelection) -> None:
        """Raise VerifierError unless the service accepts the verifiers, with their weights."""
        await self._converse(check_selection(self._access, selection.weighted_wire))

    async def score(self, group: ScoreRequest) -> list[Verdicts]:
        """The verdicts on each completion, in order; raises VerifierError.

        They are empty where no verifier is selected, as when only evaluations need the service.
        """
        selection = group.selection or self._selection
        if selection == VerifierSelection():
            return [{} for _ in group.completions]
        completions = [_wire(item) for item in group.completions]
        sent = CompletionGroup(completions, group.reference, group.prompt)
        digests = [_digest(selection.wire, group.reference, item) for item in group.completions]
        access = self._access
        if any(digest in self._failing for digest in digests):
            access = replace(access, max_failed_attempts=1)
        (scored,) = await self._converse(score(access, selection.wire, [sent]))
        for digest, completion in zip(digests, scored, strict=True):
            self._remember(digest, fails=completion.failure is not None)
        return [completion.verdicts for completion in scored]

    def _remember(self, digest: bytes, *, fails: bool) -> None:
        """Note whether a completion's verdicts fail; of too many, the oldest is forgotten."""
        self._failing.pop(digest, None)
        if fails:
            self._failing[digest] = None
        if len(self._failing) > MAX_REMEMBERED_FAILURES:
            del self._failing[next(iter(self._failing))]

    async def _converse(self, conversation: Conversation[T]) -> T:
        result = await converse_async(conversation, self._http, self._wait)
        self._has_responded = True
        return result

    async def _wait(self, wait: Wait) -> None:
        """Sleep; tell once that the service has not responded yet: it may not have been started."""
        if wait.trouble and not self._has_responded and not self._has_announced_wait:
            self._has_announced_wait = True
            say(f"waiting for the verifier at {self._access.url} ({wait.trouble})")
        await self._sleep(wait.seconds)


def _wire(completion: str | SampledText | SampledChat) -> Any:
    """A completion in a request's body."""
    if isinstance(completion, SampledChat):
        return list(completion.messages)
    return completion if isinstance(completion, str) else asdict(completion)


def _digest(
    selection: dict[str, Any],
    reference: dict[str, Any],
    completion: str | SampledText | SampledChat,
) -> bytes:
    """A short name of the question about one completion."""
    judged = completion.text if isinstance(completion, SampledText) else _wire(completion)
    question = json.dumps([selection, reference, judged], sort_keys=True)
    return hashlib.blake2b(question.encode(), digest_size=16).digest()
