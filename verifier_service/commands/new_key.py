"""The command `new-key`."""

from __future__ import annotations

from verifier_service.http.api_keys import hash_of, new_key


def make_key() -> None:
    """Make an API key and its hash.

    Keep the key; give the service only the hash, by `serve --api-key-hashes` or
    VERIFIER_API_KEY_HASHES. Clients take the key from REWARD_VERIFIER_API_KEY.
    """
    key = new_key()
    print(f"key:  {key}\nhash: {hash_of(key)}")  # noqa: T201
