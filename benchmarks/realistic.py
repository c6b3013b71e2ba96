"""A trainer's requests: one group of 16 long completions each, one or several at a time.

The completions are real ones, made long by the reasoning of others, so that no two are equal. Half
of a group ends as the two completions of its question do, the other half as those of others. The
peer is `trl.rewards.accuracy_reward`, called once for all of them in one process, as TRL's trainer
calls it. The service's cache is off.

    .venv/bin/python benchmarks/realistic.py [--rounds 3] [--groups 48]

Other programs change what the clock says, and CPU time hardly. So a second table has the CPU time
of each kind of process for a completion: a service with a core for each of its processes is as
fast as the busiest of them. Bodies are encoded before the clock starts.

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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import httpx

from benchmarks._trl import TRL_PYTHON, LoopTime, accuracy_reward_times, trl_version
from tests.processes import fork_servers, pid_in, tree
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from trainer_client.service_process import running_service

FILE = "math/completions_rg_think_boxed.jsonl.gz"
GROUP_SIZE = 16
LENGTHS = (1_500, 6_000, 20_000)
"""Characters of a completion."""
AT_A_TIME = (1, 8)
"""Requests at a time."""
OPENING = "<think>"
CLOSING = "</think>"
REQUEST_MODULE = "large_requests.request_process"
WORKER_MODULE = "workers.text_worker"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Group:
    """Completions of one question."""

    gold: str
    completions: list[str]

    @property
    def body(self) -> bytes:
        """A request for the verdicts on this group alone."""
        group = {"reference": {"answer": self.gold}, "completions": self.completions}
        return json.dumps({"verifiers": [{"type": "accuracy"}], "groups": [group]}).encode()


@dataclass(frozen=True)
class CpuSeconds:
    """CPU time by kind of process."""

    api: float
    requests: float
    """Processes of large requests, and what forks them."""
    workers: float
    client: float

    def since(self, before: CpuSeconds, num_completions: int) -> CpuSeconds:
        """The CPU time since then, for each completion."""
        return CpuSeconds(
            (self.api - before.api) / num_completions,
            (self.requests - before.requests) / num_completions,
            (self.workers - before.workers) / num_completions,
            (self.client - before.client) / num_completions,
        )


@dataclass(frozen=True)
class Round:
    """All groups, asked for once."""

    rate: float
    """Completions a second."""
    latencies: list[float]
    """Seconds of each request."""
    cpu: CpuSeconds
    """For each completion."""


def main() -> None:
    """Print a table by the clock and one of CPU time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", type=int, default=48)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--workers", type=int, nargs="+", default=(1, 2))
    parser.add_argument("--trl-python", type=Path, default=TRL_PYTHON)
    arguments = parser.parse_args()
    version = trl_version(arguments.trl_python)
    try:
        rows = read_shared_data(FILE)
    except SharedDataMissing as missing:
        raise SystemExit(f"nothing to measure: {missing}") from missing
    print(f"requests of {GROUP_SIZE} completions, {arguments.groups} in a round, no cache")
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} before the start")
    print(f"TRL {version}; median of {arguments.rounds} rounds (lowest to highest)")
    for length in arguments.lengths:
        groups = long_groups(rows, arguments.groups, length)
        judged = [(text, group.gold) for group in groups for text in group.completions]
        peer = accuracy_reward_times(arguments.trl_python, judged, arguments.rounds)
        print(f"\n{length} characters each")
        report_peer(peer, len(judged))
        for workers in arguments.workers:
            with service(workers) as (url, process):
                for at_a_time in AT_A_TIME:
                    ask_all(url, process, groups, at_a_time)  # warms up
                    rounds = [
                        ask_all(url, process, groups, at_a_time) for _ in range(arguments.rounds)
                    ]
                    report(rounds, peer, len(judged), f"{workers} worker(s), {at_a_time} at a time")


