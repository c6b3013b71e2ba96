"""Verifier services as environments reach them: one client of a service for all its episodes."""

from __future__ import annotations

import threading

import httpx

from reward_verifier.client import connection_options
from reward_verifier.service_access import ServiceAccess
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.episodes.service_calls import ServiceCalls


class ServiceClients:
    """Owns the clients that the environments of a run share, in all their threads.

    Args:
        config: the run's section `reward`, with its service and retries.
    """

    def __init__(self, config: RewardConfig) -> None:
        self.config = config
        self._clients: dict[ServiceAccess, httpx.Client] = {}
        self._lock = threading.Lock()

    def calls(self, url: str | None = None) -> ServiceCalls:
        """Calls of one environment to the service at an address; None: the one that scores."""
        access = service_access(self.config, url)
        with self._lock:
            if access not in self._clients:
                self._clients[access] = httpx.Client(**connection_options(access))
            return ServiceCalls(access, self._clients[access])

    def close(self) -> None:
        """Close the connections; calls that are under way fail."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()


def service_access(config: RewardConfig, url: str | None = None) -> ServiceAccess:
    """The service of `reward.url`, or the one at another address, with the run's retries."""
    return ServiceAccess(
        url=url or config.url,
        url_setting="rollout.environment.options.url" if url else "reward.url",
        timeout_seconds=config.timeout_seconds,
        max_attempts=config.max_attempts,
        backoff_seconds=config.backoff_seconds,
    )
