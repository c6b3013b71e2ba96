"""Groups that are sampled without a pause: their order, their age, what is kept, how it ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from reward_verifier.errors import VerifierError
from reward_verifier.verdict import Verdict, Verdicts
from trainer_client.problem_mix import MixPosition
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.group_requests import AskGroup, DatedGroup
from trainer_client.rollout.group_stream import (
    GroupStream,
    StreamLimits,
    StreamSource,
    TakenGroups,
    seed_of,
    staleness_metrics,
)
from trainer_client.rollout.stored_group import KnownProblems
from trainer_client.rollout.stream_state import StreamState, read_stream, write_stream
from trainer_client.update.batch import make_batch

PROBLEMS = [
    Problem(str(number), ({"role": "user", "content": f"{number}+0=?"},), {"answer": str(number)})
    for number in range(100)
]
VERDICT = Verdict(outcome="scored", score=1.0, reason="equal")
PER_STEP = 2
ALL = KnownProblems(PROBLEMS, lambda problem: ["accuracy"])


class Engine:
    """An engine whose groups end when the test says so, each of two tokens.

    The first token is of the weights at which the group was sent, the second of those at its end.
    """

    def __init__(self) -> None:
        self.num_updates = 0
        self.changed = threading.Condition()
        self.asked: list[str] = []
        self.seeds: dict[str, int | None] = {}
        self.given_up: list[str] = []
        self._ends: dict[str, Future[None]] = {}

    def update_weights(self) -> None:
        self.num_updates += 1

    def generate(self, *_: Any) -> None:
        raise AssertionError("a stream asks for groups one by one")

    def close(self) -> None:
        pass

    @asynccontextmanager
    async def group_requests(self) -> AsyncIterator[AskGroup]:
        yield self._ask

    async def _ask(self, problem: Problem, sampling: Sampling) -> DatedGroup:
        sent_at = self.num_updates
        with self.changed:
            self.asked.append(problem.id)
            self.seeds[problem.id] = sampling.seed
            self.changed.notify_all()
        try:
            await asyncio.shield(asyncio.wrap_future(self._end_of(problem.id)))
        except asyncio.CancelledError:
            with self.changed:
                self.given_up.append(problem.id)
                self.changed.notify_all()
            raise
        if problem.id in self.failing:
            raise RolloutError(f"problem {problem.id}: the server is gone")
        if problem.id in self.losing:
            return DatedGroup(RolloutGroup(problem, (), lost="the tool has gone"), ())
        rollout = Rollout((1,), (5, 6), (-0.1, -0.2), problem.id, truncated=False)
        return DatedGroup(RolloutGroup(problem, (rollout,)), ((sent_at, self.num_updates),))

    failing: frozenset[str] = frozenset()
    losing: frozenset[str] = frozenset()
    """Problems whose environments are lost."""

    def let_end(self, *ids: int) -> None:
        """Let the groups of these problems end."""
        for number in ids:
            if not self._end_of(str(number)).done():
                self._end_of(str(number)).set_result(None)

    def _end_of(self, id: str) -> Future[None]:
        with self.changed:
            return self._ends.setdefault(id, Future())

    def wait_asked(self, count: int) -> list[str]:
        """The problems of the first groups that were sent, once there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.asked) >= count, 60), self.asked
            return list(self.asked)


def judged(group: RolloutGroup) -> Future[list[Verdicts]]:
    done: Future[list[Verdicts]] = Future()
    done.set_result([{"accuracy": VERDICT} for _ in group.rollouts])
    return done


def take_in_order(position: MixPosition, block: int) -> tuple[list[Problem], MixPosition]:
    start = position.positions[0] if position.positions else 0
    end = start + PER_STEP
    return PROBLEMS[start:end], MixPosition(position.takes + 1, (end,))


