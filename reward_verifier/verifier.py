"""`Verifier`: a service and the verifiers to use, for code that blocks and code that awaits."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from types import TracebackType
from typing import Any, Self

import httpx

from reward_verifier.client import (
    connection_options,
    converse,
    converse_async,
    converse_streaming,
    converse_streaming_async,
)
from reward_verifier.completion_group import CompletionGroup, wire_verifiers
from reward_verifier.errors import VerifierRejected, VerifierUnavailable
from reward_verifier.execution import ExecutionResult, end_session, execute, open_session
from reward_verifier.protocol import Conversation, score
from reward_verifier.request_content import UnsendableValue, require_sendable
from reward_verifier.service_access import ServiceAccess
from reward_verifier.session import AsyncSession, Session
from reward_verifier.streaming import GroupScores, StreamedConversation, stream_scores
from reward_verifier.verdict import ScoredCompletion

URL_VARIABLE, PROFILE_VARIABLE = "REWARD_VERIFIER_URL", "REWARD_VERIFIER_PROFILE"
DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_PROFILE = "accuracy"

Completion = str | Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""A text, a list of chat messages, or an object with `text`, `num_tokens` and `truncated`."""
Reference = Mapping[str, Any]
Selection = Mapping[str, Any]
"""Verifiers for one problem: `{"verifiers": [...]}` or `{"profile": name}`."""


@dataclass(frozen=True)
class Judgement:
    """The reward of one completion and the verdicts behind it."""

    reward: float | None
    """The weighted sum of the scores; None where the reference does not permit to judge."""
    verdicts: dict[str, dict[str, Any]]
    """Verifier name -> its verdict as the service sent it: `outcome`, `score`, `reason`, ..."""

    @property
    def score(self) -> float | None:
        """The first verifier's score, without its weight."""
        score: float | None = self._first["score"]
        return score

    @property
    def reason(self) -> str:
        """The first verifier's reason."""
        return str(self._first["reason"])

    @property
    def why(self) -> str:
        """The first verifier's reason, followed by the service's message if it sent one."""
        message = (self._first.get("details") or {}).get("message")
        return self.reason if message is None else f"{self.reason}: {message}"

    @property
    def _first(self) -> dict[str, Any]:
        return next(iter(self.verdicts.values()))


@dataclass
class _OpenConnections:
    """The connections that a `Verifier` keeps while it is a context."""

    blocking: httpx.Client | None = None
    awaiting: httpx.AsyncClient | None = None


