"""A request of `POST /v1/execute` as programs of the workers, and their reports on the wire."""

from __future__ import annotations

from typing import Any

from verifier_service.code.languages.names import language_named
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.plain_run import (
    ProcessReport,
    RunOptions,
    RunReport,
    report_in,
)
from verifier_service.compat.programs import as_text, check_files
from verifier_service.executions.reasons import EndReason, outcome_of
from verifier_service.executions.wire import (
    CompileReport,
    ExecutionReport,
    ExecutionSpec,
    ExecutionsRequest,
    file_bytes,
    file_content,
)
from verifier_service.reason import EngineReason
from verifier_service.sandbox.execution import ExitReason
from verifier_service.validation import invalid_request
from verifier_service.verdict import Outcome, Verdict

GivenProgram = tuple[str, RunOptions]
"""A source and how to run it."""

_END_REASONS = {
    ExitReason.CPU_LIMIT: EndReason.TIME_LIMIT_EXCEEDED,
    ExitReason.WALL_LIMIT: EndReason.TIME_LIMIT_EXCEEDED,
    ExitReason.IDLE_LIMIT: EndReason.TIME_LIMIT_EXCEEDED,
    ExitReason.OUTPUT_LIMIT: EndReason.OUTPUT_LIMIT_EXCEEDED,
    ExitReason.MEMORY_LIMIT: EndReason.MEMORY_LIMIT_EXCEEDED,
    ExitReason.FORBIDDEN: EndReason.SANDBOX_VIOLATION,
    ExitReason.COMPILE_ERROR: EndReason.COMPILE_ERROR,
}


def programs_of(request: ExecutionsRequest) -> list[GivenProgram]:
    """The programs of a request. Raises InvalidRequest, which names each wrong field."""
    problems: list[dict[str, Any]] = []
    programs = []
    for place, spec in enumerate(request.executions):
        try:
            programs.append((spec.code, _run_options(spec, place)))
        except _WrongField as error:
            location = ("body", "executions", place, error.field)
            problems.append({"loc": location, "msg": str(error), "type": "value_error"})
    if problems:
        raise invalid_request(problems)
    return programs


class _WrongField(ValueError):
    """A field of a program has a value that cannot be run."""

    def __init__(self, field: str, problem: object) -> None:
        super().__init__(str(problem))
        self.field = field


def _run_options(spec: ExecutionSpec, place: int) -> RunOptions:
    language = language_named(spec.language)
    if language is None:
        known = ", ".join(LANGUAGES)
        raise _WrongField("language", f"no language {spec.language[:50]!r}; there are {known}")
    if any("\0" in one for one in spec.arguments):
        raise _WrongField("arguments", "an argument has a NUL character")
    try:
        files = {name: file_bytes(content, name) for name, content in spec.files.items()}
        check_files(files)
    except ValueError as error:
        raise _WrongField("files", error) from error
    try:
        check_files({}, spec.fetch)
    except ValueError as error:
        raise _WrongField("fetch", error) from error
    return RunOptions(
        language=language,
        stdin=spec.stdin,
        arguments=tuple(spec.arguments),
        files=files,
        fetched_files=tuple(spec.fetch),
        compile_seconds=spec.limits.compile_seconds,
        run_seconds=spec.limits.seconds,
        memory_bytes=spec.limits.memory_bytes,
        output_bytes=spec.limits.output_bytes,
        place=place,
    )


def report_of(spec: ExecutionSpec, verdict: Verdict) -> ExecutionReport:
    """The report on a program, from the verdict that carries its run."""
    if verdict.outcome is Outcome.FAILED:
        is_late = verdict.reason == EngineReason.DEADLINE
        return _without_run(spec, EndReason.DEADLINE if is_late else EndReason.SANDBOX_ERROR)
    if verdict.outcome is Outcome.UNVERIFIABLE:
        message = f"the program's input and files are more than is taken ({verdict.reason})"
        return _without_run(spec, EndReason.SANDBOX_ERROR, message)
    if verdict.details is None:  # its worker was ended over it, each time
        is_slow = verdict.reason == EngineReason.TOO_SLOW
        reason = EndReason.TIME_LIMIT_EXCEEDED if is_slow else EndReason.MEMORY_LIMIT_EXCEEDED
        return _without_run(spec, reason, f"the program is {verdict.reason}")
    found = report_in(verdict)
    if found.problem is not None:
        return _without_run(spec, EndReason.NO_TOOLCHAIN, found.problem)
    return _report(spec, found)


def _without_run(
    spec: ExecutionSpec, reason: EndReason, message: str | None = None
) -> ExecutionReport:
    return ExecutionReport(id=spec.id, outcome=outcome_of(reason), reason=reason, message=message)


def _report(spec: ExecutionSpec, found: RunReport) -> ExecutionReport:
    compiled, run = found.compiled, found.run
    if run is None:
        assert compiled is not None  # a program without a run could not be compiled
        reason = _compile_reason(compiled)
        return ExecutionReport(
            id=spec.id,
            outcome=outcome_of(reason),
            reason=reason,
            stderr=as_text(compiled.stderr),
            compile=_compile_report(compiled),
        )
    reason = end_reason(run.reason, run.exit_code)
    return ExecutionReport(
        id=spec.id,
        outcome=outcome_of(reason),
        reason=reason,
        exit_code=run.exit_code,
        signal=run.signal,
        stdout=as_text(run.stdout),
        stderr=as_text(run.stderr),
        files={name: file_content(content) for name, content in found.files.items()},
        seconds=run.wall_seconds,
        cpu_seconds=run.cpu_seconds,
        peak_memory_bytes=run.peak_memory_bytes,
        compile=None if compiled is None else _compile_report(compiled),
    )


def _compile_reason(compiled: ProcessReport) -> EndReason:
    """A compiler that met a limit met it over this source, as the judge of `code` sees it too."""
    return _END_REASONS.get(compiled.reason, EndReason.COMPILE_ERROR)


def _compile_report(compiled: ProcessReport) -> CompileReport:
    return CompileReport(
        exit_code=compiled.exit_code,
        stdout=as_text(compiled.stdout),
        stderr=as_text(compiled.stderr),
        seconds=compiled.wall_seconds,
    )


def end_reason(reason: ExitReason, exit_code: int | None) -> EndReason:
    """The reason on the wire for the end of a process.

    >>> end_reason(ExitReason.EXITED, 0), end_reason(ExitReason.EXITED, 1)
    (<EndReason.COMPLETED: 'completed'>, <EndReason.RUNTIME_ERROR: 'runtime_error'>)
    """
    found = _END_REASONS.get(reason)
    if found is not None:
        return found
    return EndReason.COMPLETED if exit_code == 0 else EndReason.RUNTIME_ERROR
