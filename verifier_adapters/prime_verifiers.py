"""Reward functions for Prime Intellect's `verifiers`.

    vf.Rubric(funcs=[rubric_function()])                        # verifiers 0.1 to 0.3

    @vf.reward                                                  # tasks of verifiers 0.4
    async def correct(self, trace: vf.Trace) -> float:
        return await score_trace(trace, self.data.answer)

`verifiers` knows no missing reward: where the reference does not permit to judge, the reward is 0.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from verifier_adapters.client import Completion, Verifier, verifier_given
from verifier_adapters.reference import reference_of


def rubric_function(
    verifier: Verifier | str | None = None, *, name: str = "verifier_reward"
) -> Callable[..., Awaitable[float]]:
    """A reward function for a rubric.

    Args:
        verifier: the service to ask, or its URL; None: the environment's.
        name: the function's name in logs.
    """
    chosen = verifier_given(verifier)

    async def verifier_reward(completion: Completion, answer: Any) -> float:
        (judgement,) = await chosen.judge_async([_plain(completion)], [reference_of(answer)])
        return judgement.reward or 0.0

    verifier_reward.__name__ = name
    return verifier_reward


async def score_trace(trace: Any, label: Any, verifier: Verifier | str | None = None) -> float:
    """The reward of the last reply of a trace.

    Args:
        trace: a `verifiers.v1.Trace`.
        label: a label as `reference_of` takes it.
        verifier: the service to ask, or its URL; None: the environment's.
    """
    chosen = verifier_given(verifier)
    (judgement,) = await chosen.judge_async([trace.last_reply], [reference_of(label)])
    return judgement.reward or 0.0


def _plain(completion: Any) -> Completion:
    """The completion as the service reads it: a text, or objects with role and content."""
    if isinstance(completion, str):
        return completion
    messages = (one if isinstance(one, dict) else one.model_dump() for one in completion)
    return [{"role": one["role"], "content": one.get("content") or ""} for one in messages]
