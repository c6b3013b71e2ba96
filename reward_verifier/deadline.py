"""The deadline that a request names: a share of the client's own time limit."""

DEADLINE_SHARE = 0.9
"""Deadline of a request as a share of the client's time limit. Without the rest, the client would
give up before the service could send the verdicts that it has by then."""


def deadline_seconds(timeout_seconds: float) -> float:
    """The deadline of a request, in seconds from its arrival at the service.

    >>> deadline_seconds(60.0)
    54.0
    """
    return DEADLINE_SHARE * timeout_seconds
