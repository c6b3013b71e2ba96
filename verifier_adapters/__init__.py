"""Reward callables of other frameworks, over one client of a verifier service.

Each module is named after its framework and imports nothing of it; docs/integrations.md has the
line of configuration for each. What could not be judged is None where the framework knows it.
"""

from verifier_adapters.client import (
    Judgement,
    Verifier,
    VerifierError,
    VerifierRejected,
    VerifierUnavailable,
)

__all__ = ["Judgement", "Verifier", "VerifierError", "VerifierRejected", "VerifierUnavailable"]
