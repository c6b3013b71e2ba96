"""A fleet's differences from the single service: judges that come, go, and are lost."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.fleet.cluster import (
    kill_replica,
    replica_processes,
    wait_for_judges,
    without_seconds,
)
from tests.processes import until
from tests.verifier_service.poison import POISON
from verifier_service.completion import Completion
from verifier_service.fleet import pool
from verifier_service.fleet.judge_connection import JudgeLost
from verifier_service.fleet.judge_connections import JudgeConnections
from verifier_service.fleet.pool import FleetPool
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.accuracy import AccuracyReason
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

pytestmark = pytest.mark.fleet

NUM_CALLS = 120
NUM_CLIENTS = 8
NUM_KILLS = 5
KILL_SECONDS = 1.0
HELLO = "```python\nprint('hello')\n```"
LOOP = "```python\nwhile True: pass\n```"
STDIO = {"tests": {"type": "stdio", "cases": [{"stdin": "", "stdout": "hello\n"}]}}


def texts(number: int, *, num_completions: int = 50) -> dict[str, Any]:
    """A request about mathematics that no other number has, so that no verdict is cached."""
    completions = [
        f"<think>{number}</think><answer>{number + n}</answer>" for n in range(num_completions)
    ]
    verifiers = [{"type": "accuracy"}, {"type": "format", "weight": 0.1}]
    group = {"reference": {"answer": str(number)}, "completions": completions}
    return {"verifiers": verifiers, "groups": [group]}


def programs(*completions: str, **options: Any) -> dict[str, Any]:
    group = {"reference": STDIO, "completions": list(completions)}
    return {"verifiers": [{"type": "code"}], "groups": [group], **options}


def verdicts(response: httpx.Response, key: str) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    completions = [one for group in response.json()["groups"] for one in group["completions"]]
    return [one["verdicts"][key] for one in completions]


def test_the_gateway_knows_its_judges(fleet: httpx.Client) -> None:
    def running() -> dict[str, int]:
        workers = fleet.get("/").json()["workers"]
        return {kind: one["running"] for kind, one in workers.items()}

    until(lambda: running() == {"text": 2, "code": 2}, seconds=120)
    assert fleet.get("/readyz").status_code == 200


def test_a_poison_item_kills_no_judge(fleet: httpx.Client) -> None:
    wait_for_judges("text", 2)
    before = sorted(replica_processes("text"))
    group = {"reference": {"answer": "3"}, "completions": [POISON, "$3$"]}
    found = fleet.post("/v1/score", json={"verifiers": [{"type": "accuracy"}], "groups": [group]})
    poisoned, honest = verdicts(found, "accuracy")
    assert (poisoned["outcome"], poisoned["score"]) == ("scored", 0.0)
    assert (honest["outcome"], honest["score"]) == ("scored", 1.0)
    assert sorted(replica_processes("text")) == before


def test_a_deadline_keeps_the_verdicts_so_far(fleet: httpx.Client) -> None:
    """The task goes on at the judge; what it had judged by then has arrived."""
    found = fleet.post("/v1/score", json=programs(HELLO, LOOP, deadline_seconds=2.5))
    first, second = verdicts(found, "code")
    assert (first["outcome"], first["reason"]) == ("scored", "passed")
    assert (second["outcome"], second["reason"]) == ("failed", "deadline")


def test_a_deadline_frees_the_worker(fleet: httpx.Client) -> None:
    for _ in range(4):
        fleet.post("/v1/score", json=programs(LOOP, deadline_seconds=0.3))
    start = time.monotonic()
    [verdict] = verdicts(fleet.post("/v1/score", json=programs(HELLO)), "code")
    assert verdict["reason"] == "passed"
    assert time.monotonic() - start < 8.0, "four loops would hold the workers for nine seconds"


def test_judges_that_are_killed_lose_no_verdict(fleet_url: str, single_url: str) -> None:
    """A judge of texts and one of programs are killed each second while eight clients ask."""
    ended = threading.Event()

    def kill() -> None:
        for _ in range(NUM_KILLS):
            if ended.wait(KILL_SECONDS):
                return
            kill_replica("text")
            kill_replica("code")

    def ask(number: int) -> tuple[httpx.Response, httpx.Response]:
        body = programs(HELLO, f"{HELLO}\n{number}") if number % 10 == 0 else texts(number)
        answers = (
            httpx.post(f"{url}/v1/score", json=body, timeout=120) for url in (fleet_url, single_url)
        )
        return next(answers), next(answers)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with ThreadPoolExecutor(NUM_CLIENTS) as clients:
            pairs = list(clients.map(ask, range(1000, 1000 + NUM_CALLS)))
    finally:
        ended.set()
        killer.join()
    for fleet, single in pairs:
        assert fleet.status_code == single.status_code == 200, fleet.text
        assert without_seconds(fleet.content) == without_seconds(single.content)
    wait_for_judges("text", 2)
    wait_for_judges("code", 2)


def test_more_work_than_may_wait_is_refused_and_not_queued(
    fleet: httpx.Client, fleet_url: str
) -> None:
    """The gateway's bound, which its fixture sets to 2,000 completions."""
    many = programs(*(f"{LOOP}\n{n}" for n in range(1990)), deadline_seconds=4)
    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(httpx.post, f"{fleet_url}/v1/score", json=many, timeout=60)
        until(lambda: fleet.get("/").json()["pending_completions"] >= 1990)
        refused = fleet.post("/v1/score", json=texts(1))
        assert refused.status_code == 503
        assert refused.json()["error"]["type"] == "queue_full"
        assert int(refused.headers["retry-after"]) > 0
        outcomes = {one["outcome"] for one in verdicts(waiting.result(), "code")}
    assert outcomes <= {"scored", "failed"}
    assert verdicts(fleet.post("/v1/score", json=texts(1)), "accuracy")[0]["score"] == 1.0


