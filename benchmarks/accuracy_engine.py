"""Completions per second of the engine, beside TRL's accuracy_reward, on the same completions.

The engine is what stands behind the HTTP route: scheduler, worker processes, comparison. The peer
is math-verify called in a loop in one process with the extraction settings of TRL's
`accuracy_reward`, its own time limits on: what users run today. Both judge groups of 8, sampled
with replacement from the real completions of each question. The cache across requests is off.
Without deduplication equal completions of a group have different token counts, so that each is
judged.

    .venv/bin/python benchmarks/accuracy_engine.py [--repeats 5]

Reads `shared/data` beside the repository; without it there is nothing to measure.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import random
import statistics
import time
from collections.abc import Sequence

from benchmarks.accuracy_modes import FILES, math_verify_accepts
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from verifier_service.engine.request_scoring import Scoring
from verifier_service.engine.scheduler import Scheduler
from verifier_service.schemas import ScoreRequest
from verifier_service.workers.limits import ItemLimits
from verifier_service.workers.pool import WorkerPool

GROUP_SIZE = 8
GROUPS_PER_REQUEST = 128
REQUESTS_IN_FLIGHT = 4
PEER_SAMPLE = 600
"""Completions that the peer judges in each repeat; the rest would take as long each."""
LIMITS = ItemLimits(cpu_seconds=2.0, memory_bytes=2**30)
MIN_CORES_TO_SCALE = 4


def main() -> None:
    """Print one table for all completions, and how often each agrees with the labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    try:
        rows = [row for name in FILES for row in read_shared_data(f"math/{name}.jsonl.gz")]
    except SharedDataMissing as missing:
        raise SystemExit(f"nothing to measure: {missing}") from missing
    groups = sample_groups(rows)
    num_completions = GROUP_SIZE * len(groups)
    print(f"{len(groups)} groups of {GROUP_SIZE}, median of {arguments.repeats}")
    workloads = {
        "groups": requests(groups, deduplicate=True),
        "no deduplication": requests(groups, deduplicate=False),
    }
    gc.freeze()  # what the benchmark holds is not the engine's to collect
    peer, peer_verdicts = measure_peer(
        [row for group in groups for row in group], arguments.repeats
    )
    print(f"  {'math-verify in a loop':42}{peer:9.0f} completions/s")
    by_workers: dict[tuple[str, int], float] = {}
    verdicts: dict[int, bool] = {}
    for num_workers in (1, 2):
        rates, verdicts = asyncio.run(measure(workloads, num_workers, arguments.repeats))
        for title, rate in rates.items():
            by_workers[title, num_workers] = rate
            name = f"engine, {num_workers} worker(s), {title}"
            print(f"  {name:42}{rate:9.0f} completions/s{rate / peer:8.1f} x")
    for title in workloads:
        ratio = by_workers[title, 2] / by_workers[title, 1]
        print(f"  two workers against one, {title}: {ratio:.2f} x")
    cores = len(os.sched_getaffinity(0))
    if cores < MIN_CORES_TO_SCALE:
        print(
            f"  (this machine has {cores} cores: fewer than two workers, dispatch and kernel need)"
        )
    flat = [row for group in groups for row in group]
    agreement("engine", [verdicts[index] for index in range(num_completions)], flat)
    agreement("math-verify", peer_verdicts, flat[: len(peer_verdicts)])


def sample_groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Completions of each question, drawn with replacement."""
    by_question: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_question.setdefault((row["question"], row["gold"]), []).append(row)
    source = random.Random(0)
    groups = [source.choices(members, k=GROUP_SIZE) for members in by_question.values()]
    source.shuffle(groups)
    return groups


def requests(groups: list[list[Row]], *, deduplicate: bool) -> list[ScoreRequest]:
    """The requests of a trainer; without deduplication no two completions of a group are equal."""
    found = []
    for start in range(0, len(groups), GROUPS_PER_REQUEST):
        body = [
            {
                "reference": {"answer": group[0]["gold"], "number": number},
                "completions": [
                    {"text": row["completion"], "num_tokens": 0 if deduplicate else index}
                    for index, row in enumerate(group)
                ],
            }
            for number, group in enumerate(groups[start : start + GROUPS_PER_REQUEST])
        ]
        asked = {"verifiers": [{"type": "accuracy"}], "groups": body}
        found.append(ScoreRequest.model_validate(asked))
    return found


async def measure(
    workloads: dict[str, list[ScoreRequest]], num_workers: int, repeats: int
) -> tuple[dict[str, float], dict[int, bool]]:
    """Completions per second of each workload, the median; and the last one's verdicts."""
    rates: dict[str, float] = {}
    verdicts: dict[int, bool] = {}
    async with WorkerPool(num_workers, LIMITS) as pool:
        for title, asked in workloads.items():
            found = []
            for _ in range(repeats):
                start = time.perf_counter()
                verdicts = await score(pool, asked)
                found.append(len(verdicts) / (time.perf_counter() - start))
            rates[title] = statistics.median(found)
    return rates, verdicts


async def score(pool: WorkerPool, asked: list[ScoreRequest]) -> dict[int, bool]:
    """Whether each completion is accepted, by its position in all requests."""
    scheduler = Scheduler({"text": pool}, max_cached_verdicts=0)
    in_flight = asyncio.Semaphore(REQUESTS_IN_FLIGHT)
    verdicts: dict[int, bool] = {}

    async def one(request: ScoreRequest, first: int) -> None:
        async with in_flight:
            scored = await Scoring(request, scheduler).run(600)
        places = [place for group in scored.groups for place in group]
        for index, place in enumerate(places):
            verdicts[first + index] = place["accuracy"].score == 1.0

    first = 0
    tasks = []
    for request in asked:
        tasks.append(asyncio.create_task(one(request, first)))
        first += request.num_completions
    await asyncio.gather(*tasks)
    return verdicts


def measure_peer(rows: list[Row], repeats: int) -> tuple[float, list[bool]]:
    """Completions per second of math-verify in a loop, the median; and its verdicts."""
    size = min(PEER_SAMPLE, len(rows) // repeats)
    rates, verdicts = [], []
    for repeat in range(repeats):
        part = rows[repeat * size : (repeat + 1) * size]
        start = time.perf_counter()
        verdicts += [bool(math_verify_accepts("open_r1", r["gold"], r["completion"])) for r in part]
        rates.append(len(part) / (time.perf_counter() - start))
    return statistics.median(rates), verdicts


def agreement(title: str, verdicts: list[bool], rows: list[Row]) -> None:
    """Print how often verdicts equal the labels that came with the data."""
    equal = sum(
        verdict == bool(row["auto_label"]) for verdict, row in zip(verdicts, rows, strict=True)
    )
    print(f"  agrees with the label: {title} {equal / len(rows):.2%} of {len(rows)}")


if __name__ == "__main__":
    main()
