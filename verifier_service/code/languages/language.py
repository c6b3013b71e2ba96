"""A language of programs: its row of the table, and how its programs are compiled and run."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import msgspec

from verifier_service.code.compiled_programs import CompiledPrograms
from verifier_service.code.device_stdin import by_file, files_beside
from verifier_service.code.languages.source_names import main_class
from verifier_service.code.reasons import CodeReason
from verifier_service.code.toolchains.toolchain import Finder, Step, Toolchain, ToolchainError
from verifier_service.sandbox import pack
from verifier_service.sandbox.entries import OUTPUT_FILE, tool_payload
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Limits,
    Program,
    SandboxError,
    ZygoteKind,
)
from verifier_service.sandbox.file_names import is_name
from verifier_service.sandbox.python_packages import is_installed

if TYPE_CHECKING:
    from verifier_service.sandbox.runner import Runner

LanguageName = Literal[
    "python",
    "cpp",
    "c",
    "javascript",
    "typescript",
    "java",
    "kotlin",
    "scala",
    "csharp",
    "go",
    "rust",
    "haskell",
    "d",
    "fortran",
    "verilog",
    "racket",
    "bash",
    "ruby",
    "php",
    "perl",
    "lua",
    "r",
    "sql",
]

RunnerName = Literal["d_ut", "go_test", "junit", "kotlin_script", "pytest"]

_MIB = 2**20
COMPILE_LIMITS = Limits(
    cpu_seconds=15,
    wall_seconds=60,
    memory_bytes=2**30,
    output_bytes=2**16,
    file_bytes=64 * _MIB,
    num_threads=1,
)
"""Limits on all steps of a compilation together."""
MIN_SECONDS = 0.01
"""Least time limit. A step whose time is used up before it starts gets this and is ended by it."""
SOURCE_BYTES = 32 * _MIB
"""Room in the scratch directory of a program that a runtime reads, and for files of its own."""

TESTS_FILE = "test_main.py"
"""Name of the source in the scratch directory of a driver."""
NO_FILES: Mapping[str, bytes] = {}
compiled_programs = CompiledPrograms()
"""Compiled programs that are kept. A worker of a pool shares those of the others."""


@dataclass(frozen=True)
class CompileFailure:
    """A program could not be compiled."""

    message: str
    execution: Execution
    """The step that failed."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language of programs: a row of the table."""

    name: LanguageName
    tags: tuple[str, ...]
    """Tags of fenced blocks, in lower case."""
    runner: RunnerName | None = None
    """Name of another way to run the language, of which this is the row; None for its usual one."""
    aliases: tuple[str, ...] = ()
    """Names that other protocols have for it, besides its own; in lower case."""
    find: Finder | None = None
    """Finds its toolchain; None for Python, which is that of the service."""
    hello: bytes = b""
    """Smallest program, which prints 1: one that does not run says that the toolchain is broken."""
    hello_says: re.Pattern[bytes] = re.compile(rb"\s*1\s*")
    """Output of that program, as a whole."""
    end_of_tests: re.Pattern[bytes] | None = None
    """Line that a runner of tests writes when all of them have run; None where there are none."""
    has_tests: re.Pattern[bytes] | None = None
    """Text by which a source has tests, where one without has no such line; None: each has it."""
    source_name: Callable[[bytes], str] | None = None
    """Name of the source's file, where a `{source}` of the toolchain asks for it."""
    rewrite: Callable[[bytes], bytes] | None = None
    """Replaces what the sandbox lacks in a program's source, before `by_file` does."""
    has_folder: bool = False
    """Whether `/run_code` gives a program a scratch directory even if it has no files."""
    reserved_bytes: int = 0
    """Address space that its runtime reserves and does not use; see `Limits.reserved_bytes`."""
    runtime_bytes: int = 0
    """Resident memory that its runtime takes itself."""
    num_files: int = Limits().num_files
    """Files that may be open at a time."""
    compile_limits: Limits = COMPILE_LIMITS
    stdin_name: str | None = None
    """Name of the file with the standard input, for a runtime that does not read that."""
    syntax_error: re.Pattern[bytes] | None = None
    """Text on standard error by which a runtime says that the source is no program."""
    memory_error: re.Pattern[bytes] | None = None
    """Text on standard error by which a runtime says that the memory is used up."""
    not_static: bytes = b""
    """Message about a program that was linked with shared libraries; empty where none is."""
    missing_module: re.Pattern[bytes] | None = None
    """Text on standard error by which a runtime says that a module is not installed."""
    packages: tuple[str, ...] = ()
    """Packages of Python that programs in it need beside the service."""
    driver: bytes = b""
    """Program in Python that runs the file `TESTS_FILE`, the source; empty where none is needed."""
    zygote_kind: ZygoteKind | None = None
    """Kind of the zygote that runs the driver."""
    problems: list[str | None] = field(default_factory=list)
    """Advice on what to install, or None, once the toolchain has been tried."""
    found: list[Toolchain] = field(default_factory=list)
    """Its toolchain, once it was found."""

    @property
    def key(self) -> str:
        """Name of its toolchain and of its compiled programs."""
        return self.runner or self.name

    @property
    def has_calls(self) -> bool:
        """Whether tests can call functions of a program."""
        return self.find is None

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler runs before the program."""
        return self.find is not None and self.name in COMPILED

    def toolchain(self) -> Toolchain:
        """Its programs on this machine. Raises ToolchainError."""
        assert self.find is not None
        if not self.found:
            self.found.append(self.find())
        return self.found[0]

    async def missing(self, runner: Runner) -> str | None:
        """Advice on what to install on this machine, or None. Raises SandboxError.

        The first call runs a smallest program.
        """
        if self.find is None:
            lacks = [name for name in self.packages if not is_installed(name)]
            return _missing_packages(lacks) if lacks else None
        if not self.problems:
            self.problems.append(await self._problem(runner))
        return self.problems[0]

    async def _problem(self, runner: Runner) -> str | None:
        try:
            await asyncio.to_thread(self.toolchain)
        except ToolchainError as error:
            return str(error)
        built = await self.build(runner, self.hello, self.compile_limits)
        if isinstance(built, CompileFailure):
            run = built.execution
        else:
            patient = dataclasses.replace(COMPILE_LIMITS, num_threads=Limits().num_threads)
            run = await runner.run(built, self.run_limits(patient))
            if run.succeeded and self.hello_says.fullmatch(run.stdout):
                return None
        problem = f"{self.key} does not work in the sandbox: {_why(run)}"
        if run.exit_code is None:  # a limit or a signal ended it, which may not happen next time
            raise SandboxError(problem)
        return problem

    async def build(
        self,
        runner: Runner,
        source: bytes,
        limits: Limits | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        *,
        memory_bytes: int = Limits().memory_bytes,
    ) -> Program | CompileFailure:
        """Make a program that can be run any number of times, within `run_limits`.

        Args:
            runner: has `language_tools`.
            source: source of the program.
            limits: limits on the compiler, if the language has one.
            files: files that the source may include.
            memory_bytes: limit on the memory of the program, of which some runtimes are told.

        Raises:
            SandboxError: the program could not be compiled, which is our failure.
        """
        source = by_file(self.rewrite(source) if self.rewrite else source)
        built = await self._built(runner, source, limits, files, memory_bytes)
        if isinstance(built, CompileFailure):
            return built
        return dataclasses.replace(built, files={**built.files, **files_beside(source)})

    async def _built(
        self,
        runner: Runner,
        source: bytes,
        limits: Limits | None,
        files: Mapping[str, bytes],
        memory_bytes: int,
    ) -> Program | CompileFailure:
        """`build`, for a source that was rewritten."""
        if self.find is None:
            files = {TESTS_FILE: source} if self.driver else NO_FILES
            return Program(payload=self.driver or source, files=files, zygote_kind=self.zygote_kind)
        found = self.toolchain()
        texts = {"{source}": self._source_name(source), "{memory_mib}": str(memory_bytes // _MIB)}
        if not found.steps:
            assert found.runtime is not None
            return self._started(found.runtime, source, texts)
        kept = compiled_programs.get(self.key, source, files)
        if kept is None:
            failed = f"{self.key} that does not compile"
            if (said := compiled_programs.get(failed, source, files)) is not None:
                made: bytes | Execution = msgspec.msgpack.decode(said, type=Execution)
            else:
                made = await self._compile(runner, found, source, limits, files, texts)
            if isinstance(made, Execution):
                # Only what the compiler itself decided: a limit may be met once and not again.
                if said is None and _is_lasting(made):
                    compiled_programs.keep(failed, source, files, msgspec.msgpack.encode(made))
                return CompileFailure(_why(made), made)
            compiled_programs.keep(self.key, source, files, made)
            kept = made
        if found.runtime is None:
            return Program(payload=kept, entry="binary", toolchain=self.key)
        if found.steps[-1].output_name == OUTPUT_FILE:
            return self._started(found.runtime, kept, texts)
        # A program chooses the names of its classes, and a name may be too long for a file here.
        classes = {name: one for name, one in pack.unpack(kept).items() if is_name(name)}
        texts["{main}"] = main_class(self._source_name(source), classes)
        return dataclasses.replace(self._started(found.runtime, b"", texts), files=classes)

    def interpreted(self, source: bytes) -> Program:
        """A program of a language whose runtime reads the source. Raises ToolchainError."""
        found = self.toolchain()
        assert found.runtime is not None
        return self._started(found.runtime, source, {})

    async def _compile(
        self,
        runner: Runner,
        found: Toolchain,
        source: bytes,
        limits: Limits | None,
        files: Mapping[str, bytes],
        texts: Mapping[str, str],
    ) -> bytes | Execution:
        """Bytes that the last step wrote, or the execution of the step that failed.

        The limits hold for all steps together.
        """
        content, limits = source, limits or self.compile_limits
        for step in found.steps:
            files = {**files, **step.files}
            run = await runner.run(self._compiler(step, content, files, texts), limits)
            limits = _left(limits, run)
            if not run.succeeded and (other := _second_input(step, content, run)) is not None:
                run = await runner.run(self._compiler(step, other, files, texts), limits)
                limits = _left(limits, run)
            if not run.succeeded or step.output_name not in run.files:
                return run
            content, files = run.files[step.output_name], NO_FILES
        if self.not_static and _needs_loader(content):
            return dataclasses.replace(run, exit_code=1, stderr=self.not_static, files={})
        return content

    def _compiler(
        self, step: Step, content: bytes, files: Mapping[str, bytes], texts: Mapping[str, str]
    ) -> Program:
        """A compiler that reads files and writes one."""
        started = self._started(step, content, texts)
        return dataclasses.replace(started, files=files, fetched_files=(step.output_name,))

    def _started(self, step: Step, content: bytes, texts: Mapping[str, str]) -> Program:
        """A tool that reads a file."""
        arguments = [_filled(argument, texts) for argument in step.arguments]
        environment = {name: _filled(value, texts) for name, value in step.environment.items()}
        name = _filled(step.input_name, texts) or _NO_INPUT
        return Program(
            payload=tool_payload(arguments, name, content, environment),
            entry="tool",
            files=step.files,
            toolchain=self.key,
            stdin_name=self.stdin_name,
        )

    def _source_name(self, source: bytes) -> str:
        return self.source_name(source) if self.source_name is not None else "main"

    def run_limits(self, limits: Limits) -> Limits:
        """The limits of a run of a program, with the room that the runtime needs."""
        if self.find is None or self.name in BINARIES:
            return dataclasses.replace(
                limits, reserved_bytes=self.reserved_bytes, runtime_bytes=self.runtime_bytes
            )
        return dataclasses.replace(
            limits,
            reserved_bytes=self.reserved_bytes,
            runtime_bytes=self.runtime_bytes,
            num_files=self.num_files,
            file_bytes=max(limits.file_bytes, SOURCE_BYTES),
        )

    def reason_told(self, run: Execution) -> CodeReason | None:
        """The reason that the runtime gives on standard error for the end of a program, if one.

        A program can write the same, and has failed as well.
        """
        if run.succeeded or run.reason not in (ExitReason.EXITED, ExitReason.SIGNALED):
            return None
        if self.memory_error is not None and self.memory_error.search(run.stderr):
            return CodeReason.MEMORY_LIMIT_EXCEEDED
        if self.syntax_error is not None and self.syntax_error.search(run.stderr):
            return CodeReason.COMPILE_ERROR
        if self.missing_module is not None and self.missing_module.search(run.stderr):
            return CodeReason.MODULE_NOT_FOUND
        return None


BINARIES = frozenset({"cpp", "c", "rust", "go", "haskell", "d", "fortran"})
"""Languages whose programs are run without a runtime."""
COMPILED = BINARIES | {"java", "kotlin", "scala", "csharp", "typescript", "verilog"}
"""Languages with a compiler that runs before the program."""
_NO_INPUT = ".input"
_PT_INTERP = 3


def _needs_loader(binary: bytes) -> bool:
    """Whether a program of this machine asks for shared libraries: it has a PT_INTERP."""
    try:
        (start,) = struct.unpack_from("<Q", binary, 32)
        size, number = struct.unpack_from("<HH", binary, 54)
        kinds = {struct.unpack_from("<I", binary, start + n * size)[0] for n in range(number)}
    except struct.error:  # cut off; the kernel will say so
        return False
    return _PT_INTERP in kinds


def _missing_packages(names: list[str]) -> str:
    listed = " ".join(names)
    return f"no {listed} beside the service: pip install {listed}, then start the service again"


def _left(limits: Limits, run: Execution) -> Limits:
    """The limits on further steps after one of a compilation."""
    wall_seconds = run.wall_seconds - run.waited_seconds
    return dataclasses.replace(
        limits,
        cpu_seconds=max(limits.cpu_seconds - run.cpu_seconds, MIN_SECONDS),
        wall_seconds=max(limits.wall_seconds - wall_seconds, MIN_SECONDS),
    )


def _second_input(step: Step, content: bytes, refused: Execution) -> bytes | None:
    """Another input for a compiler that has refused one, or has said too much about it."""
    ends = (ExitReason.EXITED, ExitReason.OUTPUT_LIMIT)
    if step.second_input is None or refused.reason not in ends:
        return None
    return step.second_input(content, refused.stderr)


def _filled(text: str, texts: Mapping[str, str]) -> str:
    for name, value in texts.items():
        text = text.replace(name, value)
    return text


def _is_lasting(failure: Execution) -> bool:
    """Whether a compiler refuses the source, and would do so again."""
    return failure.reason is ExitReason.EXITED and not _MAY_PASS.search(_why(failure))


# What compilers say where the machine refuses memory or a thread: "failed to spawn thread".
_MAY_PASS = re.compile(
    r"memory|cannot allocate|spawn|create \S*\s*thread|pthread|temporarily unavailable|space left",
    re.IGNORECASE,
)


def _why(execution: Execution) -> str:
    """How an execution ended, with what it said."""
    said = execution.stderr.decode(errors="replace") or execution.stdout.decode(errors="replace")
    if execution.exit_code is not None:
        return said or f"exit code {execution.exit_code}"
    return f"{execution.reason}: {said}" if said else str(execution.reason)
