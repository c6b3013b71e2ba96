"""Throughput of `answer_judge` where 5% are open, beside rules alone; and who decides about texts.

A call costs CPU time of the API process, which is measured beside the same calls by httpx. Then
10,000 completions whose answers are words in one of twenty are judged in turn by `accuracy`, by
`answer_judge` of a service without a model (its rules alone), and by `answer_judge` of one with a
stand-in endpoint that takes 100 ms for a reply about the words: completions of 400 and of 6,000
characters, in 40 requests of which eight are under way. The endpoint of a training run is on
another machine, so half of the cores are the services', and the stand-in and the caller have the
other half. The completions of each round are new, so that no cache helps. With the free-text set of
shared/data beside the repository, the answers that rules leave open are counted by what people said
of them.

    python benchmarks/answer_judge.py [--rounds 10]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import msgspec

from tests.shared_data import SharedDataMissing, read_shared_data
from trainer_client.service_process import running_service
from verifier_service.completion import Completion
from verifier_service.model_judge.asking import Asking
from verifier_service.model_judge.endpoints import Endpoint
from verifier_service.model_judge.judge_options import JudgeOptions
from verifier_service.model_judge.model_judge import ModelJudge
from verifier_service.model_judge.models import Models
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.model_judge.templates import (
    read_pair_template,
    read_rubric_template,
    read_template,
)
from verifier_service.verifier import Undecided, Unverifiable
from verifier_service.verifiers.answer_judge import AnswerJudge

NUM_COMPLETIONS = 10_000
GROUP_SIZE = 10
OPEN_SHARE = 0.05
NUM_STEPS = (20, 350)
"""Steps of reasoning in a completion, of which each takes 17 characters."""
NUM_REQUESTS = 40
REQUESTS_AT_ONCE = 8
ROUNDS = 5
REPLY_SECONDS = 0.1
CALLS_AT_ONCE = 256
NUM_CALLS = 1000
STANDIN = "tests.judge_endpoint"


def requests(number: int, verifier: str, num_steps: int) -> list[bytes]:
    """Bodies of requests whose completions no other round has: right, wrong, and in words."""
    draw = random.Random(number)
    groups = []
    for index in range(NUM_COMPLETIONS // GROUP_SIZE):
        answer = draw.randrange(10**6)
        completions = []
        for place in range(GROUP_SIZE):
            name = f"{number}-{index}-{place}"
            given = answer if draw.random() < 0.5 else answer + 1
            text = f"the number of the house {name}" if draw.random() < OPEN_SHARE else given
            steps = " ".join(f"Step {step}: add {draw.randrange(99)}." for step in range(num_steps))
            completions.append(f"<think>{name} {steps}</think> <answer>{text}</answer>")
        groups.append({"reference": {"answer": str(answer)}, "completions": completions})
    size = len(groups) // NUM_REQUESTS
    return [
        msgspec.json.encode(
            {"verifiers": [{"type": verifier}], "groups": groups[first : first + size]}
        )
        for first in range(0, len(groups), size)
    ]


def cpu_seconds(marker: str) -> float:
    """CPU seconds of this process's descendants, without those whose command has a marker."""
    parents: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        try:
            if not folder.name.isdigit() or marker in (folder / "cmdline").read_text():
                continue
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents.setdefault(int(fields[1]), []).append(int(folder.name))
        ticks = sum(map(int, fields[11:15]))  # its own, and those of children that have ended
        seconds[int(folder.name)] = ticks / os.sysconf("SC_CLK_TCK")
    waiting, total = parents.get(os.getpid(), []), 0.0
    while waiting:
        number = waiting.pop()
        total += seconds[number]
        waiting += parents.get(number, [])
    return total


def seconds_of(http: httpx.Client, verifier: str, bodies: list[bytes]) -> tuple[float, float]:
    """Wall and CPU seconds of requests in the service; prints who decided."""
    headers = {"Content-Type": "application/json"}
    start, before = time.perf_counter(), cpu_seconds(STANDIN)
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        responses = list(
            pool.map(lambda body: http.post("/v1/score", content=body, headers=headers), bodies)
        )
    seconds, cpu = time.perf_counter() - start, cpu_seconds(STANDIN) - before
    groups = [group for response in responses for group in response.json()["groups"]]
    found = [one["verdicts"][verifier] for group in groups for one in group["completions"]]
    deciders = Counter(
        f"{one['outcome']} by {one.get('details', {}).get('by', 'rules')}" for one in found
    )
    print(f"{verifier:>12}: {seconds:.2f} s, {cpu:.2f} s of CPU  {dict(deciders)}")
    return seconds, cpu


def measure_calls() -> None:
    """Print the CPU milliseconds of a call, and of the same call by httpx."""
    with standin(0.02) as url:
        options = JudgeOptions(
            endpoints=(Endpoint(url),),
            model="standin",
            template=read_template("yes_no"),
            rubric_template=read_rubric_template("yes_no"),
            pair_template=read_pair_template("a_b_tie"),
            num_calls_at_once=CALLS_AT_ONCE,
        )
        ours, theirs = [], []
        for number in range(ROUNDS + 1):
            found = asyncio.run(_ask(options, number)), asyncio.run(_ask_by_httpx(options, number))
            if number > 0:  # the first round warms up
                ours.append(found[0])
                theirs.append(found[1])
    call, peer = median(ours), median(theirs)
    print(f"CPU of a question {call:.2f} ms, of its call alone by httpx {peer:.2f} ms")
    print(f"ratio {peer / call:.1f}")


def _questions(number: int) -> list[OpenAnswer]:
    return [OpenAnswer(["Paris"], f"the town {number}-{place}") for place in range(NUM_CALLS)]


