"""The id of a call is in every error that it gets and in every line of the log about it."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import until
from tests.verifier_service.test_worker_pool import in_pool, judge_poison
from trainer_client.service_process import running_service
from verifier_service import __version__
from verifier_service.current_call import enter_call
from verifier_service.logs import CallFilter, JsonFormatter, log_config
from verifier_service.workers.pool import WorkerPool


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ids") / "service.log"


@pytest.fixture(scope="module")
def service(log: Path) -> Iterator[httpx.Client]:
    flags = ("--workers", "1", "--code-workers", "1", "--log-format", "json")
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        yield client


def lines_of(log: Path) -> list[dict[str, Any]]:
    lines = log.read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.mark.slow
def test_the_first_line_of_the_log_has_the_version(service: httpx.Client, log: Path) -> None:
    assert lines_of(log)[0]["message"] == f"verifier-service {__version__}"
    ready = service.get("/readyz").json()
    assert (ready["status"], ready["version"]) == ("ok", __version__)


@pytest.mark.slow
def test_an_error_has_the_id_of_the_call_on_every_route(service: httpx.Client) -> None:
    routes = service.get("/openapi.json").json()["paths"]
    asked = [
        (method.upper(), path)
        for path, methods in routes.items()
        for method in methods
        if method == "post"
    ]
    assert len(asked) > 10
    for number, (method, path) in enumerate([*asked, ("GET", "/nowhere"), ("PUT", "/v1/score")]):
        given = {"X-Request-Id": f"call-{number}", "Content-Type": "application/json"}
        answer = service.request(method, path, content="[1,", headers=given)
        assert answer.status_code >= 400, path
        body = answer.json()
        found = body if path == "/api/v2/execute" else body["error"]
        assert (found["request_id"], answer.headers["x-request-id"]) == (f"call-{number}",) * 2


@pytest.mark.slow
def test_a_connection_that_is_refused_has_an_id(service: httpx.Client, log: Path) -> None:
    url = service.base_url
    with socket.create_connection((url.host, url.port or 80)) as client:
        client.sendall(b"GET / HTTP/1.1\nHost: x\n\n")
        head, _, body = client.makefile("rb").read().partition(b"\r\n\r\n")
    call_id = json.loads(body)["error"]["request_id"]
    assert f"X-Request-Id: {call_id}".encode() in head
    until(lambda: any(line.get("request_id") == call_id for line in lines_of(log)))


@pytest.mark.slow
def test_a_line_about_a_worker_has_the_id_of_its_call(caplog: pytest.LogCaptureFixture) -> None:
    """A worker that dies is no fault of the call, which gets its verdict from another one."""

    async def work(pool: WorkerPool) -> list[str]:
        enter_call("killed")
        found, _ = await judge_poison(pool, signal.SIGKILL)
        return found

    caplog.handler.addFilter(CallFilter())
    in_pool(work)
    died = [record for record in caplog.records if "died" in record.getMessage()]
    assert died
    assert {vars(record)["request_id"] for record in died} == {"killed"}


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_line_is_named_once(log_format: Any) -> None:
    config = log_config("info", log_format)["formatters"]["line"]
    shaped = JsonFormatter() if log_format == "json" else logging.Formatter(config["format"])

    def line(**extra: Any) -> str:
        record = logging.makeLogRecord({"msg": "a worker died", "levelname": "INFO", **extra})
        CallFilter().filter(record)
        return shaped.format(record)

    assert "request_id" not in line()
    enter_call("step-7")
    try:
        assert line().count("step-7") == 1
        fields = {"request_id": "own", "status": 200}
        assert "step-7" not in line(msg="request_id=own status=200", fields=fields)
    finally:
        enter_call(None)


def test_a_process_that_judges_names_the_call_in_its_log() -> None:
    script = (
        "import logging\n"
        "from verifier_service.logs import log_in_worker\n"
        "from verifier_service.current_call import enter_call\n"
        "log_in_worker(); enter_call('step-7')\n"
        "logging.getLogger('x').error('a worker ends')"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stderr == "a worker ends request_id=step-7\n"
