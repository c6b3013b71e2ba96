"""Errors of a request: each says to the client why the request gets no verdicts.

    RequestError
    |-- BrokenCompression       the body does not have its declared encoding
    |-- BodyTooLarge
    |-- TooManyCompletions
    |-- ResponseTooLarge
    |-- InvalidRequest          a field is missing, unknown, or has a wrong value
    |-- UnknownProfile
    |-- VerifierNotEnabled
    '-- TryLater                the same request may succeed later
        |-- QueueFull
        |   '-- KeyLimitReached an API key has used up what it may have now
        |-- RequestFailed       its process died or took too long
        |-- VerdictFailed       a protocol without `failed` verdicts got one
        |-- NotReady            a kind of workers is not running
        '-- Draining            the service is ending

`http.error_statuses` gives each its status.
"""

from __future__ import annotations

from typing import Any

Details = dict[str, Any] | list[dict[str, Any]]


class RequestError(Exception):
    """A request is refused, or cannot be finished.

    Args:
        message: the fault, in one sentence for people.
        details: facts for programs, such as the wrong fields.
    """

    kind: str
    """The error's `type` on the wire, `cause` in the metrics, and `error` in the log."""

    def __init__(self, message: str, *, details: Details | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class BrokenCompression(RequestError):
    """The body does not have its declared encoding."""

    kind = "broken_compression"


class BodyTooLarge(RequestError):
    """The body exceeds `max_body_bytes`, or the memory that reading it may take."""

    kind = "body_too_large"


class TooManyCompletions(RequestError):
    """The request has more completions than `max_completions`."""

    kind = "too_many_completions"


class ResponseTooLarge(RequestError):
    """The response, or one line of it, exceeds `MAX_RESPONSE_BYTES`."""

    kind = "answer_too_large"


class InvalidRequest(RequestError):
    """A field is missing, unknown, or has a wrong value; the details name each."""

    kind = "invalid_request"


class UnknownProfile(RequestError):
    """The service has no profile of that name."""

    kind = "unknown_profile"


class VerifierNotEnabled(RequestError):
    """The service does not serve a verifier of the request."""

    kind = "verifier_not_enabled"


class TryLater(RequestError):
    """A request that may succeed later.

    Args:
        why: the reason for now; the message adds the advice.
        details: facts for programs.
    """

    def __init__(self, why: str, *, details: Details | None = None) -> None:
        super().__init__(f"{why}; try again later", details=details)
        self.why = why


class QueueFull(TryLater):
    """The request, or its response, would exceed the bounds on pending work."""

    kind = "queue_full"


class KeyLimitReached(QueueFull):
    """An API key has used up what it may have now.

    Args:
        why: the limit that is met.
        retry_after_seconds: time after which another attempt may succeed.
    """

    kind = "key_limit"

    def __init__(self, why: str, *, retry_after_seconds: int) -> None:
        super().__init__(why)
        self.retry_after_seconds = retry_after_seconds


class RequestFailed(TryLater):
    """The request's process died or took too long, or the system had no resources for it."""

    kind = "request_failed"


class VerdictFailed(TryLater):
    """A completion could not be judged this time, and its protocol has no `failed` verdict."""

    kind = "not_judged"


class NotReady(TryLater):
    """Workers that an enabled verifier needs are not running."""

    kind = "not_ready"


class Draining(TryLater):
    """The service is ending."""

    kind = "draining"

    def __init__(self) -> None:
        super().__init__("the service is ending")