def long_groups(rows: Sequence[Row], num_groups: int, length: int) -> list[Group]:
    """Groups of different completions of a length, evenly spread over the questions.

    Args:
        rows: the completions of a question stand in pairs with its answer.
        num_groups: how many.
        length: characters of each completion.
    """
    by_question: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_question.setdefault((row["dataset"], row["question"]), []).append(row)
    questions = list(by_question.values())[:: max(1, len(by_question) // num_groups)][:num_groups]
    others = cycle(rows)
    return [_long_group(question, others, length) for question in questions]


def _long_group(question: list[Row], others: Iterator[Row], length: int) -> Group:
    of_others = list(islice(others, GROUP_SIZE // 2))
    endings = [*islice(cycle(question), GROUP_SIZE // 2), *of_others]
    return Group(question[0]["gold"], [_made_long(ending, others, length) for ending in endings])


def _made_long(row: Row, others: Iterator[Row], length: int) -> str:
    """The completion with reasoning of others before its own, or without some of its own."""
    text = str(row["completion"]).replace(OPENING, "", 1)
    missing = length - len(OPENING)
    before: list[str] = []
    for other in others:
        before.insert(0, _reasoning(other))
        if sum(map(len, before)) + len(text) >= missing:
            break
    return OPENING + ("\n".join(before) + text)[-missing:]


def _reasoning(row: Row) -> str:
    return str(row["completion"]).partition(CLOSING)[0].replace(OPENING, "")


@contextmanager
def service(workers: int) -> Iterator[tuple[str, int]]:
    """The address of a service that keeps no verdicts, and its process."""
    flags = ("--workers", str(workers), "--max-cached-verdicts", "0", "--enabled", "accuracy")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "service.log"
        with running_service(log, *flags) as url:
            yield url, pid_in(log)


def ask_all(url: str, process: int, groups: Sequence[Group], at_a_time: int) -> Round:
    """Ask for the verdicts on every group, so many requests at a time."""
    bodies = [group.body for group in groups]
    num_completions = sum(len(group.completions) for group in groups)
    headers = {"Content-Type": "application/json"}
    with (
        httpx.Client(base_url=url, timeout=600, headers=headers) as http,
        ThreadPoolExecutor(at_a_time) as threads,
    ):

        def ask(body: bytes) -> float:
            start = time.perf_counter()
            http.post("/v1/score", content=body).raise_for_status()
            return time.perf_counter() - start

        list(threads.map(ask, bodies[:at_a_time]))  # connects
        before = cpu_seconds(process)
        start = time.perf_counter()
        latencies = list(threads.map(ask, bodies))
        seconds = time.perf_counter() - start
        cpu = cpu_seconds(process).since(before, num_completions)
    return Round(num_completions / seconds, latencies, cpu)


def cpu_seconds(process: int) -> CpuSeconds:
    """CPU time of the processes of a service, those that have ended included, and of this one."""
    requests = [one for pid in fork_servers(process, REQUEST_MODULE) for one in tree(pid)]
    workers = [one for pid in fork_servers(process, WORKER_MODULE) for one in tree(pid)]
    return CpuSeconds(
        _cpu_seconds([process], with_ended=False),
        _cpu_seconds(requests, with_ended=True),
        _cpu_seconds(workers, with_ended=True),
        time.process_time(),
    )


def _cpu_seconds(processes: Sequence[int], *, with_ended: bool) -> float:
    """CPU time of processes, and of the children of theirs that have ended.

    Children come last in `processes` and are read first: one that has just ended is in the time of
    its parent then.
    """
    fields = slice(11, 15) if with_ended else slice(11, 13)
    ticks = 0
    for pid in reversed(processes):
        with suppress(FileNotFoundError, ProcessLookupError):
            stat = Path(f"/proc/{pid}/stat").read_text()
            ticks += sum(map(int, stat.rpartition(")")[2].split()[fields]))
    return ticks / TICKS


def report_peer(times: Sequence[LoopTime], num_completions: int) -> None:
    """Print the rate of TRL's loop."""
    rates = sorted(num_completions / one.wall_seconds for one in times)
    cpu = statistics.median(one.cpu_seconds for one in times) / num_completions
    print(f"  {'TRL accuracy_reward, 1 process':28}{_spread(rates)} completions/s")
    print(f"  {'':28}{'':24} CPU {cpu * 1e6:.0f} us a completion")


def report(
    rounds: Sequence[Round], peer: Sequence[LoopTime], num_completions: int, title: str
) -> None:
    """Print the rounds of one kind, beside TRL's loop."""
    rates = sorted(one.rate for one in rounds)
    peer_rate = statistics.median(num_completions / one.wall_seconds for one in peer)
    peer_cpu = statistics.median(one.cpu_seconds for one in peer) / num_completions
    latencies = sorted(seconds for one in rounds for seconds in one.latencies)
    percentiles = statistics.quantiles(latencies, n=100)
    api, requests, workers, client = (
        statistics.median(getattr(one.cpu, name) for one in rounds)
        for name in ("api", "requests", "workers", "client")
    )
    print(
        f"  {title:28}{_spread(rates)} completions/s"
        f"{statistics.median(rates) / peer_rate:7.1f} x"
        f"   request p50 {percentiles[49] * 1e3:.1f} ms, p99 {percentiles[98] * 1e3:.1f} ms"
    )
    print(
        f"  {'':28}{'':24} CPU us a completion: API {api * 1e6:.0f}, request processes "
        f"{requests * 1e6:.0f}, workers {workers * 1e6:.0f}, client {client * 1e6:.0f}; "
        f"TRL's {peer_cpu / (api + requests + workers):.1f} x all of the service's"
    )


def _spread(rates: Sequence[float]) -> str:
    return f"{statistics.median(rates):8.0f} ({rates[0]:.0f} to {rates[-1]:.0f})".ljust(24)


if __name__ == "__main__":
    main()
