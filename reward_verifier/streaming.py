"""Streamed scores without input and output: groups in order, each as soon as it is judged.

The conversation is that of `protocol`, with two steps more. It yields `NextLine` after a streamed
response was accepted, and is sent a `Line` or `NoResponse`; and it yields the completions of a
group, which are for the caller.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from reward_verifier.completion_group import CompletionGroup
from reward_verifier.errors import VerifierNonsense, VerifierUnavailable
from reward_verifier.protocol import (
    NoResponse,
    Reply,
    Request,
    Response,
    ask,
    check_complete,
    no_scores,
    score_request,
    unavailable,
)
from reward_verifier.retries import Attempts, Wait
from reward_verifier.service_access import ServiceAccess
from reward_verifier.verdict import ScoredCompletion, read_line

CUT_OFF = NoResponse("the stream ended before its last line")


@dataclass(frozen=True)
class NextLine:
    """Asks for the next line of the streamed response."""


@dataclass(frozen=True)
class Line:
    """A line of a streamed response, without its line break; None: the stream has ended."""

    content: bytes | None


GroupScores: TypeAlias = list[ScoredCompletion]
"""The scored completions of one group, in order."""
StreamedStep: TypeAlias = Request | NextLine | Wait | GroupScores
StreamedConversation: TypeAlias = Generator[StreamedStep, Reply | Line | None, None]
"""Yields requests, lines to read, waits and groups; is sent the reply to the first two."""


def stream_scores(
    access: ServiceAccess, selection: Mapping[str, Any], groups: Sequence[CompletionGroup]
) -> StreamedConversation:
    """The scored completions of each group, in the order of the groups, as soon as they are there.

    A stream that breaks off keeps what it brought; the rest is asked for again. So are groups with
    `failed` verdicts, `max_failed_attempts` times in all. A group that keeps failing is handed on
    with its `failed` verdicts, which have no score and are never 0.

    Args:
        access: the service.
        selection: `{"verifiers": [...]}` or `{"profile": name}`, as in `POST /v1/score`.
        groups: completions to score, each group by one reference.

    Raises:
        VerifierUnavailable: a group has no verdicts after the last attempt.
        VerifierRejected: the service refused the request, or its response is no verdicts.
    """
    delivery, attempts = _Delivery(groups), access.attempts()
    num_whole_streams = 0
    while open_groups := delivery.open_groups:
        try:
            broken = yield from _read_stream(access, selection, delivery, open_groups, attempts)
        except VerifierUnavailable:
            if delivery.has_missing:
                raise
            break  # verdicts of earlier attempts are kept
        num_whole_streams += broken is None
        is_last = not attempts.left or num_whole_streams == access.max_failed_attempts
        if is_last and broken is not None and delivery.has_missing:
            raise unavailable(access, broken)
        if is_last or not delivery.open_groups:
            break
        yield attempts.wait(trouble=None if broken is None else broken.trouble)
    yield from delivery.rest()


def _read_stream(
    access: ServiceAccess,
    selection: Mapping[str, Any],
    delivery: _Delivery,
    asked: list[int],
    attempts: Attempts,
) -> Generator[StreamedStep, Any, NoResponse | None]:
    """Why a stream of the groups that are asked for broke off; None for one with all of them."""
    groups = [delivery.groups[index] for index in asked]
    request = score_request(access, selection, groups, is_streamed=True)
    response: Response = yield from ask(access, request, attempts)
    waiting = dict(enumerate(asked))
    while True:
        reply: Line | NoResponse = yield NextLine()
        if isinstance(reply, NoResponse):
            return reply
        if reply.content is None:
            return CUT_OFF
        found = _read(reply.content, response)
        if found is None:
            _check_all_came(waiting, response)
            return None
        place, scored = found
        if place not in waiting:
            raise VerifierNonsense(f"{response.url} sent verdicts on group {place}, not asked for")
        check_complete([scored], response, selection, [groups[place]])
        delivery.add(waiting.pop(place), scored)
        yield from delivery.ready()


def _read(line: bytes, response: Response) -> tuple[int, GroupScores] | None:
    try:
        return read_line(line)
    except ValueError as error:
        raise no_scores(response, error, line) from error


def _check_all_came(waiting: Mapping[int, int], response: Response) -> None:
    """Raise VerifierNonsense if groups are missing although the stream has its last line."""
    if waiting:
        raise VerifierNonsense(f"{response.url} sent no verdicts on {len(waiting)} of the groups")


class _Delivery:
    """The groups of a call: which have verdicts, and which the caller has."""

    def __init__(self, groups: Sequence[CompletionGroup]) -> None:
        self.groups = groups
        self._scored: dict[int, GroupScores] = {}
        """The groups with verdicts that the caller does not have yet."""
        self._num_delivered = 0

    @property
    def open_groups(self) -> list[int]:
        """The groups to ask for: those without verdicts, and those with `failed` ones."""
        waiting = range(self._num_delivered, len(self.groups))
        return [index for index in waiting if not self._is_final(index)]

    @property
    def has_missing(self) -> bool:
        """Whether a group has no verdicts."""
        return self._num_delivered + len(self._scored) < len(self.groups)

    def add(self, index: int, scored: GroupScores) -> None:
        """Take verdicts on a group; those that it has and that did not fail are kept."""
        earlier = self._scored.get(index, scored)
        self._scored[index] = [
            new if old.failure else old for old, new in zip(earlier, scored, strict=True)
        ]

    def ready(self) -> Iterator[GroupScores]:
        """The next groups, as far as they have no `failed` verdicts."""
        while self._is_final(self._num_delivered):
            yield self._next()

    def rest(self) -> Iterator[GroupScores]:
        """The other groups."""
        while self._num_delivered < len(self.groups):
            yield self._next()

    def _next(self) -> GroupScores:
        self._num_delivered += 1
        return self._scored.pop(self._num_delivered - 1)

    def _is_final(self, index: int) -> bool:
        return index in self._scored and not any(one.failure for one in self._scored[index])
