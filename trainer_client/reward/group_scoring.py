"""Generate and score at the same time: each group is sent as soon as it is complete."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from anyio.from_thread import BlockingPortal, start_blocking_portal

from reward_verifier.verdict import Verdict, Verdicts
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.problems import Problem
from trainer_client.reward.environment import EnvironmentReward
from trainer_client.reward.functions import RewardFunction
from trainer_client.reward.model import RewardModel
from trainer_client.reward.selection import VerifierSelection
from trainer_client.reward.verifier_client import (
    SampledChat,
    SampledText,
    ScoreRequest,
    VerifierClient,
)
from trainer_client.rollout import Rollout, RolloutEngine, RolloutGroup, Sampling
from trainer_client.run.step_progress import STEP


@dataclass(frozen=True)
class ScoredGroup:
    """A group and the verdicts on each of its completions."""

    group: RolloutGroup
    verdicts: tuple[Verdicts, ...]


@dataclass(frozen=True)
class ScoredGroups:
    """The groups of one step, in the order of their problems, and where the time went."""

    groups: list[ScoredGroup]
    generate_seconds: float
    scoring_exposed_seconds: float
    """Seconds spent waiting for verdicts after the last completion had been generated."""
    lost: tuple[str, ...] = ()
    """The fault of each group that was lost; such a group is not among `groups`."""

    def joined(self, other: ScoredGroups) -> ScoredGroups:
        """These groups followed by the other ones, with the times added."""
        return ScoredGroups(
            self.groups + other.groups,
            self.generate_seconds + other.generate_seconds,
            self.scoring_exposed_seconds + other.scoring_exposed_seconds,
            self.lost + other.lost,
        )


class LocalSource(Protocol):
    """A source of scores in this process: a function, a model or the environment."""

    @property
    def key(self) -> str:
        """The name of its verdicts."""
        ...

    def score(self, groups: Sequence[RolloutGroup]) -> list[Verdict]:
        """A verdict on each completion, group by group; runs in the calling thread."""
        ...


class Scorer:
    """A verifier client in a thread with an event loop, for a trainer that is not async."""

    def __init__(
        self,
        client: VerifierClient | None,
        portal: BlockingPortal,
        local: Sequence[LocalSource] = (),
    ) -> None:
        self._client = client
        self._portal = portal
        self._local = local

    @property
    def of_service(self) -> Scorer:
        """This scorer without the sources in this process."""
        return Scorer(self._client, self._portal)

    def submit(
        self, group: RolloutGroup, selection: VerifierSelection | None = None
    ) -> Future[list[Verdicts]]:
        """Start scoring a group at the service; the future raises VerifierError.

        A scorer without a service returns a future that is done and has no verdicts.

        Args:
            group: the completions.
            selection: the verifiers to ask for, where the problem has none of its own; None: the
                run's.
        """
        own = group.problem.reward
        if own is not None and own.selection is not None:
            selection = own.selection
        if self._client is None:
            done: Future[list[Verdicts]] = Future()
            done.set_result([{} for _ in group.rollouts])
            return done
        request = ScoreRequest(
            completions=tuple(map(self._judged, group.rollouts)),
            reference=group.problem.reference,
            prompt=group.problem.text,
            selection=selection,
        )
        return self._portal.start_task_soon(self._client.score, request)

    @staticmethod
    def _judged(rollout: Rollout) -> SampledText | SampledChat:
        """The completion as it is sent to the service."""
        if rollout.episode is not None and rollout.episode.judged_as_chat:
            return SampledChat(rollout.episode.messages)
        return SampledText(rollout.text, rollout.num_sampled, rollout.truncated)

    def score_here(self, groups: Sequence[RolloutGroup]) -> list[list[Verdicts]]:
        """The verdicts of the sources in this process, group by group; raises RewardError."""
        verdicts: list[list[Verdicts]] = [[{} for _ in group.rollouts] for group in groups]
        flat = [item for group in verdicts for item in group]
        for source in self._local:
            for item, verdict in zip(flat, source.score(groups), strict=True):
                item[source.key] = verdict
        return verdicts


@contextmanager
def open_scorer(
    config: RewardConfig, asked: Sequence[tuple[str, VerifierSelection]] | None = None
) -> Iterator[Scorer]:
    """A scorer whose service, if it needs one, is ready and has accepted the verifiers.

    Args:
        config: the run's section `reward`.
        asked: all choices of verifiers that will be used, each with the place that names it; None:
            the run's own.

    Raises:
        ConfigError: a function or a reward model cannot be loaded.
        VerifierError: the service does not respond, or refuses the verifiers.
    """
    local: list[LocalSource] = [
        *map(RewardFunction, config.functions),
        *map(RewardModel, config.models),
        *map(EnvironmentReward, () if config.environment is None else (config.environment,)),
    ]
    with start_blocking_portal() as portal:
        if not (config.verifiers if asked is None else asked):
            yield Scorer(None, portal, local)
            return
        client = VerifierClient(config)
        with portal.wrap_async_context_manager(client):
            portal.call(client.check, *(asked or ()))
            yield Scorer(client, portal, local)


def generate_and_score(
    engine: RolloutEngine,
    scorer: Scorer,
    problems: Sequence[Problem],
    sampling: Sampling,
    selection: VerifierSelection | None = None,
) -> ScoredGroups:
    """A scored group for each problem but those of lost groups.

    Args:
        engine: samples the groups.
        scorer: scores them.
        problems: each gets one group.
        sampling: group size, limits and temperature.
        selection: the only verifiers to use, but for problems that have their own; None: the run's
            verifiers, functions and models.

    Raises:
        VerifierError, RewardError, RolloutError: nothing can be sampled or scored.
    """
    lost: dict[int, str] = {}
    pending: dict[int, tuple[RolloutGroup, Future[list[Verdicts]]]] = {}

    def send(index: int, group: RolloutGroup) -> None:
        for _, future in pending.values():
            if future.done():
                future.result()  # its error stops the step now, not after all generation
        STEP.advance(sampling.group_size)
        if group.lost is None:
            pending[index] = (group, scorer.submit(group, selection))
        else:
            lost[index] = group.lost

    STEP.begin("sampling", len(problems) * sampling.group_size, "completions")
    start = time.perf_counter()
    engine.generate(problems, sampling, send)
    generated = time.perf_counter()
    in_order = [pending[index] for index in range(len(problems)) if index not in lost]
    STEP.begin("scoring", len(problems), "groups")
    local = (
        scorer.score_here([group for group, _ in in_order])
        if selection is None
        else [[{} for _ in group.rollouts] for group, _ in in_order]
    )
    groups = []
    for (group, future), here in zip(in_order, local, strict=True):
        groups.append(ScoredGroup(group, combined(here, future.result())))
        STEP.advance()
    exposed = time.perf_counter() - generated
    return ScoredGroups(groups, generated - start, exposed, tuple(lost.values()))


def why_lost(lost: Iterable[str]) -> str:
    """The faults of lost groups in one line, each once, with the number of groups."""
    reasons = list(lost)
    return f"{len(reasons)} groups were lost: {'; '.join(dict.fromkeys(reasons))}"


def scored_here(scorer: Scorer, scored: ScoredGroups) -> ScoredGroups:
    """The groups with the verdicts of the sources in this process added; raises RewardError."""
    start = time.perf_counter()
    local = scorer.score_here([item.group for item in scored.groups])
    groups = [
        ScoredGroup(
            item.group,
            combined(here, item.verdicts),
        )
        for item, here in zip(scored.groups, local, strict=True)
    ]
    seconds = scored.scoring_exposed_seconds + time.perf_counter() - start
    return replace(scored, groups=groups, scoring_exposed_seconds=seconds)


def combined(local: Sequence[Verdicts], service: Sequence[Verdicts]) -> tuple[Verdicts, ...]:
    """The verdicts of both kinds of sources on each completion."""
    return tuple({**here, **there} for here, there in zip(local, service, strict=True))
