"""Every body comes in by one door: bounded, timed, and large ones apart from the API process."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import select
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pydantic_core
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tests.processes import children, fork_servers, pid_in, until
from tests.verifier_service.poison import POISON
from tests.verifier_service.test_strict_json import POST_PATHS
from trainer_client.service_process import running_service
from verifier_service.app import create_app
from verifier_service.compat import route
from verifier_service.compat.route import MAX_VALUES
from verifier_service.engine.body_limit import MAX_HELD_BYTES
from verifier_service.http import unread_body
from verifier_service.http.score_call import SMALL_VERDICTS
from verifier_service.http.unread_body import CloseUnread
from verifier_service.large_requests.byte_budget import ByteBudget
from verifier_service.settings import Settings

JSON = {"Content-Type": "application/json"}
PADDING = " " * (MAX_HELD_BYTES + 1)
RIGHT = "so \\boxed{4}"
MESSAGE = {"type": "message", "role": "assistant", "content": RIGHT}
SQUARE = "print(int(input()) ** 2)"
CASES = [{"input": "3", "output": "9"}, {"input": "4", "output": "15"}]
MBPP = {
    "id": 11,
    "content": "Write a function that doubles a number.",
    "labels": '{"test_setup_code": "", "challenge_test_list": []}',
    "test_list": ["assert twice(2) == 4"],
}
CALLS: dict[str, dict[str, Any]] = {
    "/v1/score": {
        "verifiers": [{"type": "accuracy"}],
        "groups": [{"completions": [RIGHT], "reference": {"answer": "4"}}],
    },
    "/run_code": {"code": SQUARE, "stdin": "3"},
    "/get_reward": {"query": [RIGHT, "so \\boxed{5}"], "labels": ["4", "4"]},
    "/compat/openrlhf/get_reward": {"query": [RIGHT], "labels": ['{"answer": "4"}']},
    "/compat/slime/rm": {"response": RIGHT, "label": "4"},
    "/verify": {"response": {"output": [MESSAGE]}, "expected_answer": "4"},
    "/seed_session": {},
    "/aggregate_metrics": {"verify_responses": [{"reward": 1.0}, {"reward": 0.0}]},
    "/test_program": {"program": "x = 1", "tests": ["assert x == 1", "assert x == 2"]},
    "/test_program_stdio": {"program": SQUARE, "tests": CASES},
    "/api/v2/execute": {"language": "python", "files": [{"content": SQUARE}], "stdin": "3"},
    "/execute_batch": {"scripts": ["print(1)"]},
    "/run_jupyter": {"cells": ["a = 1", "a"]},
    "/list_ids": {"dataset": "mbpp", "config": {"provided_data": [MBPP]}},
    "/get_prompts": {"dataset": "mbpp", "config": {"provided_data": [MBPP]}},
    "/get_prompt_by_id": {"dataset": "mbpp", "id": 11, "config": {"provided_data": MBPP}},
    "/get_metrics": {"dataset": "mbpp", "config": {}, "results": []},
    "/submit": {
        "dataset": "mbpp",
        "id": 11,
        "completion": "```python\ndef twice(n):\n    return 2 * n\n```",
        "config": {"provided_data": MBPP},
    },
}
"""A call of each route that takes a body."""


def without_times(node: Any) -> Any:
    """A response without what no two runs have in common."""
    if isinstance(node, dict):
        return {
            key: without_times(value)
            for key, value in node.items()
            if "time" not in key and key not in ("seconds", "memory")
        }
    return [without_times(item) for item in node] if isinstance(node, list) else node


def post(http: httpx.Client, path: str, content: str | bytes) -> httpx.Response:
    return http.post(path, content=content, headers=JSON)


def call_processes(service: int) -> list[int]:
    """Processes of large calls."""
    servers = fork_servers(service, "call_process")
    return [process for server in servers for process in children(server)]


def test_there_is_a_call_of_every_route() -> None:
    """A new route cannot be forgotten: each test below walks over these."""
    assert sorted(CALLS) == POST_PATHS


@pytest.mark.parametrize("path", POST_PATHS)
def test_a_large_call_gets_what_a_small_one_gets(http: httpx.Client, path: str) -> None:
    content = json.dumps(CALLS[path])
    small, large = post(http, path, content), post(http, path, PADDING + content)
    assert (small.status_code, large.status_code) == (200, 200), large.text
    assert large.headers["content-type"] == small.headers["content-type"]
    assert without_times(large.json()) == without_times(small.json())


def test_calls_of_many_values_or_verdicts_have_a_process_too(
    http: httpx.Client, service_pid: int
) -> None:
    """Each is small in bytes, and would hold up other calls for longer than milliseconds."""
    for number in (2, SMALL_VERDICTS + 1, MAX_VALUES + 1):
        texts = [f"\\boxed{{{index % 3}}}" for index in range(number)]
        body = {"query": texts, "labels": ["2"] * number}
        assert len(json.dumps(body)) < MAX_HELD_BYTES
        answer = post(http, "/get_reward", json.dumps(body))
        assert answer.status_code == 200, answer.text
        assert answer.json()["rewards"] == [float(index % 3 == 2) for index in range(number)]
    assert fork_servers(service_pid, "call_process")


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/get_reward?profile=none", {"query": ["4"]}, 422, "no profile"),
        ("/get_reward", {"query": ["4"], "labels": ["4", "5"]}, 422, "2 labels for 1 queries"),
        ("/verify", {"response": {"output": []}, "verifier": 1}, 422, "`verifier` '1'"),
        ("/test_program", {"program": "", "tests": ["x"] * 1001}, 413, "1001 tests"),
        ("/api/v2/execute", {"language": "none", "files": [{"content": ""}]}, 400, "runtime"),
        ("/api/v2/execute", {"language": "python"}, 422, "files: "),
    ],
)
def test_a_large_call_is_refused_in_the_words_of_its_protocol(
    http: httpx.Client, path: str, body: Any, status: int, message: str
) -> None:
    content = json.dumps(body)
    for padding in ("", PADDING):
        answer = post(http, path, padding + content)
        assert answer.status_code == status, answer.text
        found = answer.json()
        assert message in (found["message"] if "execute" in path else found["error"]["message"])


@pytest.mark.parametrize(
    ("path", "key", "body"),
    [
        ("/get_reward", "query", {}),
        ("/execute_batch", "languages", {"scripts": ["1"]}),
        ("/aggregate_metrics", "verify_responses", {}),
        ("/run_code", "fetch_files", {"code": ""}),
        ("/api/v2/execute", "files", {"language": "python"}),
    ],
)
def test_a_list_of_wrong_values_is_read_to_the_first_of_them(
    http: httpx.Client, path: str, key: str, body: dict[str, Any]
) -> None:
    """Each error takes much more memory than the value; a million of them ended the process."""
    answer = post(http, path, json.dumps({**body, key: [7] * 400_000}))
    assert answer.status_code == 422, answer.text
    message = answer.json()["message" if "execute" in path and "api" in path else "error"]
    if isinstance(message, dict):
        assert len(message["details"]) == 1
        message = message["message"]
    assert f"{key}.0" in message
    assert "more)" not in message


def test_a_body_that_takes_too_much_memory_is_no_broken_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FastAPI makes a 400 of every error; the process of a call answers 413 to this one."""

    def exhausted(_body: bytes) -> Any:
        raise MemoryError

    async def handle(request: Request) -> Response:
        try:
            await request.json()
        except Exception as error:
            raise HTTPException(400) from error
        raise AssertionError

    monkeypatch.setattr(pydantic_core, "from_json", exhausted)
    with pytest.raises(MemoryError):
        asyncio.run(route._handle(handle, {"type": "http"}, b"{}", max_values=None))


