"""A trainer's requests: one group of 16 long completions each, one or several at a time.

The completions are real ones, made long by the reasoning of others, so that no two are equal. Half
of a group ends as the two completions of its question do, the other half as those of others. The
peer is `trl.rewards.accuracy_reward`, called once for all of them in one process, as TRL's trainer
calls it. It and the service take turns, round by round. The service's cache is off.

    .venv/bin/python benchmarks/realistic.py [--rounds 3] [--groups 32] [--trl-python PATH]

Other programs change what the clock says, and CPU time hardly. So each row has the CPU time of a
completion by kind of process: a service with a core for each of its processes is as fast as the
busiest of them. Bodies are encoded before the clock starts, and the client is Python's own
`http.client`: what is measured shares its cores with it.

TRL lives in an environment of its own, which `make test-interop` makes; without it, and without
`shared/data` beside the repository, nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks._readme_row import readme_row, spread
from benchmarks._trl import TRL_PYTHON, LoopTime, TrlLoop, trl_version
from tests.processes import fork_servers, pid_in, tree
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from trainer_client.service_process import running_service

FILE = "math/completions_rg_think_boxed.jsonl.gz"
GROUP_SIZE = 16
CHARACTERS_OF_A_TOKEN = 4
LENGTHS = (1_500, 6_000, 20_000)
"""Characters of a completion."""
LENGTH_OF_README = 6_000
OPENING = "<think>"
CLOSING = "</think>"
REQUEST_MODULE = "large_requests.request_process"
WORKER_MODULE = "workers.text_worker"
TICKS = os.sysconf("SC_CLK_TCK")
ACCURACY = [{"type": "accuracy"}]
USUAL: list[dict[str, Any]] = [
    {"type": "accuracy"},
    {"type": "format", "weight": 0.1},
    {"type": "tag_count", "weight": 0.1},
    {"type": "soft_overlong", "max_completion_tokens": 6144, "cache_tokens": 1024},
    {"type": "repetition", "weight": 0.1},
]
"""The verifiers of a usual profile."""


@dataclass(frozen=True)
class Group:
    """Completions of one question."""

    gold: str
    completions: list[str]

    def body(self, verifiers: Sequence[dict[str, Any]]) -> bytes:
        """A request for the verdicts on this group alone."""
        completions = [
            {"text": text, "num_tokens": len(text) // CHARACTERS_OF_A_TOKEN}
            for text in self.completions
        ]
        group = {"reference": {"answer": self.gold}, "completions": completions}
        return json.dumps({"verifiers": verifiers, "groups": [group]}).encode()


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
    """CPU time for each completion."""


@dataclass(frozen=True)
class Case:
    """A way to ask, and the rounds in which that was done."""

    num_workers: int
    at_a_time: int
    """Requests at a time."""
    verifiers: Sequence[dict[str, Any]] = field(default_factory=lambda: ACCURACY)
    rounds: list[Round] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The case in words."""
        workers = f"{self.num_workers} worker{'s' * (self.num_workers > 1)}"
        verifiers = "" if self.verifiers is ACCURACY else f", {len(self.verifiers)} verifiers"
        return f"{workers}, {self.at_a_time} at a time{verifiers}"


