"""Runs a program without judging it, for clients of other protocols that judge it themselves.

A run goes through queue and workers as a verifier's task. Its reference is a `RunOptions`, its
completion the source, and its verdict's details are a `RunReport`. `/v1/score` does not offer runs.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec

from verifier_service.code.device_stdin import with_stdin
from verifier_service.code.languages.language import (
    MIN_SECONDS,
    CompileFailure,
    Language,
    LanguageName,
    RunnerName,
)
from verifier_service.code.languages.runners import RUNNABLE
from verifier_service.code.languages.status import language_version
from verifier_service.code.repeated_program import room_for
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.sandbox.execution import Execution, ExitReason, Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import Verifier

RUN_PROGRAM: Final = "run_program"
MAX_SECONDS = 300.0
MIN_MEMORY_BYTES, MAX_MEMORY_BYTES = 2**24, 2**33
DEFAULT_MEMORY_BYTES = 2**30
OUTPUT_BYTES = 2**20
"""Largest stdout, and largest stderr. A program that writes more is ended."""
SPACE_BYTES = 16 * 2**20
"""Room for the files of a run, including those that the program is given."""
MAX_FETCHED_BYTES = 4 * 2**20
TESTS_NOT_ENDED = b"\nthe program ended its process before all tests had run\n"
"""Last line of the standard error of tests that were cut off by their program."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Input, files and limits of a run."""

    language: LanguageName | RunnerName
    is_session: bool = False
    """Whether the source is a session: JSON with cells, see `cells_process`."""
    stdin: str = ""
    arguments: tuple[str, ...] = ()
    files: dict[str, bytes] = {}
    fetched_files: tuple[str, ...] = ()
    compile_seconds: float = 10.0
    run_seconds: float = 10.0
    """Time of the run, by the clock and of the CPU; see `Limits.counts_waits`."""
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    output_bytes: int = OUTPUT_BYTES
    """Largest stdout, and largest stderr."""
    place: int = 0
    """Place in a request: programs of different places are run each, equal ones too."""
    tells_version: bool = False
    """Whether the report has the version of the toolchain."""


