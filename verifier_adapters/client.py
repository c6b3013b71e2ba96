"""The client of the adapters, which is that of `reward_verifier`; earlier code finds it here."""

from reward_verifier.verifier import Completion, Judgement, Reference, Verifier

__all__ = ["Completion", "Judgement", "Reference", "Verifier"]
