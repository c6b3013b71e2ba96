"""Sampling one step ahead: the next step's groups are sampled and scored while this one trains.

This is `train.max_staleness_steps: 1`; `trainer_client.rollout.group_stream` is of more.

Those groups come from the weights before this step's update: they are one step off-policy, and the
importance correction (`loss.importance`) makes up for it. A resumed run no longer has those
weights, so a checkpoint keeps the groups themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from trainer_client.problem_mix import MixPosition
from trainer_client.reward.group_scoring import ScoredGroups
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.stored_group import KnownProblems, StoredGroup

FILE = "ahead.json"
"""Name of the file in a checkpoint's folder."""


class StepGroups(NamedTuple):
    """The scored groups of one step, and where the next step's problems begin."""

    scored: ScoredGroups
    next_problem: MixPosition
    metrics: Mapping[str, float] = {}
    """How old the groups are, and how long sampler and trainer waited for each other."""


SampleGroups = Callable[[MixPosition], StepGroups]
"""Samples and scores the groups of a step whose problems begin at this position."""


class SamplingAhead:
    """The groups of the next step, sampled in a thread of their own."""

    def __init__(self) -> None:
        self._pending: Future[StepGroups] | None = None
        self._position = MixPosition()
        self._done_at: float | None = None

    @property
    def started(self) -> bool:
        """True when the groups of the next `take` are being sampled or are done."""
        return self._pending is not None

    def start(self, sample: SampleGroups, position: MixPosition) -> None:
        """Begin with the groups at this position."""
        self._pending, self._position = start_daemon(partial(sample, position)), position
        self._done_at = None
        self._pending.add_done_callback(lambda _: self._note_end())

    def restore(self, groups: StepGroups, position: MixPosition) -> None:
        """Have the groups at this position ready, as a checkpoint kept them."""
        self._pending, self._position = Future(), position
        self._pending.set_result(groups)

    def take(self, sample: SampleGroups, position: MixPosition) -> StepGroups:
        """The groups at this position, started before or now; raises sampling's errors."""
        if self._pending is None:
            return sample(position)
        assert self._position == position, "sampled ahead at another position"
        pending, self._pending = self._pending, None
        return pending.result()

    def idle_seconds(self) -> float:
        """Seconds since sampling has ended; 0 while it goes on."""
        return 0.0 if self._done_at is None else time.perf_counter() - self._done_at

    def kept(self, position: MixPosition) -> StepGroups | None:
        """The groups at this position, once they are sampled; `take` still returns them.

        None when no groups or those of another position were started, and when sampling failed,
        whose error `take` raises.
        """
        if self._pending is None or self._position != position:
            return None
        self.wait()
        return None if self._pending.exception() else self._pending.result()

    def wait(self) -> None:
        """Wait until the engine is free; `take` raises an error of sampling, this does not."""
        if self._pending is not None:
            wait_for([self._pending])

    def _note_end(self) -> None:
        self._done_at = time.perf_counter()

    def close(self) -> None:
        """Give up groups that have not been taken; a process that ends does not wait for them."""
        self._pending = None


@dataclass(frozen=True)
class _KeptGroups:
    next_problem: MixPosition
    generate_seconds: float
    scoring_exposed_seconds: float
    groups: tuple[StoredGroup, ...]


_KEPT_GROUPS = TypeAdapter(_KeptGroups)


def write_groups(folder: Path, groups: StepGroups) -> None:
    """Keep groups in a checkpoint's folder; problems are kept as their messages alone."""
    scored = groups.scored
    kept = _KeptGroups(
        groups.next_problem,
        scored.generate_seconds,
        scored.scoring_exposed_seconds,
        tuple(map(StoredGroup.of, scored.groups)),
    )
    (folder / FILE).write_bytes(_KEPT_GROUPS.dump_json(kept))


def read_groups(folder: Path, known: KnownProblems) -> StepGroups | None:
    """The groups in a checkpoint's folder; None when it keeps none that can be used.

    Args:
        folder: folder of the checkpoint.
        known: the problems that the run can train on.
    """
    if not (folder / FILE).exists():
        return None
    kept = _KEPT_GROUPS.validate_json((folder / FILE).read_bytes())
    found = [known.group(group) for group in kept.groups]
    groups = [group for group in found if group is not None]
    if len(groups) < len(found):
        return None
    scored = ScoredGroups(groups, kept.generate_seconds, kept.scoring_exposed_seconds)
    return StepGroups(scored, kept.next_problem)
