"""E2B's protocol, with the requests and the reading of its own SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from trainer_client.service_process import running_service
from verifier_service.http.api_keys import hash_of, new_key

BASE = "/compat/e2b"


class Sandbox:
    """The requests of the SDK: open, run code, look, end."""

    def __init__(self, http: httpx.Client, **fields: Any) -> None:
        body = {"templateID": "code-interpreter-v1", "timeout": 60, "metadata": {}, "envVars": {}}
        response = http.post(f"{BASE}/v2/sandboxes", json={**body, **fields})
        assert response.status_code == 201, response.text
        self.described = response.json()
        self.id = self.described["sandboxID"]
        self.http = http
        self.headers = {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": "49999"}
        if token := self.described.get("envdAccessToken"):
            self.headers["X-Access-Token"] = token

    def ask(self, code: str, **fields: Any) -> httpx.Response:
        body = {"code": code, "context_id": None, "language": None, "env_vars": None, **fields}
        return self.http.post(f"{BASE}/execute", json=body, headers=self.headers)

    def run(self, code: str) -> list[dict[str, Any]]:
        response = self.ask(code)
        assert response.status_code == 200, response.text
        lines = [json.loads(line) for line in response.text.splitlines()]
        return [{name: line[name] for name in line if name != "timestamp"} for line in lines]

    def health(self) -> int:
        return self.http.get(f"{BASE}/health", headers=self.headers).status_code

    def end(self) -> int:
        return self.http.delete(f"{BASE}/sandboxes/{self.id}").status_code


@contextmanager
def opened(http: httpx.Client, **fields: Any) -> Iterator[Sandbox]:
    sandbox = Sandbox(http, **fields)
    try:
        yield sandbox
    finally:
        sandbox.end()


def test_code_is_run_in_one_state_with_its_outputs_value_and_errors(http: httpx.Client) -> None:
    with opened(http) as sandbox:
        assert sandbox.run("import sys; x = 20") == [
            {"type": "number_of_executions", "execution_count": 1}
        ]
        assert sandbox.run("print(x); print('no', file=sys.stderr); x + 22") == [
            {"type": "stdout", "text": "20\n"},
            {"type": "stderr", "text": "no\n"},
            {"type": "result", "text": "42", "is_main_result": True},
            {"type": "number_of_executions", "execution_count": 2},
        ]
        (error, _) = sandbox.run("1 / 0")
        assert (error["type"], error["name"]) == ("error", "ZeroDivisionError")
        assert error["value"] == "division by zero"
        assert error["traceback"].startswith("Traceback (most recent call last)")
        assert sandbox.run("x")[0]["text"] == "20", "an error ends no sandbox"


def test_code_that_prints_what_looks_like_events_is_one_output(http: httpx.Client) -> None:
    forged = json.dumps({"type": "result", "text": "1.0", "is_main_result": True})
    with opened(http) as sandbox:
        found = sandbox.run(f"print({forged!r})")
        assert found[0] == {"type": "stdout", "text": f"{forged}\n"}
        assert [line["type"] for line in found] == ["stdout", "number_of_executions"]


def test_a_sandbox_that_ended_itself_says_so_once_and_is_gone(http: httpx.Client) -> None:
    sandbox = Sandbox(http)
    assert sandbox.health() == 204
    (error, _) = sandbox.run("import os; os._exit(3)")
    assert error["type"] == "error"
    gone = sandbox.ask("1")
    assert gone.status_code == 502
    assert "its own code ended it" in gone.json()["message"]
    assert sandbox.health() == 502
    assert sandbox.end() == 404


def test_code_waits_for_code_that_was_sent_before(http: httpx.Client) -> None:
    """The SDK may send code before the code before has ended, or has been given up."""
    with opened(http) as sandbox, ThreadPoolExecutor(4) as threads:
        sandbox.run("numbers = []")
        codes = [f"numbers.append({number}); sum(range(10**6))" for number in range(4)]
        found = list(threads.map(sandbox.run, codes))
        assert all(lines[0]["text"] == "499999500000" for lines in found)
        assert sandbox.run("sorted(numbers)")[0]["text"] == "[0, 1, 2, 3]"


def test_a_sandbox_lives_as_long_as_it_was_told_last(http: httpx.Client) -> None:
    sandbox = Sandbox(http, timeout=3600)
    path = f"{BASE}/sandboxes/{sandbox.id}/timeout"
    assert http.get(f"/v1/sessions/{sandbox.id}").json()["limits"]["life_seconds"] == 3600
    assert http.post(path, json={"timeout": 7200}).status_code == 204
    assert http.get(f"/v1/sessions/{sandbox.id}").json()["limits"]["life_seconds"] >= 7200
    assert sandbox.end() == 204
    assert http.post(path, json={"timeout": 60}).status_code == 404


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"language": "r"}, "language: only python is run here, not 'r'"),
        ({"context_id": "c"}, "context_id: a sandbox has one context here"),
        ({"env_vars": {"A": "1"}}, "env_vars: variables of the environment cannot be set"),
    ],
)
def test_what_a_sandbox_does_not_have_is_refused_by_name(
    http: httpx.Client, fields: dict[str, Any], message: str
) -> None:
    with opened(http) as sandbox:
        refused = sandbox.ask("1", **fields)
    assert refused.status_code == 422
    assert message in refused.json()["message"]
    assert refused.json()["code"] == 422, "the SDK fails to read an error without it"
    unnamed = http.post(f"{BASE}/execute", json={"code": "1"})
    assert "e2b-sandbox-id" in unnamed.json()["message"].lower()


@pytest.mark.slow
def test_a_sandbox_is_its_key_s_alone(tmp_path: Path) -> None:
    """The SDK sends its key in one header to open a sandbox, and in another with code."""
    keys = [new_key(), new_key()]
    few = ("--workers", "1", "--code-workers", "1")
    flags = (*few, "--api-key-hashes", ",".join(map(hash_of, keys)))
    with running_service(tmp_path / "service.log", *flags) as url:
        one, two = (
            httpx.Client(base_url=url, timeout=600, headers={"X-API-Key": key}) for key in keys
        )
        with one, two, httpx.Client(base_url=url, timeout=600) as nobody:
            refused = nobody.post(f"{BASE}/v2/sandboxes", json={})
            assert (refused.status_code, refused.json()["code"]) == (401, 401)
            with opened(one) as sandbox:
                assert sandbox.run("1")[0]["text"] == "1"
                body, named = {"code": "1"}, {"E2b-Sandbox-Id": sandbox.id}
                for stranger, status in ((two, 404), (nobody, 401)):
                    found = stranger.post(f"{BASE}/execute", json=body, headers=named)
                    assert found.status_code == status
                token = {**named, "X-Access-Token": keys[0]}
                assert nobody.post(f"{BASE}/execute", json=body, headers=token).status_code == 200
                assert two.delete(f"{BASE}/sandboxes/{sandbox.id}").status_code == 404
                assert sandbox.health() == 204
