"""Seconds of a request with one completion of a numeric answer, on an idle service, over HTTP.

One client asks, a request at a time; `realistic` and `saturation` have many. Beside it, math-verify
called in this process on the same completions, with no HTTP and no limit.

    .venv/bin/python benchmarks/score_latency.py [--requests 1000]
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from math_verify import parse, verify

from trainer_client.service_process import running_service

WARM_UP = 50


def main() -> None:
    """Print median and 99th percentile of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    num_requests = parser.parse_args().requests
    logging.disable(logging.CRITICAL)
    source = random.Random(0)
    numbers = [source.randrange(10**6) for _ in range(num_requests + WARM_UP)]
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "service.log") as url,
        httpx.Client(base_url=url, timeout=60) as http,
    ):
        service = measure(lambda number: ask(http, number), numbers)
    peer = measure(compare, numbers)
    for title, (median, worst) in (("service over HTTP", service), ("math-verify alone", peer)):
        print(f"{title:20} median {median * 1e3:6.2f} ms, p99 {worst * 1e3:6.2f} ms")
    print(f"p99: {service[1] / peer[1]:.2f} x math-verify's")


def measure(work: Callable[[int], bool], numbers: list[int]) -> tuple[float, float]:
    """Median and 99th percentile in seconds."""
    seconds = []
    for number in numbers:
        start = time.perf_counter()
        if not work(number):
            raise AssertionError(f"{number} does not equal itself")
        seconds.append(time.perf_counter() - start)
    seconds = seconds[WARM_UP:]
    return statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]


def ask(http: httpx.Client, number: int) -> bool:
    """Whether the service accepts the number."""
    group = {
        "reference": {"answer": str(number)},
        "completions": [rf"So it is \boxed{{{number}}}."],
    }
    body = {"verifiers": [{"type": "accuracy"}], "groups": [group]}
    answer = http.post("/v1/score", json=body).raise_for_status().json()
    return bool(answer["groups"][0]["completions"][0]["verdicts"]["accuracy"]["score"] == 1.0)


def compare(number: int) -> bool:
    """Whether math-verify accepts the number."""
    return bool(verify(parse(f"${number}$"), parse(rf"So it is \boxed{{{number}}}.")))


if __name__ == "__main__":
    main()