class Trainer:
    """The trainer's side of a stream."""

    def __init__(self, engine: Engine, *, staleness: int, steps: int, deadline: float) -> None:
        limits = StreamLimits(staleness, PER_STEP, steps, deadline)
        self.engine = engine
        self.stream = GroupStream(engine, limits)
        self.step = 0

    def begin(self, state: StreamState | None = None, submit: Any = judged, seed: int = 7) -> None:
        """Bring the first weights and start."""
        if state is not None:
            self.stream.restore(state)
        self.new_weights()
        sampling = Sampling(1, 2, 1.0, 1.0)
        self.stream.start(StreamSource(take_in_order, submit, sampling, seed), MixPosition())

    def new_weights(self) -> None:
        with self.stream.new_weights(self.step):
            self.engine.update_weights()

    def take(self) -> TakenGroups:
        return self.stream.take(PER_STEP)

    def next_step(self) -> None:
        """Finish a step: the sampler gets its weights."""
        self.step += 1
        self.new_weights()


@contextmanager
def training(
    *, staleness: int = 2, steps: int = 100, deadline: float = 60.0, failing: tuple[int, ...] = ()
) -> Iterator[Trainer]:
    engine = Engine()
    engine.failing = frozenset(map(str, failing))
    trainer = Trainer(engine, staleness=staleness, steps=steps, deadline=deadline)
    try:
        yield trainer
    finally:
        trainer.stream.close()


def ids(taken: TakenGroups) -> list[str]:
    return [group.group.problem.id for group in taken.groups]


def texts(numbers: range) -> list[str]:
    return [str(number) for number in numbers]


def wait_ready(trainer: Trainer, *numbers: int) -> None:
    """Wait until these groups are done and wait for their step."""
    lock = trainer.stream._lock
    with lock:
        assert lock.wait_for(lambda: set(numbers) <= set(trainer.stream._ready), 60)


def test_at_most_as_many_groups_are_sent_as_later_steps_may_train_on() -> None:
    """While a step trains, two steps' groups are ahead; while it waits, its own too."""
    with training() as trainer:
        trainer.begin()
        assert trainer.engine.wait_asked(4) == texts(range(4))
        trainer.engine.let_end(0, 1)
        trainer.take()
        assert trainer.engine.wait_asked(6)[:6] == texts(range(6))
        assert len(trainer.engine.asked) == 6


def test_a_run_ends_without_groups_that_no_step_trains_on() -> None:
    with training(steps=2) as trainer:
        trainer.begin()
        trainer.engine.let_end(*range(100))
        taken = []
        for _ in range(2):
            taken += ids(trainer.take())
            trainer.next_step()
        assert taken == texts(range(4))
        assert trainer.engine.asked == texts(range(4))


def test_groups_that_are_done_in_their_order_are_trained_on_in_it_and_never_too_old() -> None:
    with training() as trainer:
        trainer.engine.let_end(*range(100))
        trainer.begin()
        taken, dropped, ages = [], 0, []
        for _ in range(8):
            groups = trainer.take()
            taken += ids(groups)
            dropped += groups.num_dropped
            ages.append(staleness_metrics(groups.groups, trainer.step, 2)["staleness/max"])
            trainer.next_step()
        assert (taken, dropped) == (texts(range(16)), 0)
        assert max(ages) <= 2


def test_a_slow_group_is_overtaken_and_trained_on_in_a_later_step() -> None:
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(1, 2)
        assert ids(trainer.take()) == ["1", "2"]
        trainer.next_step()
        trainer.engine.let_end(0, 3)
        wait_ready(trainer, 0, 3)
        assert ids(trainer.take()) == ["0", "3"]


def test_each_token_has_the_steps_of_the_weights_that_sampled_it() -> None:
    """A group that was sent before an update and ended after it is of both."""
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(0, 1)
        trainer.take()
        trainer.engine.wait_asked(6)
        trainer.next_step()
        trainer.engine.let_end(2, 3)
        groups = trainer.take().groups
        assert [group.group.rollouts[0].weight_steps for group in groups] == [(0, 1), (0, 1)]
        assert staleness_metrics(groups, 1, max_staleness=2) == {
            "staleness/mean": 0.5,
            "staleness/max": 1,
            "staleness/masked_share": 0.0,
        }


def test_groups_under_way_that_are_too_old_are_given_up_and_counted() -> None:
    """Group 0 never ends. It may have queued for two steps, and two more it may have taken."""
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(*range(1, 100))
        dropped = []
        for _ in range(6):
            groups = trainer.take()
            dropped.append(groups.num_dropped)
            assert "0" not in ids(groups)
            trainer.next_step()
        assert dropped == [0, 0, 0, 0, 0, 1]
        with trainer.engine.changed:
            assert trainer.engine.changed.wait_for(lambda: trainer.engine.given_up, 60)
        assert trainer.engine.given_up == ["0"]


