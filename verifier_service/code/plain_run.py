"""A program that is run as it is, for clients that judge by themselves what it does.

The protocols in `verifier_service.compat` ask for it. It takes the way of a verifier through queue
and workers: the reference says how to run, the completion is the source, and the verdict's details
are facts. It is not offered in `/v1/score`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec

from verifier_service.code.languages import (
    COMPILE_LIMITS,
    LANGUAGES,
    MIN_SECONDS,
    CompileFailure,
    LanguageName,
)
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import Execution, ExitReason, Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Outcome, Reason, Verdict
from verifier_service.verifier import Verifier

RUN_PROGRAM: Final = "run_program"
MAX_SECONDS = 300.0
MIN_MEMORY_BYTES, MAX_MEMORY_BYTES = 2**24, 2**33
DEFAULT_MEMORY_BYTES = 2**30
OUTPUT_BYTES = 2**20
"""Of each of stdout and stderr; the program is ended at more."""
SPACE_BYTES = 16 * 2**20
"""For the files of a run, those that it is given included."""
MAX_FETCHED_BYTES = 4 * 2**20
WALL_SLACK_SECONDS = 1.0
"""Wall time beyond the time limit: on a busy machine a program has to wait."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How to run a program."""

    language: LanguageName
    stdin: str = ""
    arguments: tuple[str, ...] = ()
    files: dict[str, bytes] = {}
    fetched_files: tuple[str, ...] = ()
    compile_seconds: float = 10.0
    run_seconds: float = 10.0
    """CPU time; wall time may be `WALL_SLACK_SECONDS` more."""
    memory_bytes: int = DEFAULT_MEMORY_BYTES


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one process, see `Execution`."""

    reason: ExitReason
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    cpu_seconds: float
    wall_seconds: float
    peak_memory_bytes: int

    @classmethod
    def of(cls, execution: Execution) -> Ran:
        """The part of it that a client is told."""
        return cls(**{name: getattr(execution, name) for name in cls.__struct_fields__})

    @property
    def return_code(self) -> int:
        """As `subprocess` has it: negative for a signal. A limit is a SIGKILL."""
        if self.exit_code is not None:
            return self.exit_code
        return -(self.signal or 9)

    @property
    def is_timeout(self) -> bool:
        """Whether its time was up."""
        return self.reason in (ExitReason.CPU_LIMIT, ExitReason.WALL_LIMIT)

    @property
    def note(self) -> str:
        """What is not in the exit code; empty if there is nothing."""
        return _NOTES.get(self.reason, "")


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a program."""

    compiled: Ran | None
    """None where nothing was compiled before the run."""
    run: Ran | None
    """None where it could not be compiled."""
    files: dict[str, bytes] = {}
    """Those that were asked for and are there."""
    problem: str | None = None
    """Why nothing could be run, nor can be later; for example, what is to be installed."""


class ProgramReason(Reason):
    """Reasons of a run."""

    RAN = "ran", "the details are a `ProgramRun`."
    SANDBOX_ERROR = "sandbox_error", "failed: the sandbox cannot run programs, or not this time."


class RunProgram(Verifier):
    """Runs the completion, as the reference, an `Asked`, says."""

    purpose: ClassVar[str] = "runs a program"
    reasons: ClassVar[Iterable[Reason]] = ProgramReason
    workers: ClassVar[Literal["text", "code"]] = "code"
    is_cached: ClassVar[bool] = False
    unavailable: ClassVar[Reason] = ProgramReason.SANDBOX_ERROR

    type: Literal["run_program"] = RUN_PROGRAM

    @property
    def task_size(self) -> int:
        """See `Verifier`."""
        return 1


def as_reference(asked: Asked) -> dict[str, Any]:
    """The reference that asks for it."""
    reference: dict[str, Any] = msgspec.to_builtins(asked)
    return reference


def program_run(verdict: Verdict) -> ProgramRun:
    """What a verdict of `judge_run` tells."""
    return msgspec.convert(verdict.details, ProgramRun)


async def judge_run(
    runner: Runner, reference: Mapping[str, Any], completion: Completion
) -> Verdict:
    """Run a completion. Raises SandboxError: it could not be run, which is not its fault."""
    found = await run_program(runner, completion.text, msgspec.convert(reference, Asked))
    seconds = found.run.wall_seconds if found.run else 0.0
    details = msgspec.to_builtins(found)
    return Verdict(Outcome.SCORED, 1.0, ProgramReason.RAN, seconds, None, details)


async def run_program(runner: Runner, source: str, asked: Asked) -> ProgramRun:
    """Compile a program where that is apart from running it, and run it.

    Raises:
        SandboxError: it could not be run, which is not its fault.
    """
    language = LANGUAGES[asked.language]
    missing = await language.missing(runner)
    if missing is not None:
        return ProgramRun(compiled=None, run=None, problem=missing)
    compiling = dataclasses.replace(
        COMPILE_LIMITS,
        cpu_seconds=max(asked.compile_seconds, MIN_SECONDS),
        wall_seconds=max(asked.compile_seconds, MIN_SECONDS) + WALL_SLACK_SECONDS,
    )
    payload = source.encode("utf-8", "surrogatepass")
    start = time.perf_counter()
    program = await language.build(runner, payload, compiling, asked.files)
    if isinstance(program, CompileFailure):
        return ProgramRun(compiled=Ran.of(program.execution), run=None)
    compiled = _compiled(time.perf_counter() - start) if language.compiler else None
    has_files = bool(asked.files or asked.fetched_files)
    execution = await runner.run(
        dataclasses.replace(
            program,
            stdin=asked.stdin.encode("utf-8", "surrogatepass"),
            arguments=asked.arguments,
            files=asked.files,
            fetched_files=asked.fetched_files,
        ),
        Limits(
            cpu_seconds=max(asked.run_seconds, MIN_SECONDS),
            wall_seconds=max(asked.run_seconds, MIN_SECONDS) + WALL_SLACK_SECONDS,
            memory_bytes=asked.memory_bytes,
            output_bytes=OUTPUT_BYTES,
            file_bytes=SPACE_BYTES if has_files else 0,
        ),
    )
    return ProgramRun(
        compiled=compiled,
        run=Ran.of(execution),
        files=_bounded(execution.files),
    )


def _compiled(wall_seconds: float) -> Ran:
    """The compiler, which had nothing to say."""
    return Ran(
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
    """The first files that fit into an answer, whole."""
    kept: dict[str, bytes] = {}
    left = MAX_FETCHED_BYTES
    for name, content in files.items():
        if len(content) <= left:
            kept[name] = content
            left -= len(content)
    return kept


_NOTES = {
    ExitReason.MEMORY_LIMIT: "memory limit exceeded",
    ExitReason.OUTPUT_LIMIT: "output limit exceeded",
    ExitReason.FORBIDDEN: "a system call that the sandbox does not permit",
    ExitReason.CPU_LIMIT: "time limit exceeded",
    ExitReason.WALL_LIMIT: "time limit exceeded",
}
