"""The service while its workers are killed, its clients hang up, and items hang its workers."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import children, pid_in, tree, until
from trainer_client.service_process import running_service

NUM_COMPLETIONS = int(os.environ.get("SOAK_EXECUTIONS", "20000")) // 4
NUM_CLIENTS = 16
KILL_SECONDS = 0.2
MAX_KILLS_PER_CALL = 3
"""Most kills between two answers. On a busy machine a call lasts for more, and an item that is
killed again and again fails."""
KILLS = ("workers",) * 10 + ("servers",) + ("workers",) * 10 + ("templates",) + ("workers",) * 10
"""Kinds of processes that are killed, in turn: a template forks servers, and these workers."""
CALLS_AFTER_START = 5
"""Calls that are answered after a server was killed, before anything else is."""
POISON_SHARE = 0.02
HANG_UP_SHARE = 0.1
SIZES = (1, 16, 64, 700)
"""Completions of a request; the largest are read in processes of their own."""
MAX_GROWTH_BYTES = 64 * 2**20
"""Most that the API process may grow by: an allocator keeps some memory."""

VERIFIERS = [{"type": "accuracy"}, {"type": "format"}]
PLAIN = [
    f"<think>{'word ' * (n % 40)}</think><answer>{text}</answer>"
    for n, text in enumerate(["2", "3", r"\frac{4}{2}", "x = 2", "1 + 1", "nothing", "2.0"] * 40)
]
POISONED = [rf"{n} \boxed{{9^{{9^{{9^{{9}}}}}} + \int_0^{{{n}}} x^x dx}}" for n in range(1, 5)]

Verdicts = dict[str, dict[str, Any]]


@pytest.mark.slow
def test_nothing_is_lost_while_workers_are_killed(tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    flags = ("--workers", "2", "--item-cpu-seconds", "0.2", "--max-cached-verdicts", "0")
    with running_service(log, *flags, "--enabled", "accuracy,format") as url:
        service = pid_in(log)
        expected = alone(url)
        at_rest = settled(service)
        answered: Counter[str] = Counter()
        with killing(service, answered) as killed:
            hammer(url, expected, answered)
        left = settled(service)  # an idle worker that was killed last is replaced when it is needed
        assert (left[0] <= at_rest[0], left[1] <= at_rest[1]) == (True, True), (left, at_rest)
        assert left[2] < at_rest[2] + MAX_GROWTH_BYTES
        assert answered["completions"] >= NUM_COMPLETIONS
        assert answered["hung up"] > 0
        assert killed["workers"] > 20
        assert killed["servers"] > 0
        assert killed["templates"] > 0
        assert answered["scored"] > 0.8 * 2 * NUM_COMPLETIONS
        assert "Traceback" not in log.read_text()


def alone(url: str) -> dict[str, Verdicts]:
    """The verdicts on each text by itself, of an undisturbed service that has had all kinds."""
    found = {}
    with httpx.Client(base_url=url, timeout=600) as http:
        assert post(http, PLAIN * 3).status_code == 200
        for text in (*dict.fromkeys(PLAIN), *POISONED):
            found[text] = post(http, [text]).json()["groups"][0]["completions"][0]["verdicts"]
    return found


def post(http: httpx.Client, texts: list[str], **options: Any) -> httpx.Response:
    group = {"reference": {"answer": "2"}, "completions": texts}
    body = {"verifiers": VERIFIERS, "groups": [group]}
    return http.post("/v1/score", json=body, **options)


def hammer(url: str, expected: dict[str, Verdicts], counts: Counter[str]) -> None:
    """Ask until enough is answered, and count it; every answer is checked."""
    lock = threading.Lock()

    def ask(seed: int) -> None:
        chance = random.Random(seed)
        with httpx.Client(base_url=url, timeout=300) as http:
            while counts["completions"] < NUM_COMPLETIONS:
                texts = [
                    chance.choice(POISONED if chance.random() < POISON_SHARE else PLAIN)
                    for _ in range(chance.choice(SIZES))
                ]
                if chance.random() < HANG_UP_SHARE:
                    with suppress(httpx.TimeoutException):
                        post(http, texts, timeout=chance.random() / 10)
                    found = Counter({"hung up": 1})
                else:
                    found = checked(post(http, texts), texts, expected)
                with lock:
                    counts.update(found, calls=1)

    with ThreadPoolExecutor(NUM_CLIENTS) as threads:
        for done in [threads.submit(ask, seed) for seed in range(NUM_CLIENTS)]:
            done.result()


def checked(
    answer: httpx.Response, texts: list[str], expected: dict[str, Verdicts]
) -> Counter[str]:
    """Count verdicts; each is there, in its place, and right if it is scored."""
    if answer.status_code == 503:
        time.sleep(0.05)
        return Counter({"refused": 1})
    assert answer.status_code == 200, answer.text
    (group,) = answer.json()["groups"]
    counts = Counter({"completions": len(texts)})
    for text, completion in zip(texts, group["completions"], strict=True):
        verdicts = completion["verdicts"]
        assert list(verdicts) == ["accuracy", "format"]
        for name in ("accuracy", "format"):
            verdict = verdicts[name]
            counts[verdict["outcome"]] += 1
            if verdict["outcome"] == "scored":
                assert without_time(verdict) == without_time(expected[text][name])
            else:
                assert verdict["reason"] == "worker_died"
    return counts


def without_time(verdict: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in verdict.items() if key != "seconds"}


@contextmanager
def killing(service: int, answered: Counter[str]) -> Iterator[Counter[str]]:
    """Kill a process every KILL_SECONDS or more seldom.

    It is mostly a worker or the process of a request, sometimes what they are forked from.
    """
    killed: Counter[str] = Counter()
    stop = threading.Event()

    def kill() -> None:
        chance = random.Random(0)
        servers: set[int] = set()  # they live on after their template
        quiet_until = 0
        num_answered, num_kills = 0, 0  # kills since that many calls were answered
        while not stop.wait(KILL_SECONDS):
            if answered["calls"] < quiet_until:
                continue
            if answered["calls"] > num_answered:
                num_answered, num_kills = answered["calls"], 0
            templates = children(service)
            servers.update(*map(children, templates))
            servers = {server for server in servers if Path(f"/proc/{server}").exists()}
            workers = [worker for server in servers for worker in children(server)]
            kinds = {"workers": workers, "servers": sorted(servers), "templates": templates}
            kind = KILLS[killed.total() % len(KILLS)]
            if kinds[kind] and num_kills < MAX_KILLS_PER_CALL:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(kinds[kind]), signal.SIGKILL)
                    killed[kind] += 1
                    num_kills += 1
                    if kind != "workers":  # another start takes seconds on a busy machine
                        quiet_until = answered["calls"] + CALLS_AFTER_START

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def settled(service: int) -> tuple[int, int, int]:
    """The state once it has been the same a hundred times in a row."""
    seen: list[tuple[int, int]] = []

    def is_settled() -> bool:
        seen.append(state(service)[:2])
        return len(seen) >= 100 and len(set(seen[-100:])) == 1

    until(is_settled)
    return state(service)


def state(service: int) -> tuple[int, int, int]:
    """Processes below the service, its descriptors, and its memory in bytes."""
    pages = int(Path(f"/proc/{service}/statm").read_text().split()[1])
    descriptors = len(os.listdir(f"/proc/{service}/fd"))
    return len(tree(service)), descriptors, pages * os.sysconf("SC_PAGE_SIZE")
