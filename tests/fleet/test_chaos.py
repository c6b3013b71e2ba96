"""A fleet that loses judges, a node and its gateway while eight clients ask.

`make chaos-fleet` runs it with 20,000 completions and 2,000 programs.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from ray.cluster_utils import Cluster

from tests.fleet.cluster import (
    NODE_CPUS,
    kill_replica,
    replica_processes,
    wait_for_judges,
)
from tests.processes import tree, until

pytestmark = pytest.mark.fleet

NUM_COMPLETIONS = int(os.environ.get("FLEET_COMPLETIONS", "2000"))
NUM_PROGRAMS = int(os.environ.get("FLEET_PROGRAMS", "160"))
NUM_CLIENTS = 8
CALL_COMPLETIONS = 50
CALL_PROGRAMS = 8
KILL_SECONDS = 1.0
RETRY_SECONDS = 0.2
SPARE_DESCRIPTORS = 32
"""Descriptors that a gateway may have more than before: connections of Ray to new judges."""
TEXTS = (
    "<think>{word}</think><answer>{n}</answer>",
    "<think>{word}</think><answer>{n}1</answer>",
    r"{word}: \boxed{{{n}}}",
    "nothing, said {word}",
    "",
)
CODES = (
    "```python\nprint(input() + 'x')  # {n} {word}\n```",
    "```python\nprint(input())  # {n} {word}\n```",
    "```python\nraise SystemExit(3)  # {n} {word}\n```",
    "no program, said {word}",
)
STDIO = {"tests": {"type": "stdio", "cases": [{"stdin": "a\n", "stdout": "ax\n"}]}}
Facts = list[tuple[Any, ...]]


@dataclass
class Chaos:
    """Kills of a fleet's parts, and calls that were made again."""

    kills: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    """Calls that were made again, as clients do, by what they ended with: no response, status 503,
    or a `failed` verdict, as where no judge of a kind was left for a minute."""
    answers: Counter[str] = field(default_factory=Counter)
    """Calls that were answered, by kind."""


def body(kind: str, number: int) -> dict[str, Any]:
    """A request that no other number has, with a completion of each sort in an order of its own."""
    size, forms = (CALL_COMPLETIONS, TEXTS) if kind == "text" else (CALL_PROGRAMS, CODES)
    sorts = [forms[(number + place) % len(forms)] for place in range(size)]
    texts = [sort.format(n=number, word=word(place)) for place, sort in enumerate(sorts)]
    reference = {"answer": str(number)} if kind == "text" else STDIO
    names = ("accuracy", "format") if kind == "text" else ("code",)
    return {
        "verifiers": [{"type": name} for name in names],
        "groups": [{"reference": reference, "completions": texts}],
        "deadline_seconds": 600,
    }


def word(place: int) -> str:
    """A word that no other place has, without a digit, which would be an answer."""
    return f"{place:b}".translate(str.maketrans("01", "ab"))


def facts(response: httpx.Response) -> Facts:
    """The reward and the verdicts of each completion in order, without times."""
    [group] = response.json()["groups"]
    return [
        (one["reward"], *((name, v["outcome"], v["score"], v["reason"]) for name, v in verdicts))
        for one in group["completions"]
        for verdicts in [sorted(one["verdicts"].items())]
    ]


def alone(url: str, kind: str, number: int) -> Facts:
    """The verdicts of a single service on the completions of a request, each in a call alone."""
    asked = body(kind, number)
    [group] = asked["groups"]
    found = []
    for completion in group["completions"][: len(TEXTS if kind == "text" else CODES)]:
        one = asked | {"groups": [group | {"completions": [completion]}]}
        found += facts(httpx.post(f"{url}/v1/score", json=one, timeout=600))
    return [found[place % len(found)] for place in range(len(group["completions"]))]


def answered(url: str, asked: dict[str, Any], chaos: Chaos) -> httpx.Response:
    """The response with status 200, after as many tries as it takes."""
    while True:
        try:
            response = httpx.post(f"{url}/v1/score", json=asked, timeout=600)
        except httpx.TransportError as error:
            chaos.refusals[type(error).__name__] += 1
        else:
            if response.status_code == 200 and '"outcome":"failed"' not in response.text:
                return response
            if response.status_code != 200:
                assert response.status_code == 503, response.text
                assert "retry-after" in response.headers
            chaos.refusals["failed" if response.status_code == 200 else "503"] += 1
        time.sleep(RETRY_SECONDS)