@dataclass(frozen=True)
class Verifier:
    """A service and the verifiers to use. Can be pickled, copied, and shared by threads.

    | call | result |
    |---|---|
    | `verifier.score(completions, reference)` | one problem: a `ScoredCompletion` of each |
    | `verifier.score_groups(groups)` | several problems: such a list of each |
    | `verifier.stream(groups)` | the lists one by one, in order, each as soon as it is there |
    | `verifier.judge(completions, references)` | a `Judgement` of each, by its own reference |
    | `verifier.execute(programs)` | an `ExecutionResult` of each; nothing is judged |
    | `with verifier.session() as session: session.run(code)` | an interpreter with a state |

    Each has a twin for code that awaits: `score_async`, `score_groups_async`, `stream_async`,
    `judge_async`, `execute_async`, `session_async`. They try again where that can help.
    Verification is a pure function of the request, and calls of a session are numbered, so that is
    always safe. A call has connections of its own, unless it is made in a block:
    `with Verifier(...) as verifier:` or `async with` keep them for the calls inside.

    A verdict without a score is never a 0. What the service could not judge, after all attempts,
    has the outcome `failed`, the score None and the reward None; so has what the reference does not
    permit to judge, with the outcome `unverifiable`.

    Args:
        url: address of the service; default: the environment's REWARD_VERIFIER_URL, or port 8080
            of this machine.
        profile: name of a list of verifiers of the service; default: the environment's
            REWARD_VERIFIER_PROFILE, or `accuracy`.
        verifiers: a list of verifiers as in `POST /v1/score`, instead of a profile; a type alone
            may be a text. One without a `weight` has weight 1.
        api_key: sent as a bearer token, without the white space around it; default: the
            environment's REWARD_VERIFIER_API_KEY.
        timeout_seconds: time limit of one attempt.
        max_attempts: attempts before `VerifierUnavailable`, the first included.
        backoff_seconds: wait before the second attempt; it doubles for each further one.
        transport: an httpx transport that replaces the network; it may read other addresses.

    Raises:
        TypeError: verifiers is a text.
        ValueError: both profile and verifiers are given, the URL has no http:// or https://
            and there is no transport that reads it, or a number is out of its range.
        VerifierUnauthorized: the API key has a character that cannot be sent.
        VerifierUnavailable: every call, if no attempt had a usable response.
        VerifierRejected: every call, if the service refused the request, or something else than a
            verifier service is at the address.
    """

    url: str | None = None
    profile: str | None = None
    verifiers: Sequence[str | Mapping[str, Any]] | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 120.0
    max_attempts: int = 6
    backoff_seconds: float = 0.5
    transport: Any = None
    _open: _OpenConnections = field(
        default_factory=_OpenConnections, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if isinstance(self.verifiers, str):
            raise TypeError(f"verifiers is a text; a list of verifiers is [{self.verifiers!r}]")
        if self.profile is not None and self.verifiers is not None:
            raise ValueError("give either `profile` or `verifiers`, not both")
        if self.transport is None and not self.address.startswith(("http://", "https://")):
            raise ValueError(
                f"{self._url_setting} {self.address!r} needs http:// or https:// before it"
            )
        if not isinstance(self.max_attempts, int) or self.max_attempts < 1:
            raise ValueError(f"max_attempts: expected at least 1, found {self.max_attempts!r}")
        seconds = self.timeout_seconds
        if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
            raise ValueError(f"timeout_seconds: expected a number above 0, found {seconds!r}")
        _ = self._access.key  # a key that cannot be sent is refused at once

    def score(
        self, completions: Sequence[Completion], reference: Reference, *, prompt: str | None = None
    ) -> list[ScoredCompletion]:
        """Score the completions of one problem by its reference, in order."""
        (scored,) = self.score_groups([CompletionGroup(completions, reference, prompt)])
        return scored

    async def score_async(
        self, completions: Sequence[Completion], reference: Reference, *, prompt: str | None = None
    ) -> list[ScoredCompletion]:
        """Score the completions of one problem by its reference, in order."""
        group = CompletionGroup(completions, reference, prompt)
        (scored,) = await self.score_groups_async([group])
        return scored

    def score_groups(self, groups: Sequence[CompletionGroup]) -> list[GroupScores]:
        """Score the completions of each group, all in order, in one request."""
        with self._connections() as http:
            return converse(score(self._access, self._selection, groups), http)

    async def score_groups_async(self, groups: Sequence[CompletionGroup]) -> list[GroupScores]:
        """Score the completions of each group, all in order, in one request."""
        async with self._connections_async() as http:
            return await converse_async(score(self._access, self._selection, groups), http)

    def stream(self, groups: Sequence[CompletionGroup]) -> Generator[GroupScores, None, None]:
        """Score groups in one request; yield each in order, as soon as it and those before it are.

        A stream that breaks off goes on with the groups that it has not brought.
        """
        with (
            self._connections() as http,
            closing(converse_streaming(self._streaming(groups), http)) as scored,
        ):
            yield from scored

    async def stream_async(
        self, groups: Sequence[CompletionGroup]
    ) -> AsyncGenerator[GroupScores, None]:
        """Score groups as `stream` does. A loop that is left early ends it with `aclosing`."""
        async with (
            self._connections_async() as http,
            aclosing(converse_streaming_async(self._streaming(groups), http)) as all_scored,
        ):
            async for scored in all_scored:
                yield scored

    def judge(
        self,
        completions: Sequence[Completion],
        references: Sequence[Reference],
        *,
        selections: Sequence[Selection | None] | None = None,
    ) -> list[Judgement]:
        """Judge each completion by its own reference.

        Args:
            completions: texts or chats.
            references: one for each completion.
            selections: `{"verifiers": [...]}` or `{"profile": name}` for each completion; None:
                those of this object.

        Raises:
            ValueError: a completion or reference cannot be sent; the message names its number.
            VerifierError: a completion has no verdict; that is never taken for a 0.
        """
        with self._connections() as http, _naming_rows(completions, references):
            return converse(self._judging(completions, references, selections), http)

    async def judge_async(
        self,
        completions: Sequence[Completion],
        references: Sequence[Reference],
        *,
        selections: Sequence[Selection | None] | None = None,
    ) -> list[Judgement]:
        """Judge each completion by its own reference; arguments and errors as of `judge`."""
        async with self._connections_async() as http:
            with _naming_rows(completions, references):
                judging = self._judging(completions, references, selections)
                return await converse_async(judging, http)

    def execute(self, executions: Sequence[str | Mapping[str, Any]]) -> list[ExecutionResult]:
        """Run programs in the service's sandbox; their results in order.

        Args:
            executions: each as in `POST /v1/execute`, or the code of a Python program.
        """
        with self._connections() as http:
            return converse(execute(self._access, executions), http)

    async def execute_async(
        self, executions: Sequence[str | Mapping[str, Any]]
    ) -> list[ExecutionResult]:
        """Run programs in the service's sandbox; arguments as of `execute`."""
        async with self._connections_async() as http:
            return await converse_async(execute(self._access, executions), http)

    @contextmanager
    def session(self, **asked: Any) -> Iterator[Session]:
        """An interpreter of the service that keeps its state; it ends with the context.

        Args:
            asked: fields of `POST /v1/sessions`, such as `language`, `packages` and `limits`.
        """
        with self._connections() as http:
            opened = converse(open_session(self._access, asked), http)
            try:
                yield Session(self._access, http, opened)
            finally:
                converse(end_session(self._access, opened), http)

    @asynccontextmanager
    async def session_async(self, **asked: Any) -> AsyncIterator[AsyncSession]:
        """An interpreter of the service that keeps its state; arguments as of `session`."""
        async with self._connections_async() as http:
            opened = await converse_async(open_session(self._access, asked), http)
            try:
                yield AsyncSession(self._access, http, opened)
            finally:
                await converse_async(end_session(self._access, opened), http)

    @property
    def address(self) -> str:
        """The service's URL: the argument, the environment's, or this machine's."""
        address = (self.url or "").strip() or os.environ.get(URL_VARIABLE, "").strip()
        return address.rstrip("/") or DEFAULT_URL

    def __enter__(self) -> Self:
        self._open.blocking = self._new_client()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        http, self._open.blocking = self._open.blocking, None
        if http is not None:
            http.close()

    async def __aenter__(self) -> Self:
        self._open.awaiting = self._new_async_client()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        http, self._open.awaiting = self._open.awaiting, None
        if http is not None:
            await http.aclose()

    def __getstate__(self) -> dict[str, Any]:
        """The fields without open connections, which another process cannot have."""
        return {**self.__dict__, "_open": _OpenConnections()}

    def _new_client(self) -> httpx.Client:
        return httpx.Client(transport=self.transport, **connection_options(self._access))

    def _new_async_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=self.transport, **connection_options(self._access))

    @contextmanager
    def _connections(self) -> Iterator[httpx.Client]:
        """The open connections, or new ones for one call."""
        if self._open.blocking is not None:
            yield self._open.blocking
            return
        with self._new_client() as http:
            yield http

    @asynccontextmanager
    async def _connections_async(self) -> AsyncIterator[httpx.AsyncClient]:
        """The open connections, or new ones for one call."""
        if self._open.awaiting is not None:
            yield self._open.awaiting
            return
        async with self._new_async_client() as http:
            yield http

    @property
    def _url_setting(self) -> str:
        return "url" if self.url else URL_VARIABLE

    @property
    def _access(self) -> ServiceAccess:
        return ServiceAccess(
            url=self.address,
            url_setting=self._url_setting,
            timeout_seconds=self.timeout_seconds,
            max_attempts=self.max_attempts,
            backoff_seconds=self.backoff_seconds,
            api_key=self.api_key,
        )

    @property
    def _selection(self) -> dict[str, Any]:
        """The part of a request that names the verifiers."""
        if self.verifiers is None:
            return {"profile": self.profile or os.environ.get(PROFILE_VARIABLE) or DEFAULT_PROFILE}
        return {"verifiers": [{"weight": 1.0, **one} for one in wire_verifiers(self.verifiers)]}

    def _streaming(self, groups: Sequence[CompletionGroup]) -> StreamedConversation:
        return stream_scores(self._access, self._selection, groups)

    def _judging(
        self,
        completions: Sequence[Completion],
        references: Sequence[Reference],
        selections: Sequence[Selection | None] | None,
    ) -> Conversation[list[Judgement]]:
        access = self._access
        groups = _groups(completions, references, selections or [None] * len(completions))
        scored = list(chain(*(yield from score(access, self._selection, groups))))
        failures = sorted({one.failure for one in scored if one.failure})
        if failures:
            tries = min(access.max_attempts, access.max_failed_attempts)
            raise VerifierUnavailable(
                f"no verdict from {access.url} after {tries} attempts; verdicts are "
                f"`failed`: {failures}. The service's log says more"
            )
        if any(one.reward is None and _is_all_scored(one) for one in scored):
            raise VerifierRejected(
                f"{access.url} gave no reward for a completion that all verifiers have scored: "
                "the weight of every verifier is 0"
            )
        return [Judgement(one.reward, one.fields) for one in scored]


