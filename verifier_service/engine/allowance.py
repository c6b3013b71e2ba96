"""The allowance of an API key: requests in a minute, completions at once, verifiers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from verifier_service.errors import KeyLimitReached

SECONDS_PER_MINUTE = 60.0
PENDING_RETRY_SECONDS = 1
"""Advice to a client whose key has too many completions pending."""


@dataclass(frozen=True)
class KeyLimits:
    """Limits on the calls with one key; None: only those of the whole service."""

    max_pending_completions: int | None = None
    max_requests_per_minute: int | None = None
    verifiers: tuple[str, ...] | None = None
    """Types of the verifiers that the key may use."""


class Allowance:
    """The part of a key's limits that is left now.

    Requests are counted by a bucket of tokens. It holds those of a minute and is refilled at that
    rate, so that a key may ask for them all at once and then has to wait.

    Args:
        name: of the key, for messages; several keys may have one name.
        limits: of the key.
        owner: value that no other key has; None: the name.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        name: str,
        limits: KeyLimits,
        *,
        owner: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.owner = owner or name
        self.limits = limits
        self.pending_completions = 0
        self._clock = clock
        self._tokens = float(limits.max_requests_per_minute or 0)
        self._refilled = clock()

    def take_request(self) -> None:
        """Count a request. Raises KeyLimitReached, and counts nothing then."""
        most = self.limits.max_requests_per_minute
        if most is None:
            return
        now = self._clock()
        rate = most / SECONDS_PER_MINUTE
        self._tokens = min(float(most), self._tokens + (now - self._refilled) * rate)
        self._refilled = now
        if self._tokens < 1:
            raise KeyLimitReached(
                f"the API key {self.name!r} may ask {most} times in a minute",
                retry_after_seconds=math.ceil((1 - self._tokens) / rate),
            )
        self._tokens -= 1

    def check_pending(self, completions: int) -> None:
        """Raise KeyLimitReached if the key may not have so many more completions pending."""
        most = self.limits.max_pending_completions
        if most is not None and self.pending_completions + completions > most:
            raise KeyLimitReached(
                f"{self.pending_completions} completions of the API key {self.name!r}, of at most "
                f"{most}, are waiting",
                retry_after_seconds=PENDING_RETRY_SECONDS,
            )
