"""The scheduler's tasks, how often and in what pieces, observed by a pool of its own."""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.verifier_service.judging import judge
from verifier_service.code.plain_run import RunProgram
from verifier_service.completion import Completion
from verifier_service.engine.admission import Admission, PendingBounds
from verifier_service.engine.chunks import SHARED_REFERENCE_BYTES
from verifier_service.engine.request_limits import MAX_COMPLETION_CHARACTERS, MAX_REFERENCE_BYTES
from verifier_service.engine.request_scoring import (
    SETTLE_CHUNK_SIZE,
    ScoredRequest,
    Scoring,
)
from verifier_service.engine.response import EncodedResponse, respond
from verifier_service.engine.scheduler import Scheduler
from verifier_service.errors import QueueFull
from verifier_service.reason import EngineReason
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verdict import Outcome, Verdict, failed
from verifier_service.verifier import Undecided
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.format import Format
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

OPEN = r"\boxed{\sum_{k=1}^{3} k}"
"""Our own reader leaves it to math-verify."""
TEXTS = [Completion("a"), Completion("b"), Completion("c")]
SAME_OPEN = r"Therefore \boxed{\sum_{k=1}^{3} k}"


_verifier: TypeAdapter[Accuracy | Format] = TypeAdapter(Accuracy | Format)


class WatchedPool:
    """Judges in this process and writes down every task."""

    size = 2
    problem = None

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.encoded: list[EncodedTask] = []

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        self.encoded.append(encoded)
        task = encoded.decode()
        self.tasks.append(task)
        for part in task.parts:
            verifier: Accuracy | Format = _verifier.validate_python(part.options)
            reference = json.loads(part.reference or b"".join(encoded.shared_reference))
            for completion in part.completions:
                await asyncio.sleep(0)
                if task.settle:
                    assert isinstance(verifier, Accuracy)
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


class GroupPool:
    """Gives every completion 0 and details, and writes down the texts of each part."""

    size = 2
    problem = None

    def __init__(self) -> None:
        self.groups: list[list[str]] = []

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        for part in encoded.decode().parts:
            self.groups.append([completion.text for completion in part.completions])
            found = Verdict(Outcome.SCORED, 0.0, "wrong", 0.0, details={"stdout": "1"})
            verdicts += [found] * len(part.completions)


class FailingPool:
    """Fails the first time."""

    size = 1
    problem = None

    def __init__(self) -> None:
        self.num_tasks = 0

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        self.num_tasks += 1
        verdicts.append(
            failed(EngineReason.WORKER_DIED)
            if self.num_tasks == 1
            else Verdict(Outcome.SCORED, 1.0, "equal", 0.0)
        )


class SettlingPool:
    """Leaves every completion open; never settles one, and ends a given-up task slowly."""

    size = 2
    problem = None

    def __init__(self) -> None:
        self.num_at_work = 0
        self.is_full = asyncio.Event()

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        task = encoded.decode()
        if not task.settle:
            verdicts += [one.text for part in task.parts for one in part.completions]
            return
        self.num_at_work += 1
        if self.num_at_work == self.size:
            self.is_full.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(100):
                await asyncio.sleep(0)
            self.num_at_work -= 1


def request(*groups: tuple[str, list[str]], **options: Any) -> ScoreRequest:
    return ScoreRequest.model_validate(
        {
            "verifiers": [{"type": "accuracy", **options}],
            "groups": [
                {"reference": {"answer": answer}, "completions": texts} for answer, texts in groups
            ],
        }
    )


def several(*verifiers: dict[str, Any]) -> ScoreRequest:
    """One completion with an open pair, for several verifiers."""
    groups = [{"reference": {"answer": "6"}, "completions": [OPEN]}]
    return ScoreRequest.model_validate({"verifiers": verifiers, "groups": groups})


