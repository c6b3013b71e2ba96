"""Programs of each language, compiled and run, beside the plain toolchain in `subprocess.run`.

The peer is what people type (`g++ -O2`, `rustc -O`, `node main.js`), and confines nothing. Both run
the same program on the same input, in turns: one run at a time, whose time is shown, then four at a
time, the peer's from four threads. A run is one of a program that is compiled already; the
compilation has a column of its own. Times are on the clock; the ratios are runs per second of ours
to those of the peer, medians of the rounds. Run it with nothing else on the machine:

    python benchmarks/languages.py

Names of languages after it choose some; without, all that are installed are measured.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tests.languages.programs import PROGRAMS
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.sandbox.execution import Limits, Program
from verifier_service.sandbox.runner import Runner

NUM_ROUNDS, NUM_RUNS = 5, 10
NUM_AT_ONCE = 4
STDIN, STDOUT = b"3\n1 2 3\n", b"6"
LIMITS = Limits(cpu_seconds=20, wall_seconds=60)


@dataclass(frozen=True)
class Peer:
    """How people compile and run a program."""

    file: str
    run: tuple[str, ...]
    compile: tuple[tuple[str, ...], ...] = ()


PEERS = {
    "bash": Peer("main.sh", ("bash", "main.sh")),
    "c": Peer("main.c", ("./main",), (("gcc", "-O2", "-w", "main.c", "-o", "main"),)),
    "cpp": Peer(
        "main.cpp", ("./main",), (("g++", "-std=gnu++20", "-O2", "-w", "main.cpp", "-o", "main"),)
    ),
    "csharp": Peer("main.cs", ("mono", "main.exe"), (("mcs", "main.cs"),)),
    "d": Peer("main.d", ("./main",), (("gdc", "-O2", "main.d", "-o", "main"),)),
    "fortran": Peer("main.f90", ("./main",), (("gfortran", "-O2", "main.f90", "-o", "main"),)),
    "go": Peer(
        "main.go",
        ("./main",),
        (
            ("/usr/lib/go-1.19/bin/go", "tool", "compile", "-o", "main.a", "-p", "main", "main.go"),
            ("/usr/lib/go-1.19/bin/go", "tool", "link", "-o", "main", "main.a"),
        ),
    ),
    "haskell": Peer("main.hs", ("./main",), (("ghc", "-O2", "main.hs", "-o", "main"),)),
    "java": Peer("Sum.java", ("java", "Sum"), (("javac", "Sum.java"),)),
    "javascript": Peer("main.js", ("node", "main.js")),
    "kotlin": Peer(
        "main.kt",
        ("java", "-cp", ".:/usr/share/java/kotlin-stdlib.jar", "MainKt"),
        (("kotlinc", "main.kt"),),
    ),
    "lua": Peer("main.lua", ("lua5.4", "main.lua")),
    "perl": Peer("main.pl", ("perl", "main.pl")),
    "php": Peer("main.php", ("php", "main.php")),
    "python": Peer("main.py", (sys.executable, "-I", "main.py")),
    "r": Peer("main.R", ("Rscript", "main.R")),
    "racket": Peer("main.rkt", ("racket", "main.rkt")),
    "ruby": Peer("main.rb", ("ruby", "main.rb")),
    "rust": Peer("main.rs", ("./main",), (("/usr/bin/rustc", "--edition=2021", "-O", "main.rs"),)),
    "scala": Peer("main.scala", ("scala", "Solution"), (("scalac", "main.scala"),)),
    "typescript": Peer(
        "main.ts",
        ("node", "main.js"),
        # With an option that skips the check of types, as far as tsc has one.
        (("tsc", "--isolatedModules", "--noResolve", "--skipLibCheck", "main.ts"),),
    ),
    "verilog": Peer(
        "main.sv", ("vvp", "-n", "main"), (("iverilog", "-g2012", "-o", "main", "main.sv"),)
    ),
}
PYTHON = "print(sum(map(int, open(0).read().split()[1:])))"


def main() -> None:
    """Print a row for each language."""
    asked = sys.argv[1:] or sorted(PEERS)
    print(f"{'':12}{'compile, ms':>22}{'run, ms':>22}{'runs/s of ours to the peer':>28}")
    titles = (f"{'ours':>11}{'peer':>11}" * 2) + f"{'one at a time':>16}{'four':>12}"
    print(f"{'language':12}{titles}")
    with asyncio.Runner() as loop:
        runner = Runner(NUM_AT_ONCE, tools=language_tools)
        loop.run(runner.__aenter__())
        try:
            for name in asked:
                missing = loop.run(LANGUAGES[name].missing(runner))
                print(missing or measured(loop, runner, name), flush=True)
        finally:
            loop.run(runner.__aexit__(None, None, None))


def measured(loop: asyncio.Runner, runner: Runner, name: str) -> str:
    """The row of a language."""
    source = PROGRAMS[name]["right"] if name in PROGRAMS else PYTHON
    language, peer = LANGUAGES[name], PEERS[name]
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, peer.file).write_text(source)

        def build() -> Program:
            built = loop.run(language.build(runner, source.encode()))
            assert isinstance(built, Program), built
            return replace(built, stdin=STDIN)

        def build_of_peer() -> None:
            for command in peer.compile:
                if shutil.which(command[0]) is not None:
                    subprocess.run(command, cwd=directory, capture_output=True, check=False)

        compiling, building = (min(seconds(work), seconds(work)) for work in (build, build_of_peer))
        if not Path(directory, "main.js").exists() and name == "typescript":
            return f"{name:12} needs tsc for its peer"
        program, limits = build(), language.run_limits(LIMITS)

        async def run() -> None:
            assert (await runner.run(program, limits)).stdout.strip() == STDOUT

        async def run_some() -> None:
            for _ in range(NUM_RUNS):
                await run()

        async def run_at_once() -> None:
            await asyncio.gather(*(run_some() for _ in range(NUM_AT_ONCE)))

        def run_of_peer(_: object = None) -> None:
            done = subprocess.run(
                peer.run, cwd=directory, input=STDIN, capture_output=True, check=True
            )
            assert done.stdout.strip() == STDOUT

        def run_of_peer_at_once() -> None:
            list(threads.map(run_of_peer, range(NUM_AT_ONCE * NUM_RUNS)))

        def run_of_peer_some() -> None:
            for _ in range(NUM_RUNS):
                run_of_peer()

        with ThreadPoolExecutor(NUM_AT_ONCE) as threads:
            single = in_turns(lambda: loop.run(run_some()), run_of_peer_some)
            at_once = in_turns(lambda: loop.run(run_at_once()), run_of_peer_at_once)
    ours, theirs = (
        1000 * statistics.median(column) / NUM_RUNS for column in zip(*single, strict=True)
    )
    compiled = f"{1000 * compiling:11.0f}{1000 * building:11.0f}" if peer.compile else " " * 22
    ratios = f"{ratio(single):16.2f}{ratio(at_once):12.2f}"
    return f"{name:12}{compiled}{ours:11.1f}{theirs:11.1f}{ratios}"


def in_turns(ours: Callable[[], object], theirs: Callable[[], object]) -> list[tuple[float, float]]:
    """Seconds of each, in rounds after one that warms up."""
    return [(seconds(ours), seconds(theirs)) for _ in range(NUM_ROUNDS + 1)][1:]


def ratio(rounds: list[tuple[float, float]]) -> float:
    """How many runs of ours take the time of one of theirs; the median of the rounds."""
    return statistics.median(theirs / ours for ours, theirs in rounds)


def seconds(work: Callable[[], object]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
