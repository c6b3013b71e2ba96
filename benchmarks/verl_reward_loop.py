"""Our fleet beside verl's reward loop, on one Ray and the same completions of GSM8K.

verl's reward loop is a Ray actor for each worker that gets its share of the batch and calls the
reward function for each completion, in process. verl itself wants torch, tensordict and a model's
tokenizer; the actors here do what its workers do with `reward_score/math_verify.py`, as
math-verify's `math_metric`, and leave decoding of tokens out. Their methods block, because
math-verify's limit of time needs the main thread of its process.

    python benchmarks/verl_reward_loop.py [--workers 2] [--rounds 3]

Both have the same number of processes that judge. Each round asks both, one after the other; CPU is
that of everything Ray has started for the one or the other, the calling process left out. Run it
in .venv-fleet, which `make test-fleet` makes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

import ray
from math_verify.errors import TimeoutException
from math_verify.metric import math_metric
from math_verify.parser import ExprExtractionConfig, LatexExtractionConfig
from ray import serve

from benchmarks._ray_fleet import actors, start_ray
from benchmarks.fleet_simulation import cpu_seconds
from reward_verifier.completion_group import CompletionGroup
from tests.shared_data import Row, read_shared_data
from verifier_adapters.ray import verifier_at
from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.settings import FleetSettings

APPLICATION = "verifier"


@ray.remote
class RewardLoopWorker:
    """Scores its share of a batch, one completion after the other."""

    def compute_score_batch(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The score of each completion by its answer: 0 where math-verify fails or is too slow."""
        return [self._score(text, gold) for text, gold in pairs]

    def _score(self, text: str, gold: str) -> float:
        metric = math_metric(
            gold_extraction_target=(LatexExtractionConfig(),),
            pred_extraction_target=(ExprExtractionConfig(), LatexExtractionConfig()),
        )
        try:
            score, _ = metric([f"\\boxed{{{gold}}}"], [text])
        except (Exception, TimeoutException):  # noqa: BLE001  verl's function does so
            return 0.0
        return float(score)


@dataclass(frozen=True)
class Round:
    """A scored batch and its cost."""

    scores: list[float]
    seconds: float
    cpu_seconds: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--completions", type=int, default=2048)
    arguments = parser.parse_args()
    rows = read_shared_data("math/completions_gsm8k_openai.jsonl.gz")[: arguments.completions]
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} before")
    start_ray()
    try:
        ways = {
            "verl's loop, math-verify": _reward_loop(arguments.workers),
            "our fleet, accuracy": _fleet(arguments.workers),
        }
        found: dict[str, list[Round]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, (score, processes) in ways.items():
                found[name].append(_timed(score, processes, rows))
        _print(found, rows)
    finally:
        serve.shutdown()
        ray.shutdown()


Way = tuple[Callable[[Sequence[Row]], list[float]], list[int]]
"""Scores a batch, and the processes that do it."""


def _reward_loop(num_workers: int) -> Way:
    workers: list[Any] = [RewardLoopWorker.remote() for _ in range(num_workers)]  # type: ignore[attr-defined]

    def score(rows: Sequence[Row]) -> list[float]:
        pairs = [(row["completion"], row["gold"]) for row in rows]
        size = -(-len(pairs) // num_workers)
        shares = [pairs[start : start + size] for start in range(0, len(pairs), size)]
        calls = [
            worker.compute_score_batch.remote(share)
            for worker, share in zip(workers, shares, strict=True)
        ]
        return [one for share in ray.get(calls) for one in share]

    ray.get([worker.compute_score_batch.remote([("1", "1")]) for worker in workers])
    return score, actors("RewardLoopWorker")


def _fleet(num_workers: int) -> Way:
    settings = FleetSettings(
        enabled=("accuracy",), judges=num_workers, max_judges=num_workers, max_cached_verdicts=0
    )
    serve.start(proxy_location="Disabled")
    serve.run(fleet_of(settings), name=APPLICATION, route_prefix="/")
    verifier = verifier_at(f"serve://{APPLICATION}")

    def score(rows: Sequence[Row]) -> list[float]:
        scored = verifier.score_groups(list(_groups(rows)))
        return [one.reward or 0.0 for group in scored for one in group]

    verifier.score(["$1$"], {"answer": "1"})
    return score, actors(f"ServeReplica:{APPLICATION}")


def _groups(rows: Sequence[Row]) -> Iterator[CompletionGroup]:
    for gold, same in groupby(rows, key=lambda row: row["gold"]):
        yield CompletionGroup([row["completion"] for row in same], {"answer": gold})


def _timed(
    score: Callable[[Sequence[Row]], list[float]], processes: list[int], rows: Sequence[Row]
) -> Round:
    spent, start = cpu_seconds(processes), time.monotonic()
    scores = score(rows)
    return Round(scores, time.monotonic() - start, cpu_seconds(processes) - spent)


def _print(found: dict[str, list[Round]], rows: Sequence[Row]) -> None:
    for name, rounds in found.items():
        seconds = median(one.seconds for one in rounds)
        cpu = median(one.cpu_seconds for one in rounds)
        print(
            f"{name:26} {len(rows) / seconds:7.0f} completions/s, CPU of one "
            f"{cpu / len(rows) * 1e6:6.0f} us, {sum(rounds[0].scores):.0f} of {len(rows)} right"
        )
    loop, fleet = found.values()
    ratio = median(a.cpu_seconds / b.cpu_seconds for a, b in zip(loop, fleet, strict=True))
    faster = median(a.seconds / b.seconds for a, b in zip(loop, fleet, strict=True))
    print(f"the loop takes {ratio:.1f} x the CPU and {faster:.1f} x the time of the fleet")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
