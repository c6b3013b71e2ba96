"""One large request over HTTP: against TRL's `accuracy_reward` in a loop, and what is not judging.

The peer is `trl.rewards.accuracy_reward`, called once for all completions in one process, as TRL's
trainer calls it. The service is asked for the same completions in one request, with one worker and
with one for each core; its cache is off. Then the CPU time of HTTP, JSON, validation, scheduling
and transfer: that of all processes of the service together, for completions of 1 kB and `format`,
whose own few microseconds are in it.

    .venv/bin/python benchmarks/service_overhead.py [--completions 4096] [--repeats 3]

TRL lives in an environment of its own, which `make test-interop` makes; without it, and without
`shared/data` beside the repository, nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks._trl import TRL_PYTHON, accuracy_reward_rates, trl_version
from tests.processes import pid_in, tree
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from trainer_client.service_process import running_service

FILES = ("completions_rg_think_boxed.jsonl.gz", "completions_gsm8k_openai.jsonl.gz")
COMPLETION_CHARACTERS = 1000
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--trl-python", type=Path, default=TRL_PYTHON)
    arguments = parser.parse_args()
    version = trl_version(arguments.trl_python)
    try:
        rows = real_rows(arguments.completions)
    except SharedDataMissing as missing:
        raise SystemExit(f"nothing to measure: {missing}") from missing
    judged = [(row["completion"], row["gold"]) for row in rows]
    peer = statistics.median(accuracy_reward_rates(arguments.trl_python, judged, arguments.repeats))
    print(f"one request of {len(rows)} real completions, median of {arguments.repeats}")
    print(f"  {f'TRL {version} accuracy_reward, 1 process':36}{peer:8.0f} completions/s")
    for workers in dict.fromkeys((1, len(os.sched_getaffinity(0)))):
        with service(workers) as (http, _):
            body = {"verifiers": [{"type": "accuracy"}], "groups": groups(rows)}
            rate = statistics.median(
                len(rows) / timed(http, body)[0] for _ in range(arguments.repeats)
            )
        print(
            f"  {f'service over HTTP, {workers} worker(s)':36}{rate:8.0f} completions/s"
            f"{rate / peer:8.2f} x"
        )
    with service(1) as (http, process):
        cost = statistics.median(
            cpu_per_completion(http, process, arguments.completions, seed)
            for seed in range(arguments.repeats)
        )
    print(f"CPU time of the whole service, `format`, {COMPLETION_CHARACTERS} characters each")
    print(f"  {cost * 1e6:.1f} microseconds for a completion")


def real_rows(number: int) -> list[Row]:
    """Completions, evenly of each file, with their references; raises SharedDataMissing."""
    found: list[Row] = []
    for name in FILES:
        rows = read_shared_data(f"math/{name}")
        step = max(1, len(FILES) * len(rows) // number)
        found += rows[::step]
    return found[:number]


def groups(rows: list[Row]) -> list[dict[str, Any]]:
    """A group for each question."""
    members: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        members.setdefault((row["question"], row["gold"]), []).append(row["completion"])
    return [
        {"reference": {"answer": gold}, "completions": texts}
        for (_, gold), texts in members.items()
    ]


@contextmanager
def service(workers: int) -> Iterator[tuple[httpx.Client, int]]:
    """A client of a service of its own, and that service's process."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "service.log"
        flags = ("--workers", str(workers), "--max-cached-verdicts", "0")
        enabled = ("--enabled", "accuracy,format,tag_count,reasoning_steps")
        with (
            running_service(log, *flags, *enabled) as url,
            httpx.Client(base_url=url, timeout=600) as http,
        ):
            timed(http, {"verifiers": [{"type": "format"}], "groups": [{"completions": ["x"]}]})
            yield http, pid_in(log)


def timed(http: httpx.Client, body: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """Seconds that a request takes, the client's JSON not included, and its answer."""
    content = json.dumps(body).encode()
    start = time.perf_counter()
    response = http.post("/v1/score", content=content, headers={"Content-Type": "application/json"})
    seconds = time.perf_counter() - start
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return seconds, answer


def cpu_per_completion(http: httpx.Client, process: int, num_completions: int, seed: int) -> float:
    """Seconds of CPU time that all processes of the service spend on a completion."""
    padding = "some words " * 100
    texts = [f"{seed} {n} {padding}"[:COMPLETION_CHARACTERS] for n in range(num_completions)]
    body = {
        "verifiers": [{"type": "format"}],
        "groups": [{"completions": texts[n : n + 16]} for n in range(0, len(texts), 16)],
    }
    before = cpu_seconds(process)
    timed(http, body)
    return (cpu_seconds(process) - before) / num_completions


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process and all below it, those that have ended included."""
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in tree(process)]
    ticks = [int(field) for stat in stats for field in stat.rpartition(")")[2].split()[11:15]]
    return sum(ticks) / TICKS


if __name__ == "__main__":
    main()
