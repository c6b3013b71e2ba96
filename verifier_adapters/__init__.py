"""Reward callables for other frameworks, over one client of a verifier service.

Each module is named after its framework and imports nothing of it; docs/integrations.md has the
line of configuration for each. A completion that could not be judged has the reward None where the
framework knows a missing reward.
"""

from reward_verifier.errors import (
    VerifierError,
    VerifierNonsense,
    VerifierRejected,
    VerifierUnavailable,
)
from verifier_adapters.client import Judgement, Verifier

__all__ = [
    "Judgement",
    "Verifier",
    "VerifierError",
    "VerifierNonsense",
    "VerifierRejected",
    "VerifierUnavailable",
]
