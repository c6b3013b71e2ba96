"""Large, compressed and hostile bodies: read in a process of their own, bounded, never a 5xx."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import signal
import socket
import tempfile
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest
import zstandard

from tests.processes import children, fork_servers, until, without_descriptors
from tests.verifier_service.poison import POISON
from verifier_service.app import REQUEST_MODULE, create_app
from verifier_service.engine.admission import Admission, PendingBounds
from verifier_service.engine.body_limit import MAX_HELD_BYTES
from verifier_service.engine.request_body import READ_BYTES, read_request
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.engine.scheduler import Scheduler
from verifier_service.errors import RequestFailed
from verifier_service.http import score_call
from verifier_service.http.error_statuses import status_of
from verifier_service.http.intake import SMALL_BODY_BYTES, Body
from verifier_service.large_requests.byte_budget import ByteBudget
from verifier_service.large_requests.launcher import RequestDied, RequestProcesses
from verifier_service.large_requests.messages import Done, LargeRequest, Parsed
from verifier_service.schemas import ScoreResponse
from verifier_service.settings import Settings
from verifier_service.verifiers.regex import QuickPatterns, SlowPattern
from verifier_service.workers import sources

JSON = {"Content-Type": "application/json"}
VERIFIERS = [
    {"type": "accuracy", "weight": 1.0},
    {"type": "format", "weight": 0.1},
    {"type": "length"},
]


def large_body(num_groups: int = 40, size: int = 16) -> dict[str, Any]:
    """About 100 characters for each completion."""
    texts = [
        [f"{number} {index} {'x' * 80} \\boxed{{{index % 3}}}" for index in range(size)]
        for number in range(num_groups)
    ]
    groups = [
        {"id": f"g{number}", "reference": {"answer": "2"}, "completions": group}
        for number, group in enumerate(texts)
    ]
    return {"verifiers": VERIFIERS, "groups": groups}


def encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def without_seconds(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: without_seconds(value) for key, value in node.items() if key != "seconds"}
    return [without_seconds(item) for item in node] if isinstance(node, list) else node


def post(http: httpx.Client, content: bytes, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return http.post("/v1/score", content=content, headers=JSON | named)


def test_a_large_request_gets_what_its_groups_get_alone(http: httpx.Client) -> None:
    """One is answered by a process of its own, the others by the API process."""
    body = large_body()
    content = encoded(body)
    assert len(content) > SMALL_BODY_BYTES
    answer = post(http, content)
    ScoreResponse.model_validate_json(answer.content)
    alone = [
        post(http, encoded({"verifiers": VERIFIERS, "groups": [group]})).json()["groups"][0]
        for group in body["groups"]
    ]
    assert without_seconds(answer.json()["groups"]) == without_seconds(alone)
    assert answer.json()["stats"]["completions"] == 640


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [("gzip", gzip.compress), ("zstd", zstandard.compress), ("identity", bytes)],
)
def test_a_compressed_body_gets_the_same_answer(
    http: httpx.Client, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    content = encoded(large_body(2))
    plain = post(http, content).json()["groups"]
    compressed = post(http, compress(content), Content_Encoding=encoding)
    assert without_seconds(compressed.json()["groups"]) == without_seconds(plain)


def test_a_gzip_body_of_several_members_is_one_body(http: httpx.Client) -> None:
    content = encoded(large_body(2))
    parts = gzip.compress(content[:500]) + gzip.compress(content[500:])
    assert post(http, parts, Content_Encoding="gzip").status_code == 200
    spaces = gzip.compress(b" " * (READ_BYTES + 1))  # zlib tells twice what follows this member
    assert post(http, spaces + parts, Content_Encoding="gzip").status_code == 200


def test_a_gzip_body_of_nothing_but_members_takes_no_time(http: httpx.Client) -> None:
    """The client would wait for a minute; time with the square of the size is two."""
    answer = post(http, gzip.compress(b"", mtime=0) * 400_000, Content_Encoding="gzip")
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request")


def test_a_list_of_wrong_messages_is_read_to_the_first_of_them(http: httpx.Client) -> None:
    for group in ({"completions": ["x"], "prompt": [0] * 9}, {"completions": [[0] * 9]}):
        answer = post(http, encoded({"verifiers": [{"type": "format"}], "groups": [group]}))
        error = answer.json()["error"]
        assert [problem["message"] for problem in error["details"]] == ["Input should be an object"]


def test_a_body_for_which_there_is_no_descriptor_is_to_be_sent_again() -> None:
    body = Body()
    with without_descriptors(), pytest.raises(RequestFailed, match="try again later") as refused:
        body.add(b" " * (MAX_HELD_BYTES + 1))
    assert status_of(refused.value) == 503


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
def test_a_small_body_that_becomes_a_large_one_is_refused(
    http: httpx.Client, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    answer = post(http, compress(b" " * (256 * 2**20)), Content_Encoding=encoding)
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "body_too_large")


@pytest.mark.parametrize(
    ("encoding", "content", "status", "kind"),
    [
        ("gzip", b"{}", 400, "broken_compression"),
        ("zstd", b"{}", 400, "broken_compression"),
        ("gzip", gzip.compress(b"{}" * 99, mtime=0)[:-9], 400, "broken_compression"),
        ("zstd", zstandard.compress(os.urandom(999))[:-9], 422, "invalid_request"),
        ("gzip", zlib.compress(b"{}"), 400, "broken_compression"),
        ("gzip", b"", 422, "invalid_request"),
        ("br", b"{}", 415, "unsupported_content_encoding"),
        ("gzip, gzip", b"{}", 415, "unsupported_content_encoding"),
    ],
)
def test_a_bad_compression_is_a_4xx(
    http: httpx.Client, encoding: str, content: bytes, status: int, kind: str
) -> None:
    answer = post(http, content, Content_Encoding=encoding)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)


def large(inside: str, repeated: str, number: int) -> bytes:
    """A body in which something is repeated."""
    return (inside.replace("@", repeated * number)).encode()


COMPLETIONS = '{"verifiers": [{"type": "format"}], "groups": [{"completions": [@""]}]}'
REFERENCE = (
    '{"verifiers": [{"type": "format"}], '
    '"groups": [{"reference": {"a": [@1]}, "completions": ["x"]}]}'
)


@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        pytest.param(large(COMPLETIONS, '"",', 10**6), {413}, id="a million empty completions"),
        pytest.param(large(COMPLETIONS, "7,", 10**6), {422}, id="a million numbers"),
        pytest.param(large(COMPLETIONS, "[],", 10**6), {422}, id="a million empty chats"),
        pytest.param(large(COMPLETIONS, '"\\ud800",', 10**5), {422}, id="lone surrogates"),
        pytest.param(large(COMPLETIONS, '"\\u0000",', 10**5), {413}, id="NUL characters"),
        pytest.param(large(COMPLETIONS, '"\\u0000",', 999), {200}, id="some NUL characters"),
        pytest.param(large(REFERENCE, "[],", 10**6), {200, 413}, id="a million empty lists"),
        pytest.param(large(REFERENCE, "[", 10**6), {422}, id="endless nesting"),
        pytest.param(large(REFERENCE, '{"a":1,"a":2},', 10**5), {422}, id="duplicate keys"),
        pytest.param(large(REFERENCE, "1", 10**6), {200, 422}, id="a number of a million digits"),
        pytest.param(large(COMPLETIONS, '"x",', 10**6)[:-9], {422}, id="truncated"),
        pytest.param(b"\xff" * 10**6, {422}, id="not UTF-8"),
        pytest.param(b'"' + b"\xed\xa0\x80" * 10**5 + b'"', {422}, id="encoded surrogates"),
        pytest.param(
            large('{"verifiers": [{"type": "format", "weight": NaN}@], "groups": []}', " ", 10**5),
            {422},
            id="NaN",
        ),
    ],
)
def test_hostile_bodies_are_answered(
    http: httpx.Client, content: bytes, statuses: set[int]
) -> None:
    answer = post(http, content)
    assert answer.status_code in statuses, answer.text[:500]
    assert answer.status_code == 200 or len(answer.content) < 20_000
    assert http.get("/readyz").status_code == 200


MANY_CLASSES = [
    {"type": "regex", "name": str(number), "part": "completion", "pattern": pattern}
    for number, pattern in enumerate([r"\pL{50}"] * 31 + ["x{400}"])
]


def wide(num_completions: int, num_verifiers: int) -> dict[str, Any]:
    """A body whose answer has a thousand characters for each verdict."""
    verifiers = [
        {"type": "exact_match", "part": "completion", "name": str(number)}
        for number in range(num_verifiers)
    ]
    group = {"reference": {"answer": "2"}, "completions": ["x" * 1000] * num_completions}
    return {"verifiers": verifiers, "groups": [group]}


def pending_bytes(http: httpx.Client) -> float:
    found = re.search(r"^verifier_pending_bytes (\S+)$", http.get("/metrics").text, re.MULTILINE)
    assert found
    return float(found[1])


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
@pytest.mark.parametrize("is_read", [True, False], ids=["read at last", "given up"])
def test_an_answer_is_pending_until_it_is_read(
    service_url: str, http: httpx.Client, accept: str, *, is_read: bool
) -> None:
    """An unread response that is not pending would take memory that nobody counts."""
    content = zstandard.compress(encoded(wide(2000, 8)))
    address = httpx.URL(service_url)
    head = (
        "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: {accept}\r\nContent-Encoding: zstd\r\nConnection: close\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    until(lambda: pending_bytes(http) == 0)
    with socket.create_connection((address.host, address.port or 80), timeout=600) as connection:
        connection.sendall(head.encode() + content)
        until(lambda: pending_bytes(http) > 16_000_000)
        if is_read:
            num_bytes = 0
            while part := connection.recv(2**20):
                num_bytes += len(part)
            assert num_bytes > 16_000_000
    until(lambda: pending_bytes(http) == 0)


@pytest.mark.slow
@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_an_answer_that_is_too_large_is_not_to_be_asked_for_again(
    http: httpx.Client, accept: str
) -> None:
    content = zstandard.compress(encoded(wide(8192, 32)))
    answer = post(http, content, Content_Encoding="zstd", Accept=accept)
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "answer_too_large")
    assert "fewer completions, or with fewer verifiers" in answer.json()["error"]["message"]
    assert pending_bytes(http) == 0


@pytest.mark.parametrize(
    ("patterns", "is_quick"),
    [
        (["a+b"] * 32, True),
        ([r"(?i)answer:\s*(yes|no)", r"^\d{3}-\d{4}$"], True),
        ([r"\pL{50}"] * 32, False),
        ([r"\pL" * 67], False),
        (["(" * 100], False),
    ],
)
def test_only_patterns_that_are_quickly_checked_hold_up_others(
    patterns: list[str], is_quick: bool
) -> None:
    verifiers = [{"type": "regex", "name": str(n), "pattern": p} for n, p in enumerate(patterns)]
    body = encoded({"verifiers": verifiers, "groups": []})
    limits = RequestLimits(("regex",), 2**20, 1, 60.0)
    if is_quick:
        read_request(body, limits, dict, quick_patterns=QuickPatterns())
    else:
        with pytest.raises(SlowPattern):
            read_request(body, limits, dict, quick_patterns=QuickPatterns())


def test_patterns_that_take_long_to_check_are_judged_and_refused_all_the_same(
    http: httpx.Client,
) -> None:
    body: dict[str, Any] = {"verifiers": MANY_CLASSES, "groups": [{"completions": ["x" * 400]}]}
    answer = post(http, encoded(body)).json()
    (completion,) = answer["groups"][0]["completions"]
    assert {verdict["reason"] for verdict in completion["verdicts"].values()} == {"matched"}
    body["verifiers"] = [*MANY_CLASSES[:3], {"type": "regex", "pattern": r"\pL{50}("}]
    refused = post(http, encoded(body))
    assert refused.status_code == 422
    (problem,) = refused.json()["error"]["details"]
    assert problem["field"] == "verifiers.3.pattern"
    assert problem["message"].startswith("not a pattern of RE2: missing )")


def test_too_many_verifiers_are_refused(http: httpx.Client) -> None:
    many = [{"type": "format", "name": str(number)} for number in range(33)]
    answer = post(http, encoded({"verifiers": many, "groups": []}))
    assert answer.status_code == 422
    assert "at most 32" in answer.json()["error"]["message"]


def test_a_body_over_the_limit_is_refused_by_what_it_declares(service_url: str) -> None:
    """The answer comes although not one byte of the body does."""
    address = httpx.URL(service_url)
    head = (
        "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {10**12}\r\n\r\n"
    )
    with socket.create_connection((address.host, address.port or 80), timeout=30) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_deadline_holds_for_large_requests(http: httpx.Client) -> None:
    """Verdicts by then are there, and the rest says that it is late."""
    body = large_body(30)
    body["deadline_seconds"] = 0.5
    body["verifiers"] = [{"type": "accuracy", "mode": "math_verify"}, {"type": "format"}]
    for group in body["groups"]:
        group["completions"] = [f"{index} {POISON}" for index in range(99)]
    answer = post(http, encoded(body))
    verdicts = [c["verdicts"] for g in answer.json()["groups"] for c in g["completions"]]
    assert answer.status_code == 200
    assert len(verdicts) == 30 * 99
    assert "deadline" in {verdict["accuracy"]["reason"] for verdict in verdicts}
    assert {tuple(verdict) for verdict in verdicts} == {("accuracy", "format")}


@pytest.mark.slow
def test_the_death_of_a_requests_process_costs_nothing(
    service_pid: int, http: httpx.Client
) -> None:
    """It is done again in another one, and counted."""
    before = num_deaths(http)
    body = large_body(1)
    body["verifiers"] = [{"type": "accuracy", "mode": "math_verify"}]
    body["groups"][0]["completions"] = [POISON, "x"]
    found: list[int] = []

    def has_started() -> bool:
        found[:] = request_processes(service_pid)
        return bool(found)

    with ThreadPoolExecutor(1) as thread:
        answering = thread.submit(post, http, encoded(body) + b" " * SMALL_BODY_BYTES)
        until(has_started)
        os.kill(found[0], signal.SIGKILL)
        completions = answering.result().json()["groups"][0]["completions"]
    reasons = [completion["verdicts"]["accuracy"]["reason"] for completion in completions]
    assert reasons == ["too_slow", "no_answer"]
    until(lambda: not request_processes(service_pid))
    assert num_deaths(http) == before + 1


@pytest.mark.slow
def test_the_death_of_a_streams_process_repeats_no_line(
    service_pid: int, http: httpx.Client
) -> None:
    """Another process would repeat all of the request, and the client has a part of it."""
    before = num_deaths(http)
    body = large_body(9)
    body["verifiers"] = [{"type": "accuracy", "mode": "math_verify"}]
    body["groups"][0]["completions"] = [f"streamed {POISON}"]
    content = encoded(body) + b" " * SMALL_BODY_BYTES
    headers = JSON | {"Accept": "application/x-ndjson"}
    with http.stream("POST", "/v1/score", content=content, headers=headers) as answer:
        lines = (json.loads(line) for line in answer.iter_lines())
        found = [next(lines)]
        (process,) = request_processes(service_pid)
        os.kill(process, signal.SIGKILL)
        found += lines
    assert found[0]["index"] != 0
    assert sorted(line["index"] for line in found[:-1]) == list(range(9))
    assert found[-1]["stats"]["completions"] == 1 + 8 * 16
    assert num_deaths(http) == before + 1


def test_a_request_that_is_given_up_while_its_process_is_forked_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Although the fork fails then."""
    monkeypatch.setattr(sources, "START_TIMEOUT_SECONDS", 0.01)
    scheduler = Scheduler({}, max_cached_verdicts=0)

    async def give_up(body: int) -> None:
        limits = RequestLimits((), 2, 1, 60.0)
        large = LargeRequest(2, "identity", False, time.monotonic(), limits, b"{}", {})
        with Admission(PendingBounds(1, 2)).reservation() as reservation:
            async with RequestProcesses(
                REQUEST_MODULE, scheduler, max_body_bytes=2, bodies=ByteBudget(2)
            ) as processes:
                await processes.start()
                answering = asyncio.create_task(
                    processes.respond(large, body, reservation, lambda index, line: None)
                )
                await asyncio.sleep(0)  # until it forks
                answering.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await answering

    with tempfile.TemporaryFile() as body:
        asyncio.run(give_up(body.fileno()))


