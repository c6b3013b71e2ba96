"""Groups that are sampled and scored without a pause, while the policy trains on earlier ones.

This is `train.max_staleness_steps` K of at least 2 (PipelineRL, arXiv 2509.19128, for weights that
change in flight; AReaL, arXiv 2505.24298, for the bound). With P = `rollout.prompts_per_step`:

- Problems are taken in the order of the run and sent at once. While a step trains, at most K * P of
  them are under way or wait for their step, so that a group is at most K steps old if groups are
  done in the order in which they were sent.
- A step has the P groups with the lowest numbers among those that are done. Tokens of weights more
  than K steps old are left out of its loss (`make_batch`). A group that has no other tokens is
  dropped, and one under way that was sent more than 2 K steps ago, K of which it may have queued,
  is given up. Both are counted; their problems come again in the next pass. So do those of lost
  groups, of which an environment had a fault: other groups take their places.
- New weights arrive between tokens. Each token keeps the log-probability under the weights that
  sampled it and their number of steps, and `loss.importance` corrects token by token.

Everything asynchronous runs in one thread with an event loop; the others are methods for the thread
that trains.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import torch

from reward_verifier.verdict import Verdicts
from trainer_client.problem_mix import MixPosition
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup, why_lost
from trainer_client.rollout import RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.group_requests import AskGroup, DatedGroup, GroupRequestEngine
from trainer_client.rollout.stream_state import StreamGroup, StreamProblem, StreamState

MAX_CLOSE_SECONDS = 10.0
"""Time limit for requests under way to be given up at the end of a run."""


@dataclass(frozen=True)
class StreamLimits:
    """The settings that bound a stream."""

    max_staleness: int
    """`train.max_staleness_steps`, at least 1."""
    per_step: int
    """`rollout.prompts_per_step`."""
    num_steps: int
    """`train.steps`."""
    deadline_seconds: float
    """Longest wait for the groups of a step."""

    def groups_ahead(self, step: int) -> int:
        """Largest number of groups that are under way or wait while the step after `step` trains.

        It falls to 0 towards the end of the run, where no step would train on them.
        """
        return max(0, min(self.max_staleness, self.num_steps - step - 1)) * self.per_step


@dataclass(frozen=True)
class StreamSource:
    """The origin of a stream's problems, and of verdicts on their groups."""

    problems: Callable[[MixPosition, int], tuple[list[Problem], MixPosition]]
    """Takes the problems of a block from a position on, and returns them with the position behind
    them. Blocks are numbered from 0."""
    submit: Callable[[RolloutGroup], Future[list[Verdicts]]]
    sampling: Sampling
    seed: int
    """Seed of the run; each group has one of its own, by its number."""


@dataclass(frozen=True)
class TakenGroups:
    """The groups of a step, and what happened since the step before it took its own."""

    groups: list[ScoredGroup]
    problems_from: MixPosition
    """Position of the first problem that is left, for a run that cannot use the stream's state."""
    num_dropped: int
    """Number of groups that became too old."""
    lost: tuple[str, ...]
    """The fault of each lost group."""
    trainer_idle_seconds: float
    """Wait for these groups."""
    sampler_idle_seconds: float
    """Time in which no group was being sampled."""
    seconds: float


@dataclass
class _Sent:
    """A problem whose group is being sampled or scored."""

    origin: StreamProblem
    step: int
    task: asyncio.Task[None] | None = None


@dataclass
class _Account:
    """Counts and times since the last take."""

    since: float = field(default_factory=time.perf_counter)
    num_dropped: int = 0
    lost: list[str] = field(default_factory=list)
    idle_seconds: float = 0.0


