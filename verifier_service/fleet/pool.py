"""A pool whose workers are those of the judges."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from types import TracebackType
from typing import Any, Self

import grpc
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import RayServeException

from verifier_service.engine.engine import NoWorkers
from verifier_service.fleet.references import StoredReferences
from verifier_service.reason import EngineReason
from verifier_service.verdict import failed
from verifier_service.workers.tasks import EncodedTask, TaskResult, from_worker

log = logging.getLogger(__name__)

LOST = (RayError, RayServeException, grpc.RpcError)
"""Errors of a call whose judge is lost, or never had it."""
TRIES = 10
"""Judges that a task is given to, one after the other, while they are lost without a verdict."""
RETRY_SECONDS = 0.1
WATCH_SECONDS = 1.0
"""Time between two looks at the number of judges."""
PATIENCE_SECONDS = 60.0
"""Time without a judge in which tasks wait for one; after it they are `failed`. Ray Serve takes 5
to 20 seconds to replace one."""


class FleetPool:
    """The judges of one kind; tasks go to the one that Ray Serve chooses.

    | call | result |
    |---|---|
    | `async with FleetPool(kind, ...) as pool` | watches the judges of its application |
    | `await pool.judge(task, verdicts)` | appends a verdict for each completion, in order |
    | `pool.problem` | why no task can be judged, or None |

    Args:
        kind: of the workers, and the name of the judges' deployment.
        num_workers: workers of each judge.
        num_tasks: tasks that each judge may have under way.
    """

    def __init__(self, kind: str, *, num_workers: int, num_tasks: int) -> None:
        self._kind = kind
        self._num_workers = num_workers
        self._num_tasks = num_tasks
        self._num_judges = 0
        self._last_seen = float("-inf")
        """Time at which a judge was last running, in seconds of the monotonic clock."""
        self._num_under_way = 0
        self._references = StoredReferences()
        self._handle: Any = None
        """Sends tasks by value, over gRPC, which takes half of what Ray's own calls take."""
        self._object_handle: Any = None
        """Sends tasks whose reference is an object of Ray, which gRPC does not know."""
        self._watching: asyncio.Task[None] | None = None
        self.restarts: Counter[str] = Counter()
        """Number of judges that were lost at a task."""

    async def __aenter__(self) -> Self:
        self._last_seen = time.monotonic()  # the judges start beside the gateway
        self._object_handle = serve.get_deployment_handle(self._kind).options(stream=True)
        self._handle = self._object_handle.options(_by_reference=False)
        self._watching = asyncio.create_task(self._watch(serve.get_replica_context().app_name))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._watching is not None
        self._watching.cancel()
        await asyncio.wait([self._watching])

    @property
    def size(self) -> int:
        """Number of tasks that all judges may have under way; of one where none is running."""
        return max(self._num_judges, 1) * self._num_tasks

    @property
    def num_running(self) -> int:
        """Number of workers of the judges that run."""
        return self._num_judges * self._num_workers

    @property
    def num_busy(self) -> int:
        """Number of workers at a task of this gateway."""
        return min(self._num_under_way, self.num_running)

    @property
    def num_waiting(self) -> int:
        """Number of tasks of this gateway that wait for a worker."""
        return self._num_under_way - self.num_busy

    @property
    def problem(self) -> str | None:
        """Why no task can be judged; None while judges run, are about to, or ran a moment ago."""
        if time.monotonic() - self._last_seen < PATIENCE_SECONDS:
            return None
        return f"no judge of the deployment {self._kind} is running"

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append a verdict for each completion of the task, in order, as they come.

        What a lost judge has not judged goes to another one: the verdicts are the same.

        Raises:
            NoWorkers: the judge has no worker.
        """
        before, num_completions = len(verdicts), task.num_completions
        self._num_under_way += 1
        try:
            for number in range(TRIES):
                start = len(verdicts) - before
                if start == num_completions:  # lost with the last verdict sent
                    return
                rest = task.slice(start, num_completions) if start else task
                try:
                    await self._ask(rest, verdicts)
                    return
                except LOST as error:
                    if isinstance(error, RayTaskError) and not isinstance(error.cause, RayError):
                        raise _cause(error) from error
                    self._references.forget(task)
                    self.restarts["lost"] += 1
                    log.warning("a judge of %s is lost at a task: %s", self._kind, _short(error))
                    await asyncio.sleep(RETRY_SECONDS * number)
        finally:
            self._num_under_way -= 1
        num_left = num_completions - (len(verdicts) - before)
        verdicts += [failed(EngineReason.WORKER_DIED)] * num_left

    async def _ask(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        """Append what one judge answers. Raises one of `LOST`, if it is."""
        sent, stored = await self._references.take(task)
        handle = self._object_handle if stored else self._handle
        answer = handle.judge.remote(sent, stored)
        is_finished = False
        try:
            async for part in answer:
                found = from_worker.decode(part)
                verdicts += found.verdicts
                is_finished = found.finished
        finally:
            if not is_finished:
                answer.cancel()
        if not is_finished:
            raise RayServeException("the answer ended before its last verdict")

    async def _watch(self, application: str) -> None:
        """Count the judges that run, again and again."""
        while True:
            with contextlib.suppress(RayError, RayServeException):  # the controller is restarting
                self._num_judges = await asyncio.to_thread(_num_judges, application, self._kind)
                if self._num_judges:
                    self._last_seen = time.monotonic()
            await asyncio.sleep(WATCH_SECONDS)


def _num_judges(application: str, kind: str) -> int:
    """The judges that run, as the controller of Ray Serve knows them."""
    found = serve.status().applications.get(application)
    if found is None or kind not in found.deployments:
        return 0
    return int(found.deployments[kind].replica_states.get("RUNNING", 0))


def _cause(error: RayTaskError) -> Exception:
    """The error that the judge raised: NoWorkers, or a bug."""
    return NoWorkers(str(error.cause)) if isinstance(error.cause, NoWorkers) else error


def _short(error: Exception) -> str:
    """The first line of an error, which may have a screen of them."""
    first, _, _ = str(error).strip().partition("\n")
    return f"{type(error).__name__}: {first}"
