"""API keys, by which calls are allowed. The service keeps only their hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable

KEY_BYTES = 32
PREFIX = "rv-"


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


def is_accepted(key: str, hashes: Iterable[str]) -> bool:
    """Whether the key has one of the hashes; the time taken does not tell which."""
    found = hash_of(key)
    accepted = False
    for known in hashes:
        accepted |= hmac.compare_digest(found, known)
    return accepted
