"""What the scheduler has judged, how often, and in what pieces: observed by a pool of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verifier_service.judging import judge
from verifier_service.scheduler import Scheduler
from verifier_service.schemas import ScoreRequest
from verifier_service.scoring import ScoredRequest
from verifier_service.verdict import EncodedTask, Outcome, Question, Task, Verdict
from verifier_service.verifier import Undecided
from verifier_service.verifiers.accuracy import Accuracy

OPEN = r"\boxed{\sum_{k=1}^{3} k}"
"""Our own reader leaves it to math-verify."""
SAME_OPEN = r"Therefore \boxed{\sum_{k=1}^{3} k}"


class WatchedPool:
    """Judges in this process and writes down every task."""

    size = 2
    problem = None

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    async def judge(self, encoded: EncodedTask, verdicts: list[Verdict | Question]) -> None:
        task = encoded.decode()
        self.tasks.append(task)
        verifier = Accuracy.model_validate(task.verifier)
        for part in task.parts:
            reference = part.reference or {}
            for completion in part.completions:
                await asyncio.sleep(0)
                if task.settle:
                    found = verifier.settle(reference)(completion.text)
                else:
                    quick = verifier.prepare(reference)(completion)
                    if isinstance(quick, Undecided):
                        verdicts.append(quick.question)
                        continue
                    found = quick
                verdicts.append(
                    Verdict(Outcome.SCORED, found.score, found.reason, 0.0, found.extracted)
                )

    @property
    def settled(self) -> list[str]:
        return [
            completion.text
            for task in self.tasks
            if task.settle
            for part in task.parts
            for completion in part.completions
        ]


def request(*groups: tuple[str, list[str]], **options: Any) -> ScoreRequest:
    return ScoreRequest.model_validate(
        {
            "verifiers": [{"type": "accuracy", **options}],
            "groups": [
                {"reference": {"answer": answer}, "completions": texts} for answer, texts in groups
            ],
        }
    )


def score(
    pool: WatchedPool, *requests: ScoreRequest, max_cached_verdicts: int = 100
) -> list[ScoredRequest]:
    scheduler = Scheduler({"text": pool}, max_cached_verdicts=max_cached_verdicts)

    async def run() -> list[ScoredRequest]:
        return [await scheduler.score(one, deadline_seconds=60) for one in requests]

    return asyncio.run(run())


def reasons(scored: ScoredRequest) -> list[list[str]]:
    return [[place["accuracy"].reason for place in places] for places in scored.groups]


def test_an_open_pair_is_settled_once_in_a_request() -> None:
    pool = WatchedPool()
    (scored,) = score(pool, request(("6", [OPEN, SAME_OPEN, "6", OPEN]), ("6", [SAME_OPEN])))
    assert reasons(scored) == [["equal"] * 4, ["equal"]]
    assert pool.settled == [r"\sum_{k=1}^{3} k"]
    assert scored.num_deduplicated == 2  # by their text


@pytest.mark.parametrize("other", [request(("7", [OPEN])), request(("6", [OPEN]), tolerance=1e-9)])
def test_pairs_that_differ_in_reference_or_options_are_settled_each(other: ScoreRequest) -> None:
    pool = WatchedPool()
    score(pool, request(("6", [OPEN])), other)
    assert len(pool.settled) == 2


def test_later_requests_are_served_from_the_cache() -> None:
    pool = WatchedPool()
    first, second = score(pool, request(("6", [OPEN])), request(("6", [SAME_OPEN])))
    assert reasons(first) == reasons(second) == [["equal"]]
    assert len(pool.settled) == 1


def test_the_cache_is_bounded_and_forgets_what_was_not_used() -> None:
    pool = WatchedPool()
    asked = [request((answer, [OPEN])) for answer in ("6", "7", "6", "8", "6", "7")]
    score(pool, *asked, max_cached_verdicts=2)
    references = [
        (part.reference or {})["answer"]
        for task in pool.tasks
        if task.settle
        for part in task.parts
    ]
    assert references == ["6", "7", "8", "7"]


def test_without_a_cache_a_request_still_settles_a_pair_once() -> None:
    pool = WatchedPool()
    texts = [f"{'again ' * n}{OPEN}" for n in range(200)]
    score(pool, request(("6", texts)), request(("6", [OPEN])), max_cached_verdicts=0)
    assert len(pool.settled) == 2


def test_equal_completions_of_equal_references_are_judged_once() -> None:
    pool = WatchedPool()
    (scored,) = score(pool, request(("2", ["2", "3", "2"]), ("2", ["3"]), ("3", ["3"])))
    assert reasons(scored) == [["equal", "different", "equal"], ["different"], ["equal"]]
    assert sum(task.num_completions for task in pool.tasks) == 3
    assert scored.num_deduplicated == 2


def test_the_work_is_shared_among_the_workers() -> None:
    pool = WatchedPool()
    score(pool, request(("2", [str(n) for n in range(1000)])))
    assert [task.num_completions for task in pool.tasks] == [500, 500]


def test_a_slow_verifier_gets_small_tasks() -> None:
    pool = WatchedPool()
    score(pool, request(("2", [str(n) for n in range(32)]), mode="math_verify"))
    assert {task.num_completions for task in pool.tasks} == {Accuracy(mode="math_verify").task_size}


texts = st.sampled_from(["2", "3", OPEN, SAME_OPEN, r"\boxed{\int_0^6 1 dx}", "none at all here"])
groups = st.lists(st.tuples(st.sampled_from(["2", "6"]), st.lists(texts, max_size=5)), max_size=5)


@settings(max_examples=25, deadline=None)
@given(groups)
def test_every_completion_gets_the_verdict_it_gets_alone(
    asked: list[tuple[str, list[str]]],
) -> None:
    (scored,) = score(WatchedPool(), request(*asked))
    assert reasons(scored) == [
        [judge(Accuracy(), {"answer": answer}, text).reason for text in texts]
        for answer, texts in asked
    ]
