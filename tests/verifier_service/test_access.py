"""Who may ask, and what is told of it: API keys, request ids, logs, CORS."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.processes import until
from trainer_client.service_process import running_service
from verifier_service.cli import run
from verifier_service.errors import RequestError, ResponseTooLarge
from verifier_service.http.api_keys import ApiKey, KeyRing, hash_of, new_key
from verifier_service.http.call_context import CallContext
from verifier_service.http.drain import Drain
from verifier_service.http.hosts_and_origins import Sites
from verifier_service.http.metrics import Metrics
from verifier_service.settings import Settings

KEY, OTHER_KEY = new_key(), new_key()
BODY = {"verifiers": [{"type": "format"}], "groups": [{"completions": ["the text of a model"]}]}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guarded") / "service.log"


@pytest.fixture(scope="module")
def guarded(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with two keys, one of a file, and JSON logs."""
    file = tmp_path_factory.mktemp("keys") / "hashes"
    file.write_text(f"# the trainer's\n{hash_of(OTHER_KEY)}  # until May\n\n")
    flags = (
        *("--workers", "1", "--enabled", "format", "--log-format", "json"),
        *("--api-key-hashes", hash_of(KEY), "--api-key-hashes-file", str(file)),
    )
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        yield client


def call_context(app: ASGIApp) -> CallContext:
    return CallContext(
        app,
        keys=KeyRing(()),
        sites=Sites(None, frozenset()),
        drain=Drain(),
        metrics=Metrics(),
        try_later_statuses={},
    )


def line_of(log: Path, call_id: str) -> dict[str, Any]:
    """The one line about a call, which is written after its answer was sent."""

    def lines() -> list[str]:
        return [line for line in log.read_text().splitlines(keepends=True) if call_id in line]

    until(lambda: bool(lines()) and lines()[0].endswith("\n"))
    (line,) = lines()
    found: dict[str, Any] = json.loads(line)
    return found


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def lines_of(log: Path, request_id: str) -> list[dict[str, Any]]:
    """The log's lines on a call."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("request_id") == request_id]


@pytest.mark.slow
@pytest.mark.parametrize("key", [KEY, OTHER_KEY], ids=["first", "second"])
def test_a_key_opens_the_service(guarded: httpx.Client, key: str) -> None:
    assert guarded.post("/v1/score", json=BODY, headers=bearer(key)).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers", [{}, bearer("rv-wrong"), {"Authorization": KEY}, {"Authorization": f"Basic {KEY}"}]
)
@pytest.mark.parametrize("path", ["/v1/score", "/v1/verifiers", "/metrics", "/docs", "/nothing"])
def test_without_a_key_there_is_only_401(
    guarded: httpx.Client, path: str, headers: dict[str, str]
) -> None:
    answer = guarded.request("POST" if path == "/v1/score" else "GET", path, headers=headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({}, "an API key is needed: Authorization: Bearer KEY"),
        ({"Authorization": KEY}, "an API key is needed: Authorization: Bearer KEY"),
        (bearer("rv-wrong"), "this API key is not one of the service's"),
    ],
)
def test_a_wrong_key_is_told_from_a_missing_one(
    guarded: httpx.Client, headers: dict[str, str], message: str
) -> None:
    answer = guarded.get("/v1/verifiers", headers=headers)
    assert answer.json()["error"]["message"] == message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "asked", "logged"),
    [
        ("GET", "/v1/verifiers", "/v1/verifiers"),
        ("GET", "/nothing", "other"),
        ("POST", "/v1/score", "/v1/score"),
    ],
)
def test_a_refused_call_is_logged_with_its_route(
    guarded: httpx.Client, log: Path, method: str, asked: str, logged: str
) -> None:
    call_id = f"refused{asked.replace('/', '.')}"
    headers = {"X-Request-Id": call_id}
    assert guarded.request(method, asked, headers=headers).status_code == 401
    found = line_of(log, call_id)
    assert (found["path"], found["status"]) == (logged, 401)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_what_starts_services_needs_no_key(guarded: httpx.Client, path: str) -> None:
    assert guarded.get(path).status_code == 200


def test_a_clients_request_id_comes_back(http: httpx.Client) -> None:
    answer = http.post("/v1/score", json=BODY, headers={"X-Request-Id": "step-7.group-2"})
    assert answer.headers["x-request-id"] == "step-7.group-2"


@pytest.mark.parametrize("given", ["", "a b", "x" * 101, 'a"b'])
def test_a_request_id_that_could_spoil_a_log_is_replaced(http: httpx.Client, given: str) -> None:
    answer = http.get("/v2", headers={"X-Request-Id": given})
    assert answer.headers["x-request-id"].isalnum()
    assert len(answer.headers["x-request-id"]) == 32


@pytest.mark.slow
def test_json_logs_tell_of_a_call_and_nothing_of_its_text(guarded: httpx.Client, log: Path) -> None:
    headers = bearer(KEY) | {"X-Request-Id": "find-me"}
    guarded.post("/v1/score", json=BODY, headers=headers)
    found = line_of(log, "find-me")
    expected = {"method": "POST", "path": "/v1/score", "status": 200, "completions": 1}
    assert expected.items() <= found.items()
    assert "the text of a model" not in log.read_text()
    assert KEY not in log.read_text()


@pytest.mark.slow
def test_a_refusal_is_named_in_its_line_of_the_log(guarded: httpx.Client, log: Path) -> None:
    refuse = {"X-Request-Id": "refuse-me"}
    guarded.post("/v1/score", json=BODY, headers=refuse)
    guarded.post("/get_reward", json={"query": 7}, headers=bearer(KEY) | refuse)
    until(lambda: len(lines_of(log, "refuse-me")) == 2)
    named = [(line["status"], line["error"]) for line in lines_of(log, "refuse-me")]
    assert named == [(401, "unauthorized"), (422, "invalid_request")]


def test_a_bug_is_a_500_with_the_calls_id_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Its traceback is logged by what is around all calls."""

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError

    async def ask() -> httpx.Response:
        context = call_context(broken)
        transport = httpx.ASGITransport(ServerErrorMiddleware(context), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/", headers={"X-Request-Id": "step-7"})

    with caplog.at_level("INFO"):
        answer = asyncio.run(ask())
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "step-7")
    assert answer.json()["error"]["type"] == "internal_error"
    assert "status=500" in caplog.text
    assert "error=internal_error" in caplog.text


