"""Retries: after which statuses another attempt is made, and after how long a wait.

`verifier.Verifier` has the number of attempts and the first wait.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

MAX_FAILED_ATTEMPTS = 3
"""Requests for one `failed` verdict. A worker that died is replaced at once, so a verdict that
fails again is most likely that of a text that ends every worker."""
MAX_BACKOFF_SECONDS = 30.0
"""Longest wait before an attempt, whether this side or the service's Retry-After asks for it."""
RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which another attempt may help."""


@dataclass(frozen=True)
class Wait:
    """A pause before the next attempt."""

    seconds: float
    trouble: str | None = None
    """Why the last request had no usable response; None where its verdicts were `failed`."""


class Attempts:
    """Counts the attempts of one conversation and knows how long to wait before the next."""

    def __init__(self, max_attempts: int, backoff_seconds: float) -> None:
        self._max_attempts = max_attempts
        self._backoff_seconds = backoff_seconds
        self._made = 0

    @property
    def left(self) -> int:
        """Attempts that may still be made."""
        return self._max_attempts - self._made

    def begin(self) -> None:
        """Count an attempt."""
        self._made += 1

    def wait(self, *, asked_seconds: float = 0.0, trouble: str | None = None) -> Wait:
        """The pause before the next attempt, at least `asked_seconds`.

        It doubles each time, with jitter so that clients spread out.
        """
        longest = min(self._backoff_seconds * 2.0 ** (self._made - 1), MAX_BACKOFF_SECONDS)
        return Wait(max(asked_seconds, longest * random.uniform(0.5, 1.0)), trouble)


def read_retry_after(header: str | None) -> float:
    """Seconds that a header Retry-After asks for, at most MAX_BACKOFF_SECONDS."""
    try:
        seconds = float(header or 0)
    except ValueError:  # an HTTP date: our own backoff is near enough
        return 0.0
    # `nan` is no wait: `time.sleep` and `asyncio.sleep` would raise a ValueError of their own.
    return min(max(0.0, seconds), MAX_BACKOFF_SECONDS)