class GroupStream:
    """The groups of later steps: under way, or done and waiting.

    Args:
        engine: samples the groups.
        limits: bounds of the stream.
    """

    def __init__(self, engine: GroupRequestEngine, limits: StreamLimits) -> None:
        self._engine = engine
        self._limits = limits
        self._lock = threading.Condition()
        self._queue: deque[StreamProblem] = deque()
        self._sent: dict[int, _Sent] = {}
        self._ready: dict[int, StreamGroup] = {}
        self._taken: list[StreamGroup] = []
        self._taken_step = -1
        self._next_number = 0
        self._position = MixPosition()
        self._step = 0
        self._wanted = 0
        self._steps_of_updates: dict[int, int] = {}
        self._account = _Account()
        self._idle_since: float | None = None
        self._num_sampling = 0
        self._source: StreamSource | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._thread: Future[None] | None = None
        self._error: BaseException | None = None
        self._closed = False

    @property
    def started(self) -> bool:
        """Whether `start` was called."""
        return self._thread is not None

    def restore(self, state: StreamState) -> None:
        """Go on with a stream that a checkpoint keeps; comes before `start`."""
        self._next_number, self._position = state.next_number, state.next_problem
        self._ready = {group.origin.number: group for group in state.groups}
        self._queue = deque(state.unfinished)

    def start(self, source: StreamSource, position: MixPosition) -> None:
        """Begin to sample.

        Args:
            source: problems and verdicts.
            position: position of the first problem, unless a state was restored.
        """
        self._source = source
        if not self._next_number:
            self._position = position
        self._account = _Account()
        self._idle_since = self._account.since
        self._thread = start_daemon(self._serve)

    @contextmanager
    def new_weights(self, step: int) -> Iterator[None]:
        """Inside, the engine's weights become those that were trained for so many steps.

        Groups that are too old for the step after it are dropped then.
        """
        self._steps_of_updates[self._engine.num_updates + 1] = step
        yield
        with self._lock:
            self._step = step
            self._drop_old()
        self._tell()

    def take(
        self, count: int, on_progress: Callable[[int], None] = lambda done: None
    ) -> TakenGroups:
        """Groups for the present step: those with the lowest numbers of all that are done.

        Args:
            count: number of groups.
            on_progress: called with the number of groups that are there, while it waits.

        Raises:
            VerifierError, RolloutError: a group could not be sampled or scored, the groups were
                not there within the deadline, or more groups were lost than can be under way.
        """
        began = time.perf_counter()

        def is_over() -> bool:
            on_progress(min(len(self._ready), count))
            return self._error is not None or len(self._ready) >= count

        with self._lock:
            self._wanted = count
        self._tell()
        with self._lock:
            is_there = self._lock.wait_for(is_over, self._limits.deadline_seconds)
            self._wanted = 0
            if self._error is not None:
                raise self._error
            if not is_there:
                raise RolloutError(
                    f"{len(self._ready)} of {count} groups were sampled and scored within "
                    "rollout.vllm_server.deadline_seconds = "
                    f"{self._limits.deadline_seconds:g}"
                )
            chosen = [self._ready.pop(number) for number in sorted(self._ready)[:count]]
            self._note_taken(chosen)
            return self._report(chosen, time.perf_counter() - began)

    def state(self, num_steps: int) -> StreamState:
        """The stream after so many finished steps; groups of a step that is not are in it."""
        with self._lock:
            groups = list(self._ready.values())
            if self._taken_step == num_steps:
                groups += self._taken
            unfinished = [*(one.origin for one in self._sent.values()), *self._queue]
            return StreamState(
                self._next_number,
                self._position,
                tuple(sorted(groups, key=lambda one: one.origin.number)),
                tuple(sorted(unfinished, key=lambda one: one.number)),
            )

    def close(self) -> None:
        """Give up what is under way; a process that ends does not wait for it."""
        self._closed = True
        self._tell()
        if self._thread is not None:
            wait_for([self._thread], timeout=MAX_CLOSE_SECONDS)

    def _note_taken(self, chosen: Sequence[StreamGroup]) -> None:
        if self._taken_step != self._step:
            self._taken, self._taken_step = [], self._step
        self._taken += chosen

    def _report(self, chosen: Sequence[StreamGroup], waited: float) -> TakenGroups:
        now = time.perf_counter()
        account, self._account = self._account, _Account(now)
        if self._idle_since is not None:
            account.idle_seconds += now - self._idle_since
            self._idle_since = now
        left = [one.origin for one in self._ready.values()]
        left += [*(one.origin for one in self._sent.values()), *self._queue]
        first = min(left, key=lambda one: one.number, default=None)
        return TakenGroups(
            [one.scored for one in chosen],
            self._position if first is None else first.taken_at,
            account.num_dropped,
            tuple(account.lost),
            waited,
            account.idle_seconds,
            now - account.since,
        )

    def _drop_old(self) -> None:
        """Drop groups that no later step may train on; the lock is held."""
        oldest = self._step - self._limits.max_staleness
        too_old = [number for number, group in self._ready.items() if group.newest < oldest]
        for number in too_old:
            del self._ready[number]
        # A server may have queued a group for as long as the bound, and sampled no token then.
        sent_before = oldest - self._limits.max_staleness
        given_up = [number for number, one in self._sent.items() if one.step < sent_before]
        for number in given_up:
            task = self._sent.pop(number).task
            if task is not None:
                self._call_in_loop(task.cancel)
        self._account.num_dropped += len(too_old) + len(given_up)

    def _tell(self) -> None:
        """Have the thread of the event loop look at what may be sent now."""
        with self._lock:
            if self._wake is not None:
                self._call_in_loop(self._wake.set)

    def _call_in_loop(self, work: Callable[[], object]) -> None:
        """Have the event loop do some work, unless it has ended: `take` raises why."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(work)

    def _serve(self) -> None:
        """Sample until the stream is closed; an error is raised by the next `take`."""
        try:
            asyncio.run(self._sample_all())
        except BaseException as error:  # noqa: BLE001 - `take` raises it
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            with self._lock:
                self._error = error
                self._lock.notify_all()

    async def _sample_all(self) -> None:
        wake = asyncio.Event()
        with self._lock:
            self._loop, self._wake = asyncio.get_running_loop(), wake
        async with self._engine.group_requests() as ask, asyncio.TaskGroup() as tasks:
            while not self._closed:
                wake.clear()
                for sent in self._due():
                    sent.task = tasks.create_task(self._sample(ask, sent.origin))
                await wake.wait()
            with self._lock:
                under_way = [one.task for one in self._sent.values() if one.task is not None]
            for task in under_way:
                task.cancel()

    def _due(self) -> list[_Sent]:
        """The problems that are sent now, in their order; further ones are taken as needed."""
        assert self._source is not None
        with self._lock:
            limit = self._limits.groups_ahead(self._step) + self._wanted
            free = max(0, limit - len(self._sent) - len(self._ready))
            while len(self._queue) < free:
                self._take_block(self._source)
            origins = [self._queue.popleft() for _ in range(free)]
            due = [_Sent(origin, self._step) for origin in origins]
            self._sent |= {one.origin.number: one for one in due}
            return due

    def _take_block(self, source: StreamSource) -> None:
        """Take the problems of one more step, all of them different."""
        block, position = self._next_number // self._limits.per_step, self._position
        problems, self._position = source.problems(position, block)
        for problem in problems:
            self._queue.append(StreamProblem(self._next_number, problem, position))
            self._next_number += 1

    async def _sample(self, ask: AskGroup, origin: StreamProblem) -> None:
        assert self._source is not None
        sampling = replace(self._source.sampling, seed=seed_of(self._source.seed, origin.number))
        self._count_sampling(1)
        try:
            dated = await ask(origin.problem, sampling)
        finally:
            self._count_sampling(-1)
        if dated.group.lost is not None:
            self._lose(origin, dated.group.lost)
            return
        group = self._in_steps(dated)
        verdicts = await asyncio.wrap_future(self._source.submit(group))
        with self._lock:
            if self._sent.pop(origin.number, None) is not None:
                scored = ScoredGroup(group, tuple(verdicts))
                self._ready[origin.number] = StreamGroup(origin, scored)
                self._drop_old()
                self._lock.notify_all()
        self._tell()

    def _lose(self, origin: StreamProblem, fault: str) -> None:
        """Give up a group of which an environment had a fault.

        Raises RolloutError when more groups were lost since the last step than can be under way, so
        than one fault can take: a run whose tools are gone would go through its problems for ever.
        """
        under_way = (self._limits.max_staleness + 1) * self._limits.per_step
        with self._lock:
            if self._sent.pop(origin.number, None) is not None:
                self._account.lost.append(fault)
            if len(self._account.lost) > under_way:
                raise RolloutError(f"no step can be sampled: {why_lost(self._account.lost)}")
        self._tell()

    def _count_sampling(self, change: int) -> None:
        with self._lock:
            self._num_sampling += change
            now = time.perf_counter()
            if self._idle_since is not None:
                self._account.idle_seconds += now - self._idle_since
            self._idle_since = None if self._num_sampling else now

    def _in_steps(self, dated: DatedGroup) -> RolloutGroup:
        """The group whose tokens have the steps of their weights."""
        steps = self._steps_of_updates
        rollouts = tuple(
            replace(rollout, weight_steps=tuple(steps[update] for update in updates))
            for rollout, updates in zip(dated.group.rollouts, dated.updates, strict=True)
        )
        return replace(dated.group, rollouts=rollouts)


def seed_of(seed: int, number: int) -> int:
    """The seed of a group: no two groups of a run draw neighbouring ones.

    A server seeds the completions of a group by consecutive numbers.
    """
    generator = torch.Generator().manual_seed(seed * 1_000_003 + number)
    return int(torch.randint(2**31, (), generator=generator))


def staleness_metrics(
    groups: Sequence[ScoredGroup], step: int, max_staleness: int
) -> dict[str, float]:
    """Steps between the weights of each token in the loss and those of the step, from `step` on.

    Args:
        groups: groups of a stream.
        step: number of finished steps.
        max_staleness: `train.max_staleness_steps`; tokens that are older are not in the loss.
    """
    ages = [
        step - weights
        for group in groups
        for rollout in group.group.rollouts
        for weights in rollout.weight_steps or ()
    ]
    trained = [age for age in ages if age <= max_staleness]
    if not trained:
        return {}
    return {
        "staleness/mean": sum(trained) / len(trained),
        "staleness/max": max(trained),
        "staleness/masked_share": 1 - len(trained) / len(ages),
    }
