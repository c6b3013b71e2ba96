"""`compute_score` for verl.

    reward.custom_reward_function.path=pkg://verifier_adapters.verl
    reward.custom_reward_function.name=compute_score

verl knows no missing reward: where the reference does not permit to judge, `score` and `judged`
are 0. All completions of such a problem then have the same reward, and so no advantage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from verifier_adapters.client import Judgement, Verifier
from verifier_adapters.ray import verifier_at
from verifier_adapters.reference import naming_columns, own_selection, reference_of
from verifier_adapters.settings import check_others


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    url: str | None = None,
    profile: str | None = None,
    verifiers: Sequence[str | Mapping[str, Any]] | None = None,
    api_key: str | None = None,
    own_verifiers: bool = True,
    **others: Any,
) -> dict[str, Any]:
    """The score of a solution: always `score`, `acc`, `judged` and `reason`.

    Args:
        data_source: not used.
        solution_str: the completion.
        ground_truth: the label.
        extra_info: its `profile` or `verifiers`, where it has any, judge this solution.
        url: as of `verifier_at`; this and the next four come from `reward_kwargs`.
        profile: as of `Verifier`.
        verifiers: as of `Verifier`.
        api_key: as of `Verifier`.
        own_verifiers: whether `profile` and `verifiers` of `extra_info` choose the verifiers;
            False: they are columns like others.
        others: further arguments of verl's reward managers, which are ignored.

    Raises:
        ValueError: another argument is named nearly like one of these, or both `profile` and
            `verifiers` are given.
        VerifierError: the solution has no verdict.
    """
    verifier = _verifier(others, url=url, profile=profile, verifiers=verifiers, api_key=api_key)
    selections = own_selection(extra_info, own_verifiers=own_verifiers)
    references = [reference_of(ground_truth)]
    with naming_columns(selections):
        (judgement,) = verifier.judge([solution_str], references, selections=selections)
    return _score(judgement)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    url: str | None = None,
    profile: str | None = None,
    verifiers: Sequence[str | Mapping[str, Any]] | None = None,
    api_key: str | None = None,
    own_verifiers: bool = True,
    **others: Any,
) -> dict[str, Any]:
    """`compute_score` for verl to await, which then needs no thread for each solution."""
    verifier = _verifier(others, url=url, profile=profile, verifiers=verifiers, api_key=api_key)
    selections = own_selection(extra_info, own_verifiers=own_verifiers)
    references = [reference_of(ground_truth)]
    with naming_columns(selections):
        (judgement,) = await verifier.judge_async([solution_str], references, selections=selections)
    return _score(judgement)


def _verifier(others: Iterable[str], **settings: Any) -> Verifier:
    """The verifier of these settings. Raises ValueError where another one is misspelt."""
    check_others(others)
    return verifier_at(**settings)


def _score(judgement: Judgement) -> dict[str, Any]:
    return {
        "score": judgement.reward or 0.0,
        "acc": judgement.score or 0.0,
        "judged": float(judgement.reward is not None),
        "reason": judgement.reason,
    }