def main() -> None:
    """Print a table for each length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", type=int, default=32)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--workers", type=int, nargs="+", default=(1, 2))
    parser.add_argument("--trl-python", type=Path, default=TRL_PYTHON)
    arguments = parser.parse_args()
    version = trl_version(arguments.trl_python)
    try:
        rows = read_shared_data(FILE)
    except SharedDataMissing as missing:
        raise SystemExit(f"nothing to measure: {missing}") from missing
    print(
        f"Requests of {GROUP_SIZE} completions, {arguments.groups} in a round, no cache; "
        f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} before the start.\n"
        f"TRL {version}; medians of {arguments.rounds} rounds in turn (lowest to highest). CPU: "
        "microseconds of a completion\n"
    )
    print(HEADER, flush=True)
    with ExitStack() as stack:
        loop = stack.enter_context(TrlLoop(arguments.trl_python))
        services = {number: stack.enter_context(service(number)) for number in arguments.workers}
        for length in arguments.lengths:
            groups = long_groups(rows, arguments.groups, length)
            peers, cases = measure(loop, services, groups, arguments.rounds)
            report(length, peers, cases, len(groups) * GROUP_SIZE)
            if length == LENGTH_OF_README:
                report_to_readme(version, peers, cases, len(groups) * GROUP_SIZE)


HEADER = """\
| characters | | completions/s | to TRL | p50, p99 of a request | CPU: API | workers | client |
|---|---|---|---|---|---|---|---|"""


def measure(
    loop: TrlLoop,
    services: dict[int, tuple[str, int]],
    groups: Sequence[Group],
    num_rounds: int,
) -> tuple[list[LoopTime], list[Case]]:
    """The times of TRL's loop and the rounds of each case, which take turns.

    Args:
        loop: TRL's.
        services: addresses and processes by their number of workers.
        groups: to judge in a round.
        num_rounds: how many.
    """
    judged = [(text, group.gold) for group in groups for text in group.completions]
    cases = [Case(number, at_a_time) for number in services for at_a_time in (1, 8)]
    cases += [Case(number, 8, USUAL) for number in services]
    peers = []
    for number in range(num_rounds + 1):
        peer = loop.judge(judged)
        if number:  # the first round warms up
            peers.append(peer)
        for case in cases:
            found = ask_all(*services[case.num_workers], groups, case)
            if number:
                case.rounds.append(found)
    return peers, cases


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
def service(num_workers: int) -> Iterator[tuple[str, int]]:
    """The address of a service that keeps no verdicts, and its process."""
    enabled = ",".join(one["type"] for one in USUAL)
    flags = ("--workers", str(num_workers), "--max-cached-verdicts", "0", "--enabled", enabled)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "service.log"
        with running_service(log, *flags) as url:
            yield url, pid_in(log)


def ask_all(url: str, process: int, groups: Sequence[Group], case: Case) -> Round:
    """Ask for the verdicts on every group, so many requests at a time."""
    bodies = [group.body(case.verifiers) for group in groups]
    num_completions = sum(len(group.completions) for group in groups)
    own = threading.local()

    def connect() -> None:
        own.connection = HTTPConnection(urlsplit(url).netloc)
        own.connection.connect()
        own.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(body: bytes) -> float:
        start = time.perf_counter()
        own.connection.request("POST", "/v1/score", body, {"Content-Type": "application/json"})
        response = own.connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise SystemExit(f"the service answers {response.status}: {content[:300]!r}")
        return time.perf_counter() - start

    with ThreadPoolExecutor(case.at_a_time, initializer=connect) as threads:
        list(threads.map(ask, bodies[: case.at_a_time]))  # connects
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
        _cpu_seconds([process]),
        _cpu_seconds(requests) + _cpu_seconds_of_ended(requests),
        _cpu_seconds(workers) + _cpu_seconds_of_ended(workers),
        time.process_time(),
    )


def _cpu_seconds(processes: Sequence[int]) -> float:
    """CPU time of processes, by their clocks (clock_getcpuclockid(3)): /proc counts in 10 ms."""
    seconds = 0.0
    for pid in processes:
        with suppress(OSError):  # it has ended
            seconds += time.clock_gettime(~pid << 3 | 2)
    return seconds


def _cpu_seconds_of_ended(processes: Sequence[int]) -> float:
    """CPU time of the children of processes that have ended."""
    ticks = 0
    for pid in processes:
        with suppress(FileNotFoundError, ProcessLookupError):
            stat = Path(f"/proc/{pid}/stat").read_text()
            ticks += sum(map(int, stat.rpartition(")")[2].split()[13:15]))
    return ticks / TICKS


def report(
    length: int, peers: Sequence[LoopTime], cases: Sequence[Case], num_completions: int
) -> None:
    """Print the rows of a length: TRL's loop and each case."""
    peer_rates = [num_completions / one.wall_seconds for one in peers]
    peer_cpu = statistics.median(one.cpu_seconds for one in peers) / num_completions
    print(
        f"| {length:,} | TRL's loop, one process | {spread(peer_rates)} | 1 x | | | "
        f"{peer_cpu * 1e6:.0f} | |"
    )
    for case in cases:
        rates = [one.rate for one in case.rounds]
        factor = statistics.median(rates) / statistics.median(peer_rates)
        latencies = sorted(seconds for one in case.rounds for seconds in one.latencies)
        percentiles = statistics.quantiles(latencies, n=100)
        api, workers, client = (
            statistics.median(getattr(one.cpu, name) for one in case.rounds) * 1e6
            for name in ("api", "workers", "client")
        )
        requests = statistics.median(one.cpu.requests for one in case.rounds) * 1e6
        print(
            f"| | {case.title} | {spread(rates)} | {factor:.1f} x | "
            f"{percentiles[49] * 1e3:.1f}, {percentiles[98] * 1e3:.1f} ms | "
            f"{api + requests:.0f} | {workers:.0f} | {client:.0f} |",
            flush=True,
        )


def report_to_readme(
    version: str, peers: Sequence[LoopTime], cases: Sequence[Case], num_completions: int
) -> None:
    """Print the README's row: CPU time of a completion, TRL's loop beside ours."""
    theirs = [one.cpu_seconds / num_completions * 1e6 for one in peers]
    ours = [
        (one.cpu.api + one.cpu.requests + one.cpu.workers) * 1e6
        for case in cases
        if (case.num_workers, case.at_a_time, case.verifiers) == (1, 8, ACCURACY)
        for one in case.rounds
    ]
    if ours:
        ratio = statistics.median(theirs) / statistics.median(ours)
        readme_row(
            f"CPU time of a completion of {LENGTH_OF_README:,} characters, in groups of "
            f"{GROUP_SIZE} over HTTP",
            f"TRL {version}: {spread(theirs)} µs",
            f"{spread(ours)} µs ({ratio:.1f} x)",
        )


if __name__ == "__main__":
    main()