class TwoProcesses:
    """Two processes of one request: the first dies when it has read the body.

    Args:
        bodies: the budget for those that are read.
    """

    def __init__(self, bodies: ByteBudget) -> None:
        self.others_wait: list[bool] = []
        """Whether another body waits while each of them reads."""
        self._bodies = bodies
        self._messages = [Parsed(0, 0), None, Done(b"", [], 0, 200)]

    async def __aenter__(self) -> TwoProcesses:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def send(self, message: object) -> None:
        if isinstance(message, LargeRequest):
            with suppress(TimeoutError):
                async with asyncio.timeout(0), self._bodies.share(1):
                    self.others_wait.append(False)
                    return
            self.others_wait.append(True)

    async def receive(self) -> object:
        message = self._messages.pop(0)
        if message is None:
            raise RequestDied("it was killed")
        return message


def test_a_body_that_is_read_again_counts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = ByteBudget(1)
    there = TwoProcesses(bodies)

    async def process(_processes: RequestProcesses, _body: int) -> TwoProcesses:
        return there

    async def respond() -> None:
        limits = RequestLimits((), 2, 1, 60.0)
        large = LargeRequest(2**21, "identity", False, time.monotonic(), limits, b"{}", {})
        scheduler = Scheduler({}, max_cached_verdicts=0)
        processes = RequestProcesses("", scheduler, max_body_bytes=2**21, bodies=bodies)
        with Admission(PendingBounds(1, 2)).reservation() as reservation:
            await processes.respond(large, -1, reservation, lambda index, line: None)

    monkeypatch.setattr(RequestProcesses, "_process", process)
    asyncio.run(respond())
    assert there.others_wait == [True, True]


