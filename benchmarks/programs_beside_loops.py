"""Right programs among endless loops and sleepers: the time until they are done, and until all are.

64 right programs are sent at once, alone and then with 8 loops and 2 sleepers among them: over
SandboxFusion's protocol as verl sends them (a request each, 504 is tried again), and over
`/v1/score` in one request whose groups are streamed. The peer starts a process for each program at
once, as SandboxFusion's server does, with the same limits and without a sandbox. They take turns.

    python benchmarks/programs_beside_loops.py [--rounds 5] [--load 24]

Run it with nothing else on the machine, or with `--load`, beside so many busy processes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx

from trainer_client.service_process import running_service

NUM_RIGHT, NUM_LOOPS, NUM_SLEEPERS = 64, 8, 2
LOOP, SLEEPER = "while True: pass", "import time; time.sleep(60)"
RUN_SECONDS = 3.0
"""`run_timeout` of `/run_code`: time by the clock."""
CPU_SECONDS, WALL_SECONDS = 1.0, 6.0
"""Limits of the verifier `code`: its `cpu_seconds`, and what follows from it."""
# Ends with this script, however that ends.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(1_000_000))"
NUM_TRIES = 3
STREAM = {"Accept": "application/x-ndjson"}


class Program(NamedTuple):
    """A program, and what it prints if it is a right one."""

    source: str
    stdout: str | None


class Answer(NamedTuple):
    """The answer about a program: `right`, `time`, or what else came."""

    program: Program
    found: str
    seconds: float
    """Time since the batch was sent."""


Send = Callable[[list[Program]], Awaitable[list[Answer]]]


def batch(number: int, *, with_loops: bool) -> list[Program]:
    """The programs of a batch in random order. No two batches share one, so that none is cached."""
    right = [number * NUM_RIGHT + n for n in range(NUM_RIGHT)]
    found = [Program(f"print(int(input()) ** 2 + {n})", str(9 + n)) for n in right]
    if with_loops:
        sources = [LOOP] * NUM_LOOPS + [SLEEPER] * NUM_SLEEPERS
        found += [Program(f"{one}  # {number}, {n}", None) for n, one in enumerate(sources)]
    random.Random(number).shuffle(found)
    return found


async def over_run_code(url: str, programs: list[Program]) -> list[Answer]:
    """Send as verl does."""
    start = time.perf_counter()

    async def one(http: httpx.AsyncClient, program: Program) -> Answer:
        seconds = {"compile_timeout": RUN_SECONDS, "run_timeout": RUN_SECONDS}
        body = {"code": program.source, "stdin": "3\n", "language": "python", **seconds}
        found = "504"
        for _ in range(NUM_TRIES):
            response = await http.post("/run_code", json=body)
            if response.status_code != 504:
                run = response.raise_for_status().json()["run_result"]
                found = found_in(program, run["stdout"], run["status"] == "TimeLimitExceeded")
                break
        return Answer(program, found, time.perf_counter() - start)

    async with httpx.AsyncClient(base_url=url, timeout=600) as http:
        return await asyncio.gather(*(one(http, program) for program in programs))


async def over_score(url: str, programs: list[Program]) -> list[Answer]:
    """Send one request, and take each verdict when it comes."""
    start = time.perf_counter()
    groups = [
        {
            "reference": {"tests": {"type": "stdio", "cases": [case_of(program)]}},
            "completions": [f"```python\n{program.source}\n```"],
        }
        for program in programs
    ]
    body = {"verifiers": [{"type": "code", "cpu_seconds": CPU_SECONDS}], "groups": groups}
    answers = []
    async with (
        httpx.AsyncClient(base_url=url, timeout=600) as http,
        http.stream("POST", "/v1/score", json=body, headers=STREAM) as response,
    ):
        async for line in response.aiter_lines():
            group = json.loads(line)
            if "completions" not in group:
                continue
            (verdict,) = group["completions"][0]["verdicts"].values()
            known = {"passed": "right", "time_limit_exceeded": "time"}
            found = known.get(verdict["reason"], verdict["reason"])
            seconds = time.perf_counter() - start
            answers.append(Answer(programs[group["index"]], found, seconds))
    return answers


def case_of(program: Program) -> dict[str, str]:
    """The test of a program."""
    return {"stdin": "3\n", "stdout": program.stdout or "never printed"}


async def over_subprocesses(
    wall_seconds: float, cpu_seconds: float, programs: list[Program]
) -> list[Answer]:
    """The peer."""
    start = time.perf_counter()
    limit = int(cpu_seconds)

    async def one(program: Program) -> Answer:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", program.source),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )
        output = b""
        try:
            async with asyncio.timeout(wall_seconds):
                output, _ = await process.communicate(b"3\n")
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):  # it has ended just now
                process.kill()
            await process.communicate()
        found = found_in(program, output.decode(), (process.returncode or 0) < 0)
        return Answer(program, found, time.perf_counter() - start)

    return await asyncio.gather(*map(one, programs))


def found_in(program: Program, stdout: str, is_timeout: bool) -> str:
    """The answer that the end of a run amounts to."""
    if is_timeout:
        return "time"
    return "right" if stdout.strip() == program.stdout else "wrong"


class Times(NamedTuple):
    """Seconds of a round."""

    alone: float
    """Seconds until the right programs are done, without others."""
    among: float
    """Seconds until the right programs are done, among others."""
    all: float


async def one_round(send: Send, number: int, answers: Counter[str]) -> Times:
    """Send the right programs, and then others like them among loops and sleepers."""
    alone = await send(batch(2 * number, with_loops=False))
    among = await send(batch(2 * number + 1, with_loops=True))
    for answer in alone + among:
        kind = "right" if answer.program.stdout is not None else "looping"
        answers[f"{kind}: {answer.found}"] += 1
    right = [answer.seconds for answer in among if answer.program.stdout is not None]
    seconds = [answer.seconds for answer in among]
    return Times(max(answer.seconds for answer in alone), max(right), max(seconds))


@contextlib.contextmanager
def busy(num_processes: int) -> Iterator[None]:
    """Processes that use the processors meanwhile."""
    spinning = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(num_processes)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


async def measure(ways: dict[str, Send], num_rounds: int) -> None:
    """Print a line for each way; the ways take turns."""
    times: dict[str, list[Times]] = {name: [] for name in ways}
    answers: dict[str, Counter[str]] = {name: Counter() for name in ways}
    for send in ways.values():  # the first loops have the service start spare workers
        await one_round(send, -1, Counter())
    for number in range(num_rounds):
        print(f"round {number + 1} of {num_rounds}", file=sys.stderr, flush=True)
        for name, send in ways.items():
            times[name].append(await one_round(send, number, answers[name]))
    for name, found in times.items():
        alone, among, whole = (statistics.median(column) for column in zip(*found, strict=True))
        ratio = statistics.median(one.among / one.alone for one in found)
        row = f"{alone:9.3f} {among:9.3f} {ratio:6.2f} {whole:9.3f}"
        print(f"{name:24} {row}  {dict(sorted(answers[name].items()))}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--load", type=int, default=0, help="busy processes beside")
    arguments = parser.parse_args()
    print(f"{'seconds until done':24} {'alone':>9} {'among':>9} {'ratio':>6} {'all':>9}  answers")
    with (
        tempfile.TemporaryDirectory() as directory,
        running_service(Path(directory) / "log") as url,
        busy(arguments.load),
    ):
        ways: dict[str, Send] = {
            "/run_code": partial(over_run_code, url),
            "subprocesses": partial(over_subprocesses, RUN_SECONDS, RUN_SECONDS + 1),
            "/v1/score": partial(over_score, url),
            "subprocesses, CPU time": partial(over_subprocesses, WALL_SECONDS, CPU_SECONDS),
        }
        asyncio.run(measure(ways, arguments.rounds))


if __name__ == "__main__":
    main()