def test_a_large_program_in_cpp_is_told_the_version_of_its_compiler(http: httpx.Client) -> None:
    file = {"content": base64.b64encode(b"int main() {}").decode(), "encoding": "base64"}
    body = json.dumps({"language": "c++", "files": [file]})
    answers = [post(http, "/api/v2/execute", padding + body).json() for padding in ("", PADDING)]
    assert answers[0]["version"] == answers[1]["version"] != ""
    assert [answer["run"]["code"] for answer in answers] == [0, 0]


@pytest.mark.slow
def test_the_death_of_a_calls_process_costs_nothing(http: httpx.Client, service_pid: int) -> None:
    body = {"verifiers": [], "query": [f"call {POISON}", RIGHT], "labels": ["2", "4"]}
    with ThreadPoolExecutor(1) as thread:
        answering = thread.submit(post, http, "/get_reward", PADDING + json.dumps(body))
        until(lambda: bool(call_processes(service_pid)))
        os.kill(call_processes(service_pid)[0], signal.SIGKILL)
        answer = answering.result()
    assert answer.status_code == 200, answer.text
    assert answer.json()["rewards"][1] == 1.0
    until(lambda: not call_processes(service_pid))


def connect(url: str) -> socket.socket:
    address = httpx.URL(url)
    return socket.create_connection((address.host, address.port or 80), timeout=600)