def num_deaths(http: httpx.Client) -> float:
    metric = r"^verifier_request_process_deaths_total (\S+)$"
    found = re.search(metric, http.get("/metrics").text, re.MULTILINE)
    assert found
    return float(found[1])


@pytest.mark.slow
def test_a_request_whose_process_does_not_answer_is_to_be_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(score_call, "PROCESS_GRACE_SECONDS", 0.0)
    app = create_app(Settings(workers=1, enabled=("format",), max_deadline_seconds=0.001))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            return await client.post("/v1/score", content=encoded(large_body()), headers=JSON)

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["error"]["type"]) == (503, "request_failed")
    assert answer.headers["retry-after"] == "1"


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "in lines"])
def test_a_group_of_long_completions_needs_no_process(
    monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    """Its verdicts are those of each completion alone."""

    async def respond(self: RequestProcesses, *arguments: object) -> None:
        raise AssertionError("a process was asked for")

    monkeypatch.setattr(RequestProcesses, "respond", respond)
    texts = [f'{n} "{n}" ' + "So x = 2 é\n" * 999 + rf"\boxed{{{n}}}" for n in range(16)]
    group = {"id": "long", "reference": {"answer": "2"}, "completions": texts}
    body = encoded({"verifiers": [{"type": "accuracy"}, {"type": "format"}], "groups": [group]})
    assert SMALL_BODY_BYTES < len(body) < MAX_HELD_BYTES
    accept = {"Accept": "application/x-ndjson"} if stream else {}
    app = create_app(Settings(workers=1, enabled=("accuracy", "format")))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            return await client.post("/v1/score", content=body, headers=JSON | accept)

    answer = asyncio.run(ask())
    assert answer.status_code == 200, answer.text
    found = json.loads(answer.text.splitlines()[0])
    completions = (found if stream else found["groups"][0])["completions"]
    scores = [completion["verdicts"]["accuracy"]["score"] for completion in completions]
    assert scores == [float(n == 2) for n in range(16)]


def request_processes(service: int) -> list[int]:
    """Processes of requests: the children of their fork server."""
    return [
        process
        for server in fork_servers(service, "large_requests.request_process")
        for process in children(server)
    ]
