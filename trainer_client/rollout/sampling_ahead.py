"""Sampling one step ahead: the next step's groups are sampled and scored while this one trains.

They then come from the weights before this step's update, one step off-policy, which the importance
correction (`loss.importance`) makes up for. Those weights are gone when a run is resumed, so a
checkpoint keeps the groups themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from reward_verifier.verdict import Verdicts
from trainer_client.dataset import Problem
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import Rollout, RolloutGroup
from trainer_client.rollout.daemon_thread import start_daemon

FILE = "ahead.json"

Taken = tuple[ScoredGroups, int]
"""Scored groups, and the position of the problems after theirs."""

Sample = Callable[[int], Taken]
"""From the position of the problems."""


class SamplingAhead:
    """The groups of the next step, in the making."""

    def __init__(self) -> None:
        self._pending: Future[Taken] | None = None
        self._position = 0

    @property
    def started(self) -> bool:
        """Whether the next `take` has been started already."""
        return self._pending is not None

    def start(self, sample: Sample, position: int) -> None:
        """Begin with the groups at this position."""
        self._pending, self._position = start_daemon(partial(sample, position)), position

    def restore(self, taken: Taken, position: int) -> None:
        """Have the groups at this position, as a checkpoint kept them."""
        self._pending, self._position = Future(), position
        self._pending.set_result(taken)

    def take(self, sample: Sample, position: int) -> Taken:
        """The groups that were started, or those at this position; raises what sampling raises."""
        if self._pending is None:
            return sample(position)
        pending, self._pending = self._pending, None
        return pending.result()

    def kept(self, position: int) -> Taken | None:
        """The groups at this position, once they are there; they can still be taken.

        None where sampling failed, which `take` says, and where none or others were started.
        """
        if self._pending is None or self._position != position:
            return None
        self.wait()
        return None if self._pending.exception() else self._pending.result()

    def wait(self) -> None:
        """Wait until the engine is free; an error comes with `take`."""
        if self._pending is not None:
            wait_for([self._pending])

    def close(self) -> None:
        """Give up what has not been taken; a process that ends does not wait for it."""
        self._pending = None


@dataclass(frozen=True)
class _Group:
    messages: tuple[dict[str, str], ...]
    rollouts: tuple[Rollout, ...]
    verdicts: tuple[Verdicts, ...]


@dataclass(frozen=True)
class _Kept:
    next_problems: int
    generate_seconds: float
    scoring_exposed_seconds: float
    groups: tuple[_Group, ...]


_KEPT = TypeAdapter(_Kept)


def write_groups(folder: Path, taken: Taken) -> None:
    """Keep groups in a checkpoint's folder; of their problems the messages, which are unique."""
    scored, next_problems = taken
    kept = _Kept(
        next_problems,
        scored.generate_seconds,
        scored.scoring_exposed_seconds,
        tuple(
            _Group(item.group.problem.messages, item.group.rollouts, item.verdicts)
            for item in scored.groups
        ),
    )
    (folder / FILE).write_bytes(_KEPT.dump_json(kept))


def read_groups(
    folder: Path, problems: Iterable[Problem], sources: Collection[str]
) -> Taken | None:
    """The groups in a checkpoint's folder; None where it keeps none that can be used.

    Args:
        folder: of the checkpoint.
        problems: of the data set; another one's groups cannot be used.
        sources: of rewards; groups without the verdicts of one cannot be used.
    """
    if not (folder / FILE).exists():
        return None
    kept = _KEPT.validate_json((folder / FILE).read_bytes())
    by_messages = {_key(problem.messages): problem for problem in problems}
    if any(_key(group.messages) not in by_messages for group in kept.groups):
        return None
    if any(set(sources) - set(verdicts) for group in kept.groups for verdicts in group.verdicts):
        return None
    groups = [
        ScoredGroup(RolloutGroup(by_messages[_key(group.messages)], group.rollouts), group.verdicts)
        for group in kept.groups
    ]
    scored = ScoredGroups(groups, kept.generate_seconds, kept.scoring_exposed_seconds)
    return scored, kept.next_problems


def _key(messages: Iterable[dict[str, str]]) -> tuple[tuple[tuple[str, str], ...], ...]:
    return tuple(tuple(sorted(message.items())) for message in messages)
