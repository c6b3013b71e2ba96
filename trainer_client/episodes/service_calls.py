"""The calls of one environment to a verifier service, and the time that they take of the episode.

Waiting for a service that is busy, restarting or away is no fault of the policy. So the feed counts
it apart (`Environment.service_seconds`), and a wait that is too long loses the group.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import httpx

from reward_verifier.client import converse
from reward_verifier.errors import VerifierError
from reward_verifier.protocol import Conversation
from reward_verifier.service_access import ServiceAccess
from trainer_client.episodes.environment import EnvironmentLost

T = TypeVar("T")


class ServiceCalls:
    """Calls the service, one call at a time.

    Args:
        access: the service, and how hard to try to reach it.
        http: client of the service.
    """

    def __init__(self, access: ServiceAccess, http: httpx.Client) -> None:
        self.access = access
        self._http = http
        # One tuple, so that the thread that samples never reads half of a change.
        self._waited: tuple[float, float | None] = (0.0, None)
        """Seconds of earlier calls, and the moment at which the call under way began."""

    @property
    def service_seconds(self) -> float:
        """Seconds waited so far, which counts all of a call under way: nobody knows its share."""
        earlier, began = self._waited
        return earlier if began is None else earlier + time.monotonic() - began

    def converse(
        self, conversation: Conversation[T], ran_seconds: Callable[[T], float] = lambda _: 0.0
    ) -> T:
        """The result of a conversation; raises EnvironmentLost where the service has none.

        Args:
            conversation: one of `reward_verifier`.
            ran_seconds: seconds in which the service ran code of the policy, from the result.
        """
        earlier, began = self._waited[0], time.monotonic()
        self._waited = (earlier, began)
        ran = 0.0
        try:
            result = converse(conversation, self._http)
            ran = ran_seconds(result)
        except VerifierError as error:
            raise EnvironmentLost(str(error)) from error
        finally:
            self._waited = (earlier + max(0.0, time.monotonic() - began - ran), None)
        return result
