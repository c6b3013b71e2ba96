"""The client of a verifier service, in the base installation: it needs httpx and nothing else.

    from reward_verifier import Verifier

`verifier` and `session` are what people use. Below, `protocol`, `streaming` and `execution` decide,
without input or output, which requests to send and how long to wait; `verdict` reads the responses;
`client` sends and waits, for code that blocks and for code that awaits.
"""

from typing import TYPE_CHECKING, Any

from reward_verifier.completion_group import CompletionGroup
from reward_verifier.errors import (
    NoReward,
    VerifierError,
    VerifierNonsense,
    VerifierRejected,
    VerifierUnauthorized,
    VerifierUnavailable,
)
from reward_verifier.execution import ExecutionResult
from reward_verifier.playground import playground_link
from reward_verifier.verdict import Outcome, ScoredCompletion, Verdict

if TYPE_CHECKING:
    from reward_verifier.session import AsyncSession, Session
    from reward_verifier.verifier import Judgement, Verifier

__all__ = [
    "AsyncSession",
    "CompletionGroup",
    "ExecutionResult",
    "Judgement",
    "NoReward",
    "Outcome",
    "ScoredCompletion",
    "Session",
    "Verdict",
    "Verifier",
    "VerifierError",
    "VerifierNonsense",
    "VerifierRejected",
    "VerifierUnauthorized",
    "VerifierUnavailable",
    "playground_link",
]


def __getattr__(name: str) -> Any:
    """The classes that need httpx, when they are asked for: importing it takes 0.1 s."""
    if name in ("AsyncSession", "Session"):
        from reward_verifier import session  # noqa: PLC0415

        return getattr(session, name)
    if name not in ("Judgement", "Verifier"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reward_verifier import verifier  # noqa: PLC0415

    return getattr(verifier, name)
