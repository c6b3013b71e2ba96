"""Languages of programs: how each is compiled and run.

| language | compiled by | run as |
|---|---|---|
| `python` | the process that runs it | source |
| `cpp` | cc1plus, as and ld, one sandboxed process each, once per program | a static binary |

The compiler's driver, g++, is not run on programs: it starts other processes, and a sandboxed
process may start none. It is asked once for the commands that it would start (`g++ -###`).
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeGuard

from verifier_service.sandbox.entries import OUTPUT_FILE, tool_payload
from verifier_service.sandbox.execution import Execution, Limits, Program, SandboxError, Tools

if TYPE_CHECKING:
    from verifier_service.sandbox.runner import Runner

LanguageName = Literal["python", "cpp"]

COMPILE_LIMITS = Limits(
    cpu_seconds=15,
    wall_seconds=60,
    memory_bytes=2**30,
    output_bytes=2**16,
    file_bytes=64 * 2**20,
    num_threads=1,
)
"""Limits on all steps of a compilation together."""
MIN_SECONDS = 0.01
"""Least time limit. A step whose time is used up before it starts gets this and is ended by it."""

NO_FILES: Mapping[str, bytes] = {}
_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
_QUERY_SECONDS = 30.0
_OPTIONS = (
    *("-x", "c++", "-std=gnu++20", "-O2", "-w", "-static", "-s", "-DONLINE_JUDGE"),
    *("-fmax-errors=20", "-fdiagnostics-color=never"),
)
_MINIMAL_PROGRAM = b"#include <iostream>\nint main() { std::cout << 1; }\n"


@dataclass(frozen=True)
class CompileFailure:
    """A program could not be compiled."""

    message: str
    execution: Execution
    """The step that failed."""


@dataclass(frozen=True)
class Language:
    """A language of programs."""

    tags: tuple[str, ...]
    """Tags of fenced blocks, in lower case."""
    has_calls: bool
    """Whether tests can call functions of a program."""
    compiler: Gxx | None = None
    """Compiler that is run before the program; None where the program's own process compiles it."""

    async def missing(self, runner: Runner) -> str | None:
        """Advice on what to install on this machine, or None. Raises SandboxError."""
        return None if self.compiler is None else await self.compiler.missing(runner)

    async def build(
        self,
        runner: Runner,
        source: bytes,
        limits: Limits = COMPILE_LIMITS,
        files: Mapping[str, bytes] = NO_FILES,
    ) -> Program | CompileFailure:
        """Make a program that can be run any number of times.

        Args:
            runner: has the tools of this module.
            source: source of the program.
            limits: limits on the compiler, if the language has one.
            files: files that the source may include.

        Raises:
            SandboxError: the program could not be compiled, which is our failure.
        """
        if self.compiler is None:
            return Program(payload=source)
        return await self.compiler.build(runner, source, limits, files)


@dataclass(frozen=True)
class Step:
    """One tool of a compilation: it reads a file and writes `OUTPUT_FILE`.

    Args:
        arguments: the tool's arguments, of which the first is its path.
        input_name: name of the file that the tool reads.
    """

    arguments: tuple[str, ...]
    input_name: str


@dataclass(frozen=True)
class Toolchain:
    """The tools that make a program of a source, in order."""

    steps: tuple[Step, ...]
    tools: Tools


class ToolchainError(Exception):
    """The toolchain is missing or incomplete; the message says what to install."""


class Gxx:
    """g++, which links statically, so that running a program needs no file but its own."""

    def __init__(self) -> None:
        self._problem: str | None = None
        self._is_checked = False

    async def missing(self, runner: Runner) -> str | None:
        """Advice on what to install, or None. The first call tries g++. Raises SandboxError."""
        if not self._is_checked:
            self._problem = await self._check(runner)
            self._is_checked = True
        return self._problem

    async def _check(self, runner: Runner) -> str | None:
        try:
            await asyncio.to_thread(toolchain)
        except ToolchainError as error:
            return str(error)
        built = await _compile(runner, _MINIMAL_PROGRAM, COMPILE_LIMITS, NO_FILES)
        if isinstance(built, Execution):
            run = built
        else:
            run = await runner.run(built, COMPILE_LIMITS)
            if run.succeeded and run.stdout == b"1":
                return None
        if run.exit_code is None:  # a limit or a signal ended it, which may not happen next time
            raise SandboxError(f"g++ does not work in the sandbox: {_why(run)}")
        return f"g++ does not work in the sandbox: {_why(run)}"

    async def build(
        self, runner: Runner, source: bytes, limits: Limits, files: Mapping[str, bytes]
    ) -> Program | CompileFailure:
        """Compile, assemble and link, together within the limits. See `Language.build`."""
        built = await _compile(runner, source, limits, files)
        return built if isinstance(built, Program) else CompileFailure(_why(built), built)


async def _compile(
    runner: Runner, content: bytes, limits: Limits, files: Mapping[str, bytes]
) -> Program | Execution:
    """The program, or the execution of the step that failed; limits hold for all steps together."""
    for step in toolchain().steps:
        payload = tool_payload(step.arguments, step.input_name, content)
        tool = Program(payload=payload, entry="tool", files=files, fetched_files=(OUTPUT_FILE,))
        run = await runner.run(tool, limits)
        if not run.succeeded or OUTPUT_FILE not in run.files:
            return run
        content, files = run.files[OUTPUT_FILE], {}
        limits = dataclasses.replace(
            limits,
            cpu_seconds=max(limits.cpu_seconds - run.cpu_seconds, MIN_SECONDS),
            wall_seconds=max(
                limits.wall_seconds - run.wall_seconds + run.waited_seconds, MIN_SECONDS
            ),
        )
    return Program(payload=content, entry="binary")