async def _ask(options: JudgeOptions, number: int) -> float:
    """CPU milliseconds of a question to the judge."""
    async with Asking(options) as asking:
        models = Models(judge=ModelJudge(options, asking))
        encoded = [msgspec.json.encode(one).decode() for one in _questions(number)]
        start = time.process_time()
        found = await asyncio.gather(*map(models.ask, encoded))
        seconds = time.process_time() - start
    assert {one.outcome.value for one in found} == {"scored"}
    return seconds / NUM_CALLS * 1000


async def _ask_by_httpx(options: JudgeOptions, number: int) -> float:
    """CPU milliseconds of the same call by httpx: a client for each call under way."""
    bodies = [
        {
            "model": "standin",
            "messages": options.template.messages(one, mark="0" * 24, swapped=False),
            "temperature": 0,
            "max_tokens": 8,
        }
        for one in _questions(number)
    ]
    url = f"{options.endpoints[0].url}/chat/completions"
    certificates = httpx.create_ssl_context()
    clients = [httpx.AsyncClient(timeout=60, verify=certificates) for _ in range(CALLS_AT_ONCE)]
    start = time.process_time()

    async def ask_some(client: httpx.AsyncClient, some: list[dict[str, Any]]) -> None:
        for body in some:
            (await client.post(url, json=body)).raise_for_status()

    await asyncio.gather(
        *(ask_some(one, bodies[place::CALLS_AT_ONCE]) for place, one in enumerate(clients))
    )
    seconds = time.process_time() - start
    for client in clients:
        await client.aclose()
    return seconds / NUM_CALLS * 1000


@contextmanager
def standin(seconds: float) -> Iterator[str]:
    """The URL of a stand-in in a process of its own, which says no after some time."""
    command = [sys.executable, "-m", STANDIN, "--seconds", str(seconds)]
    command += ["--mode", "says_no"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as endpoint:
        try:
            assert endpoint.stdout is not None
            yield endpoint.stdout.readline().strip()
        finally:
            endpoint.terminate()


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """This process, and those that it starts meanwhile, on some cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def service_on(cores: set[int], folder: Path, *flags: str) -> Iterator[httpx.Client]:
    """A client of a new service on some cores alone, which has a worker for each."""
    with ExitStack() as stack:
        with on_cores(cores):
            url = stack.enter_context(running_service(folder, *flags))
        yield stack.enter_context(httpx.Client(base_url=url, timeout=600))


def measure_throughput(num_rounds: int) -> None:
    """Print the completions a second of each kind of request, and their ratio."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("needs two cores: one for the services, one for the endpoint and the caller")
    ours, others = set(cores[: len(cores) // 2]), set(cores[len(cores) // 2 :])
    print(f"cores: {len(ours)} for the services, {len(others)} for the endpoint and the caller")
    with (
        on_cores(others),
        standin(REPLY_SECONDS) as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        flags = [*("--judge-url", url, "--judge-model", "standin")]
        flags += ["--judge-calls-at-once", str(CALLS_AT_ONCE)]
        with (
            service_on(ours, Path(folder, "alone")) as rules,
            service_on(ours, Path(folder, "asking"), *flags) as model,
        ):
            ways = {
                "accuracy": (rules, "accuracy"),
                "rules alone": (rules, "answer_judge"),
                "with a model": (model, "answer_judge"),
            }
            _measure(ways, num_rounds)


def _measure(ways: dict[str, tuple[httpx.Client, str]], num_rounds: int) -> None:
    numbers = itertools.count()
    for num_steps in NUM_STEPS:
        print(f"{num_steps} steps in a completion")
        found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for number in range(num_rounds + 1):
            order = list(ways.items())[:: 1 if number % 2 == 0 else -1]
            for way, (http, verifier) in order:
                bodies = requests(next(numbers), verifier, num_steps)
                found[way].append(seconds_of(http, verifier, bodies))
        times = {way: every[1:] for way, every in found.items()}  # the first round warms up
        asked = times.pop("with a model")
        for way, rules in times.items():
            _print_ratios(way, rules, asked)


def _print_ratios(
    way: str, rules: list[tuple[float, float]], asked: list[tuple[float, float]]
) -> None:
    rates = (NUM_COMPLETIONS / median(seconds for seconds, _ in times) for times in (rules, asked))
    print("beside {}: {:,.0f} completions/s, with a model {:,.0f}/s".format(way, *rates))
    for place, kind in enumerate(("of completions/s", "of CPU time")):
        found = [one[place] / other[place] for one, other in zip(rules, asked, strict=True)]
        print(f"ratio {kind} {median(found):.2f} (from {min(found):.2f} to {max(found):.2f})")


def count_deciders() -> None:
    """Print who decides about the free-text set, for answers that people accept and refuse."""
    try:
        rows = read_shared_data("math/pairs_evouna_text.jsonl")
    except SharedDataMissing as missing:
        print(missing)
        return
    counts: Counter[tuple[bool, str]] = Counter()
    for row in rows:
        answers = [one for one in row["gold"].split("/") if any(map(str.isalnum, one))]
        try:
            found = AnswerJudge().prepare({"answer": answers})(Completion(row["answer"]))
        except Unverifiable as error:
            counts[row["label"], error.reason.value] += 1
            continue
        by = "asked" if isinstance(found, Undecided) else f"{found.reason.value} by rules"
        counts[row["label"], by] += 1
    for (label, by), number in sorted(counts.items()):
        print(f"{'accepted' if label else 'refused'} by people, {by}: {number}")


def main() -> None:
    """Measure, and print, all three."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of throughput, in turns")
    num_rounds = parser.parse_args().rounds
    count_deciders()
    measure_calls()
    measure_throughput(num_rounds)


if __name__ == "__main__":
    main()
