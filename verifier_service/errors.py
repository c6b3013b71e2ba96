"""Errors of a request: why it gets no verdicts, in words for its client.

    RequestError
    |-- BrokenCompression       the body is not compressed as it says
    |-- BodyTooLarge
    |-- TooManyCompletions
    |-- ResponseTooLarge
    |-- InvalidRequest          a field is missing, unknown, or has a wrong value
    |-- UnknownProfile
    |-- VerifierNotEnabled
    '-- TryLater                the same request may succeed later
        |-- QueueFull
        |-- RequestFailed       its process died or took too long
        |-- VerdictFailed       a protocol without `failed` verdicts got one
        |-- NotReady            a kind of workers is not running
        '-- Draining            the service is ending

`http.errors` gives each its status.
"""

from __future__ import annotations

from typing import Any

Details = dict[str, Any] | list[dict[str, Any]]


class RequestError(Exception):
    """A request is refused, or cannot be finished.

    Args:
        message: what is wrong, in one sentence.
        details: the same for programs, where the kind does not tell everything.
    """

    kind: str
    """The error's `type` on the wire."""

    def __init__(self, message: str, *, details: Details | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class BrokenCompression(RequestError):
    """The body is not what its Content-Encoding says."""

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
    """The same request may succeed later.

    Args:
        cause: what is missing now; the message adds what to do.
        details: the same for programs.
    """

    def __init__(self, cause: str, *, details: Details | None = None) -> None:
        super().__init__(f"{cause}; try again later", details=details)
        self.cause = cause


class QueueFull(TryLater):
    """Accepting the request, or keeping its response, would exceed what may be pending."""

    kind = "queue_full"


class RequestFailed(TryLater):
    """The request's process died or took too long, or the system had no resources for it."""

    kind = "request_failed"


class VerdictFailed(TryLater):
    """A completion could not be judged this time, and its protocol has no word for that."""

    kind = "not_judged"


class NotReady(TryLater):
    """Workers that an enabled verifier needs are not running."""

    kind = "not_ready"


class Draining(TryLater):
    """The service is ending."""

    kind = "draining"

    def __init__(self) -> None:
        super().__init__("the service is ending")
