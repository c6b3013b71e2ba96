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
from ray.exceptions import RayError
from ray.serve.exceptions import RayServeException

from verifier_service.fleet.judge_connection import JudgeConnection, JudgeLost, connect
from verifier_service.fleet.judge_connections import MAX_AGE_SECONDS, JudgeConnections
from verifier_service.fleet.messages import decode_place
from verifier_service.reason import EngineReason
from verifier_service.verdict import failed
from verifier_service.workers.tasks import EncodedTask, TaskResult

log = logging.getLogger(__name__)

LOST = (RayError, RayServeException, grpc.RpcError)
"""Errors of a call whose judge is lost, or never had it."""
PLACES_PER_TASK = 2
"""Places of a judge for each task that it may have under way: the others wait at hand."""
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
        max_age_seconds: age from which a connection to a judge gets no other task.
    """

    def __init__(
        self,
        kind: str,
        *,
        num_workers: int,
        num_tasks: int,
        max_age_seconds: float = MAX_AGE_SECONDS,
    ) -> None:
        self._kind = kind
        self._num_workers = num_workers
        self._num_tasks = num_tasks
        self._num_judges = 0
        self._last_seen = float("-inf")
        """Time at which a judge was last running, in seconds of the monotonic clock."""
        self._num_under_way = 0
        self._handle: Any = None
        self._connections = JudgeConnections(
            self._connect, lambda: PLACES_PER_TASK * self.size, max_age_seconds
        )
        self._loans: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self.restarts: Counter[str] = Counter()
        """Number of tasks whose judge was lost; a judge may have several."""

    async def __aenter__(self) -> Self:
        self._last_seen = time.monotonic()  # the judges start beside the gateway
        handle = serve.get_deployment_handle(self._kind)
        self._handle = handle.options(
            stream=True, _by_reference=False
        )  # over gRPC, the cheaper way
        self._watching = asyncio.create_task(self._watch(serve.get_replica_context().app_name))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._watching is not None
        await self._connections.close()
        for watch in (self._watching, *self._loans):
            watch.cancel()
        await asyncio.wait([self._watching, *self._loans])

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
                    async with self._connections.taken() as connection:
                        await connection.judge(rest, verdicts)
                    return
                except JudgeLost as error:
                    self.restarts["lost"] += 1
                    log.warning("a judge of %s is lost at a task: %s", self._kind, error)
                    await asyncio.sleep(RETRY_SECONDS * number)
        finally:
            self._num_under_way -= 1
        num_left = num_completions - (len(verdicts) - before)
        verdicts += [failed(EngineReason.WORKER_DIED)] * num_left

    async def _connect(self) -> JudgeConnection:
        """Take a place at the judge that Ray Serve chooses. Raises JudgeLost."""
        loan = self._handle.lend.remote()
        try:
            connection = await connect(decode_place(await anext(aiter(loan))))
        except (*LOST, StopAsyncIteration) as error:
            raise JudgeLost(_short(error)) from error
        except BaseException:
            loan.cancel()
            raise
        watch = asyncio.create_task(_close_when_ended(loan, connection))
        self._loans.add(watch)
        watch.add_done_callback(self._loans.discard)
        return connection

    async def _watch(self, application: str) -> None:
        """Count the judges that run, again and again."""
        while True:
            with contextlib.suppress(RayError, RayServeException):  # the controller is restarting
                self._num_judges = await asyncio.to_thread(_num_judges, application, self._kind)
                if self._num_judges:
                    self._last_seen = time.monotonic()
            self._connections.close_idle()
            await asyncio.sleep(WATCH_SECONDS)


def _num_judges(application: str, kind: str) -> int:
    """The judges that run, as the controller of Ray Serve knows them."""
    found = serve.status().applications.get(application)
    if found is None or kind not in found.deployments:
        return 0
    return int(found.deployments[kind].replica_states.get("RUNNING", 0))


async def _close_when_ended(loan: Any, connection: JudgeConnection) -> None:
    """Close a connection when Ray Serve says that its judge is lost, or has ended the call."""
    with contextlib.suppress(*LOST):
        async for _ in loan:
            pass
    connection.close()


def _short(error: Exception) -> str:
    """The first line of an error, which may have a screen of them."""
    first, _, _ = str(error).strip().partition("\n")
    return f"{type(error).__name__}: {first}"
