"""The client's side of the wire without input and output: requests, waits, retries.

A conversation is a generator. It yields a `Request` to send or a `Wait`, and is sent the reply to
each request: a `Response` or `NoResponse`. Verification is a pure function of the request, so
another attempt is always safe. The service forbids unknown fields and this side ignores them, so an
older client works with a newer service.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from reward_verifier.deadline import deadline_seconds
from reward_verifier.errors import (
    VerifierNonsense,
    VerifierRejected,
    VerifierUnauthorized,
    VerifierUnavailable,
)
from reward_verifier.retries import RETRIED_STATUSES, Attempts, Wait, read_retry_after
from reward_verifier.verdict import ScoredCompletion, read_groups

T = TypeVar("T")

KEY_VARIABLE = "REWARD_VERIFIER_API_KEY"
_LOOPBACK = re.compile(r"127(\.\d{1,3}){3}")
"""An IPv4 address of a machine's own, such as 127.0.0.1."""
MAX_FAILED_ATTEMPTS = 3
"""Requests for one `failed` verdict. A worker that died is replaced at once, so a verdict that
fails again is most likely that of a text that ends every worker."""
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
class ServiceAccess:
    """How to reach a service, and how hard to try.

    Args:
        url: address of the service.
        url_setting: the setting that holds the address; error messages name it.
        timeout_seconds: time limit of one attempt.
        max_attempts: attempts of one conversation's request, the first included.
        backoff_seconds: wait before the second attempt; it doubles for each further one.
        api_key: bearer token, without the white space around it; None: the environment's
            REWARD_VERIFIER_API_KEY, if it is set.
        max_failed_attempts: attempts after which a `failed` verdict stays one.
    """

    url: str
    url_setting: str
    timeout_seconds: float
    max_attempts: int
    backoff_seconds: float
    api_key: str | None = None
    max_failed_attempts: int = MAX_FAILED_ATTEMPTS

    @property
    def is_on_this_machine(self) -> bool:
        """Whether the address is a loopback's, or the one that reaches any of the machine's own."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1", "0.0.0.0", "::") or bool(_LOOPBACK.fullmatch(host))

    @property
    def proxy_advice(self) -> str:
        """The sentence on a proxy of the environment; empty where requests take no proxy."""
        address = urlsplit(self.url)
        proxies = getproxies()
        proxy = proxies.get(address.scheme) or proxies.get("all")
        host = address.hostname or ""
        if not proxy or self.is_on_this_machine or proxy_bypass(host):
            return ""
        return (
            f" Requests go through a proxy of the environment ({address.scheme}_proxy or "
            f"all_proxy); NO_PROXY={host} asks directly."
        )

    @property
    def key(self) -> str | None:
        """The bearer token to send; raises VerifierUnauthorized where no header can hold it."""
        key = self._given_key or os.environ.get(KEY_VARIABLE, "").strip()
        if key.isascii() and key.isprintable():
            return key or None
        raise VerifierUnauthorized(
            f"The API key in the {self._key_place} has a character that no key has: only "
            "printable ASCII can be sent. Give it as new-key prints it"
        )

    @property
    def _given_key(self) -> str:
        return (self.api_key or "").strip()

    @property
    def _key_place(self) -> str:
        return "argument api_key" if self._given_key else f"environment's {KEY_VARIABLE}"

    def attempts(self) -> Attempts:
        """The attempts of a new conversation."""
        return Attempts(self.max_attempts, self.backoff_seconds)

    @property
    def key_advice(self) -> str:
        """The sentence for a person whose key was refused."""
        if not self.key:
            return f"No key was sent: set {KEY_VARIABLE}, or give api_key in Python"
        surplus = ", without 'Bearer '" if self.key.lower().startswith("bearer ") else ""
        return (
            f"The key that was sent is the {self._key_place}; it must be what new-key prints"
            f"{surplus}"
        )


@dataclass(frozen=True)
class CompletionGroup:
    """Completions of one problem, in the form of the wire.

    A batch may mix mathematics, programs and other kinds: each group may name its own verifiers.
    """

    completions: Sequence[Any]
    """Each a text, a list of chat messages, or an object with `text` and lengths.

    The content of a message may be a list of parts of type text, which are joined."""
    reference: Mapping[str, Any]
    prompt: str | None = None
    verifiers: Sequence[str | Mapping[str, Any]] | None = None
    """Verifiers for this group, instead of those of the request; a type alone may be a text."""
    profile: str | None = None
    """Name of a list of verifiers for this group, instead."""
    reference_format: str | None = None
    """Format of a reference that is a row as its data set ships it, or `auto`."""

    def __post_init__(self) -> None:
        """Raise TypeError for what would be taken apart into characters or keys.

        Raise ValueError where both verifiers and a profile are given.
        """
        if self.verifiers is not None and self.profile is not None:
            raise ValueError("give either `profile` or `verifiers` of a group, not both")
        if isinstance(self.verifiers, str | bytes | Mapping):
            raise TypeError("verifiers: expected a list of verifiers, found one")
        if isinstance(self.completions, str | bytes | Mapping):
            kind = type(self.completions).__name__
            raise TypeError(f"completions: expected a list of completions, found one {kind}")
        if not isinstance(self.reference, Mapping):
            raise TypeError(
                'reference: expected an object such as {"answer": "4"}, found '
                f"{type(self.reference).__name__}"
            )

    @property
    def wire(self) -> dict[str, Any]:
        """The group in a request's body."""
        prompt = {} if self.prompt is None else {"prompt": self.prompt}
        completions = [_wire_completion(one) for one in self.completions]
        return {
            **prompt,
            **self.selection,
            "reference": self.reference,
            **self._format,
            "completions": completions,
        }

    @property
    def _format(self) -> dict[str, Any]:
        return {} if self.reference_format is None else {"reference_format": self.reference_format}

    @property
    def selection(self) -> dict[str, Any]:
        """The part of the group that names its own verifiers; empty where it has none."""
        if self.profile is not None:
            return {"profile": self.profile}
        if self.verifiers is None:
            return {}
        return {"verifiers": wire_verifiers(self.verifiers)}


def _wire_completion(completion: Any) -> Any:
    """A completion in the form of the wire: each content of a chat is one text."""
    if not isinstance(completion, list | tuple):
        return completion
    return [
        {**message, "content": "".join(part["text"] for part in message["content"])}
        if isinstance(message, Mapping) and _is_texts(message.get("content"))
        else message
        for message in completion
    ]


def _is_texts(content: Any) -> bool:
    """Whether a message's content is a list of parts of type text: `[{"type": "text", ...}]`."""
    return isinstance(content, list | tuple) and all(
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
        for part in content
    )


def row_reference(row: Mapping[str, Any], reference_format: str) -> dict[str, Any]:
    """The `reference` for a row as its data set ships it, which the service reads.

    >>> row_reference({"problem": "1 + 1", "solution": "2"}, "auto")
    {'reference_row': {'problem': '1 + 1', 'solution': '2'}, 'reference_format': 'auto'}
    """
    return {"reference_row": dict(row), "reference_format": reference_format}


def wire_verifiers(verifiers: Sequence[str | Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Verifiers in the form of the wire: a type alone becomes an object."""
    return [{"type": one} if isinstance(one, str) else one for one in verifiers]


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
