"""Generate and score at the same time: each group is sent as soon as it is complete."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from anyio.from_thread import BlockingPortal, start_blocking_portal

from trainer_client.config import RewardConfig
from trainer_client.dataset import Problem
from trainer_client.rollout import RolloutEngine, RolloutGroup, Sampling
from trainer_client.verifier_client import ScoreRequest, Verdicts, VerifierClient


@dataclass(frozen=True)
class ScoredGroup:
    """A group and the verdicts of each of its completions."""

    group: RolloutGroup
    verdicts: tuple[Verdicts, ...]


@dataclass(frozen=True)
class ScoredGroups:
    """The groups of one step, in the order of their problems, and where the time went."""

    groups: list[ScoredGroup]
    generate_seconds: float
    scoring_exposed_seconds: float
    """Seconds spent waiting for verdicts after the last completion had been generated."""


class Scorer:
    """A verifier client in a thread with an event loop, for a trainer that is not async."""

    def __init__(self, client: VerifierClient, portal: BlockingPortal) -> None:
        self._client = client
        self._portal = portal

    def submit(self, group: RolloutGroup) -> Future[list[Verdicts]]:
        """Start scoring a group; the future raises VerifierError."""
        request = ScoreRequest(
            completions=tuple(rollout.text for rollout in group.rollouts),
            reference=group.problem.reference,
            prompt=group.problem.text,
        )
        return self._portal.start_task_soon(self._client.score, request)


@contextmanager
def open_scorer(config: RewardConfig) -> Iterator[Scorer]:
    """A scorer whose service has answered that it is ready; raises VerifierError."""
    with start_blocking_portal() as portal:
        client = VerifierClient(config)
        with portal.wrap_async_context_manager(client):
            portal.call(client.check)
            yield Scorer(client, portal)


def generate_and_score(
    engine: RolloutEngine, scorer: Scorer, problems: Sequence[Problem], sampling: Sampling
) -> ScoredGroups:
    """A scored group for each problem; raises VerifierError."""
    pending: dict[int, tuple[RolloutGroup, Future[list[Verdicts]]]] = {}

    def send(index: int, group: RolloutGroup) -> None:
        for _, future in pending.values():
            if future.done():
                future.result()  # one that failed stops the step now, not after all generation
        pending[index] = (group, scorer.submit(group))

    start = time.perf_counter()
    engine.generate(problems, sampling, send)
    generated = time.perf_counter()
    groups = [
        ScoredGroup(group, tuple(future.result()))
        for group, future in (pending[index] for index in range(len(problems)))
    ]
    return ScoredGroups(groups, generated - start, time.perf_counter() - generated)
