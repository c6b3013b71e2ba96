"""Scoring a request whose groups name verifiers of their own: one `Scoring` for each choice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import chain

from verifier_service.engine.chunks import VerdictsByKey, options_json
from verifier_service.engine.engine import Engine
from verifier_service.engine.finish_all import finish_all
from verifier_service.engine.joined_tasks import JoinedEngine
from verifier_service.engine.request_scoring import (
    OnGroup,
    QuestionBudget,
    ScoredRequest,
    Scoring,
    turns_of,
)
from verifier_service.profiles import Verifiers
from verifier_service.schemas import ScoreRequest

CHOICES_AT_ONCE = 64
"""Choices of verifiers that are judged beside each other; each keeps all workers busy by itself
where its groups are many, and small tasks of several choices are joined."""

_Choice = tuple[tuple[str, bytes], ...]
"""Key and options of each verifier; weights do not change verdicts."""


def scoring_of(
    request: ScoreRequest, engine: Engine, *, on_group: OnGroup | None = None
) -> Scoring | MixedScoring:
    """The scoring of a request; arguments as of `Scoring`."""
    kind = MixedScoring if request.choosing_groups else Scoring
    return kind(request, engine, on_group=on_group)


class MixedScoring:
    """The scoring of one request, whose groups are judged by different verifiers.

    Groups with equal verifiers are scored together, as a request of their own would be.

    Args:
        request: with the verifiers of all profiles that it names.
        engine: judges.
        on_group: is called with each group that is complete, once.
    """

    def __init__(
        self, request: ScoreRequest, engine: Engine, *, on_group: OnGroup | None = None
    ) -> None:
        self._request = request
        self._on_group = on_group
        every = chain.from_iterable(request.chosen_for(group) for group in request.groups)
        turns = turns_of(every, engine)
        self._engine: Engine = engine
        if "text" in turns:  # the joined engine takes the turns, and tasks that wait are joined
            self._engine = JoinedEngine(engine, turns["text"])
            turns["text"] = asyncio.Semaphore(CHOICES_AT_ONCE)
        self._turns = turns
        self._budget = QuestionBudget(engine.max_questions)
        self._members = _groups_by_choice(request)
        self._place: dict[int, tuple[Scoring, int]] = {}
        """The scoring of each group, and the group's index there."""
        self._num_deduplicated = 0

    async def run(self, deadline_seconds: float) -> ScoredRequest:
        """Judge every completion with the verifiers of its group; see `Scoring.run`."""
        end = time.monotonic() + deadline_seconds
        left = iter(self._members)
        runs = min(CHOICES_AT_ONCE, len(self._members))
        try:
            await finish_all([self._run_each(left, end) for _ in range(runs)])
        finally:
            self._on_group = None  # as that of a `Scoring`
        found = [self.group_verdicts(index) for index in range(len(self._request.groups))]
        return ScoredRequest(found, self._num_deduplicated)

    def group_verdicts(self, index: int) -> list[VerdictsByKey]:
        """The verdicts on the completions of a complete group, in the order of the request."""
        scoring, place = self._place[index]
        return scoring.group_verdicts(place)

    async def _run_each(self, left: Iterator[list[int]], end: float) -> None:
        """Score one choice after the other while there are some left."""
        for indices in left:
            scoring = self._scoring(indices)
            scored = await scoring.run(max(end - time.monotonic(), 0))
            self._num_deduplicated += scored.num_deduplicated

    def _scoring(self, indices: list[int]) -> Scoring:
        """The scoring of groups that have equal verifiers."""
        groups = [self._request.groups[index] for index in indices]
        verifiers = self._request.chosen_for(groups[0])
        alone = self._request.model_copy(update={"verifiers": verifiers, "groups": groups})

        def report(place: int) -> None:
            if self._on_group is not None:
                self._on_group(indices[place])

        scoring = Scoring(
            alone,
            self._engine,
            on_group=report,
            turns=self._turns,
            budget=self._budget,
            places=indices,
        )
        self._place.update((index, (scoring, place)) for place, index in enumerate(indices))
        return scoring


def _groups_by_choice(request: ScoreRequest) -> list[list[int]]:
    """The indices of the groups, in lists of those with equal verifiers."""
    choices: dict[int, _Choice] = {}
    found: dict[_Choice, list[int]] = {}
    for index, group in enumerate(request.groups):
        verifiers = request.chosen_for(group)
        # Groups of one profile share the list, which then is looked at once.
        choice = choices.get(id(verifiers))
        if choice is None:
            choice = choices[id(verifiers)] = _choice(verifiers)
        found.setdefault(choice, []).append(index)
    return list(found.values())


def _choice(verifiers: Verifiers) -> _Choice:
    return tuple((one.key, options_json(one)) for one in verifiers)
