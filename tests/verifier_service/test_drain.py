"""SIGTERM: what was accepted is finished within the limit, the rest is refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from tests.processes import pid_in, tree, until
from tests.verifier_service.poison import POISON
from trainer_client.service_process import running_service
from verifier_service.http import intake
from verifier_service.http.drain import Drain
from verifier_service.http.intake import unless_given_up

IDLE = 'verifier_tasks_waiting{kind="text"} 0.0'


def slow_body() -> dict[str, Any]:
    group = {"reference": {"answer": "2"}, "completions": [POISON, "$2$"]}
    return {"verifiers": [{"type": "accuracy", "mode": "math_verify"}], "groups": [group]}


def is_judging(client: httpx.Client) -> bool:
    return 'verifier_workers_busy{kind="text"} 1.0' in metrics(client)


@pytest.mark.slow
def test_a_call_under_way_is_finished_and_a_new_one_refused(tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    flags = ("--workers", "1", "--enabled", "accuracy")
    with (
        running_service(log, *flags) as url,
        httpx.Client(base_url=url, timeout=600) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        first = thread.submit(httpx.post, f"{url}/v1/score", json=slow_body(), timeout=600)
        until(lambda: is_judging(client))
        process = pid_in(log)
        started = tree(process)
        os.kill(process, signal.SIGTERM)
        until(lambda: client.get("/readyz").status_code == 503)
        refused = client.post("/v1/score", json=slow_body())
        assert (refused.status_code, refused.json()["error"]["type"]) == (503, "draining")
        assert refused.headers["retry-after"] == "1"
        completions = first.result().json()["groups"][0]["completions"]
        reasons = [completion["verdicts"]["accuracy"]["reason"] for completion in completions]
        assert reasons == ["too_slow", "equal"]
        until(lambda: not any(Path(f"/proc/{pid}/fd").exists() for pid in started[1:]))


@pytest.mark.slow
def test_calls_that_take_longer_than_the_limit_are_given_up(tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    limits = ("--drain-seconds", "0.1", "--item-cpu-seconds", "60")
    flags = ("--workers", "1", "--enabled", "accuracy", *limits)
    slow = {"/v1/score": slow_body(), "/compat/slime/rm": {"response": POISON, "label": "2"}}
    with (
        running_service(log, *flags) as url,
        httpx.Client(base_url=url, timeout=600) as client,
        ThreadPoolExecutor(len(slow)) as threads,
    ):
        answers = []
        for path, body in slow.items():
            answers.append(threads.submit(httpx.post, f"{url}{path}", json=body, timeout=600))
            until(lambda: is_judging(client))
        until(lambda: "verifier_pending_completions 3.0" in metrics(client))
        os.kill(pid_in(log), signal.SIGTERM)
        for answer in answers:
            assert answer.result().status_code == 503
            assert answer.result().json()["error"]["type"] == "draining"


def scored_stream(padding: int) -> dict[str, Any]:
    """A request whose last group takes long."""
    reference = {"answer": "2"}
    quick = [
        {"reference": reference, "completions": [f"{n}, ${k}$" for k in range(16)]}
        for n in range(4)
    ]
    slow = {"reference": reference, "completions": [POISON], "prompt": "x" * padding}
    return slow_body() | {"groups": [*quick, slow]}


SLOW_PROGRAM = {"code": "while True: pass", "limits": {"seconds": 100}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/v1/score", scored_stream(0), id="in the API process"),
        pytest.param("/v1/score", scored_stream(100_000), id="in a process of its own"),
        pytest.param(
            "/v1/execute", {"executions": [{"code": "print(1)"}, SLOW_PROGRAM]}, id="programs"
        ),
    ],
)
def test_a_stream_that_takes_longer_than_the_limit_is_broken_off(
    tmp_path: Path, path: str, body: dict[str, Any]
) -> None:
    log = tmp_path / "service.log"
    limits = ("--drain-seconds", "0.1", "--item-cpu-seconds", "60")
    enabled = ("--workers", "1", "--code-workers", "2", "--enabled", "accuracy,code")
    with (
        running_service(log, *enabled, *limits) as url,
        httpx.Client(timeout=60) as client,
        client.stream(
            "POST", f"{url}{path}", json=body, headers={"Accept": "application/x-ndjson"}
        ) as response,
    ):
        lines = response.iter_lines()
        assert json.loads(next(lines))["index"] == 0
        process = pid_in(log)
        started = tree(process)
        os.kill(process, signal.SIGTERM)
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
            list(lines)
        until(lambda: not any(Path(f"/proc/{pid}/fd").exists() for pid in started[1:]))
        last = log.read_text()
    assert "Traceback" not in last
    assert "error=draining" in last or '"error": "draining"' in last


@pytest.mark.slow
def test_the_work_of_a_client_that_is_gone_is_dropped(tmp_path: Path) -> None:
    """One worker, a queue of minutes: when its client is gone, the next one need not wait."""
    log = tmp_path / "service.log"
    flags = ("--workers", "1", "--enabled", "accuracy")
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        body = slow_body()
        body["groups"][0]["completions"] = [f"{n} {POISON}" for n in range(100)]
        for padding in ("", "x" * 100_000):  # here, and in a process of its own
            body["groups"][0]["prompt"] = padding
            request = httpx.Request("POST", f"{url}/v1/score", json=body)
            with socket.create_connection((request.url.host, request.url.port)) as impatient:
                head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
                impatient.sendall(f"POST /v1/score HTTP/1.1\r\n{head}\r\n".encode())
                impatient.sendall(request.content)
                until(lambda: "verifier_pending_completions 100.0" in metrics(client))
            until(lambda: "verifier_pending_completions 0.0" in metrics(client))
            until(lambda: IDLE in metrics(client))
        until(lambda: 'verifier_rejected_total{cause="disconnected"} 2.0' in metrics(client))


@pytest.mark.parametrize("turns", range(-12, 13))
def test_a_call_may_end_in_the_turn_in_which_its_client_hangs_up(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever comes first by so many turns of the event loop: never is the call's task cancelled.

    It used to be, when the watch for the client had ended but had not been heard yet.
    """
    monkeypatch.setattr(intake, "UNWATCHED_SECONDS", 0)

    async def call() -> str:
        is_gone, is_done = asyncio.Event(), asyncio.Event()

        async def receive() -> Message:
            await is_gone.wait()
            return {"type": "http.disconnect"}

        async def work() -> str:
            await is_done.wait()
            return "done"

        async def settle() -> None:
            await asyncio.sleep(0.001)  # the watch has begun
            first, second = (is_gone, is_done) if turns > 0 else (is_done, is_gone)
            first.set()
            for _ in range(abs(turns)):
                await asyncio.sleep(0)
            second.set()

        settling = asyncio.create_task(settle())
        task = asyncio.current_task()
        assert task is not None
        try:
            return await unless_given_up(work(), Request({"type": "http"}, receive), Drain())
        except ClientDisconnect:
            return "given up"
        finally:
            await settling
            assert task.cancelling() == 0

    found = asyncio.run(call())
    assert found in {"done", "given up"}
    if abs(turns) == 12:
        assert found == ("given up" if turns > 0 else "done")


def metrics(client: httpx.Client) -> str:
    return client.get("/metrics").text
