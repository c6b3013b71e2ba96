"""The client's side of the wire without input and output: requests, waits, retries.

A conversation is a generator. It yields a `Request` to send or a `Wait`, and is sent the reply to
each request: a `Response` or `NoResponse`. Verification is a pure function of the request, so
another attempt is always safe. The service forbids unknown fields and this side ignores them, so an
older client works with a newer service.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from reward_verifier.completion_group import CompletionGroup
from reward_verifier.deadline import deadline_seconds
from reward_verifier.errors import (
    VerifierNonsense,
    VerifierRejected,
    VerifierUnauthorized,
    VerifierUnavailable,
)
from reward_verifier.retries import RETRIED_STATUSES, Attempts, Wait, read_retry_after
from reward_verifier.service_access import ServiceAccess
from reward_verifier.verdict import ScoredCompletion, read_groups

T = TypeVar("T")

UNKNOWN_ROUTE_STATUSES = (404, 405)
"""Statuses that no verifier service gives to the requests of a client."""
OVERLOADED_STATUSES = (429, 503)
"""Statuses of a service that runs and takes no more work now."""
MAX_MESSAGE_CHARACTERS = 2000
"""Longest message of the service that an error quotes."""
MAX_SHOWN_OF_OTHERS = 40
"""Longest beginning of a page of another server that an error quotes."""
MAX_EXCERPT_CHARACTERS = 200
"""Longest beginning of a body that an error quotes."""


@dataclass(frozen=True)
class Request:
    """An HTTP request to send; `path` is relative to the service's address."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    """Sent as JSON; None: no body."""
    is_streamed: bool = False
    """Whether the response has a line for each group, sent as soon as the group is judged."""

    @property
    def may_be_compressed(self) -> bool:
        """Whether the route takes compressed bodies: that of scores alone does."""
        return self.path == "/v1/score"


