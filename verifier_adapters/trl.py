"""Reward functions for TRL's trainers.

    GRPOTrainer(..., reward_funcs=RewardFunction(column="solution"))

A row with a column `profile` or `verifiers` is judged by these, unless `own_verifiers` is False.
TRL leaves out a reward of None.
`log_extra` and `log_metric` are used where TRL has them (1.0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from reward_verifier.completion_group import row_reference
from verifier_adapters.client import Completion, Judgement, Verifier, verifier_given
from verifier_adapters.reference import (
    is_missing,
    label_in,
    naming_columns,
    reference_of,
    selections_in,
    without_arrays,
)
from verifier_adapters.unjudged import warn_if_none_judged

Columns = dict[str, Any]
"""Columns of the data set by their names, each with one value a row."""


class RewardFunction:
    """A reward function that can be pickled.

    Args:
        verifier: the service to ask, or its URL; None: the environment's.
        column: column of the data set that holds the labels.
        reference_format: instead of a column: the rows are as their data set ships them, in this
            format, or `auto` for the one that fits.
        name: the function's name in TRL's logs.
        own_verifiers: whether a row's columns `profile` and `verifiers` choose its verifiers;
            False: they are columns like others.
    """

    def __init__(
        self,
        verifier: Verifier | str | None = None,
        *,
        column: str = "solution",
        reference_format: str | None = None,
        name: str = "verifier_reward",
        own_verifiers: bool = True,
    ) -> None:
        self.__name__ = name
        self._verifier = verifier_given(verifier)
        self._column = column
        self._reference_format = reference_format
        self._own_verifiers = own_verifiers

    def __call__(
        self,
        /,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Each completion's reward, None where it could not be judged. Raises VerifierError."""
        references, selections = self._asked(columns, len(completions))
        with naming_columns(selections):
            judgements = self._verifier.judge(completions, references, selections=selections)
        return self._rewards(judgements, log_extra, log_metric)

    async def awaited(
        self,
        /,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Each reward as a call gives it; a coroutine. Raises VerifierError."""
        references, selections = self._asked(columns, len(completions))
        with naming_columns(selections):
            judgements = await self._verifier.judge_async(
                completions, references, selections=selections
            )
        return self._rewards(judgements, log_extra, log_metric)

    def _asked(
        self, columns: Columns, num_completions: int
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
        """The reference of each completion, and the choice of its verifiers."""
        choosing, columns = _split(columns, own_verifiers=self._own_verifiers)
        references = _references(columns, self._column, self._reference_format)
        return references, selections_in(choosing, num_completions)

    def _rewards(
        self,
        judgements: list[Judgement],
        log_extra: Callable[[str, list[Any]], None] | None,
        log_metric: Callable[[str, float], None] | None,
    ) -> list[float | None]:
        warn_if_none_judged(judgements, None if self._reference_format else self._column)
        return _rewards(self.__name__, judgements, log_extra, log_metric)


def async_reward_function(
    verifier: Verifier | str | None = None,
    *,
    column: str = "solution",
    reference_format: str | None = None,
    name: str = "verifier_reward",
    own_verifiers: bool = True,
) -> Callable[..., Any]:
    """A reward function that TRL awaits together with others; arguments as of `RewardFunction`.

    It is a `functools.partial` of a coroutine function: every version of TRL recognises that as
    asynchronous, and it can be pickled, which a nested function cannot.
    """
    function = RewardFunction(
        verifier,
        column=column,
        reference_format=reference_format,
        name=name,
        own_verifiers=own_verifiers,
    )
    reward = partial(verifier_reward, function)
    reward.__name__ = name  # type: ignore[attr-defined]  # for TRL before 1.16
    return reward


async def verifier_reward(
    function: RewardFunction, /, *texts: Any, **columns: Any
) -> list[float | None]:
    """The rewards of a `RewardFunction`, awaited; since 1.16 TRL's logs have this function's name.

    Args:
        function: holds the settings, so that a column may have the name of one.
        texts: prompts and completions, where they are not among the columns.
        columns: what else `RewardFunction.awaited` takes.
    """
    return await function.awaited(*texts, **columns)


_OF_TRL = frozenset({"completion_ids", "trainer_state", "environments"})
"""Arguments of a reward function that are no columns of the data set."""
_OF_SELECTIONS = frozenset({"profile", "verifiers"})
"""Columns that choose a row's verifiers and are no part of its reference."""


def _split(columns: Columns, *, own_verifiers: bool) -> tuple[Columns, Columns]:
    """The columns that choose the verifiers of their rows, and the others."""
    names = _OF_SELECTIONS if own_verifiers else frozenset()
    choosing = {name: columns[name] for name in columns if name in names}
    return choosing, {name: columns[name] for name in columns if name not in names}


def _references(
    columns: Mapping[str, Any], column: str, reference_format: str | None
) -> list[dict[str, Any]]:
    if reference_format is not None:
        return [row_reference(row, reference_format) for row in _rows(columns)]
    named = {name: columns[name] for name in _names(columns)}
    labels = label_in(named, column, "RewardFunction(column={!r})")
    return [reference_of(label) for label in labels]


def _names(columns: Mapping[str, Any]) -> list[str]:
    return sorted(set(columns) - _OF_TRL)


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    names = _names(columns)
    rows = zip(*(map(_cell, columns[name]) for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _cell(value: Any) -> Any:
    return None if is_missing(value) else without_arrays(value)


def _rewards(
    name: str,
    judgements: list[Judgement],
    log_extra: Callable[[str, list[Any]], None] | None,
    log_metric: Callable[[str, float], None] | None,
) -> list[float | None]:
    rewards = [judgement.reward for judgement in judgements]
    if log_extra is not None:
        log_extra(f"{name}_reason", [judgement.reason for judgement in judgements])
    if log_metric is not None and rewards:
        log_metric(f"{name}/unjudged_fraction", rewards.count(None) / len(rewards))
    return rewards
