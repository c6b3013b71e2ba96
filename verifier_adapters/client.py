"""The client of the adapters, which is that of `reward_verifier`; earlier code finds it here."""

from __future__ import annotations

from reward_verifier.verifier import Completion, Judgement, Reference, Verifier

__all__ = ["Completion", "Judgement", "Reference", "Verifier", "verifier_given"]


def verifier_given(verifier: Verifier | str | None) -> Verifier:
    """The client that an adapter asks: the one given, or one of an address or the environment.

    Raises:
        TypeError: the value is none of these.
    """
    if verifier is None or isinstance(verifier, str):
        return Verifier(verifier)
    if not isinstance(verifier, Verifier):
        found = type(verifier).__name__
        raise TypeError(f"verifier: expected a Verifier, a URL or None, found {found}")
    return verifier