class _Judges:
    """Connections to judges that send so many verdicts each, and are lost then.

    Args:
        num_sent: verdicts that each judge sends, one judge after the other; later ones send none.
    """

    judge_address = ("judge", 0)
    age_seconds = 0.0
    is_usable = True
    idle_seconds = 0.0

    def __init__(self, *num_sent: int) -> None:
        self.tasks: list[Task] = []
        self._num_sent = list(num_sent)
        self.ends = True
        """Whether a judge with all verdicts sent says so."""

    async def connect(self) -> Any:
        return self

    def close(self) -> None:
        pass

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        task = encoded.decode()
        self.tasks.append(task)
        num = self._num_sent.pop(0) if self._num_sent else 0
        texts = [completion.text for part in task.parts for completion in part.completions]
        found = [Verdict(Outcome.SCORED, float(text), AccuracyReason.EQUAL, 0.0) for text in texts]
        verdicts += found[:num]
        if num < len(texts) or not self.ends:
            raise JudgeLost("the judge is lost")


def judged_by(judges: _Judges, *texts: str) -> list[TaskResult]:
    fleet_pool = FleetPool("text", num_workers=1, num_tasks=1)
    fleet_pool._connections = JudgeConnections(judges.connect, lambda: 1)
    part = TaskPart.of({"answer": "1"}, [Completion(text) for text in texts])
    found: list[TaskResult] = []
    task = EncodedTask.of(Task.of({"type": "accuracy"}, [part]), "text")
    asyncio.run(fleet_pool.judge(task, found))
    return found


def test_another_judge_goes_on_where_one_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "RETRY_SECONDS", 0.0)
    judges = _Judges(2, 0, 1, 9)
    found = judged_by(judges, "0", "1", "0.5", "0.25")
    assert [one.score for one in found if isinstance(one, Verdict)] == [0.0, 1.0, 0.5, 0.25]
    assert [task.num_completions for task in judges.tasks] == [4, 2, 2, 1]


def test_a_judge_that_is_lost_after_its_last_verdict_is_not_missed() -> None:
    judges = _Judges(2)
    judges.ends = False
    assert len(judged_by(judges, "0", "1")) == 2
    assert len(judges.tasks) == 1


def test_a_task_that_no_judge_finishes_is_failed_and_never_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "RETRY_SECONDS", 0.0)
    judges = _Judges(1)
    first, *others = judged_by(judges, "1", "0", "0")
    assert isinstance(first, Verdict)
    assert first.score == 1.0
    expected = (Outcome.FAILED, None, EngineReason.WORKER_DIED)
    assert [(one.outcome, one.score, one.reason) for one in others if isinstance(one, Verdict)] == [
        expected,
        expected,
    ]
    assert len(judges.tasks) == pool.TRIES


def test_a_large_reference_is_judged_by(fleet: httpx.Client, single_url: str) -> None:
    """Tests that judges ask for by name, by which several tasks judge programs."""
    cases = [{"stdin": f"{n} {'x' * 2000}", "stdout": f"{n}\n"} for n in range(200)]
    right, wrong = "print(input().split()[0])", "print(199)"
    completions = [f"```python\n{code}  # {n}\n```" for n in range(2) for code in (right, wrong)]
    group = {"reference": {"tests": {"type": "stdio", "cases": cases}}, "completions": completions}
    body = {"verifiers": [{"type": "code"}], "groups": [group]}
    found = [verdicts(fleet.post("/v1/score", json=body), "code")]
    found.append(verdicts(httpx.post(f"{single_url}/v1/score", json=body, timeout=120), "code"))
    for judged in found:
        assert [one["score"] for one in judged] == [1.0, 0.0, 1.0, 0.0]