def test_a_group_that_ends_with_a_token_that_is_too_old_is_trained_on_by_its_others() -> None:
    """Its first token is of step 0, and it ends in step 3: a long completion teaches all the same.

    Dropped with all its tokens, it would leave the short ones alone to teach.
    """
    with training() as trainer:
        trainer.engine.let_end(*range(1, 100))
        trainer.begin()
        trainer.engine.wait_asked(1)
        for _ in range(3):
            trainer.take()
            trainer.next_step()
        trainer.engine.let_end(0)
        wait_ready(trainer, 0)
        taken = trainer.take()
        assert ids(taken)[0] == "0"
        assert taken.num_dropped == 0
        found = staleness_metrics(taken.groups[:1], 3, max_staleness=2)
        assert found == {"staleness/mean": 0, "staleness/max": 0, "staleness/masked_share": 0.5}
        rollouts = taken.groups[0].group.rollouts
        batch = make_batch(
            rollouts, [1.0], pad_id=0, device=torch.device("cpu"), oldest_weights=3 - 2
        )
        assert batch.completion_mask.tolist() == [[False, False, True]]
        assert batch.sampler_logprobs[0].tolist() == pytest.approx([0.0, 0.0, -0.2])


def test_groups_that_wait_until_they_are_too_old_are_dropped_too() -> None:
    """Weights that change without a step, as in no run, age four groups at once."""
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(*range(4))
        wait_ready(trainer, 0, 1, 2, 3)
        trainer.step = 3
        trainer.new_weights()
        trainer.engine.let_end(*range(4, 100))
        groups = trainer.take()
        assert (ids(groups), groups.num_dropped) == (["4", "5"], 4)


def test_lost_groups_are_neither_judged_nor_taken_and_others_take_their_places() -> None:
    judged_ids: list[str] = []

    def submit(group: RolloutGroup) -> Future[list[Verdicts]]:
        judged_ids.append(group.problem.id)
        return judged(group)

    with training() as trainer:
        trainer.engine.losing = frozenset({"0", "2"})
        trainer.engine.let_end(*range(100))
        trainer.begin(submit=submit)
        taken = trainer.take()
        assert (ids(taken), taken.lost) == (["1", "3"], ("the tool has gone",) * 2)
        state = trainer.stream.state(1)
        left = [*state.unfinished, *(one.origin for one in state.groups)]
        assert all(one.number > 3 for one in left)
        assert {"0", "2"}.isdisjoint(judged_ids)


def test_a_stream_that_loses_group_after_group_stops_and_says_why() -> None:
    """One fault may lose as many groups as can be under way; one more is a standing fault."""
    with training() as trainer:
        trainer.engine.losing = frozenset(texts(range(100)))
        trainer.engine.let_end(*range(100))
        trainer.begin()
        with pytest.raises(
            RolloutError, match=r"no step can be sampled: 7 groups were lost: the tool has gone"
        ):
            trainer.take()


def test_an_error_of_a_group_is_raised_where_groups_are_taken() -> None:
    with training(failing=(1,)) as trainer:
        trainer.begin()
        trainer.engine.let_end(0, 1)
        with pytest.raises(RolloutError, match="problem 1: the server is gone"):
            trainer.take()
        state = trainer.stream.state(0)
        left = [*state.unfinished, *(one.origin for one in state.groups)]
        assert {one.number for one in left} >= {0, 1}


def test_an_error_while_a_step_trains_is_raised_by_the_next_take_whatever_is_too_old() -> None:
    """The event loop has ended then, and groups under way cannot be given up any more."""
    with training(failing=(3,)) as trainer:
        trainer.begin()
        trainer.engine.let_end(0, 1)
        trainer.take()
        trainer.engine.let_end(3)
        lock = trainer.stream._lock
        with lock:
            assert lock.wait_for(lambda: trainer.stream._error is not None, 60)
        trainer.step = 5
        trainer.new_weights()
        with pytest.raises(RolloutError, match="problem 3: the server is gone"):
            trainer.take()


