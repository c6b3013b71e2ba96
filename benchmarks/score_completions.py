"""Real completions through the service: completions per second, and agreement with the labels.

The peer is math-verify called in a loop in one process, with the extraction settings of open-r1's
accuracy_reward, its own time limits on: what most frameworks run today. Both judge the same
completions in the same run; the service is asked over HTTP, JSON included, and keeps no verdict
from one repeat for the next.

    .venv/bin/python benchmarks/score_completions.py [--limit 1500] [--repeats 15]

Reads `shared/data` beside the repository; without it there is nothing to measure.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

import httpx

from benchmarks._readme_row import readme_row, spread
from benchmarks.accuracy_modes import math_verify_accepts
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from trainer_client.service_process import running_service

FILES = ("completions_rg_think_boxed.jsonl.gz", "completions_gsm8k_openai.jsonl.gz")
GROUPS_PER_REQUEST = 64
REQUESTS_IN_FLIGHT = 4

Verdict = dict[str, Any]


def main() -> None:
    """Print one table for each file of completions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=1500, help="completions of a file; 0: all")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    for name in FILES:
        try:
            rows = sample(read_shared_data(f"math/{name}"), arguments.limit)
        except SharedDataMissing as missing:
            raise SystemExit(f"nothing to measure: {missing}") from missing
        report(name, rows, repeats=arguments.repeats)


def sample(rows: list[Row], limit: int) -> list[Row]:
    """An evenly spaced subset, so that every part of a file is in it."""
    return rows[:: -(-len(rows) // limit)] if limit else rows


def report(name: str, rows: list[Row], *, repeats: int) -> None:
    """Measure and print one file."""
    print(f"\n{name}: {len(rows)} completions, median of {repeats}")
    peer_rates, peer = timed(lambda: judge_with_peer(rows), len(rows), repeats)
    peer_rate = statistics.median(peer_rates)
    print(f"  {'math-verify in a loop, 1 process':36}{peer_rate:8.0f} completions/s")
    verdicts: list[Verdict] = []
    by_workers: dict[int, list[float]] = {}
    for workers in dict.fromkeys((1, len(os.sched_getaffinity(0)))):
        with service(workers) as http:
            rates, verdicts = timed(lambda http=http: judge(http, rows), len(rows), repeats)  # type: ignore[misc]
        rate = statistics.median(rates)
        by_workers[workers] = rates
        print(
            f"  {f'service over HTTP, {workers} worker(s)':36}{rate:8.0f} completions/s"
            f"{rate / peer_rate:8.2f} x"
        )
    passed = [verdict["score"] == 1.0 for verdict in verdicts]
    labels = [bool(row["auto_label"]) for row in rows]
    agreement("service, label", passed, labels)
    agreement("math-verify (open-r1), label", peer, labels)
    agreement("math-verify (default), label", [bool(row["mv090_default"]) for row in rows], labels)
    unjudged = sum(verdict["score"] is None for verdict in verdicts)
    print(f"  not judged by the service: {unjudged}")
    show_disagreements(rows, verdicts)
    if name == FILES[0]:
        readme_row(
            "real completions a second over HTTP, one worker",
            f"math-verify {spread(peer_rates)}",
            f"{spread(by_workers[1])} ({statistics.median(by_workers[1]) / peer_rate:.1f} x)",
        )


def timed(
    work: Callable[[], list[Any]], num_completions: int, repeats: int
) -> tuple[list[float], list[Any]]:
    """Completions per second in each repeat, and the last result."""
    rates = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        rates.append(num_completions / (time.perf_counter() - start))
    return rates, result


def judge_with_peer(rows: Sequence[Row]) -> list[bool]:
    """math-verify as open-r1's accuracy_reward calls it, one completion after the other."""
    return [bool(math_verify_accepts("open_r1", row["gold"], row["completion"])) for row in rows]


@contextmanager
def service(workers: int) -> Iterator[httpx.Client]:
    """A client of a service of its own, which judges everything again in every repeat."""
    flags = ("--workers", str(workers), "--max-cached-verdicts", "0")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "service.log", *flags) as url,
        httpx.Client(base_url=url, timeout=600) as http,
    ):
        yield http


def judge(http: httpx.Client, rows: Sequence[Row]) -> list[Verdict]:
    """The service's accuracy verdicts, in the order of the rows; a group for each question."""
    members: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        members.setdefault((row["question"], row["gold"]), []).append(index)
    groups = list(members.items())

    def ask(start: int) -> list[tuple[int, Verdict]]:
        part = groups[start : start + GROUPS_PER_REQUEST]
        body = {
            "verifiers": [{"type": "accuracy"}],
            "groups": [
                {
                    "reference": {"answer": gold},
                    "completions": [rows[index]["completion"] for index in indexes],
                }
                for (_, gold), indexes in part
            ],
        }
        answer = http.post("/v1/score", json=body).raise_for_status().json()
        return [
            (index, completion["verdicts"]["accuracy"])
            for (_, indexes), group in zip(part, answer["groups"], strict=True)
            for index, completion in zip(indexes, group["completions"], strict=True)
        ]

    with ThreadPoolExecutor(REQUESTS_IN_FLIGHT) as threads:
        found = [
            pair
            for pairs in threads.map(ask, range(0, len(groups), GROUPS_PER_REQUEST))
            for pair in pairs
        ]
    return [verdict for _, verdict in sorted(found, key=itemgetter(0))]


def agreement(title: str, passed: Sequence[bool], labels: Sequence[bool]) -> None:
    """Print how often verdicts equal labels, and which way they err."""
    pairs = list(zip(passed, labels, strict=True))
    equal = sum(left == right for left, right in pairs) / len(pairs)
    print(
        f"  {title:36}{equal:8.2%} agree, {pairs.count((False, True))} right ones refused, "
        f"{pairs.count((True, False))} wrong ones accepted"
    )


def show_disagreements(rows: Sequence[Row], verdicts: Sequence[Verdict], *, most: int = 3) -> None:
    """Print some verdicts that differ from the label, for a person to look at."""
    differing = [
        (row, verdict)
        for row, verdict in zip(rows, verdicts, strict=True)
        if (verdict["score"] == 1.0) != bool(row["auto_label"])
    ]
    for row, verdict in differing[:: max(1, len(differing) // most)][:most]:
        print(
            f"    label {row['auto_label']}, reference {row['gold']!r}, {verdict['reason']}, "
            f"extracted {str(verdict.get('extracted'))[:40]!r}, "
            f"completion ends {row['completion'][-60:]!r}"
        )


if __name__ == "__main__":
    main()