def _groups(
    completions: Sequence[Completion],
    references: Sequence[Reference],
    selections: Sequence[Selection | None],
) -> list[CompletionGroup]:
    """Neighbours with equal references share a group, so that the reference is sent once."""
    if len(references) != len(completions):
        raise ValueError(f"{len(completions)} completions with {len(references)} references")
    if len(selections) != len(completions):
        raise ValueError(f"{len(completions)} completions with {len(selections)} selections")
    groups: list[tuple[Reference, Selection | None, list[Completion]]] = []
    for completion, reference, selection in zip(completions, references, selections, strict=True):
        if groups and _is_same(groups[-1][0], reference) and _is_same(groups[-1][1], selection):
            groups[-1][2].append(completion)
        else:
            groups.append((reference, selection, [completion]))
    return [
        CompletionGroup(members, reference, **(selection or {}))
        for reference, selection, members in groups
    ]


@contextmanager
def _naming_rows(
    completions: Sequence[Completion], references: Sequence[Reference]
) -> Iterator[None]:
    """Name the row of a value that cannot be sent; the body has groups of rows."""
    try:
        yield
    except UnsendableValue:
        for row, (one, reference) in enumerate(zip(completions, references, strict=True)):
            require_sendable(one, f"row {row}: completion")
            require_sendable(reference, f"row {row}: reference")
        raise


def _is_same(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether two objects are the same JSON; for Python `1`, `1.0` and `True` are equal."""
    return one is other or (one == other and repr(one) == repr(other))


def _is_all_scored(completion: ScoredCompletion) -> bool:
    return all(verdict.outcome == "scored" for verdict in completion.verdicts.values())
