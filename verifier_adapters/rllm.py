"""A reward function for rLLM: `fn(task_info, action)` returns a `RewardOutput`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verifier_adapters.client import Verifier, verifier_given
from verifier_adapters.reference import label_in, naming_columns, own_selection, reference_of


@dataclass
class RewardOutput:
    """The fields of rLLM's `RewardOutput`."""

    reward: float
    metadata: dict[str, Any] = field(default_factory=dict)
    is_correct: bool | None = None


class RewardVerifierFn:
    """A reward function, named as rLLM names its own (`RewardMathFn`, `RewardCodeFn`).

    rLLM knows no missing reward: where the reference does not permit to judge, `reward` is 0,
    `is_correct` None, and `metadata["judged"]` false.

    Args:
        verifier: the service to ask, or its URL; None: the environment's.
        key: entry of `task_info` that holds the label.
        own_verifiers: whether `profile` and `verifiers` of `task_info` choose the verifiers;
            False: they are entries like others.
    """

    def __init__(
        self,
        verifier: Verifier | str | None = None,
        *,
        key: str = "ground_truth",
        own_verifiers: bool = True,
    ) -> None:
        self._verifier = verifier_given(verifier)
        self._key = key
        self._own_verifiers = own_verifiers

    def __call__(self, task_info: Mapping[str, Any], action: Any) -> RewardOutput:
        """The reward of an action: a text, or an object with the text in its `action`.

        Raises:
            KeyError: `task_info` has no label.
            VerifierError: the action has no verdict.
        """
        text = getattr(action, "action", action)
        references = [reference_of(label_in(task_info, self._key, "RewardVerifierFn(key={!r})"))]
        selections = own_selection(task_info, own_verifiers=self._own_verifiers)
        with naming_columns(selections):
            (judgement,) = self._verifier.judge([text], references, selections=selections)
        return RewardOutput(
            reward=judgement.reward or 0.0,
            metadata={"judged": judgement.reward is not None, "verdicts": judgement.verdicts},
            is_correct=_is_full(judgement.score),
        )


def _is_full(score: float | None) -> bool | None:
    return None if score is None else score >= 1.0
