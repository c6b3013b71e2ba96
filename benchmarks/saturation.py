"""A saturated service: how soon it says that it is alive, serves a small request, and refuses.

Four clients keep a service with little room full; then the times of a hundred calls each. And the
longest step of the event loop while it takes the largest requests, in CPU time of its thread, so
that a busy machine does not decide. There is no peer: the targets are what a client can feel.

    .venv/bin/python benchmarks/saturation.py
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.processes import until
from trainer_client.service_process import running_service

JSON = {"Content-Type": "application/json"}
NDJSON = JSON | {"Accept": "application/x-ndjson"}
QUICK = [{"type": "format"}, {"type": "tag_count"}]
MAX_PENDING = 9000
NUM_CALLS = 100


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as directory:
        rows = [("longest step of the event loop", [longest_step(Path(directory))], 20)]
        with saturated(Path(directory)) as http:
            rows += [
                ("GET /healthz", times(lambda: http.get("/healthz").raise_for_status()), 50),
                ("one completion, deadline 1 s", times(lambda: ask_for_one(http)), 1000),
                ("503 for too much", refusals(http), 100),
            ]
    print(f"{'':34}{'median ms':>10}{'p99 ms':>10}{'target':>10}")
    for name, found, target in rows:
        median, p99 = found[len(found) // 2], found[int(0.99 * len(found))]
        print(f"{name:34}{1000 * median:10.1f}{1000 * p99:10.1f}{target:10}")


def content(num_completions: int, size: int, verifiers: list[dict[str, Any]], salt: str) -> bytes:
    """The body of a request whose completions have about so many characters."""
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


def longest_step(directory: Path) -> float:
    """Seconds of CPU time."""
    report, log = directory / "report.json", directory / "timed.log"
    command = [sys.executable, "-m", "benchmarks._timed_service", str(report)]
    flags = ["--port", "0", "--workers", "2", "--enabled", "format,tag_count,exact_match"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *flags], cwd=Path(__file__).parents[1], stdout=output, stderr=output
        )
    try:
        until(lambda: "running on" in log.read_text())
        url = log.read_text().partition("running on ")[2].split()[0]
        with httpx.Client(base_url=url, timeout=300) as http:
            for name, body in BODIES.items():
                answer = http.post("/v1/score", content=body(), headers=JSON)
                assert answer.status_code == (422 if name == "wrong" else 200), answer.text[:300]
            assert http.post("/v1/score", content=BODIES["many"](), headers=NDJSON).is_success
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    (seconds, _, _), *_ = json.loads(report.read_text())
    return float(seconds)


@contextmanager
def saturated(directory: Path) -> Iterator[httpx.Client]:
    """A client of a service with little room, which four other clients keep full."""
    flags = ("--workers", "2", "--max-pending-completions", str(MAX_PENDING))
    stop = threading.Event()
    with running_service(
        directory / "service.log", *flags, "--max-cached-verdicts", "0", "--enabled",
        "accuracy,format,tag_count",
    ) as url:  # fmt: skip
        body = content(4000, 1000, [{"type": "accuracy"}, *QUICK], "saturate")

        def load() -> None:
            with httpx.Client(base_url=url, timeout=300) as http:
                while not stop.is_set():
                    if http.post("/v1/score", content=body, headers=JSON).status_code == 503:
                        time.sleep(0.05)

        with ThreadPoolExecutor(4) as threads, httpx.Client(base_url=url, timeout=60) as http:
            for _ in range(4):
                threads.submit(load)
            try:
                until(lambda: "_pending_completions 8000" in http.get("/metrics").text)
                yield http
            finally:
                stop.set()


def times(call: Callable[[], object]) -> list[float]:
    """Seconds of so many calls, sorted."""
    found = []
    for _ in range(NUM_CALLS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return sorted(found)


def ask_for_one(http: httpx.Client) -> None:
    """A request of one completion, which must be judged within its second."""
    group = {"reference": {"answer": "2"}, "completions": [f"at {time.perf_counter()}: 2"]}
    body = {"verifiers": QUICK[:1], "groups": [group], "deadline_seconds": 1.0}
    answer = http.post("/v1/score", json=body).json()
    verdict = answer["groups"][0]["completions"][0]["verdicts"]["format"]
    assert verdict["outcome"] == "scored", verdict


def refusals(http: httpx.Client) -> list[float]:
    """Seconds until too much was refused, sorted; the queue never grows over its bound."""
    body = content(8000, 40, QUICK, "more")
    found: list[float] = []
    while len(found) < NUM_CALLS:
        start = time.perf_counter()
        answer = http.post("/v1/score", content=body, headers=JSON)
        if answer.status_code == 503:
            found.append(time.perf_counter() - start)
            assert answer.json()["error"]["details"]["pending_completions"] <= MAX_PENDING
    return sorted(found)


if __name__ == "__main__":
    main()
