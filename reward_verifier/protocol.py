"""The client's side of the wire without input and output: requests, retries, verdicts.

    VerifierError              no verdicts
    |- VerifierUnavailable     no usable response within the attempts: the service is down, too
    |                          slow or overloaded
    `- VerifierRejected        another attempt would not help: the service refused the request (4xx)
       `- VerifierNonsense     the response has no verdicts on these completions; is this URL a
                               verifier service's?

A conversation is a generator. It yields a `Request` to send or a `Wait`; a request is answered by
the `Response` or by `NoResponse`. Verification is a pure function of the request, so another
attempt is always safe. The service forbids unknown fields and this side ignores them, so an older
client works with a newer service.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, TypeVar, get_args

T = TypeVar("T")

KEY_VARIABLE = "REWARD_VERIFIER_API_KEY"
MAX_BACKOFF_SECONDS = 30.0
"""Longest wait before an attempt, whether this side or the service's Retry-After asks for it."""
DEADLINE_SHARE = 0.9
"""Deadline of a request, as a share of the client's time limit: the service then still has time to
send the verdicts it has."""
RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
MAX_MESSAGE_CHARACTERS = 2000
MAX_EXCERPT_CHARACTERS = 200

Outcome = Literal["scored", "unverifiable", "failed"]


class VerifierError(Exception):
    """The verifier service gave no verdicts."""


class VerifierUnavailable(VerifierError):
    """No usable response came within the attempts."""


class VerifierRejected(VerifierError):
    """The service refused the request; another attempt would not help."""


class VerifierNonsense(VerifierRejected):
    """The response is not one of a verifier service to this request."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement of one verifier on one completion; `failed` is the service's own fault.

    Raises:
        ValueError: the outcome is unknown, or there is a score without the outcome `scored`, or
            the other way round.
    """

    outcome: Outcome
    score: float | None = None
    """A finite number if and only if the outcome is `scored`."""
    reason: str
    extracted: str | None = None
    """The final answer that the verifier found in the completion."""
    seconds: float = 0.0
    details: dict[str, Any] | None = None
    """Further facts, such as how many tests passed."""

    def __post_init__(self) -> None:
        if self.outcome not in get_args(Outcome):
            raise ValueError(f"outcome {self.outcome!r}, expected one of {get_args(Outcome)}")
        if (self.score is not None) != (self.outcome == "scored"):
            raise ValueError(f"outcome {self.outcome!r} with score {self.score!r}")
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"score {self.score!r} is not finite")

    @property
    def why(self) -> str:
        """The reason, followed by the service's message if it sent one."""
        message = (self.details or {}).get("message")
        return self.reason if message is None else f"{self.reason}: {message}"

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that have a value, except `seconds`, which differs each time."""
        facts = {name: value for name, value in asdict(self).items() if value is not None}
        del facts["seconds"]
        return facts


Verdicts = dict[str, Verdict]
"""The verdicts on one completion, by verifier name."""


@dataclass(frozen=True)
class ScoredCompletion:
    """One completion of a score response."""

    verdicts: Verdicts
    reward: float | None
    """The weighted sum of the scores; None where one is missing or the request had no weights."""
    fields: dict[str, dict[str, Any]]
    """The verdicts in JSON, with every field that the service sent."""

    @property
    def failure(self) -> str | None:
        """The reason of the first `failed` verdict; None where no verdict has failed."""
        failed = (item for item in self.verdicts.values() if item.outcome == "failed")
        return next((item.why for item in failed), None)


@dataclass(frozen=True)
class ServiceAccess:
    """How to reach a service, and how hard to try.

    Args:
        url: address of the service.
        url_setting: the setting that holds the address; error messages name it.
        timeout_seconds: time limit of one attempt.
        max_attempts: attempts of one conversation's request, the first included.
        backoff_seconds: wait before the second attempt; it doubles for each further one.
        api_key: bearer token; None: the environment's REWARD_VERIFIER_API_KEY, if it is set.
    """

    url: str
    url_setting: str
    timeout_seconds: float
    max_attempts: int
    backoff_seconds: float
    api_key: str | None = None

    @property
    def key(self) -> str | None:
        """The bearer token to send."""
        return self.api_key or os.environ.get(KEY_VARIABLE)

    @property
    def key_advice(self) -> str:
        """The sentence for a person whose key was refused."""
        if self.api_key:
            return "The key that was given as api_key is not one of the service's"
        state = "set to another one" if self.key else "not set"
        return f"The key is the environment's {KEY_VARIABLE}, which is {state}"


@dataclass(frozen=True)
class CompletionGroup:
    """Completions of one problem, in the form of the wire."""

    completions: Sequence[Any]
    """Each a text, a list of chat messages, or an object with `text` and lengths."""
    reference: Mapping[str, Any]
    prompt: str | None = None

    @property
    def wire(self) -> dict[str, Any]:
        """The group in a request's body."""
        prompt = {} if self.prompt is None else {"prompt": self.prompt}
        completions = list(self.completions)
        return {**prompt, "reference": self.reference, "completions": completions}