class ProcessReport(msgspec.Struct, frozen=True, kw_only=True):
    """End, output and use of one process: the part of an `Execution` that clients are told."""

    reason: ExitReason
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    cpu_seconds: float
    wall_seconds: float
    peak_memory_bytes: int

    @classmethod
    def of(cls, execution: Execution) -> ProcessReport:
        """The report on an execution."""
        return cls(**{name: getattr(execution, name) for name in cls.__struct_fields__})

    @property
    def return_code(self) -> int:
        """Return code as in `subprocess`: negative for a signal. Meeting a limit is a SIGKILL."""
        if self.exit_code is not None:
            return self.exit_code
        return -(self.signal or 9)

    @property
    def is_timeout(self) -> bool:
        """Whether the process met a time limit."""
        return _NOTES.get(self.reason) == _OUT_OF_TIME

    @property
    def note(self) -> str:
        """Cause of an end that the exit code does not tell; else empty."""
        return _NOTES.get(self.reason, "")


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a program was compiled and run."""

    compiled: ProcessReport | None
    """The compiler; None if the language has none that runs before the program."""
    run: ProcessReport | None
    """The program; None if it could not be compiled."""
    files: dict[str, bytes] = {}
    """Files that were asked for and exist, by name."""
    result: bytes = b""
    """The lines of a session, one for each cell that ended."""
    problem: str | None = None
    """Why nothing can be run, now or later: for example, what to install."""
    version: str = ""
    """Version of the toolchain, if that was asked for and it tells."""


class RunReason(Reason):
    """Reasons of the verdicts that carry a run."""

    RAN = "ran", "the details are a `RunReport`."
    SANDBOX_ERROR = "sandbox_error", "failed: the sandbox cannot run programs, or not this time."


class RunProgram(Verifier):
    """Runs the completion as the reference, a `RunOptions`, says."""

    purpose: ClassVar[str] = "runs a program"
    reasons: ClassVar[Iterable[Reason]] = RunReason
    workers: ClassVar[Literal["text", "code"]] = "code"
    is_cached: ClassVar[bool] = False
    is_stored: ClassVar[bool] = False  # a run is no verdict, and its output is the client's
    unavailable: ClassVar[Reason] = RunReason.SANDBOX_ERROR

    type: Literal["run_program"] = RUN_PROGRAM

    @property
    def task_size(self) -> int:
        """One: running a program takes milliseconds at least."""
        return 1


def as_reference(options: RunOptions) -> dict[str, Any]:
    """The reference that holds these options."""
    reference: dict[str, Any] = msgspec.to_builtins(options)
    return reference


def report_in(verdict: Verdict) -> RunReport:
    """The report in a verdict of `run_completion`."""
    return msgspec.convert(verdict.details, RunReport)


async def run_completion(
    runner: Runner, reference: Mapping[str, Any], completion: Completion
) -> Verdict:
    """Run a completion, and report on it in a verdict. Raises SandboxError, see `run_program`."""
    found = await run_program(runner, completion.text, msgspec.convert(reference, RunOptions))
    seconds = found.run.wall_seconds if found.run else 0.0
    details = msgspec.to_builtins(found)
    return Verdict(Outcome.SCORED, 1.0, RunReason.RAN, seconds, None, details)


async def run_program(runner: Runner, source: str, options: RunOptions) -> RunReport:
    """Compile a program, if its language is compiled, and run it.

    Raises:
        SandboxError: the program could not be run, which is our failure.
    """
    language = RUNNABLE[options.language]
    missing = await language.missing(runner)
    if missing is not None:
        return RunReport(compiled=None, run=None, problem=missing)
    payload = source.encode("utf-8", "surrogatepass")
    start = time.perf_counter()
    version = await _version(options) if options.tells_version else ""
    program = await language.build(
        runner,
        payload,
        _compile_limits(language, options),
        options.files,
        memory_bytes=options.memory_bytes,
    )
    if isinstance(program, CompileFailure):
        return RunReport(compiled=ProcessReport.of(program.execution), run=None, version=version)
    compiled = _compiled(time.perf_counter() - start) if language.is_compiled else None
    stdin = options.stdin.encode("utf-8", "surrogatepass")
    files = with_stdin({**options.files, **program.files}, stdin)
    program = dataclasses.replace(
        program,
        stdin=stdin,
        arguments=options.arguments,
        files=files,
        fetched_files=options.fetched_files,
    )
    if options.is_session:
        program = dataclasses.replace(program, entry="cells")
    limits = language.run_limits(_run_limits(options, files, has_folder=language.has_folder))
    execution = await runner.run(program, limits, result=options.is_session)
    return RunReport(
        compiled=compiled,
        run=_with_all_tests(language, payload, ProcessReport.of(execution)),
        files=_bounded(execution.files),
        result=execution.result,
        version=version,
    )


def _with_all_tests(language: Language, source: bytes, run: ProcessReport) -> ProcessReport:
    """The report on a run, which has failed if it exits with 0 before all of its tests have run.

    Tests share their process with the program, which can end it with an exit code of 0.
    """
    end, has_tests = language.end_of_tests, language.has_tests
    if end is None or (has_tests is not None and has_tests.search(source) is None):
        return run
    if run.exit_code != 0 or end.search(run.stdout) or end.search(run.stderr):
        return run
    return msgspec.structs.replace(run, exit_code=1, stderr=run.stderr + TESTS_NOT_ENDED)


async def _version(options: RunOptions) -> str:
    try:
        return await asyncio.to_thread(language_version, options.language)
    except ToolchainError:  # without this, the result of the program would be lost
        return ""


def _compile_limits(language: Language, options: RunOptions) -> Limits:
    seconds = max(options.compile_seconds, MIN_SECONDS)
    return dataclasses.replace(
        language.compile_limits, cpu_seconds=seconds, wall_seconds=seconds, counts_waits=True
    )


def _run_limits(options: RunOptions, files: Mapping[str, bytes], *, has_folder: bool) -> Limits:
    seconds = max(options.run_seconds, MIN_SECONDS)
    has_files = bool(has_folder or files or options.fetched_files)
    return Limits(
        cpu_seconds=seconds,
        wall_seconds=seconds,
        counts_waits=True,
        idle_seconds=None,  # the caller says how long it may take, whatever it does
        memory_bytes=options.memory_bytes,
        output_bytes=options.output_bytes,
        file_bytes=max(SPACE_BYTES, room_for(files)) if has_files else 0,
    )


def _compiled(wall_seconds: float) -> ProcessReport:
    """The report on a compiler that succeeded."""
    return ProcessReport(
        reason=ExitReason.EXITED,
        exit_code=0,
        signal=None,
        stdout=b"",
        stderr=b"",
        cpu_seconds=0.0,
        wall_seconds=wall_seconds,
        peak_memory_bytes=0,
    )


def _bounded(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The first files that fit into a response, each whole or not at all."""
    kept: dict[str, bytes] = {}
    left = MAX_FETCHED_BYTES
    for name, content in files.items():
        if len(content) <= left:
            kept[name] = content
            left -= len(content)
    return kept


_OUT_OF_TIME = "time limit exceeded"
_NOTES = {
    ExitReason.MEMORY_LIMIT: "memory limit exceeded",
    ExitReason.OUTPUT_LIMIT: "output limit exceeded",
    ExitReason.FORBIDDEN: "a system call that the sandbox does not permit",
    ExitReason.CPU_LIMIT: _OUT_OF_TIME,
    ExitReason.WALL_LIMIT: _OUT_OF_TIME,
    ExitReason.IDLE_LIMIT: _OUT_OF_TIME,
}
