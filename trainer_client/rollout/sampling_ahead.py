"""Sampling one step ahead: the next step's groups are sampled and scored while this one trains.

Those groups come from the weights before this step's update: they are one step off-policy, and the
importance correction (`loss.importance`) makes up for it. A resumed run no longer has those
weights, so a checkpoint keeps the groups themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from reward_verifier.verdict import Verdicts
from trainer_client.dataset import Problem
from trainer_client.problem_order import MixPosition
from trainer_client.reward.group_scoring import ScoredGroup, ScoredGroups
from trainer_client.rollout import Rollout, RolloutGroup
from trainer_client.rollout.daemon_thread import start_daemon

FILE = "ahead.json"
"""Name of the file in a checkpoint's folder."""


class StepGroups(NamedTuple):
    """The scored groups of one step, and where the next step's problems begin."""

    scored: ScoredGroups
    next_problem: MixPosition


SampleGroups = Callable[[MixPosition], StepGroups]
"""Samples and scores the groups of a step whose problems begin at this position."""


class SamplingAhead:
    """The groups of the next step, sampled in a thread of their own."""

    def __init__(self) -> None:
        self._pending: Future[StepGroups] | None = None
        self._position = MixPosition()

    @property
    def started(self) -> bool:
        """True when the groups of the next `take` are being sampled or are done."""
        return self._pending is not None

    def start(self, sample: SampleGroups, position: MixPosition) -> None:
        """Begin with the groups at this position."""
        self._pending, self._position = start_daemon(partial(sample, position)), position

    def restore(self, groups: StepGroups, position: MixPosition) -> None:
        """Have the groups at this position ready, as a checkpoint kept them."""
        self._pending, self._position = Future(), position
        self._pending.set_result(groups)

    def take(self, sample: SampleGroups, position: MixPosition) -> StepGroups:
        """The groups that were started, else those at this position; raises sampling's errors."""
        if self._pending is None:
            return sample(position)
        pending, self._pending = self._pending, None
        return pending.result()

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

    def close(self) -> None:
        """Give up groups that have not been taken; a process that ends does not wait for them."""
        self._pending = None


@dataclass(frozen=True)
class _KeptGroup:
    dataset: str
    """The label of the problem's data set, where there are several."""
    messages: tuple[dict[str, Any], ...]
    """The prompt, which names the problem: prompts of a data set are unique."""
    rollouts: tuple[Rollout, ...]
    verdicts: tuple[Verdicts, ...]


@dataclass(frozen=True)
class _KeptGroups:
    next_problem: MixPosition
    generate_seconds: float
    scoring_exposed_seconds: float
    groups: tuple[_KeptGroup, ...]


_KEPT_GROUPS = TypeAdapter(_KeptGroups)


def write_groups(folder: Path, groups: StepGroups) -> None:
    """Keep groups in a checkpoint's folder; problems are kept as their messages alone."""
    scored = groups.scored
    kept = _KeptGroups(
        groups.next_problem,
        scored.generate_seconds,
        scored.scoring_exposed_seconds,
        tuple(
            _KeptGroup(
                item.group.problem.dataset,
                item.group.problem.messages,
                item.group.rollouts,
                item.verdicts,
            )
            for item in scored.groups
        ),
    )
    (folder / FILE).write_bytes(_KEPT_GROUPS.dump_json(kept))


def read_groups(
    folder: Path, problems: Iterable[Problem], verifiers_of: Callable[[Problem], Collection[str]]
) -> StepGroups | None:
    """The groups in a checkpoint's folder; None when it keeps none that can be used.

    Args:
        folder: folder of the checkpoint.
        problems: problems of the data sets; groups of another data set cannot be used.
        verifiers_of: keys of a problem's verifiers; groups that lack a verdict of one cannot be
            used.
    """
    if not (folder / FILE).exists():
        return None
    kept = _KEPT_GROUPS.validate_json((folder / FILE).read_bytes())
    known = {_key(problem.dataset, problem.messages): problem for problem in problems}
    groups = []
    for group in kept.groups:
        problem = known.get(_key(group.dataset, group.messages))
        if problem is None:
            return None
        if any(set(verifiers_of(problem)) - set(verdicts) for verdicts in group.verdicts):
            return None
        groups.append(ScoredGroup(RolloutGroup(problem, group.rollouts), group.verdicts))
    scored = ScoredGroups(groups, kept.generate_seconds, kept.scoring_exposed_seconds)
    return StepGroups(scored, kept.next_problem)


def _key(dataset: str, messages: Iterable[dict[str, Any]]) -> str:
    return json.dumps([dataset, list(messages)], sort_keys=True)
