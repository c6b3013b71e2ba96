"""API keys, by which calls are allowed. The service keeps only their hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from verifier_service.engine.allowance import Allowance, KeyLimits

KEY_BYTES = 32
PREFIX = "rv-"
UNNAMED = "unnamed"
"""Name, in the log and the metrics, of every key that is known by its hash alone."""
NO_LIMITS = KeyLimits()


@dataclass(frozen=True)
class ApiKey:
    """A key that opens the service."""

    name: str
    hash: str
    limits: KeyLimits = NO_LIMITS


class KeyRing:
    """The keys that open the service, each with what is left of its limits.

    Args:
        keys: no two with the same hash.
    """

    def __init__(self, keys: Iterable[ApiKey]) -> None:
        self._allowances = {
            key.hash: Allowance(key.name, key.limits, owner=key.hash) for key in keys
        }

    @property
    def is_empty(self) -> bool:
        """Whether the service is open to everybody."""
        return not self._allowances

    def allowance(self, key: str) -> Allowance | None:
        """The allowance of a key; None for an unknown one. The time taken tells no hash."""
        found = hash_of(key)
        matching = None
        for known, allowance in self._allowances.items():
            if hmac.compare_digest(found, known):
                matching = allowance
        return matching


def new_key() -> str:
    """A new key; nobody can guess it, so a plain hash protects it."""
    return PREFIX + secrets.token_urlsafe(KEY_BYTES)


def hash_of(key: str) -> str:
    """SHA-256 of a key, in 64 hexadecimal digits.

    >>> hash_of("rv-example")[:8]
    '970a47b9'
    """
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def is_hash(text: str) -> bool:
    """Whether the text can be the hash of a key."""
    return len(text) == 64 and set(text) <= set("0123456789abcdef")
