"""Access to a verifier service: its address, the API key, and how often it is asked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from reward_verifier.errors import VerifierUnauthorized
from reward_verifier.retries import MAX_FAILED_ATTEMPTS, Attempts

KEY_VARIABLE = "REWARD_VERIFIER_API_KEY"
_LOOPBACK = re.compile(r"127(\.\d{1,3}){3}")
"""An IPv4 address of a machine's own, such as 127.0.0.1."""


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
