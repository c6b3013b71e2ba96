"""The report over HTTP, which follows a run while it trains."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.logged_runs import row_of_completion, write_lines, write_run
from trainer_client.config.run_config import ConfigError
from trainer_client.run import report_server
from trainer_client.run.json_lines import read_lines
from trainer_client.run.logged_run import ReportError
from trainer_client.run.report_server import open_server


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", steps=0, finished=False, train={"steps": 40})


@pytest.fixture
def http(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A client of a server that looks at the files at each call."""
    monkeypatch.setattr(report_server, "SECONDS", 0.0)
    monkeypatch.setattr(report_server, "SHARE_OF_TIME", float("inf"))
    with open_server(run_dir, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with httpx.Client(base_url=url, timeout=600) as client:
            yield client
        server.shutdown()


def test_the_data_follow_the_run_from_before_its_first_step(
    http: httpx.Client, run_dir: Path
) -> None:
    before = http.get("/data.json")
    assert (before.json()["last_step"], before.json()["num_steps"]) == (0, 40)
    same = http.get("/data.json", headers={"If-None-Match": before.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    rows = read_lines(run_dir / "metrics.jsonl")
    write_lines(run_dir / "metrics.jsonl", [*rows, {"step": 1, "reward/accuracy": 0.5}])
    after = http.get("/data.json", headers={"If-None-Match": before.headers["etag"]})
    assert after.json()["last_step"] == 1


def test_the_page_has_no_data_and_may_ask_its_own_server_alone(http: httpx.Client) -> None:
    page = http.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["x-content-type-options"] == "nosniff"
    policy = page.headers["content-security-policy"]
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert 'id="data">null</script>' in page.text


@pytest.mark.parametrize("path", ["/../config.yaml", "/config.yaml", "/data.json/"])
def test_nothing_else_is_served(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 404
    assert http.post("/").status_code == 501


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[evil]:80", ""])
def test_a_page_of_another_site_cannot_read_the_run(http: httpx.Client, host: str) -> None:
    for path in ("/", "/data.json"):
        assert http.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8081", "192.168.1.7:8081"])
def test_an_address_and_localhost_are_its_own_names(http: httpx.Client, host: str) -> None:
    assert http.get("/data.json", headers={"Host": host}).status_code == 200


def test_a_folder_that_is_removed_is_told_and_not_a_traceback(
    http: httpx.Client, run_dir: Path
) -> None:
    shutil.rmtree(run_dir)
    answer = http.get("/data.json")
    assert answer.status_code == 503
    assert "holds no run" in answer.text


def test_a_step_that_is_being_written_is_not_read(http: httpx.Client, run_dir: Path) -> None:
    row = row_of_completion(1, 0, [1, 1, 9], "x", True)
    write_lines(run_dir / "rollouts" / "step_000001.jsonl", [row])
    write_lines(run_dir / "solve_rates.jsonl", [{"step": 1, "id": "p", "passed": 1, "judged": 1}])
    with (run_dir / "metrics.jsonl").open("a") as file:
        file.write('{"step": 1, "reward/acc')
    found = http.get("/data.json").json()
    assert (found["last_step"], found["rollouts"]["groups"]) == (0, [])


def test_an_address_that_is_taken_or_a_folder_without_a_run_is_refused(
    http: httpx.Client, run_dir: Path, tmp_path: Path
) -> None:
    assert http.base_url.port
    with pytest.raises(ConfigError, match="cannot listen at 127"):
        open_server(run_dir, "127.0.0.1", http.base_url.port)
    with pytest.raises(ReportError, match="holds no run"):
        open_server(tmp_path, "127.0.0.1", 0)


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """Let child processes hear SIGINT, which what a script starts in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
def test_the_command_says_where_and_ends_with_ctrl_c(run_dir: Path) -> None:
    command = [sys.executable, "-u", "-m", "trainer_client", "report", str(run_dir), "--serve"]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        line = served.stdout.readline()
        assert line.startswith("report: http://127.0.0.1:")
        assert json.loads(httpx.get(line.split()[1] + "data.json", timeout=600).text)
        served.send_signal(signal.SIGINT)
        assert served.wait(timeout=600) == 0
    refused = subprocess.run([*command, "--output", "x.html"], capture_output=True, text=True)
    assert "error: --output and --serve exclude each other" in refused.stderr
