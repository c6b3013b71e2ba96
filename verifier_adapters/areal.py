"""A reward function for AReaL.

    reward_fn="verifier_adapters.areal.reward_fn"

AReaL gives it 15 seconds and calls it again three times; after that it takes 0. It knows no
missing reward: where the reference does not permit to judge, this is 0 for all completions of the
problem, which have no advantage then.
"""

from __future__ import annotations

from typing import Any

from verifier_adapters.client import Verifier
from verifier_adapters.reference import reference_of

TIMEOUT_SECONDS = 12.0


def reward_fn(
    prompt: Any,
    completions: str,
    prompt_ids: Any = None,
    completion_ids: Any = None,
    **data: Any,
) -> float:
    """The reward of a completion.

    Args:
        prompt: is not used.
        completions: one completion.
        prompt_ids: is not used.
        completion_ids: is not used.
        data: the columns of the data set. The reference is in `answer`, as in AReaL's own reward
            functions.

    Raises:
        VerifierError: there is no verdict.
    """
    verifier = Verifier(timeout_seconds=TIMEOUT_SECONDS, max_attempts=1)
    (judgement,) = verifier.judge([completions], [reference_of(data["answer"])])
    return judgement.reward or 0.0
