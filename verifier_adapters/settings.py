"""Settings of an adapter that a framework reads from its own configuration and passes on."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SETTINGS = ("url", "profile", "verifiers", "api_key", "own_verifiers")
"""Settings of an adapter: those of `verifier_at`, and whether a row may choose its verifiers."""
_ALIKE = 0.8


def check_others(names: Iterable[str]) -> None:
    """Raise ValueError if a setting of the framework is a misspelt one of the adapter.

    Ignored, it would leave the judging to the verifier `accuracy`.

    >>> check_others(["url", "reward_router_address"])
    >>> check_others(["profil"])
    Traceback (most recent call last):
    ValueError: no such setting: 'profil'; did you mean 'profile'?
    """
    for name in names:
        near = get_close_matches(name, SETTINGS, 1, _ALIKE)
        if near and name not in SETTINGS:
            raise ValueError(f"no such setting: {name!r}; did you mean {near[0]!r}?")
