"""The client of a verifier service, in the base installation: it needs httpx and nothing else.

    from reward_verifier import Verifier

`verifier` is what people use. Below it, `protocol` and `streaming` decide, without input or output,
which requests to send and how long to wait; `verdict` reads the responses; `client` sends and
waits, for code that blocks and for code that awaits.
"""

from typing import TYPE_CHECKING, Any

from reward_verifier.errors import (
    NoReward,
    VerifierError,
    VerifierNonsense,
    VerifierRejected,
    VerifierUnauthorized,
    VerifierUnavailable,
)
from reward_verifier.protocol import CompletionGroup
from reward_verifier.verdict import Outcome, ScoredCompletion, Verdict

if TYPE_CHECKING:
    from reward_verifier.verifier import Judgement, Verifier

__all__ = [
    "CompletionGroup",
    "Judgement",
    "NoReward",
    "Outcome",
    "ScoredCompletion",
    "Verdict",
    "Verifier",
    "VerifierError",
    "VerifierNonsense",
    "VerifierRejected",
    "VerifierUnauthorized",
    "VerifierUnavailable",
]


def __getattr__(name: str) -> Any:
    """`Verifier` and `Judgement`, when they are asked for: they take httpx, which takes 0.1 s."""
    if name not in ("Judgement", "Verifier"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reward_verifier import verifier  # noqa: PLC0415

    return getattr(verifier, name)