def head(path: str, *fields: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *fields]
    return "\r\n".join([*lines, "", ""]).encode()


def rest(connection: socket.socket) -> bytes:
    """All that comes until the connection is closed."""
    found = b""
    while part := connection.recv(2**16):
        found += part
    return found


@pytest.mark.parametrize("path", [*POST_PATHS, "/nowhere"])
def test_a_body_over_the_limit_is_refused_before_it_comes(service_url: str, path: str) -> None:
    with connect(service_url) as connection:
        connection.sendall(head(path, f"Content-Length: {10**9}"))
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.fixture(scope="module")
def small_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A service with room for few bytes; its URL and process."""
    log = tmp_path_factory.mktemp("intake") / "service.log"
    flags = ("--max-body-bytes", str(4 * 2**20), "--max-pending-bytes", str(8 * 2**20))
    with running_service(log, "--workers", "1", "--code-workers", "1", *flags) as url:
        yield url, pid_in(log)


@pytest.mark.slow
def test_a_body_without_a_length_is_refused_when_it_is_too_large(
    small_service: tuple[str, int],
) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(5):
            yield b" " * 2**20

    with httpx.Client(base_url=small_service[0], timeout=600) as http:
        for path in POST_PATHS:
            answer = http.post(path, content=pieces(), headers=JSON)
            assert answer.status_code == 413, (path, answer.text)


def resident_bytes(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


@pytest.mark.slow
def test_a_flood_of_bodies_is_refused_and_leaves_no_memory(
    small_service: tuple[str, int],
) -> None:
    """The tenth of what comes in is more than the API process may keep."""
    url, pid = small_service
    content = json.dumps({"query": ["x" * (3 * 2**20)]}).encode()

    def send(path: str) -> httpx.Response:
        with httpx.Client(base_url=url, timeout=600) as one:
            return post(one, path, content)

    before = resident_bytes(pid)
    with ThreadPoolExecutor(16) as threads, httpx.Client(base_url=url, timeout=600) as http:
        for path in POST_PATHS:
            answers = [threads.submit(send, path) for _ in range(16)]
            assert http.get("/healthz").status_code == 200
            statuses = {answer.result().status_code for answer in answers}
            assert statuses <= {200, 413, 422, 503, 504}, (path, statuses)
            assert post(http, path, json.dumps(CALLS[path])).status_code == 200
        pending = re.search(r"^verifier_pending_bytes (\S+)$", http.get("/metrics").text, re.M)
    assert pending is not None
    assert float(pending[1]) == 0
    assert resident_bytes(pid) < before + 100 * 2**20


@pytest.mark.slow
def test_slow_senders_are_gone_on_every_route(tmp_path: Path) -> None:
    """Senders of a byte now and then are gone, too."""
    flags = ("--workers", "1", "--enabled", "format", "--body-seconds", "0.5")
    with running_service(tmp_path / "service.log", *flags) as url:
        connections = {path: connect(url) for path in [*POST_PATHS, "/nowhere"]}
        left = dict(connections)
        for path, one in left.items():
            one.sendall(head(path, "Content-Length: 1000"))
        found = dict.fromkeys(left, b"")
        while left:
            readable, _, _ = select.select(list(left.values()), [], [], 0.2)
            for path, one in list(left.items()):
                try:
                    if one in readable:
                        part = one.recv(2**16)
                        found[path] += part
                        if not part:
                            del left[path]
                            continue
                    one.send(b" ")
                except ConnectionError:
                    del left[path]
        for one in connections.values():
            one.close()
    for path, answer in found.items():
        assert answer.startswith(b"HTTP/1.1 408 "), (path, answer)
        assert b"connection: close" in answer.lower()


@dataclass
class Exchange:
    """Messages that a layer received and sent."""

    received: int
    sent: list[Message]

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])


def exchange(layer: Any, scope: Scope, parts: list[bytes]) -> Exchange:
    """Call a layer with a body that does not end with these parts."""
    found = Exchange(0, [])

    async def receive() -> Message:
        if found.received == len(parts):
            await asyncio.Event().wait()
        found.received += 1
        return {"type": "http.request", "body": parts[found.received - 1], "more_body": True}

    async def send(message: Message) -> None:
        found.sent.append(message)

    asyncio.run(layer(scope, receive, send))
    return found


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """A route that answers without its body."""
    await send({"type": "http.response.start", "status": 401, "headers": []})
    await send({"type": "http.response.body", "body": b"no"})


def test_the_connection_of_a_call_without_a_key_does_not_wait_for_its_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The response is sent at once; the body is thrown away, and the connection closed."""
    monkeypatch.setattr(unread_body, "LINGER_SECONDS", 0.01)
    scope: Scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    scope["headers"] = [(b"content-length", b"9")]
    found = exchange(CloseUnread(refuse), scope, [b"ab", b"c"])
    assert found.headers[b"connection"] == b"close"
    assert found.received == 2
    assert [(message["body"], message["more_body"]) for message in found.sent[1:]] == [
        (b"no", True),
        (b"", False),
    ]
    scope["headers"].append((b"expect", b"100-continue"))
    assert exchange(CloseUnread(refuse), scope, [b"ab"]).received == 0
    scope["headers"] = []
    assert b"connection" not in exchange(CloseUnread(refuse), scope, []).headers


