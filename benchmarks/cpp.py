"""C++ programs compiled and run, beside plain g++ and `subprocess.run`, which confine nothing.

The peer links dynamically, as people do, and runs the same programs on the same input. Times are of
one compilation, or one run, at a time. Run it with nothing else on the machine:

    python benchmarks/cpp.py

Needs g++.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from verifier_service.code.languages import LANGUAGES, tools
from verifier_service.sandbox.execution import Limits, Program
from verifier_service.sandbox.runner import Runner

SQUARE = "int main() {{ long long n; {read}; {write}; }}"
PROGRAMS = {
    "cstdio": "#include <cstdio>\n"
    + SQUARE.format(read='std::scanf("%lld", &n)', write='std::printf("%lld", n * n)'),
    "iostream": "#include <iostream>\n"
    + SQUARE.format(read="std::cin >> n", write="std::cout << n * n"),
    "bits/stdc++.h": "#include <bits/stdc++.h>\n"
    + SQUARE.format(read="std::cin >> n", write="std::cout << n * n"),
}
STDIN, STDOUT = b"12", b"144"
NUM_COMPILATIONS, NUM_RUNS = 10, 100
PEER_OPTIONS = ("-std=gnu++20", "-O2", "-w")


def main() -> None:
    """Print a row for each program."""
    with asyncio.Runner() as loop:
        runner = Runner(1, tools=tools)
        loop.run(runner.__aenter__())
        try:
            message = loop.run(LANGUAGES["cpp"].missing(runner))
            if message is not None:
                raise SystemExit(message)
            print(f"{'':16}{'compile, ms':>32}{'run, ms':>28}")
            print(f"{'program':16}{'ours':>12}{'g++':>12}{'x':>8}{'ours':>10}{'plain':>10}{'x':>8}")
            for name, source in PROGRAMS.items():
                (compiling, running), (g, plain) = ours(loop, runner, source), peers(source)
                print(
                    f"{name:16}{compiling:12.0f}{g:12.0f}{compiling / g:8.2f}"
                    f"{running:10.1f}{plain:10.1f}{running / plain:8.2f}"
                )
        finally:
            loop.run(runner.__aexit__(None, None, None))


def ours(loop: asyncio.Runner, runner: Runner, source: str) -> tuple[float, float]:
    """Milliseconds of a compilation and of a run."""
    programs: list[Program] = []

    def build() -> None:
        built = loop.run(LANGUAGES["cpp"].build(runner, source.encode()))
        assert isinstance(built, Program)
        programs.append(replace(built, stdin=STDIN))

    def run() -> None:
        assert loop.run(runner.run(programs[-1], Limits())).stdout == STDOUT

    return median(build, NUM_COMPILATIONS), median(run, NUM_RUNS)


def peers(source: str) -> tuple[float, float]:
    """Milliseconds of a compilation and of a run."""
    with tempfile.TemporaryDirectory() as directory:
        path, program = Path(directory) / "main.cpp", Path(directory) / "main"
        path.write_text(source)

        def build() -> None:
            subprocess.run(["g++", *PEER_OPTIONS, str(path), "-o", str(program)], check=True)

        def run() -> None:
            result = subprocess.run([program], input=STDIN, capture_output=True, check=True)
            assert result.stdout == STDOUT

        return median(build, NUM_COMPILATIONS), median(run, NUM_RUNS)


def median(work: Callable[[], None], num_calls: int) -> float:
    """Milliseconds of the middle one of some calls, after one that is not counted."""
    seconds = []
    for _ in range(num_calls + 1):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds[1:])


if __name__ == "__main__":
    main()
