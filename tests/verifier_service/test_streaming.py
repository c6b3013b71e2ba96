"""`Accept: application/x-ndjson`: a line for each group as it is done."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from tests.verifier_service.poison import POISON
from tests.verifier_service.test_large_requests import large_body, without_seconds
from verifier_service.engine import response_json
from verifier_service.engine.admission import Admission
from verifier_service.engine.scheduler import Scheduler
from verifier_service.errors import ResponseTooLarge
from verifier_service.executions import routes as executions
from verifier_service.http.drain import Drain
from verifier_service.http.intake import SMALL_BODY_BYTES, BodyDoor
from verifier_service.http.metrics import Metrics
from verifier_service.http.score_call import respond_to_score_call
from verifier_service.http.service import Service, install_service
from verifier_service.large_requests.byte_budget import ByteBudget
from verifier_service.large_requests.launcher import RequestProcesses
from verifier_service.settings import Settings
from verifier_service.verdict import Outcome, Verdict
from verifier_service.workers.tasks import EncodedTask, TaskResult

NDJSON = {"Accept": "application/x-ndjson"}
NDJSON_TYPE = NDJSON["Accept"].encode()


def lines(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.removesuffix("\n").split("\n")]


async def respond(
    scope: dict[str, Any],
    receive: Receive,
    send: Send,
    *,
    admission: Admission,
    scheduler: Scheduler,
) -> None:
    """A call of `/v1/score` or `/v1/execute`, behind the door for its body."""
    service = service_with(admission, scheduler)
    scope["app"] = programs = FastAPI()
    programs.include_router(executions.router)
    install_service(programs, service)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/v1/execute":
            await programs(scope, receive, send)
            return
        answer = await respond_to_score_call(Request(scope, receive), service)
        await answer(scope, receive, send)

    door = BodyDoor(route, max_bytes=2**20, seconds=3600, try_later_statuses={})
    await door(scope, receive, send)


def service_with(admission: Admission, scheduler: Scheduler) -> Service:
    processes = RequestProcesses("", scheduler, max_body_bytes=1, bodies=ByteBudget(1))
    return Service(
        limits=Settings().request_limits,
        profiles={},
        admission=admission,
        scheduler=scheduler,
        processes=processes,
        call_processes=processes,
        pools={},
        metrics=Metrics(),
        drain=Drain(),
    )


@pytest.mark.parametrize("num_groups", [2, 40], ids=["here", "in a process of its own"])
def test_the_lines_are_the_groups_of_the_whole_answer(http: httpx.Client, num_groups: int) -> None:
    body = large_body(num_groups)
    body["groups"].append({"id": "empty", "completions": []})
    *groups, last = lines(http.post("/v1/score", json=body, headers=NDJSON))
    whole = http.post("/v1/score", json=body).json()
    in_order = sorted(groups, key=lambda group: int(group["index"]))
    assert [group.pop("index") for group in in_order] == list(range(num_groups + 1))
    assert without_seconds(in_order) == without_seconds(whole["groups"])
    assert last["stats"]["completions"] == whole["stats"]["completions"]


@pytest.mark.slow
@pytest.mark.parametrize("padding", [0, SMALL_BODY_BYTES], ids=["here", "in a process"])
def test_a_group_does_not_wait_for_one_that_takes_long(http: httpx.Client, padding: int) -> None:
    """Only what shares its task waits with it: at most one group more."""
    verifiers = [{"type": "accuracy", "mode": "math_verify"}]
    slow = {"id": "slow", "reference": {"answer": "2"}, "completions": [f"{padding} {POISON}"]}
    quick = [
        {"id": f"q{n}", "reference": {"answer": "2"}, "completions": [f"{n} {k}" for k in range(9)]}
        for n in range(9)
    ]
    body = {"verifiers": verifiers, "groups": [slow, *quick]}
    body["groups"][-1]["prompt"] = "x" * padding  # type: ignore[index]
    found = lines(http.post("/v1/score", json=body, headers=NDJSON))
    order = [group["id"] for group in found[:-1]]
    assert order.index("slow") >= 8


def test_an_error_is_an_error_and_no_stream(http: httpx.Client) -> None:
    answer = http.post("/v1/score", json={"verifiers": [], "groups": []}, headers=NDJSON)
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request")


def test_a_deadline_ends_a_stream_with_every_group_in_it(http: httpx.Client) -> None:
    body = {
        "verifiers": [{"type": "accuracy", "mode": "math_verify"}],
        "deadline_seconds": 0.5,
        "groups": [{"reference": {"answer": "2"}, "completions": [f"late {POISON}", "2"]}] * 3,
    }
    found = lines(http.post("/v1/score", json=body, headers=NDJSON))
    assert sorted(group["index"] for group in found[:-1]) == [0, 1, 2]
    reasons = [c["verdicts"]["accuracy"]["reason"] for g in found[:-1] for c in g["completions"]]
    assert "deadline" in reasons


def test_a_stream_that_is_given_up_has_its_room_until_its_work_has_ended() -> None:
    """More would be accepted otherwise than there is room for."""
    pending: list[int] = []

    class StuckPool:
        size = 1
        problem = None

        async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                pending.append(admission.pending_completions)

    async def call() -> None:
        gone = asyncio.Event()
        groups = [{"completions": []}, {"completions": ["2"]}]  # the first is done at once
        body = {"verifiers": [{"type": "format"}], "groups": groups}
        messages = [{"type": "http.request", "body": json.dumps(body).encode()}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message.get("body"):
                gone.set()

        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": "/v1/score",
            "headers": [(b"content-type", b"application/json"), (b"accept", NDJSON_TYPE)],
            "state": {},
        }
        await respond(scope, receive, send, admission=admission, scheduler=scheduler)

    admission = Admission(Settings().pending_bounds)
    scheduler = Scheduler({"text": StuckPool()}, max_cached_verdicts=0)
    asyncio.run(call())
    assert pending == [1]
    assert admission.pending_completions == 0


MANY_GROUPS = [{"completions": [str(number)] * 10} for number in range(99)]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/score", {"verifiers": [{"type": "format"}], "groups": MANY_GROUPS}),
        ("/v1/execute", {"executions": [{"code": str(number)} for number in range(99)]}),
    ],
)
def test_a_stream_that_is_not_read_ends_when_too_much_waits(
    path: str, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that reads nothing would otherwise fill the memory of the service."""
    monkeypatch.setattr(response_json, "MAX_RESPONSE_BYTES", 2000)
    num_sent = 0

    class Pool:
        size = 1
        problem = None

        async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
            for _ in range(task.num_completions):
                await asyncio.sleep(0)
                verdicts.append(Verdict(Outcome.SCORED, 1.0, "matched", 0.0))

    async def call() -> None:
        messages = [{"type": "http.request", "body": json.dumps(body).encode()}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            nonlocal num_sent
            num_sent += bool(message.get("body"))
            for _ in range(10_000):  # what can be judged in the meantime is
                await asyncio.sleep(0)

        headers = [(b"content-type", b"application/json"), (b"accept", NDJSON_TYPE)]
        scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "state": {}}
        scope |= {"headers": headers, "query_string": b""}
        with pytest.raises(ResponseTooLarge, match="larger than 2000 bytes"):
            await respond(scope, receive, send, admission=admission, scheduler=scheduler)
        assert scope["state"]["error"] == "answer_too_large"

    admission = Admission(Settings().pending_bounds)
    scheduler = Scheduler({"text": Pool(), "code": Pool()}, max_cached_verdicts=0)
    asyncio.run(call())
    assert 0 < num_sent < 30
    assert admission.pending_bytes == 0