def test_no_question_is_at_work_when_its_request_has_ended() -> None:
    """Otherwise its verdict would be delivered to a request that is finished."""

    async def run() -> int:
        pool = SettlingPool()
        texts = [f"answer {number}" for number in range(3 * SETTLE_CHUNK_SIZE)]
        scoring = Scoring(request(("2", texts)), Scheduler({"text": pool}, max_cached_verdicts=0))
        running = asyncio.create_task(scoring.run(math.inf))
        await pool.is_full.wait()
        running.cancel()
        await asyncio.wait([running])
        return pool.num_at_work

    assert asyncio.run(run()) == 0


def score(
    pool: WatchedPool | GroupPool | FailingPool,
    *requests: ScoreRequest,
    max_cached_verdicts: int = 100,
) -> list[ScoredRequest]:
    scheduler = Scheduler({"text": pool}, max_cached_verdicts=max_cached_verdicts)

    async def run() -> list[ScoredRequest]:
        return [await Scoring(one, scheduler).run(60) for one in requests]

    return asyncio.run(run())


def reasons(scored: ScoredRequest) -> list[list[str]]:
    return [[verdicts["accuracy"].reason for verdicts in group] for group in scored.groups]


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


def test_verifiers_with_equal_options_each_have_the_verdict_on_an_open_pair() -> None:
    pool = WatchedPool()
    asked = several({"type": "accuracy", "name": "a"}, {"type": "accuracy", "name": "b"})
    (scored,) = score(pool, asked)
    ((verdicts,),) = scored.groups
    assert [verdicts[name].reason for name in "ab"] == ["equal", "equal"]
    assert len(pool.settled) == 1


def test_several_verifiers_get_a_text_once() -> None:
    pool = WatchedPool()
    asked = several({"type": "accuracy"}, {"type": "format"})
    (scored,) = score(pool, asked)
    ((verdicts,),) = scored.groups
    assert (verdicts["accuracy"].score, verdicts["format"].score) == (1.0, 0.0)
    (encoded,) = [one for one in pool.encoded if not one.decode().settle]
    assert encoded.body.count(OPEN.encode()) == 1
    assert encoded.verifiers == (("accuracy", 1), ("format", 1))


def test_a_slice_of_a_task_of_several_verifiers_goes_on_where_it_begins() -> None:
    parts = [
        msgspec.structs.replace(TaskPart.of({}, TEXTS), verifier=verifier)
        for verifier in (b'{"type":"format"}', b'{"type":"tag_count"}')
    ]
    encoded = EncodedTask.of(Task(parts), "text")
    rest = encoded.slice(2, 5)
    assert rest.verifiers == (("format", 1), ("tag_count", 2))
    assert [part.completions for part in rest.decode().parts] == [TEXTS[2:], TEXTS[:2]]
    assert rest.num_completions == 3


def test_later_requests_are_served_from_the_cache() -> None:
    pool = WatchedPool()
    first, second = score(pool, request(("6", [OPEN])), request(("6", [SAME_OPEN])))
    assert reasons(first) == reasons(second) == [["equal"]]
    assert len(pool.settled) == 1


def test_a_request_that_is_asked_again_is_not_judged_again() -> None:
    """The quick way is not taken, either: the completion has a verdict, not only its answer."""
    pool = WatchedPool()
    asked = request(("6", [OPEN, "6", "7", SAME_OPEN]))
    first, second = score(pool, asked, asked)
    assert first.groups == second.groups
    assert sum(task.num_completions for task in pool.tasks if not task.settle) == 4
    assert len(pool.settled) == 1


def test_what_depends_on_the_group_is_known_only_for_the_same_group() -> None:
    pool = GroupPool()
    groups = (["a", "bb"], ["a", "bbb"], ["a", "bb"])
    bodies = [
        {"verifiers": [{"type": "length"}], "groups": [{"completions": texts}]} for texts in groups
    ]
    asked = [ScoreRequest.model_validate(body) for body in bodies]
    score(pool, *asked)
    assert pool.groups == [["a", "bb"], ["a", "bbb"]]


def test_a_failed_verdict_is_asked_for_again() -> None:
    pool = FailingPool()
    first, second = score(pool, request(("6", ["6"])), request(("6", ["6"])))
    assert (reasons(first), reasons(second)) == ([["worker_died"]], [["equal"]])