@pytest.mark.slow
def test_a_route_that_knows_nothing_of_the_door_gets_no_large_body() -> None:
    app = create_app(Settings(workers=1, enabled=("format",), compat=()))
    taken = []

    @app.post("/new")
    async def new(body: dict[str, Any]) -> None:
        taken.append(body)

    async def ask(content: str) -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/new", content=content, headers=JSON)

    async def ask_both() -> list[int]:
        async with app.router.lifespan_context(app):
            return [(await ask(padding + "{}")).status_code for padding in ("", PADDING)]

    assert asyncio.run(ask_both()) == [200, 400]
    assert taken == [{}]


def test_the_door_is_around_every_route() -> None:
    """A layer outside of it may refuse a call, and none takes its body."""
    app = create_app(Settings())
    layers = [getattr(layer.cls, "__name__", "") for layer in app.user_middleware]
    assert layers == ["CloseUnread", "CallContext", "BodyDoor", "ShortWay"]


@pytest.mark.slow
def test_a_large_call_that_is_judged_holds_up_no_other(small_service: tuple[str, int]) -> None:
    """The room for bodies that are being read is free again; this service has it for one."""
    url, pid = small_service
    padding = " " * (3 * 2**20)
    spin = json.dumps({"code": "while True: pass", "run_timeout": 60})
    with connect(url) as connection, httpx.Client(base_url=url, timeout=600) as http:
        until(lambda: not call_processes(pid))  # a call of another test may be ending
        content = (padding + spin).encode()
        connection.sendall(head("/run_code", f"Content-Length: {len(content)}") + content)
        until(lambda: bool(call_processes(pid)))
        assert post(http, "/seed_session", padding + "{}").status_code == 200
        assert call_processes(pid), "the program was to run longer than the other call"
    until(lambda: not call_processes(pid))


def test_a_share_that_ends_early_lets_the_next_in() -> None:
    async def hold_both() -> None:
        budget = ByteBudget(10)
        async with asyncio.timeout(600), budget.share(10) as share:
            share.end()
            async with budget.share(10):
                pass
        async with asyncio.timeout(600), budget.share(10):
            pass

    asyncio.run(hold_both())


def test_a_budget_gives_turns_in_order() -> None:
    """One that is larger than the budget has it alone; one that gives up lets the next in."""
    order: list[str] = []
    budget = ByteBudget(10)

    async def hold(name: str, num_bytes: int, until_set: asyncio.Event) -> None:
        async with budget.share(num_bytes):
            order.append(name)
            await until_set.wait()

    async def take_turns() -> None:
        first, last = asyncio.Event(), asyncio.Event()
        last.set()
        holders = [
            asyncio.create_task(hold(name, num_bytes, event))
            for name, num_bytes, event in (
                ("four", 4, first),
                ("six", 6, first),
                ("given up", 99, last),
                ("all", 11, last),
                ("one", 1, last),
                ("none", 0, last),
            )
        ]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert order == ["four", "six", "none"]
        holders.pop(2).cancel()
        first.set()
        await asyncio.gather(*holders)

    asyncio.run(take_turns())
    assert order == ["four", "six", "none", "all", "one"]
    asyncio.run(hold("again", 10, _set()))
    assert order[-1] == "again"


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event
