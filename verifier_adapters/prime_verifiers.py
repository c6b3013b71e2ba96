"""Reward functions for Prime Intellect's `verifiers`.

    vf.Rubric(funcs=[rubric_function()])                        # verifiers 0.1 to 0.3

    @vf.reward                                                  # tasks of verifiers.v1
    async def correct(self, trace: vf.Trace) -> float:
        return await score_trace(trace, self.data.answer)

A row whose `info` has a `profile` or `verifiers` is judged by these. The library knows no missing
reward: where the reference does not permit to judge, the reward is 0.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from verifier_adapters.client import Completion, Verifier, verifier_given
from verifier_adapters.reference import naming_columns, own_selection, reference_of


def rubric_function(
    verifier: Verifier | str | None = None,
    *,
    name: str = "verifier_reward",
    own_verifiers: bool = True,
) -> Callable[..., Awaitable[float]]:
    """A reward function for a rubric.

    Args:
        verifier: the service to ask, or its URL; None: the environment's.
        name: the function's name in logs.
        own_verifiers: whether `profile` and `verifiers` of a row's `info` choose its verifiers;
            False: they are entries like others, and `info` is not read.
    """
    chosen = verifier_given(verifier)

    async def verifier_reward(completion: Completion, answer: Any, info: Any = None) -> float:
        own = info if own_verifiers else None
        return await _reward(chosen, _plain(completion), answer, own)

    verifier_reward.__name__ = name
    return verifier_reward


async def score_trace(
    trace: Any, label: Any, verifier: Verifier | str | None = None, *, info: Any = None
) -> float:
    """The reward of the last reply of a trace.

    Args:
        trace: a `verifiers.v1.Trace`.
        label: a label as `reference_of` takes it.
        verifier: the service to ask, or its URL; None: the environment's.
        info: further columns of the task, whose `profile` or `verifiers` judge this reply.
    """
    return await _reward(verifier_given(verifier), trace.last_reply, label, info)


async def _reward(verifier: Verifier, completion: Completion, label: Any, info: Any) -> float:
    if isinstance(info, str):  # data sets keep it as text where its columns differ
        try:
            info = json.loads(info)
        except ValueError as error:
            raise ValueError(f"info: expected an object, or one as JSON text: {error}") from error
    if not isinstance(info, Mapping | None):
        raise ValueError(f"info: expected an object, found {type(info).__name__}")
    selections = own_selection(info, own_verifiers=True)
    with naming_columns(selections):
        (judgement,) = await verifier.judge_async(
            [completion], [reference_of(label)], selections=selections
        )
    return judgement.reward or 0.0


def _plain(completion: Any) -> Completion:
    """The completion as the service reads it: a text, or objects with role and content."""
    if isinstance(completion, str):
        return completion
    messages = (one if isinstance(one, dict) else one.model_dump() for one in completion)
    return [{"role": one["role"], "content": one.get("content") or ""} for one in messages]