def test_what_may_not_be_cached_is_run_again() -> None:
    pool = GroupPool()
    verifier = RunProgram()
    body = ScoreRequest.model_construct(
        verifiers=[verifier],
        groups=[Group(reference={"stdin": "1"}, completions=["print(1)"])],
    )
    scheduler = Scheduler({"code": pool}, max_cached_verdicts=10)

    async def run() -> None:
        for _ in range(2):
            await Scoring(body, scheduler).run(60)

    asyncio.run(run())
    assert len(pool.groups) == 2


def test_details_that_were_reported_are_not_held() -> None:
    body = ScoreRequest.model_construct(
        verifiers=[RunProgram()],
        groups=[Group(reference={"stdin": text}, completions=["print(1)"]) for text in "12"],
    )
    seen: list[object] = []

    def on_group(index: int) -> None:
        (verdicts,) = scoring.group_verdicts(index)
        seen.extend(one.details for one in verdicts.values())
        scoring.drop_details(index)

    scheduler = Scheduler({"code": GroupPool()}, max_cached_verdicts=10)
    scoring = Scoring(body, scheduler, on_group=on_group)

    async def run() -> ScoredRequest:
        return await scoring.run(60)

    groups = asyncio.run(run()).groups
    assert seen == [{"stdout": "1"}] * 2
    verdicts = [one for (found,) in groups for one in found.values()]
    assert [(one.score, one.details) for one in verdicts] == [(0.0, None)] * 2


def test_a_large_reference_travels_beside_its_tasks_not_in_them() -> None:
    pool = WatchedPool()
    large = "6" + " " * SHARED_REFERENCE_BYTES
    score(pool, request((large, ["5", "6"])))
    (task,) = pool.encoded
    assert task.shared_name is not None
    assert json.loads(b"".join(task.shared_reference)) == {"answer": large}
    assert len(task.body) < 1000


def test_a_large_reference_travels_beside_the_questions_about_it_too() -> None:
    """Its name is the one that it had before."""
    pool = WatchedPool()
    large = "6" + " " * SHARED_REFERENCE_BYTES
    other_open = OPEN.replace("k", "j")
    (scored,) = score(pool, request((large, [OPEN, other_open]), ("6", [OPEN])))
    assert reasons(scored) == [["equal", "equal"], ["equal"]]
    about = [(encoded, encoded.decode()) for encoded in pool.encoded if encoded.decode().settle]
    assert sorted(task.num_completions for _, task in about) == [1, 2]
    assert all(len(task.parts) == 1 for _, task in about)
    (name,) = {encoded.shared_name for encoded in pool.encoded if encoded.shared_name is not None}
    assert [task.parts[0].shared_reference for _, task in about].count(name) == 1
    assert all(len(encoded.body) < 1000 for encoded, _ in about)


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        ("6", "6" * (MAX_COMPLETION_CHARACTERS + 1), "too_large"),
        ("6" * (MAX_REFERENCE_BYTES + 1), "6", "bad_reference"),
    ],
)
def test_what_is_far_too_large_is_not_sent_to_a_worker(answer: str, text: str, reason: str) -> None:
    pool = WatchedPool()
    (scored,) = score(pool, request((answer, [text])))
    assert reasons(scored) == [[reason]]
    assert pool.tasks == []


def test_a_completion_too_large_for_a_reference_too_large_is_not_to_blame() -> None:
    """Each verdict is given once, so that the group is complete once."""
    asked = request(("6" * (MAX_REFERENCE_BYTES + 1), ["6" * (MAX_COMPLETION_CHARACTERS + 1), "6"]))
    complete: list[list[str]] = []

    def on_group(index: int) -> None:
        complete.append([one["accuracy"].reason for one in scoring.group_verdicts(index)])

    async def run() -> ScoredRequest:
        return await scoring.run(60)

    scheduler = Scheduler({"text": WatchedPool()}, max_cached_verdicts=0)
    scoring = Scoring(asked, scheduler, on_group=on_group)
    assert reasons(asyncio.run(run())) == [["bad_reference", "bad_reference"]]
    assert complete == [["bad_reference", "bad_reference"]]


