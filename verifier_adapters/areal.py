"""A reward function for AReaL.

    reward_fn="verifier_adapters.areal.reward_fn"

AReaL gives a call 15 seconds and makes three further ones; after that it takes 0. It knows no
missing reward: where the reference does not permit to judge, all completions of the problem get 0,
and so no advantage.
"""

from __future__ import annotations

from typing import Any

from verifier_adapters.client import Verifier
from verifier_adapters.reference import label_in, naming_columns, own_selection, reference_of

TIMEOUT_SECONDS = 12.0
"""Time limit of the only attempt, within the 15 seconds that AReaL gives."""


class VerifierReward:
    """A reward function that can be pickled, with settings.

    Args:
        column: column of the data set that holds the labels.
        own_verifiers: whether a row's columns `profile` and `verifiers` choose its verifiers;
            False: they are columns like others.
    """

    def __init__(self, *, column: str = "answer", own_verifiers: bool = True) -> None:
        self._column = column
        self._own_verifiers = own_verifiers

    def __call__(
        self,
        /,
        prompt: Any,
        completions: str,
        prompt_ids: Any = None,
        completion_ids: Any = None,
        **data: Any,
    ) -> float:
        """The reward of one completion; `data` are the columns of the data set.

        Raises:
            KeyError: the data set has no column with the labels.
            VerifierError: the completion has no verdict.
        """
        verifier = Verifier(timeout_seconds=TIMEOUT_SECONDS, max_attempts=1)
        references = [reference_of(label_in(data, self._column, "VerifierReward(column={!r})"))]
        selections = own_selection(data, own_verifiers=self._own_verifiers)
        with naming_columns(selections):
            (judgement,) = verifier.judge([completions], references, selections=selections)
        return judgement.reward or 0.0


def reward_fn(
    prompt: Any, completions: str, prompt_ids: Any = None, completion_ids: Any = None, **data: Any
) -> float:
    """The reward by the label in `answer`, where AReaL's own reward functions have it."""
    return VerifierReward()(prompt, completions, prompt_ids, completion_ids, **data)