@dataclass(frozen=True)
class Request:
    """An HTTP request to send; `path` is relative to the service's address."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    """Sent as JSON; None: no body."""


@dataclass(frozen=True)
class Wait:
    """A pause before the next attempt."""

    seconds: float
    trouble: str | None = None
    """Why the last request had no usable response; None where its verdicts were `failed`."""


@dataclass(frozen=True)
class Response:
    """An HTTP response, read to its end."""

    url: str
    status: int
    content: bytes
    retry_after: str | None = None
    """The header Retry-After."""

    @property
    def excerpt(self) -> str:
        """The start of the body, quoted."""
        return repr(self.content.decode(errors="replace")[:MAX_EXCERPT_CHARACTERS])

    @property
    def error_message(self) -> str:
        """The message of the service's error body, or else the start of the body."""
        try:
            return str(json.loads(self.content)["error"]["message"])[:MAX_MESSAGE_CHARACTERS]
        except (ValueError, KeyError, TypeError):
            return self.excerpt

    @property
    def trouble(self) -> str:
        """The status with its message, where the status asks for another attempt."""
        return f"status {self.status}: {self.error_message}"

    @property
    def retry_after_seconds(self) -> float:
        """The wait that the service asks for, at most MAX_BACKOFF_SECONDS."""
        try:
            seconds = float(self.retry_after or 0)
        except ValueError:  # an HTTP date: our own backoff is near enough
            return 0.0
        return min(max(seconds, 0.0), MAX_BACKOFF_SECONDS)


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
    """Return when the service is ready; raises VerifierUnavailable and VerifierRejected."""
    yield from _ask(access, Request("GET", "/readyz"), _Attempts(access))


def check_selection(access: ServiceAccess, selection: Mapping[str, Any]) -> Conversation[None]:
    """Return when the service has accepted a choice of verifiers; raises VerifierError.

    Args:
        access: the service.
        selection: `{"verifiers": [...]}` or `{"profile": name}`, as in `POST /v1/score`.
    """
    request = Request("POST", "/v1/score", {**selection, "groups": []})
    yield from _ask(access, request, _Attempts(access))


