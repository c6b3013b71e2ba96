"""The state of a stream of groups: every problem that was taken and has not been trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from trainer_client.problem_mix import MixPosition
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup
from trainer_client.rollout.stored_group import KnownProblems, StoredGroup, StoredProblem

FILE = "stream.json"
"""Name of the file in a checkpoint's folder."""


@dataclass(frozen=True)
class StreamProblem:
    """A problem of the run, at its place among those of all steps."""

    number: int
    """Place in the order of the whole run, from 0."""
    problem: Problem
    taken_at: MixPosition
    """Position at which it was taken, together with others."""


@dataclass(frozen=True)
class StreamGroup:
    """A scored group that waits for its step."""

    origin: StreamProblem
    scored: ScoredGroup
    """Its rollouts have `weight_steps`."""

    @property
    def newest(self) -> int:
        """Number of steps that the newest weights in it had been trained for."""
        return max(step for one in self.scored.group.rollouts for step in one.weight_steps or (0,))


@dataclass(frozen=True)
class StreamState:
    """A stream between two steps, as a checkpoint keeps it."""

    next_number: int
    next_problem: MixPosition
    groups: tuple[StreamGroup, ...]
    """Groups that are sampled and scored, by their numbers."""
    unfinished: tuple[StreamProblem, ...]
    """Problems that were taken and are not done, by their numbers."""


@dataclass(frozen=True)
class _KeptItem:
    number: int
    taken_at: MixPosition
    problem: StoredProblem | None = None
    group: StoredGroup | None = None


@dataclass(frozen=True)
class _KeptState:
    next_number: int
    next_problem: MixPosition
    items: tuple[_KeptItem, ...]


_KEPT_STATE = TypeAdapter(_KeptState)


def write_stream(folder: Path, state: StreamState) -> None:
    """Keep a stream in a checkpoint's folder; problems are kept as their messages alone."""
    done = (
        _KeptItem(one.origin.number, one.origin.taken_at, group=StoredGroup.of(one.scored))
        for one in state.groups
    )
    open_ = (
        _KeptItem(one.number, one.taken_at, problem=StoredProblem.of(one.problem))
        for one in state.unfinished
    )
    kept = _KeptState(state.next_number, state.next_problem, (*done, *open_))
    (folder / FILE).write_bytes(_KEPT_STATE.dump_json(kept))


def read_stream(folder: Path, known: KnownProblems) -> StreamState | None:
    """The stream in a checkpoint's folder; None when it keeps none.

    A group that lacks a verdict of a verifier is sampled anew. Problems that the data sets have no
    longer are left out.
    """
    if not (folder / FILE).exists():
        return None
    kept = _KEPT_STATE.validate_json((folder / FILE).read_bytes())
    groups, unfinished = [], []
    for item in kept.items:
        scored = None if item.group is None else known.group(item.group)
        problem = known.find(_problem_of(item))
        if problem is None:
            continue
        origin = StreamProblem(item.number, problem, item.taken_at)
        if scored is None:
            unfinished.append(origin)
        else:
            groups.append(StreamGroup(origin, scored))
    unfinished.sort(key=lambda one: one.number)
    return StreamState(kept.next_number, kept.next_problem, tuple(groups), tuple(unfinished))


def _problem_of(item: _KeptItem) -> StoredProblem:
    if item.group is not None:
        return StoredProblem(item.group.dataset, item.group.messages)
    assert item.problem is not None
    return item.problem
