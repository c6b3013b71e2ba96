"""Generating and scoring overlap, keep order, and fail early."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from reward_verifier.errors import VerifierRejected
from tests.trainer_client.runs import plain_sampling
from trainer_client.config.reward_sections import RewardConfig, RewardFunctionConfig, VerifierConfig
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import Scorer, generate_and_score
from trainer_client.reward.selection import VerifierSelection
from trainer_client.reward.verifier_client import VerifierClient
from trainer_client.rollout import Rollout, RolloutGroup, Sampling

PROBLEMS = [
    Problem(str(n), ({"role": "user", "content": str(n)},), {"answer": str(n)}) for n in range(3)
]
CONFIG = RewardConfig(verifiers=(VerifierConfig(type="accuracy"),))


def group(problem: Problem) -> RolloutGroup:
    rollout = Rollout((1,), (2,), (0.0,), problem.id, truncated=False)
    return RolloutGroup(problem, (rollout,))


class Engine:
    """Hands its groups over in a given order, calling a hook before each."""

    def __init__(self, order: Sequence[int], before: Callable[[int], None]) -> None:
        self._order = order
        self._before = before

    def update_weights(self) -> None:
        """It has none."""

    def close(self) -> None:
        """It holds nothing."""

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        for position, index in enumerate(self._order):
            self._before(position)
            on_group(index, group(problems[index]))


@contextmanager
def scorer(
    handler: Callable[[httpx.Request], httpx.Response], config: RewardConfig = CONFIG
) -> Iterator[Scorer]:
    with start_blocking_portal() as portal:
        client = VerifierClient(config, transport=httpx.MockTransport(handler))
        with portal.wrap_async_context_manager(client):
            yield Scorer(client, portal)


def answer(request: httpx.Request) -> httpx.Response:
    """The score of a completion is the number it says."""
    (completion,) = json.loads(request.content)["groups"][0]["completions"]
    verdict = {"outcome": "scored", "score": float(completion["text"]), "reason": "equal"}
    return httpx.Response(
        200, json={"groups": [{"completions": [{"verdicts": {"accuracy": verdict}}]}]}
    )


def test_a_group_is_scored_while_later_ones_are_generated() -> None:
    first_request = threading.Event()

    def handler(request: httpx.Request) -> httpx.Response:
        first_request.set()
        return answer(request)

    def before(position: int) -> None:
        if position == 1:
            assert first_request.wait(30), "the first group was not sent"

    with scorer(handler) as open_scorer:
        generate_and_score(
            Engine([0, 1, 2], before),
            open_scorer,
            PROBLEMS,
            plain_sampling(1, 1),
        )


def test_groups_come_back_in_the_order_of_their_problems() -> None:
    with scorer(answer) as open_scorer:
        engine = Engine([2, 0, 1], lambda position: None)
        scored = generate_and_score(engine, open_scorer, PROBLEMS, plain_sampling(1, 1))
    assert [item.group.problem.id for item in scored.groups] == ["0", "1", "2"]
    assert [item.verdicts[0]["accuracy"].score for item in scored.groups] == [0.0, 1.0, 2.0]


def test_a_service_that_only_evaluations_need_is_not_asked_in_training() -> None:
    """It would refuse an empty list of verifiers."""
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return answer(request)

    functions = (RewardFunctionConfig(path="rewards.py:judge"),)
    with scorer(handler, RewardConfig(verifiers=(), functions=functions)) as open_scorer:
        assert open_scorer.submit(group(PROBLEMS[1])).result() == [{}]
        assert not requests
        selection = VerifierSelection((VerifierConfig(type="accuracy"),))
        (verdicts,) = open_scorer.submit(group(PROBLEMS[1]), selection).result()
    assert verdicts["accuracy"].score == 1.0


def test_a_refused_group_stops_the_step_before_everything_is_generated() -> None:
    refused = threading.Event()
    generated: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(422, json={"error": {"type": "t", "message": "no"}})

    def before(position: int) -> None:
        generated.append(position)
        if position == 1:
            assert refused.wait(30)

    with scorer(handler) as open_scorer:
        submit = open_scorer.submit

        def watched(item: RolloutGroup, selection: VerifierSelection | None) -> object:
            future = submit(item, selection)
            future.add_done_callback(lambda _: refused.set())
            return future

        open_scorer.submit = watched  # type: ignore[method-assign,assignment]
        with pytest.raises(VerifierRejected, match="422: no"):
            generate_and_score(
                Engine([0, 1, 2], before),
                open_scorer,
                PROBLEMS,
                plain_sampling(1, 1),
            )
    assert generated == [0, 1]