def score(
    access: ServiceAccess, selection: Mapping[str, Any], groups: Sequence[CompletionGroup]
) -> Conversation[list[list[ScoredCompletion]]]:
    """The scored completions of each group, all in the order in which they are given.

    Groups with `failed` verdicts are sent again while attempts are left. A completion that keeps
    failing is returned with its `failed` verdicts, which have no score and are never a 0.

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
    attempts = _Attempts(access)
    scored = yield from _score_once(access, selection, groups, attempts)
    while attempts.left:
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


class _Attempts:
    """Counts the attempts of one conversation and knows how long to wait before the next."""

    def __init__(self, access: ServiceAccess) -> None:
        self._access = access
        self._made = 0

    @property
    def left(self) -> int:
        return self._access.max_attempts - self._made

    def begin(self) -> None:
        self._made += 1

    def wait(self, *, asked_seconds: float = 0.0, trouble: str | None = None) -> Wait:
        """Doubles each time, with jitter so that clients spread out; at least `asked_seconds`."""
        longest = min(self._access.backoff_seconds * 2.0 ** (self._made - 1), MAX_BACKOFF_SECONDS)
        return Wait(max(asked_seconds, longest * random.uniform(0.5, 1.0)), trouble)


def _ask(access: ServiceAccess, request: Request, attempts: _Attempts) -> Conversation[Response]:
    """The first usable response; raises VerifierUnavailable and VerifierRejected."""
    while True:
        attempts.begin()
        reply = yield request
        assert reply is not None, "the driver of a conversation answers each request"
        if isinstance(reply, Response) and reply.status not in RETRIED_STATUSES:
            _raise_unless_accepted(reply, access)
            return reply
        if not attempts.left:
            raise VerifierUnavailable(_unavailable(access, reply.trouble))
        yield attempts.wait(asked_seconds=reply.retry_after_seconds, trouble=reply.trouble)


def _unavailable(access: ServiceAccess, trouble: str) -> str:
    plural = "" if access.max_attempts == 1 else "s"
    return (
        f"no answer from the verifier at {access.url} after {access.max_attempts} attempt{plural}; "
        f"the last one: {trouble}. Is it running (`verifier-service serve`) and is "
        f"{access.url_setting} right?"
    )


def _raise_unless_accepted(response: Response, access: ServiceAccess) -> None:
    if response.status == 200:
        return
    refused = f"{response.url} refused the request with {response.status}: {response.error_message}"
    raise VerifierRejected(f"{refused}. {access.key_advice}" if response.status == 401 else refused)


def _score_once(
    access: ServiceAccess,
    selection: Mapping[str, Any],
    groups: Sequence[CompletionGroup],
    attempts: _Attempts,
) -> Conversation[list[list[ScoredCompletion]]]:
    """The scored completions of the first usable response; raises VerifierError."""
    body = {
        "deadline_seconds": DEADLINE_SHARE * access.timeout_seconds,
        **selection,
        "groups": [group.wire for group in groups],
    }
    response = yield from _ask(access, Request("POST", "/v1/score", body), attempts)
    scored = _read_groups(response)
    expected = [len(group.completions) for group in groups]
    found = [len(group) for group in scored]
    if found != expected:
        asked = f"one group of {expected[0]}" if len(expected) == 1 else f"groups of {expected}"
        raise VerifierNonsense(
            f"{response.url} was asked about {asked} completions and answered for groups of {found}"
        )
    names = {item.get("name") or item.get("type") for item in selection.get("verifiers", ())}
    for one in (one for group in scored for one in group):
        if not names <= one.verdicts.keys():
            raise VerifierNonsense(
                f"{response.url} was asked for verdicts of {sorted(map(str, names))} and answered "
                f"with {sorted(one.verdicts)}"
            )
    return scored


def _read_groups(response: Response) -> list[list[ScoredCompletion]]:
    """The completions in a response's body; raises VerifierNonsense."""
    try:
        groups = _member(json.loads(response.content), "groups", list)
        return [
            [_read_completion(one) for one in _member(group, "completions", list)]
            for group in groups
        ]
    except (ValueError, RecursionError) as error:  # ValueError: not JSON, or not of this form
        raise VerifierNonsense(
            f"{response.url} did not answer as a verifier service: it did not answer with scores "
            f"({error}); the response begins {response.excerpt}"
        ) from error


def _read_completion(value: Any) -> ScoredCompletion:
    fields: dict[str, dict[str, Any]] = _member(value, "verdicts", dict)
    verdicts = {name: _read_verdict(verdict) for name, verdict in fields.items()}
    reward = _member(value, "reward", int | float | None)
    return ScoredCompletion(verdicts, None if reward is None else float(reward), fields)


def _read_verdict(value: Any) -> Verdict:
    score = _member(value, "score", int | float | None)
    return Verdict(
        outcome=_member(value, "outcome", str),
        score=None if score is None else float(score),
        reason=_member(value, "reason", str),
        extracted=_member(value, "extracted", str | None),
        seconds=float(_member(value, "seconds", int | float | None) or 0.0),
        details=_member(value, "details", dict | None),
    )


def _member(value: Any, name: str, expected: Any) -> Any:
    """A member of a JSON object, None where it has none; raises ValueError for another type."""
    if not isinstance(value, dict):
        raise ValueError(f"expected an object with {name}, found {_quoted(value)}")
    found = value.get(name)
    if not isinstance(found, expected):
        raise ValueError(f"{name} must not be {_quoted(found)}")
    return found


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
