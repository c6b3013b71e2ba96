"""A reward function for AReaL.

    reward_fn="verifier_adapters.areal.reward_fn"

AReaL gives a call 15 seconds and makes three further ones; after that it takes 0. It knows no
missing reward: where the reference does not permit to judge, all completions of the problem get 0,
and so no advantage.
"""

from __future__ import annotations

from typing import Any

from verifier_adapters.client import Verifier
from verifier_adapters.reference import reference_of, selection_of

TIMEOUT_SECONDS = 12.0
"""Time limit of the only attempt, within the 15 seconds that AReaL gives."""


def reward_fn(
    prompt: Any,
    completions: str,
    prompt_ids: Any = None,
    completion_ids: Any = None,
    **data: Any,
) -> float:
    """The reward of a completion.

    Args:
        prompt: not used.
        completions: one completion.
        prompt_ids: not used.
        completion_ids: not used.
        data: columns of the data set. The reference is in `answer`, as in AReaL's own reward
            functions; `profile` or `verifiers`, where there are any, judge this completion.

    Raises:
        VerifierError: the completion has no verdict.
    """
    verifier = Verifier(timeout_seconds=TIMEOUT_SECONDS, max_attempts=1)
    references, selections = [reference_of(data["answer"])], [selection_of(data)]
    (judgement,) = verifier.judge([completions], references, selections=selections)
    return judgement.reward or 0.0
