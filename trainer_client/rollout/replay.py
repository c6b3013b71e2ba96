"""Replay: a solved completion of an earlier step in a group that has none.

A group in which every completion fails has advantages of 0 and teaches nothing, although the policy
may have solved its problem before. There solved completions of earlier steps take the place of as
many others (ARPO, arXiv 2505.16282): of those without a reward first, then of failed ones. A failed
one with a reward always stays, since advantages are differences. Replayed completions keep the
log-probabilities of the weights that sampled them, so the ratio of the loss is between the policy
and those weights, and its clip, or `loss.importance`, bounds what an old completion can do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter
from torch import Tensor

from trainer_client.config.rollout_section import ReplayConfig
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import RolloutGroup
from trainer_client.rollout.stored_group import KnownProblems, StoredGroup, StoredProblem
from trainer_client.run.rollout_log import solve_rate

FILE = "replay.json"
"""Name of the file in a checkpoint's folder."""

MainOf = Callable[[Problem], str]
"""The key of the source that says whether a problem is solved."""


@dataclass(frozen=True)
class SolvedGroup:
    """The solved completions of one problem in one step."""

    step: int
    scored: ScoredGroup
    """At least one completion, all of them solved."""


@dataclass(frozen=True)
class _KeptGroup:
    step: int
    group: StoredGroup


_KEPT_GROUPS = TypeAdapter(tuple[_KeptGroup, ...])


class SolvedCompletions:
    """The newest solved completions of each problem.

    What a step gets depends on earlier steps alone, and is the same in every process that has the
    groups of all.
    """

    def __init__(self, config: ReplayConfig) -> None:
        self._config = config
        self._solved: dict[str, SolvedGroup] = {}

    def replay(
        self, sampled: ScoredGroups, rewards: Tensor, main_of: MainOf, *, step: int
    ) -> tuple[ScoredGroups, Mapping[str, float]]:
        """The groups of a step with solved completions in those that have none, and metrics.

        The step's own solved completions are kept for later steps.

        Args:
            sampled: the groups of all processes, as they were sampled.
            rewards: float `[N, G]`, NaN where a completion has no reward. Such a completion is
                never kept as a solved one.
            main_of: the source by which a completion counts as solved.
            step: number of the step, from 1.
        """
        oldest = step - self._config.max_age_steps
        self._solved = {key: one for key, one in self._solved.items() if one.step >= oldest}
        groups, ages = [], []
        for group, without in zip(sampled.groups, rewards.isnan().tolist(), strict=True):
            key, source = StoredProblem.of(group.group.problem).key, main_of(group.group.problem)
            solved = _solved_places(group, source, without)
            earlier = self._solved.get(key)
            if solved:
                kept = _only(group, solved[: self._config.per_group])
                self._solved[key] = SolvedGroup(step, kept)
            elif earlier is not None and not all(without):
                group = _with_solved(group, earlier, without)
                num_replayed = min(len(earlier.scored.verdicts), len(group.verdicts) - 1)
                ages += [step - earlier.step] * num_replayed
            groups.append(group)
        return replace(sampled, groups=groups), {
            "replay/completions": len(ages),
            "replay/age": sum(ages) / max(1, len(ages)),
            "replay/problems": len(self._solved),
        }

    def write(self, folder: Path) -> None:
        """Keep the completions in a checkpoint's folder; problems as their messages alone."""
        kept = tuple(
            _KeptGroup(one.step, StoredGroup.of(one.scored)) for one in self._solved.values()
        )
        (folder / FILE).write_bytes(_KEPT_GROUPS.dump_json(kept))

    def restore(self, folder: Path, known: KnownProblems) -> None:
        """Go on with the completions in a checkpoint's folder that can be used."""
        if not (folder / FILE).exists():
            return
        for one in _KEPT_GROUPS.validate_json((folder / FILE).read_bytes()):
            scored = known.group(one.group)
            if scored is not None:
                key = StoredProblem.of(scored.group.problem).key
                self._solved[key] = SolvedGroup(one.step, scored)


def _solved_places(group: ScoredGroup, source: str, without: Sequence[bool]) -> list[int]:
    """The places of solved completions that have a reward."""
    return [
        place
        for place, lacks in enumerate(without)
        if not lacks and solve_rate(_only(group, [place]), source).passed
    ]


def _with_solved(group: ScoredGroup, earlier: SolvedGroup, without: Sequence[bool]) -> ScoredGroup:
    """The group with earlier completions in the places of others, its first reward excepted.

    Args:
        group: has no solved completion, and at least one reward.
        earlier: what takes their places.
        without: True at the places that have no reward; they are replaced first.
    """
    stays = without.index(False)
    others = [place for place in reversed(range(len(without))) if place != stays]
    others.sort(key=lambda place: not without[place])
    rollouts, verdicts = list(group.group.rollouts), list(group.verdicts)
    # Groups of two completions have one place, however many earlier completions there are.
    for place, old, verdict in zip(
        others, earlier.scored.group.rollouts, earlier.scored.verdicts, strict=False
    ):
        rollouts[place] = replace(old, replayed_from=earlier.step)
        verdicts[place] = verdict
    return ScoredGroup(RolloutGroup(group.group.problem, tuple(rollouts)), tuple(verdicts))


def _only(group: ScoredGroup, places: list[int]) -> ScoredGroup:
    """A group of the completions at these places."""
    rollouts = tuple(group.group.rollouts[place] for place in places)
    verdicts = tuple(group.verdicts[place] for place in places)
    return ScoredGroup(RolloutGroup(group.group.problem, rollouts), verdicts)