async def begun(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """An app that begins its answer and then raises."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise error


def after_its_first_line(error: Exception) -> None:
    """A call whose answer has begun when the app raises the error."""

    async def send(message: Message) -> None:
        pass

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def refuse(request: Request, error: Exception) -> Response:
        raise AssertionError

    handled = ExceptionMiddleware(partial(begun, error), handlers={RequestError: refuse})
    context = call_context(handled)
    scope = {"type": "http", "method": "POST", "path": "/v1/score", "headers": []}
    asyncio.run(context(scope, receive, send))


def test_a_refusal_of_what_is_left_of_an_answer_is_no_bug(caplog: pytest.LogCaptureFixture) -> None:
    """A bug has its traceback in the log."""
    with caplog.at_level("INFO"):
        after_its_first_line(ResponseTooLarge("the rest is too large"))
        assert "internal_error" not in caplog.text
        with pytest.raises(ValueError, match="a bug"):
            after_its_first_line(ValueError("a bug"))
    assert "status=200" in caplog.text
    assert "error=internal_error" in caplog.text


def test_no_other_site_may_read_answers(http: httpx.Client) -> None:
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    for answer in (
        http.options("/v1/score", headers=headers),
        http.post("/v1/score", json=BODY, headers=headers),
    ):
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "foreign_origin")
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_key_in_the_place_of_its_hash_is_refused_and_not_shown() -> None:
    with pytest.raises(ValidationError, match="64 hexadecimal digits") as raised:
        Settings(api_key_hashes=(KEY,))
    assert KEY[:10] not in str(raised.value)


def test_the_command_line_does_not_show_a_key_in_the_place_of_its_hash(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Other mistakes are still shown."""
    with pytest.raises(SystemExit):
        run(["serve", "--api-key-hashes", KEY, "--port", "99999"])
    shown = capsys.readouterr().err
    assert "--api-key-hashes / VERIFIER_API_KEY_HASHES: each must be the 64" in shown
    assert "(found '99999')" in shown
    assert KEY not in shown


def test_a_bad_line_in_the_file_of_hashes_is_named(tmp_path: Path) -> None:
    file = tmp_path / "hashes"
    file.write_text(f"{hash_of(KEY)}\n{OTHER_KEY}\n")
    with pytest.raises(ValidationError, match="line 2 is not the hash") as raised:
        Settings(api_key_hashes_file=file)
    assert OTHER_KEY not in str(raised.value)


def test_keys_differ_and_only_their_own_hash_accepts_them() -> None:
    assert KEY != OTHER_KEY
    both = KeyRing([ApiKey("other", hash_of(OTHER_KEY)), ApiKey("mine", hash_of(KEY))])
    found = both.allowance(KEY)
    assert found is not None
    assert found.name == "mine"
    alone = KeyRing([ApiKey("mine", hash_of(KEY))])
    assert alone.allowance(OTHER_KEY) is None
    assert alone.allowance("\udcff") is None
