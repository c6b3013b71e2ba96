"""A saturated service: alive, fair to small requests, quick to refuse, and no step of it is long.

These assert times, which is what they are about; so they are slow tests, for a machine at rest.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import until
from trainer_client.demo import running_service

JSON = {"Content-Type": "application/json"}
STEP_SECONDS = 0.02
HEALTH_SECONDS = 0.05
REFUSAL_SECONDS = 0.1
QUICK = [{"type": "format"}, {"type": "tag_count"}]


def content(num_completions: int, size: int, verifiers: list[dict[str, Any]], salt: str) -> bytes:
    texts = [f"{salt} {n} {'x y ' * (size // 4)} \\boxed{{{n}}}" for n in range(num_completions)]
    groups = [
        {"reference": {"answer": "2"}, "completions": texts[n : n + 16]}
        for n in range(0, num_completions, 16)
    ]
    return json.dumps({"verifiers": verifiers, "groups": groups}).encode()


BODIES: dict[str, Callable[[], bytes]] = {
    "many": lambda: content(30_000, 1000, QUICK, "a"),
    "tiny": lambda: content(65_536, 4, QUICK, "b"),
    "long": lambda: content(900, 60_000, QUICK, "c"),
    "one": lambda: content(1, 1_900_000, QUICK, "d"),
    "verifiers": lambda: content(
        8_192, 4, [{"type": "format", "name": f"f{n}"} for n in range(32)], "e"
    ),
    "reference": lambda: (
        b'{"verifiers": [{"type": "exact_match"}], "groups": [{"reference": {"answer": "'
        + b"a" * 15_000_000
        + b'"}, "completions": ["x"]}]}'
    ),
    "small": lambda: (
        b'{"verifiers": [{"type": "format"}], "groups": [{"completions": ['
        + b'"",' * 21_000
        + b'""]}]}'
    ),
    "wrong": lambda: (
        b'{"verifiers": [{"type": "format"}], "groups": [{"completions": ['
        + b"[]," * 21_000
        + b'""]}]}'
    ),
}


@pytest.mark.slow
def test_no_step_on_the_event_loop_is_long(tmp_path: Path) -> None:
    """In CPU time of its thread, so that a busy machine does not decide."""
    report, log = tmp_path / "report.json", tmp_path / "service.log"
    command = [sys.executable, "-m", "tests.verifier_service.timed_service", str(report)]
    flags = ["--port", "0", "--workers", "2", "--enabled", "format,tag_count,exact_match"]
    root = Path(__file__).parents[2]
    with log.open("w") as output:
        process = subprocess.Popen([*command, *flags], cwd=root, stdout=output, stderr=output)
    try:
        until(lambda: "running on" in log.read_text())
        url = log.read_text().partition("running on ")[2].split()[0]
        with httpx.Client(base_url=url, timeout=300) as http:
            for name, body in BODIES.items():
                answer = http.post("/v1/score", content=body(), headers=JSON)
                assert answer.status_code == (422 if name == "wrong" else 200), answer.text[:300]
            ndjson = JSON | {"Accept": "application/x-ndjson"}
            assert http.post("/v1/score", content=BODIES["many"](), headers=ndjson).is_success
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    longest = json.loads(report.read_text())[0]
    assert longest[0] < STEP_SECONDS, longest


@pytest.fixture(scope="module")
def saturated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service with little room, which four clients keep full."""
    log = tmp_path_factory.mktemp("saturated") / "service.log"
    flags = ("--workers", "2", "--max-pending-completions", "9000", "--max-cached-verdicts", "0")
    stop = threading.Event()
    with running_service(log, *flags, "--enabled", "accuracy,format,tag_count") as url:
        body = content(4000, 1000, [{"type": "accuracy"}, *QUICK], "saturate")

        def load() -> None:
            with httpx.Client(base_url=url, timeout=300) as http:
                while not stop.is_set():
                    if http.post("/v1/score", content=body, headers=JSON).status_code == 503:
                        time.sleep(0.05)

        with ThreadPoolExecutor(4) as threads:
            for _ in range(4):
                threads.submit(load)
            with httpx.Client(base_url=url, timeout=60) as http:
                until(lambda: "_pending_completions 8000" in http.get("/metrics").text)
                yield url
            stop.set()


def times(number: int, call: Callable[[], object]) -> list[float]:
    found = []
    for _ in range(number):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return sorted(found)


@pytest.mark.slow
def test_it_says_quickly_that_it_is_alive(saturated: str) -> None:
    with httpx.Client(base_url=saturated, timeout=60) as http:
        found = times(500, lambda: http.get("/healthz").raise_for_status())
    assert found[int(0.99 * len(found))] < HEALTH_SECONDS, found[-10:]


@pytest.mark.slow
def test_a_small_request_is_served_in_its_time(saturated: str) -> None:
    """Each in less than a second, although thousands of completions came before it."""

    def ask() -> None:
        group = {"reference": {"answer": "2"}, "completions": [f"at {time.perf_counter()}: 2"]}
        body = {"verifiers": QUICK[:1], "groups": [group], "deadline_seconds": 1.0}
        answer = http.post("/v1/score", json=body)
        verdict = answer.json()["groups"][0]["completions"][0]["verdicts"]["format"]
        assert verdict["outcome"] == "scored", verdict

    with httpx.Client(base_url=saturated, timeout=60) as http:
        found = times(100, ask)
    assert statistics.median(found) < 0.5, found


@pytest.mark.slow
def test_what_is_too_much_is_refused_at_once(saturated: str) -> None:
    """By what it declares, or as soon as it is known how much it is; nothing waits."""
    body = content(8000, 40, QUICK, "more")
    refused: list[float] = []
    pending: list[float] = []
    with httpx.Client(base_url=saturated, timeout=60) as http:
        while len(refused) < 40:
            start = time.perf_counter()
            answer = http.post("/v1/score", content=body, headers=JSON)
            if answer.status_code == 503:
                refused.append(time.perf_counter() - start)
                pending.append(answer.json()["error"]["details"]["pending_completions"])
    assert statistics.median(refused) < REFUSAL_SECONDS, sorted(refused)
    assert max(pending) <= 9000
