"""The errors of a client of a verifier service.

VerifierError              no verdicts
|- NoReward                a completion has verdicts and no reward: one of them is `unverifiable`
|                          or `failed`, which is never a 0
|- VerifierUnavailable     no usable response within the attempts: the service is down, too
|                          slow or overloaded
`- VerifierRejected        another attempt would not help: the service refused the request (4xx)
   |- VerifierUnauthorized the service wants an API key, and the request has none that it knows;
   |                       or the key that was given cannot be sent
   `- VerifierNonsense     the response has no verdicts on these completions; is this URL a
                           verifier service's?
"""

from __future__ import annotations


class VerifierError(Exception):
    """The verifier service gave no verdicts."""


class NoReward(VerifierError):
    """A completion has no reward, because a verdict on it has no score."""


class VerifierUnavailable(VerifierError):
    """No usable response came within the attempts."""


class VerifierRejected(VerifierError):
    """The service refused the request; another attempt would not help."""


class VerifierUnauthorized(VerifierRejected):
    """The request has no API key that the service knows, or one that cannot be sent."""


class VerifierNonsense(VerifierRejected):
    """The response is not one of a verifier service to this request."""