def test_an_error_of_the_service_is_raised_where_groups_are_taken() -> None:
    def fails(group: RolloutGroup) -> Future[list[Verdicts]]:
        done: Future[list[Verdicts]] = Future()
        done.set_exception(VerifierError("the service is gone"))
        return done

    with training() as trainer:
        trainer.begin(submit=fails)
        trainer.engine.let_end(0)
        with pytest.raises(VerifierError, match="the service is gone"):
            trainer.take()


def test_a_sampler_that_hangs_is_an_error_that_names_the_setting() -> None:
    with training(deadline=0.01) as trainer:
        trainer.begin()
        with pytest.raises(RolloutError, match=r"0 of 2 groups .*deadline_seconds = 0\.01"):
            trainer.take()


def test_every_problem_is_in_the_state_until_its_step_is_finished(tmp_path: Path) -> None:
    """Groups of a step under way are kept as well: the step may stop before its update."""
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(0, 2, 3)
        trainer.take()
        trainer.engine.wait_asked(6)
        wait_ready(trainer, 3)
        for finished, done, open_ in ((0, [0, 2, 3], [1, 4, 5]), (1, [3], [1, 4, 5])):
            state = trainer.stream.state(finished)
            assert [one.origin.number for one in state.groups] == done
            assert [one.number for one in state.unfinished] == open_
            write_stream(tmp_path, state)
            assert read_stream(tmp_path, ALL) == state


def test_a_run_that_goes_on_trains_on_what_was_kept_and_asks_for_the_rest_alone() -> None:
    """Problems that were not done come first, with their own seeds; nothing is skipped."""
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(0, 1, 3)
        trainer.take()
        trainer.engine.wait_asked(6)
        wait_ready(trainer, 3)
        state, seeds = trainer.stream.state(1), dict(trainer.engine.seeds)
    with training() as trainer:
        trainer.step = 1
        trainer.engine.let_end(*range(100))
        trainer.begin(state)
        taken = []
        for _ in range(3):
            taken += ids(trainer.take())
            trainer.next_step()
        assert sorted(map(int, taken)) == list(range(2, 8))
        assert "3" not in trainer.engine.asked
        assert trainer.engine.seeds["2"] == seeds["2"]


def test_a_stream_whose_problems_have_gone_goes_on_without_them(tmp_path: Path) -> None:
    with training() as trainer:
        trainer.begin()
        trainer.engine.let_end(0, 1)
        trainer.take()
        trainer.engine.wait_asked(6)
        write_stream(tmp_path, trainer.stream.state(0))
    without = KnownProblems([PROBLEMS[0], *PROBLEMS[3:]], lambda problem: ["accuracy"])
    state = read_stream(tmp_path, without)
    assert state is not None
    assert [one.origin.number for one in state.groups] == [0]
    assert [one.number for one in state.unfinished] == [3, 4, 5]
    asks_more = KnownProblems(PROBLEMS, lambda problem: ["accuracy", "format"])
    judged_anew = read_stream(tmp_path, asks_more)
    assert judged_anew is not None
    assert [one.number for one in judged_anew.unfinished] == [0, 1, 2, 3, 4, 5]
    assert read_stream(tmp_path / "none", ALL) is None


def test_idle_time_of_both_sides_is_measured() -> None:
    """While groups are under way the sampler is not idle; while they are there no trainer is."""
    with training(steps=1) as trainer:
        trainer.begin()
        threading.Timer(0.2, trainer.engine.let_end, (0, 1)).start()
        taken = trainer.take()
        assert taken.trainer_idle_seconds > 0
        assert taken.sampler_idle_seconds + taken.trainer_idle_seconds <= 2 * taken.seconds


def test_a_stream_that_is_closed_gives_its_groups_up() -> None:
    with training() as trainer:
        trainer.begin()
        trainer.engine.wait_asked(4)
        trainer.stream.close()
        assert sorted(trainer.engine.given_up) == texts(range(4))


def test_seeds_of_groups_are_far_from_each_other() -> None:
    """A server seeds the completions of a group by the numbers after its seed."""
    seeds = sorted(seed_of(0, number) for number in range(1000))
    assert min(after - before for before, after in pairwise(seeds)) > 0
    assert abs(seed_of(0, 1) - seed_of(0, 2)) > 1000