LANGUAGES: dict[str, Language] = {
    "python": Language(tags=("python", "py", "python3"), has_calls=True),
    "cpp": Language(tags=("cpp", "c++", "cc", "cxx"), has_calls=False, compiler=Gxx()),
}


def is_language(name: str) -> TypeGuard[LanguageName]:
    """Whether a name is that of a language."""
    return name in LANGUAGES


def tools() -> Tools:
    """Tools of the compilers of all languages, for the `Runner`. Raises ToolchainError."""
    return toolchain().tools


@functools.cache
def gxx_version() -> str:
    """Version of the compiler, such as 12.2.0.

    Raises:
        ToolchainError: g++ is missing or does not tell. The cache does not keep this.
    """
    return _ask(_driver(), "-dumpfullversion")


@functools.cache
def toolchain() -> Toolchain:
    """The toolchain of C++.

    Raises:
        ToolchainError: the toolchain, or a part of it, is missing.
    """
    driver = _driver()
    archive = Path(_ask(driver, "-print-file-name=libc.a"))
    if not archive.is_absolute():
        raise ToolchainError(
            "g++ has no static C library: install it (Fedora: dnf install glibc-static "
            "libstdc++-static), then start the service again"
        )
    commands = _commands(driver)
    linker = _located(_ask(driver, "-print-prog-name=ld"))
    install = Path(_ask(driver, "-print-file-name=libgcc.a")).resolve().parent
    library_directories = [install, archive.resolve().parent]
    steps = _steps(commands, linker, library_directories)
    programs = [Path(step.arguments[0]) for step in steps]
    libraries = sorted({path for program in programs for path in _shared_libraries(program)})
    loaders = [path for path in libraries if path.name.startswith(("ld-linux", "ld-musl"))]
    readable = [*library_directories, *_include_directories(driver), *libraries]
    caches = [path for path in (Path("/etc/ld.so.cache"),) if path.exists()]
    return Toolchain(
        steps,
        Tools(executable=(*programs, *loaders), readable=tuple(dict.fromkeys(readable + caches))),
    )


def _driver() -> str:
    """The path of g++. Raises ToolchainError."""
    driver = shutil.which("g++", path=_SEARCH_PATH)
    if driver is None:
        raise ToolchainError(
            f"no g++ in {_SEARCH_PATH}: install it (Debian and Ubuntu: apt install g++), "
            "then start the service again"
        )
    return driver


def _steps(
    commands: list[list[str]], linker: str, library_directories: list[Path]
) -> tuple[Step, ...]:
    """The driver's commands with our file names, and with ld instead of its wrapper collect2."""
    if len(commands) != 3:
        raise ToolchainError(f"g++ would start {len(commands)} programs, not 3")
    compiler, assembler, collector = commands
    compiler[0], assembler[0] = _located(compiler[0]), _located(assembler[0])
    assembly, binary = _output_of(compiler), _output_of(assembler)
    link = [linker, *(f"-L{path}" for path in library_directories), *_without_plugin(collector[1:])]
    return (
        Step(_renamed(compiler, {assembly: OUTPUT_FILE}), "main.cpp"),
        Step(_renamed(assembler, {assembly: "main.s", binary: OUTPUT_FILE}), "main.s"),
        Step(_renamed(link, {binary: "main.o"}), "main.o"),
    )


def _without_plugin(arguments: list[str]) -> Iterator[str]:
    """Arguments of the linker without its plugin and without its directories of libraries."""
    for previous, argument in pairwise(["", *arguments]):
        if not argument.startswith(("-plugin", "-L")) and previous != "-plugin":
            yield argument


def _renamed(command: list[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names.get(argument, argument) for argument in command)


def _output_of(command: list[str]) -> str:
    return command[command.index("-o") + 1]


def _commands(driver: str) -> list[list[str]]:
    """The commands that g++ would start."""
    result = _run(driver, "-###", *_OPTIONS, "main.cpp", "-o", OUTPUT_FILE)
    return [shlex.split(line) for line in result.stderr.splitlines() if line.startswith(" ")]


def _include_directories(driver: str) -> list[Path]:
    result = _run(driver, "-E", "-v", *_OPTIONS, "/dev/null")
    lines = result.stderr.partition("> search starts here:")[2].partition("End of search")[0]
    return [Path(line.strip()).resolve() for line in lines.splitlines() if line.strip()]


def _shared_libraries(program: Path) -> list[Path]:
    """Files that the dynamic loader maps for a program, the loader included."""
    lines = _run("ldd", str(program)).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", lines)]


def _located(program: str) -> str:
    found = shutil.which(program, path=_SEARCH_PATH)
    if found is None:
        raise ToolchainError(
            f"g++ needs {program}, which is not in {_SEARCH_PATH}: install it (Debian and Ubuntu: "
            "apt install binutils), then start the service again"
        )
    return str(Path(found).resolve())


def _ask(driver: str, question: str) -> str:
    return _run(driver, question).stdout.strip()


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": _SEARCH_PATH, "LC_ALL": "C"}
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_QUERY_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{shlex.join(command)}: {error}") from error


def _why(execution: Execution) -> str:
    """How an execution ended, with its stderr."""
    said = execution.stderr.decode(errors="replace")
    if execution.exit_code is not None:
        return said or f"exit code {execution.exit_code}"
    return f"{execution.reason}: {said}" if said else str(execution.reason)