class StuckPool(FailingPool):
    """Never answers."""

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize("asked_for", [None, 0.02, 3600.0])
def test_a_deadline_is_the_requests_own_and_at_most_the_services(asked_for: float | None) -> None:
    asked = request(("6", ["6"])).model_copy(update={"deadline_seconds": asked_for})
    scheduler = Scheduler({"text": StuckPool()}, max_cached_verdicts=0)
    longest = {None: 0.02, 0.02: 3600.0, 3600.0: 0.02}[asked_for]

    async def run() -> EncodedResponse:
        started = time.monotonic()
        responding = respond(asked, scheduler, started=started, max_deadline_seconds=longest)
        async with asyncio.timeout(60):
            return await responding

    assert asyncio.run(run()).counts == {("accuracy", "failed", "deadline"): 1}


def test_the_deadline_is_counted_from_when_the_request_came() -> None:
    """Which may be long ago: it waits for a process of its own, and may need a second one."""
    asked = request(("6", ["6"])).model_copy(update={"deadline_seconds": 3600.0})
    scheduler = Scheduler({"text": StuckPool()}, max_cached_verdicts=0)

    async def run() -> EncodedResponse:
        started = time.monotonic() - 3600
        return await respond(asked, scheduler, started=started, max_deadline_seconds=7200.0)

    answer = asyncio.run(run())
    assert answer.counts == {("accuracy", "failed", "deadline"): 1}
    assert json.loads(b"".join(answer.pieces))["stats"]["seconds"] >= 3600


@pytest.mark.parametrize(
    ("alone", "more", "message"),
    [
        (
            {"completions": 11, "num_bytes": 101},
            {"num_bytes": 1},
            "11 completions, of at most 10, and 101 bytes",
        ),
        (
            {"completions": 11},
            {"completions": 1},
            "11 completions, of at most 10, and 0 bytes, of at most 100, are waiting",
        ),
        (
            {"num_bytes": 101},
            {"num_bytes": 1},
            "0 completions, of at most 10, and 101 bytes, of at most 100, are waiting",
        ),
    ],
    ids=["both", "completions", "bytes"],
)
def test_a_request_over_the_bounds_is_refused_and_one_alone_is_not(
    alone: dict[str, int], more: dict[str, int], message: str
) -> None:
    admission = Admission(PendingBounds(10, 100))
    assert not admission.is_full
    with admission.reservation() as first, admission.reservation() as second:
        first.grow(**alone)
        assert admission.is_full
        with pytest.raises(QueueFull, match=message):
            second.grow(**more)
        assert (second.num_completions, second.num_bytes) == (0, 0)
    assert admission.state["pending_completions"] == admission.state["pending_bytes"] == 0


@pytest.mark.parametrize(
    ("first_share", "second_share"),
    [({"completions": 9}, {"completions": 1}), ({"num_bytes": 99}, {"num_bytes": 1})],
    ids=["completions", "bytes"],
)
def test_the_bounds_may_be_reached(
    first_share: dict[str, int], second_share: dict[str, int]
) -> None:
    admission = Admission(PendingBounds(10, 100))
    with admission.reservation() as first, admission.reservation() as second:
        first.grow(**first_share)
        assert not admission.is_full
        second.grow(**second_share)
        assert admission.is_full


def test_answers_may_take_as_much_again_as_what_is_accepted() -> None:
    """A full service would otherwise refuse the work that it has done."""
    admission = Admission(PendingBounds(10, 100))
    with admission.reservation() as first, admission.reservation() as second:
        first.grow(num_bytes=60)
        second.grow(num_bytes=40)
        first.grow_by_response(num_bytes=100)
        with pytest.raises(QueueFull):
            second.grow_by_response(num_bytes=1)
        first.shrink(num_bytes=100)
        second.grow_by_response(num_bytes=1)
    assert admission.pending_bytes == 0


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


@pytest.mark.slow
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