@dataclass(frozen=True)
class Response:
    """An HTTP response, read to its end; of a stream that was accepted, the head."""

    url: str
    status: int
    content: bytes
    retry_after: str | None = None
    """The header Retry-After."""
    request_id: str | None = None
    """The header X-Request-Id, by which the service's log tells of the request."""
    location: str | None = None
    """The header Location of a redirect."""

    @property
    def service_message(self) -> str | None:
        """The message in the service's error body; None where the body is another one."""
        try:
            return str(json.loads(self.content)["error"]["message"])[:MAX_MESSAGE_CHARACTERS]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    @property
    def error_type(self) -> str | None:
        """The type in the service's error body; None where the body is another one."""
        try:
            return str(json.loads(self.content)["error"]["type"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    @property
    def error_message(self) -> str:
        """The service's message, or else the start of the body, with the id of the request."""
        named = "" if self.request_id is None else f" (request id {self.request_id[:100]})"
        return (self.service_message or excerpt_of(self.content)) + named

    @property
    def is_of_a_service(self) -> bool:
        """Whether the body has the form of a verifier service's.

        It is an object, and has `error` unless the status is 200.
        """
        try:
            body = json.loads(self.content)
        except (ValueError, RecursionError):
            return False
        return isinstance(body, dict) and (self.status == 200 or "error" in body)

    @property
    def trouble(self) -> str:
        """The status with its message, where the status asks for another attempt."""
        return f"status {self.status}: {self.error_message}"

    @property
    def retry_after_seconds(self) -> float:
        """The wait that the service asks for."""
        return read_retry_after(self.retry_after)


def excerpt_of(content: bytes) -> str:
    """The start of a body, quoted."""
    return repr(
        content[: 4 * MAX_EXCERPT_CHARACTERS].decode(errors="replace")[:MAX_EXCERPT_CHARACTERS]
    )


@dataclass(frozen=True)
class NoResponse:
    """A request that got no response: the connection failed, or the time limit passed."""

    trouble: str
    """The error of the transport."""
    retry_after_seconds: float = 0.0


Reply = Response | NoResponse

Conversation: TypeAlias = Generator[Request | Wait, Reply | None, T]
"""Yields requests and waits, is sent the reply to each request, and returns a result."""


def check_readiness(access: ServiceAccess) -> Conversation[None]:
    """Return when the service is ready.

    Raises:
        VerifierUnavailable, VerifierRejected: it is away, or refuses the key.
        VerifierNonsense: another server answers at the address.
    """
    response = yield from usable(access, Request("GET", "/readyz"), access.attempts())
    if not response.is_of_a_service:
        raise VerifierNonsense(
            f"{access.url} is not a verifier service: its /readyz gives status {response.status} "
            f"and begins {excerpt_of(response.content)[:MAX_SHOWN_OF_OTHERS]}. Give the address "
            f"that `verifier-service serve` prints as {access.url_setting}"
        )
    raise_unless_accepted(response, access)


def check_selection(access: ServiceAccess, selection: Mapping[str, Any]) -> Conversation[None]:
    """Return when the service has accepted a choice of verifiers; raises VerifierError.

    Args:
        access: the service.
        selection: `{"verifiers": [...]}` or `{"profile": name}`, as in `POST /v1/score`.
    """
    request = Request("POST", "/v1/score", {**selection, "groups": []})
    response = yield from ask(access, request, access.attempts())
    _read_scores(response)


def score(
    access: ServiceAccess, selection: Mapping[str, Any], groups: Sequence[CompletionGroup]
) -> Conversation[list[list[ScoredCompletion]]]:
    """The scored completions of each group, all in the order in which they are given.

    Groups with `failed` verdicts are sent again, `max_failed_attempts` times in all. A completion
    that keeps failing is returned with its `failed` verdicts, which have no score and are never 0.

    Args:
        access: the service.
        selection: `{"verifiers": [...]}` or `{"profile": name}`, as in `POST /v1/score`.
        groups: completions to score, each group by one reference.

    Raises:
        VerifierUnavailable: no attempt had a usable response.
        VerifierRejected: the service refused the request, or its response is no verdicts.
    """
    if not groups:
        return []
    attempts = access.attempts()
    scored = yield from _score_once(access, selection, groups, attempts)
    for _ in range(access.max_failed_attempts - 1):
        if not attempts.left:
            break
        # Whole groups: some verifiers judge a completion by the others of its group.
        failed = [index for index, group in enumerate(scored) if any(one.failure for one in group)]
        if not failed:
            break
        yield attempts.wait()
        try:
            again = yield from _score_once(
                access, selection, [groups[index] for index in failed], attempts
            )
        except VerifierUnavailable:
            break  # verdicts of earlier attempts are kept
        for index, group in zip(failed, again, strict=True):
            scored[index] = [
                new if old.failure else old for old, new in zip(scored[index], group, strict=True)
            ]
    return scored


def score_request(
    access: ServiceAccess,
    selection: Mapping[str, Any],
    groups: Sequence[CompletionGroup],
    *,
    is_streamed: bool = False,
) -> Request:
    """The request for the verdicts on groups."""
    body = {
        "deadline_seconds": deadline_seconds(access.timeout_seconds),
        **selection,
        "groups": [group.wire for group in groups],
    }
    return Request("POST", "/v1/score", body, is_streamed=is_streamed)


def ask(access: ServiceAccess, request: Request, attempts: Attempts) -> Conversation[Response]:
    """The first usable response; raises VerifierUnavailable and VerifierRejected."""
    response = yield from usable(access, request, attempts)
    raise_unless_accepted(response, access)
    return response


def usable(access: ServiceAccess, request: Request, attempts: Attempts) -> Conversation[Response]:
    """The first response whose status asks for no other attempt; raises VerifierUnavailable.

    Args:
        access: the service.
        request: to send each time.
        attempts: that are left.
    """
    while True:
        attempts.begin()
        reply = yield request
        assert reply is not None, "the driver of a conversation answers each request"
        if isinstance(reply, Response) and reply.status not in RETRIED_STATUSES:
            return reply
        if not attempts.left:
            raise unavailable(access, reply)
        yield attempts.wait(asked_seconds=reply.retry_after_seconds, trouble=reply.trouble)


def unavailable(access: ServiceAccess, last: Reply) -> VerifierUnavailable:
    """The error when the attempts are used up.

    Args:
        access: the service.
        last: the reply to the last attempt.
    """
    plural = "" if access.max_attempts == 1 else "s"
    attempts = f"after {access.max_attempts} attempt{plural}; the last one: {last.trouble}"
    if isinstance(last, Response) and last.status in OVERLOADED_STATUSES and last.service_message:
        return VerifierUnavailable(
            f"no verdicts from the verifier at {access.url} {attempts}. It runs, the message is "
            "its own; where it has too much work, send less at a time, give it more workers, or "
            "raise max_attempts"
        )
    scheme = ""
    if "WRONG_VERSION_NUMBER" in last.trouble or "record layer failure" in last.trouble:
        scheme = " The server there speaks HTTP without TLS: such an address begins with http://."
    return VerifierUnavailable(
        f"no answer from the verifier at {access.url} {attempts}. Is it running "
        f"(`verifier-service serve`) and is {access.url_setting} right?"
        f"{scheme}{access.proxy_advice}"
    )


def raise_unless_accepted(response: Response, access: ServiceAccess) -> None:
    """Raise VerifierRejected for a response that is not 200."""
    if response.status == 200:
        return
    is_ours = response.service_message is not None
    refused = f"{response.url} refused the request with {response.status}: {response.error_message}"
    if response.status == 401:
        raise VerifierUnauthorized(f"{refused}. {access.key_advice}")
    if is_ours and response.status not in UNKNOWN_ROUTE_STATUSES:
        raise VerifierRejected(refused)
    if response.location is not None:
        refused = f"{response.url} leads to {response.location[:MAX_EXCERPT_CHARACTERS]!r}"
    raise VerifierNonsense(
        f"{refused}. A verifier service does not answer so: is {access.url_setting} right? It is "
        "an address such as http://127.0.0.1:8080"
    )


def _score_once(
    access: ServiceAccess,
    selection: Mapping[str, Any],
    groups: Sequence[CompletionGroup],
    attempts: Attempts,
) -> Conversation[list[list[ScoredCompletion]]]:
    """The scored completions of the first usable response; raises VerifierError."""
    response = yield from ask(access, score_request(access, selection, groups), attempts)
    scored = _read_scores(response)
    check_complete(scored, response, selection, groups)
    return scored


def _read_scores(response: Response) -> list[list[ScoredCompletion]]:
    """The scored completions of each group; raises VerifierNonsense."""
    try:
        return read_groups(response.content)
    except ValueError as error:
        raise no_scores(response, error) from error


def no_scores(response: Response, error: ValueError, line: bytes | None = None) -> VerifierNonsense:
    """The error for an accepted response without scores.

    Args:
        response: the whole of it, or the head of a stream.
        error: why it cannot be read.
        line: the line of a stream that cannot be read.
    """
    begins = excerpt_of(response.content if line is None else line)
    return VerifierNonsense(
        f"{response.url} did not answer as a verifier service: it did not answer with scores "
        f"({error}); the response begins {begins}"
    )


def check_complete(
    scored: list[list[ScoredCompletion]],
    response: Response,
    selection: Mapping[str, Any],
    groups: Sequence[CompletionGroup],
) -> None:
    """Raise VerifierNonsense unless each completion has a verdict of each selected verifier."""
    expected = [len(group.completions) for group in groups]
    found = [len(group) for group in scored]
    if found != expected:
        asked = f"one group of {expected[0]}" if len(expected) == 1 else f"groups of {expected}"
        raise VerifierNonsense(
            f"{response.url} was asked about {asked} completions and answered for groups of {found}"
        )
    of_request = _names_in(selection)
    for group, completions in zip(groups, scored, strict=True):
        names = _names_in(group.selection) if group.selection else of_request
        for one in completions:
            if not names <= one.verdicts.keys():
                raise VerifierNonsense(
                    f"{response.url} was asked for verdicts of {sorted(map(str, names))} and "
                    f"answered with {sorted(one.verdicts)}"
                )


def _names_in(selection: Mapping[str, Any]) -> set[Any]:
    """The names of selected verifiers; the service alone knows those of a profile."""
    return {item.get("name") or item.get("type") for item in selection.get("verifiers", ())}
