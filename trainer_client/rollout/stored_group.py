"""Scored groups on disk: a checkpoint keeps those that wait for their step."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from reward_verifier.verdict import Verdicts
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup
from trainer_client.rollout import Rollout, RolloutGroup


@dataclass(frozen=True)
class StoredProblem:
    """A problem as its data set and its messages alone, which name it."""

    dataset: str
    """The label of the problem's data set, where there are several."""
    messages: tuple[dict[str, Any], ...]
    """The prompt; those of a data set are unique."""

    @classmethod
    def of(cls, problem: Problem) -> StoredProblem:
        """The form of a problem that is kept."""
        return cls(problem.dataset, problem.messages)

    @property
    def key(self) -> str:
        """The name of the problem among those of all data sets."""
        return json.dumps([self.dataset, list(self.messages)], sort_keys=True)


@dataclass(frozen=True)
class StoredGroup:
    """A scored group, of which a run that goes on has the problem."""

    dataset: str
    messages: tuple[dict[str, Any], ...]
    rollouts: tuple[Rollout, ...]
    verdicts: tuple[Verdicts, ...]

    @classmethod
    def of(cls, scored: ScoredGroup) -> StoredGroup:
        """The form of a group that is kept."""
        group = scored.group
        return cls(group.problem.dataset, group.problem.messages, group.rollouts, scored.verdicts)


class KnownProblems:
    """The problems of a run's data sets, found by what was kept of them.

    Args:
        problems: problems of the data sets.
        verifiers_of: keys of a problem's verifiers; a group that lacks a verdict of one cannot be
            used.
    """

    def __init__(
        self, problems: Iterable[Problem], verifiers_of: Callable[[Problem], Collection[str]]
    ) -> None:
        self._problems = {StoredProblem.of(problem).key: problem for problem in problems}
        self._verifiers_of = verifiers_of

    def find(self, kept: StoredProblem) -> Problem | None:
        """The problem; None when the data sets have it no longer."""
        return self._problems.get(kept.key)

    def group(self, kept: StoredGroup) -> ScoredGroup | None:
        """The group with its problem; None when it cannot be used."""
        problem = self.find(StoredProblem(kept.dataset, kept.messages))
        if problem is None:
            return None
        if any(set(self._verifiers_of(problem)) - set(verdicts) for verdicts in kept.verdicts):
            return None
        return ScoredGroup(RolloutGroup(problem, kept.rollouts), kept.verdicts)