@contextmanager
def killing(chaos: Chaos) -> Iterator[None]:
    """Kill a judge each second within the block, of texts and of programs in turns.

    A kind of which no call was answered since is left in peace: at a busy machine, judges that are
    killed as they come would never judge.
    """
    ended, seen = threading.Event(), Counter[str]()

    def kill() -> None:
        for kind in cycle(("text", "code")):
            if ended.wait(KILL_SECONDS):
                return
            if chaos.answers[kind] > seen[kind] and kill_replica(kind):
                seen[kind] = chaos.answers[kind]
                chaos.kills[kind] += 1

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        ended.set()
        killer.join()


def compared(
    url: str, calls: Sequence[tuple[str, int]], expected: Callable[..., Facts], chaos: Chaos
) -> Iterator[bool]:
    """Whether each call's verdicts are those expected, as they come."""

    def ask(call: tuple[str, int]) -> bool:
        found = facts(answered(url, body(*call), chaos))
        assert found == expected(*call), call
        chaos.answers[call[0]] += 1
        return True

    with ThreadPoolExecutor(NUM_CLIENTS) as clients:
        yield from clients.map(ask, calls)


def descriptors(processes: Sequence[int]) -> int:
    return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in processes)


def replica_counts() -> dict[str, int]:
    """Processes of replicas and all below them, by kind."""
    kinds = ("gateway", "text", "code")
    return {kind: sum(len(tree(pid)) for pid in replica_processes(kind)) for kind in kinds}


def test_chaos_loses_no_verdict(
    cluster: Cluster, fleet_urls: tuple[str, str], single_url: str
) -> None:
    for kind in ("text", "code"):
        wait_for_judges(kind, 2)
    num_calls = {"text": NUM_COMPLETIONS // CALL_COMPLETIONS, "code": NUM_PROGRAMS // CALL_PROGRAMS}
    calls = [(kind, number) for kind, num in num_calls.items() for number in range(num)]
    calls.sort(key=lambda call: call[1] / num_calls[call[0]])  # both kinds all the time
    # What a verdict says depends on the sort of completion, not on the number in it.
    verdicts = {
        (kind, number): alone(single_url, kind, number)
        for kind, forms in (("text", TEXTS), ("code", CODES))
        for number in range(len(forms))
    }
    forms = {"text": len(TEXTS), "code": len(CODES)}

    def expected(kind: str, number: int) -> Facts:
        return verdicts[kind, number % forms[kind]]

    chaos = Chaos()
    url = fleet_urls[0]
    list(compared(url, calls[:4], expected, chaos))  # all that is opened once, is open
    before, open_before = replica_counts(), descriptors(replica_processes("gateway"))
    start, num_answered = time.monotonic(), 0
    with killing(chaos):
        for is_equal in compared(url, calls, expected, chaos):
            num_answered += is_equal
            if num_answered == len(calls) // 4:
                cluster.remove_node(cluster.list_all_nodes()[-1])
                chaos.kills["node"] += 1
                # Not later: what is left may have no room for judges of one kind.
                cluster.add_node(num_cpus=NODE_CPUS)
            elif num_answered == 3 * len(calls) // 4:
                chaos.kills["gateway"] += kill_replica("gateway")
    seconds = time.monotonic() - start
    assert num_answered == len(calls)
    assert chaos.kills["node"] == chaos.kills["gateway"] == 1
    for kind in ("text", "code"):
        wait_for_judges(kind, 2)
    until(lambda: replica_counts() == before, seconds=240)
    until(
        lambda: descriptors(replica_processes("gateway")) <= open_before + SPARE_DESCRIPTORS,
        seconds=120,
    )
    print(  # noqa: T201
        f"\n{num_answered} calls in {seconds:.0f} s, killed {dict(chaos.kills)}, made again "
        f"{dict(chaos.refusals)}; descriptors of the gateway {open_before} before, "
        f"{descriptors(replica_processes('gateway'))} after; processes {before}"
    )
