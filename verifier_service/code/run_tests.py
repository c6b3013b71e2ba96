"""Runs a program against its tests in the sandbox, and counts the results."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
from dataclasses import dataclass

from verifier_service.code.findings import MAX_SHOWN_CHARACTERS, CaseRun, Findings, readable
from verifier_service.code.journal import (
    MAX_FRAME_BYTES,
    MAX_READING_BYTES,
    MAX_RESULT_BYTES,
    JudgesRecord,
    read_journal,
)
from verifier_service.code.kept_readings import KeptReadings
from verifier_service.code.languages import CompileFailure, Language
from verifier_service.code.output_checkers import accepts
from verifier_service.code.reasons import REASON_OF_EXIT, UNVERIFIABLE, CodeReason, reason_of
from verifier_service.code.records_in_text import may_have_records
from verifier_service.code.reference_tests import Asserts, Function, Stdio, StdioCase, Tests
from verifier_service.code.special_judge import compile_special_judge
from verifier_service.code.split_tests import MAX_SPLIT_TESTS
from verifier_service.reason import EngineReason
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Limits,
    Pair,
    Program,
    SandboxError,
    ZygoteKind,
)
from verifier_service.sandbox.runner import Runner, zygote_kind_of

ENTRIES = {
    "serve": "verifier_service.code.program_process:serve_program",
    "serve_with_classes": "verifier_service.code.program_process:serve_with_classes",
    "judge": "verifier_service.code.judge_process:run_judge",
    "compile": "verifier_service.code.compile_process:compile_only",
}
"""Entries for the `Runner`: of the two processes in which the calls of a program are tested, and
of one that compiles a special judge."""

MAX_KEPT_RUNS = 64
"""Most runs that findings keep for people to read."""
JUDGE_CPU_SHARE = 1.0
"""CPU time of a judge as a share of the program's: it may have as much to compare."""
JUDGE_WAIT_SECONDS = 3.0
"""Wall time of a judge beyond the program's."""


@dataclass(frozen=True)
class Plan:
    """Limits on running a program's tests, and which of them are run."""

    limits: Limits
    """Limits on one stdio case, or on all calls of a function together."""
    total_cpu_seconds: float
    """CPU time of a program in all stdio cases together. A special judge may have as much."""
    total_wall_seconds: float
    """Wall time of a program in all stdio cases together. A special judge may have as much."""
    run_all: bool
    """Whether tests after the first that fails are run."""
    after_time_limit: bool = True
    """Whether that holds for cases after one that met a time limit too. If not, they are taken to
    have met it: a program that loops costs its limit once, and not once for each case."""
    keeps_runs: bool = False
    """Whether the findings keep what each run of a whole program read and printed."""


async def run_tests(
    runner: Runner, language: Language, source: str, tests: Tests, plan: Plan
) -> Findings:
    """Run a program against its tests.

    Args:
        runner: has `ENTRIES` and `languages.tools`.
        language: language of the program; its toolchain is installed.
        source: source of the program.
        tests: tests to run.
        plan: limits.

    Raises:
        SandboxError: the tests could not be run, which is our failure.
    """
    payload = source.encode("utf-8", "surrogatepass")
    if isinstance(tests, Stdio):
        return await _run_stdio(runner, language, payload, tests, plan)
    if not language.has_calls:
        found = f"programs in {language.tags[0]} have tests of type stdio, found {tests.type}"
        return _failed(0, CodeReason.UNSUPPORTED_TEST, found)
    return await _run_calls(runner, payload, tests, plan)


def _failed(total: int, reason: str, shown: str = "", expected: str = "") -> Findings:
    """Findings of tests that ended before the first."""
    findings = Findings(total)
    findings.fail(reason, shown, expected)
    return findings


# Whole programs: standard input and output


class _RepeatedProgram:
    """A program that is run once per case. Python is compiled in the first run only."""

    def __init__(self, runner: Runner, program: Program, plan: Plan) -> None:
        self._runner = runner
        self._program = program
        self._limits = plan.limits
        self._cpu_seconds_left = plan.total_cpu_seconds
        self._wall_seconds_left = plan.total_wall_seconds

    @property
    def is_out_of_time(self) -> bool:
        """Whether the program has used up its time for all cases."""
        return self._cpu_seconds_left <= 0 or self._wall_seconds_left <= 0

    async def run(self, stdin: str) -> Execution:
        """Run the program within what is left of its time. Raises SandboxError."""
        limits = dataclasses.replace(
            self._limits,
            cpu_seconds=min(self._limits.cpu_seconds, self._cpu_seconds_left),
            wall_seconds=min(self._limits.wall_seconds, self._wall_seconds_left),
        )
        program = dataclasses.replace(self._program, stdin=stdin.encode())
        compiles = program.entry == "script"
        run = await self._runner.run(program, limits, result=compiles)
        if compiles and run.result:
            self._program = Program(
                payload=run.result, entry="compiled", zygote_kind=zygote_kind_of(program)
            )
        self._cpu_seconds_left -= run.cpu_seconds
        self._wall_seconds_left -= run.wall_seconds - run.waited_seconds
        return run


async def _run_stdio(
    runner: Runner, language: Language, source: bytes, tests: Stdio, plan: Plan
) -> Findings:
    judge = None
    if tests.program is not None:
        # Compiled first: whether there is a verdict must not depend on what the program does.
        compiled = await compile_special_judge(runner, tests.program, plan.limits)
        if isinstance(compiled, str):
            bad = EngineReason.BAD_REFERENCE
            return _failed(len(tests.cases), bad, expected=compiled)
        judge = _RepeatedProgram(runner, compiled, plan)
    program = await language.build(runner, source, memory_bytes=plan.limits.memory_bytes)
    if isinstance(program, CompileFailure):
        return _failed(len(tests.cases), CodeReason.COMPILE_ERROR, program.message)
    plan = dataclasses.replace(plan, limits=language.run_limits(plan.limits))
    repeated = _RepeatedProgram(runner, program, plan)
    return await _run_cases(language, repeated, judge, tests, plan)


async def _run_cases(
    language: Language,
    repeated: _RepeatedProgram,
    judge: _RepeatedProgram | None,
    tests: Stdio,
    plan: Plan,
) -> Findings:
    findings = Findings(len(tests.cases))
    for case in tests.cases:
        run = await repeated.run(case.stdin)
        printed = _text(run.stdout)
        _measure(findings, run)
        if plan.keeps_runs and len(findings.runs) < MAX_KEPT_RUNS:
            findings.runs[findings.num_results] = _case_run(case, run)
        if run.succeeded:
            if judge is None:
                right = accepts(tests.checker, printed, case.stdout, tests.tolerance)
            else:
                right = await _judge_accepts(judge, case, printed)
            reason = CodeReason.PASSED if right else CodeReason.WRONG_ANSWER
            findings.add(reason, printed, case.stdout)
        else:
            reason = language.reason_told(run) or reason_of(run)
            findings.add(reason, _text(run.stderr), case.stdout)
        if _ends_the_cases(findings, plan, reason_of(run)):
            break
        if repeated.is_out_of_time or (judge and judge.is_out_of_time):
            break
    if findings.num_results < findings.total:
        findings.fail(CodeReason.TIME_LIMIT_EXCEEDED)
    return findings


def _measure(findings: Findings, run: Execution) -> None:
    findings.cpu_seconds += run.cpu_seconds
    findings.peak_memory_bytes = max(findings.peak_memory_bytes, run.peak_memory_bytes)


def _case_run(case: StdioCase, run: Execution) -> CaseRun:
    received = _text(run.stdout) if run.succeeded else _end(run.stderr)
    return CaseRun(
        readable(case.stdin),
        readable(case.stdout),
        readable(received),
        run.cpu_seconds,
        run.wall_seconds,
        run.peak_memory_bytes,
    )


def _ends_the_cases(findings: Findings, plan: Plan, reason: CodeReason) -> bool:
    """Whether a case failed after which no other is run."""
    if not findings.has_failed:
        return False
    if reason is CodeReason.TIME_LIMIT_EXCEEDED and not plan.after_time_limit:
        return True
    # A program that is not compiled for one case is compiled for none.
    return not plan.run_all or findings.reason == CodeReason.COMPILE_ERROR


async def _judge_accepts(judge: _RepeatedProgram, case: StdioCase, printed: str) -> bool:
    """Whether the special judge accepts what the program printed.

    A judge that fails or meets a limit does not accept: the output may be the cause.
    """
    shown = {"stdin": case.stdin, "stdout": printed, "expected": case.stdout}
    run = await judge.run(json.dumps(shown))
    return run.succeeded


# Calls: the program in one process, its tests in another


async def _run_calls(
    runner: Runner, source: bytes, tests: Function | Asserts, plan: Plan
) -> Findings:
    try:
        asked = json.dumps({**tests.model_dump(), "run_all": plan.run_all})
    except RecursionError:
        return _failed(0, CodeReason.UNSUPPORTED_TEST, "nested too deeply")
    reading = readings.get(asked)
    limits = plan.limits
    judge_limits = dataclasses.replace(
        limits,
        cpu_seconds=limits.cpu_seconds * JUDGE_CPU_SHARE,
        wall_seconds=limits.wall_seconds + JUDGE_WAIT_SECONDS,
        output_bytes=max(limits.output_bytes, _journal_bytes(asked)),
        idle_seconds=None,
    )
    has_records = isinstance(tests, Asserts) and may_have_records(tests.code)
    program = Program(payload=source, entry="serve_with_classes" if has_records else "serve")
    judge = Program(payload=asked.encode(), entry="judge")
    programs_kind, judges_kind = _zygotes(program, judge, tests)
    payload = f"{asked}\n{reading}".encode()
    pair = await runner.run_pair(
        dataclasses.replace(program, zygote_kind=programs_kind),
        dataclasses.replace(judge, payload=payload, zygote_kind=judges_kind),
        limits,
        judge_limits,
    )
    record = read_journal(pair.judge.result)
    if not reading and record.reading:
        readings.keep(asked, record.reading)
    findings = _findings_of(pair, record)
    _measure(findings, pair.program)
    return findings


readings = KeptReadings()
"""Readings of test code, which follow from its text alone: what a group is judged by is read once.
A reading is used by judges of the same tests only, so tests that forge theirs deceive themselves.
A worker of a pool shares those of the others.
"""


def _journal_bytes(asked: str) -> int:
    """Largest journal of tests: a test takes four characters at least, or is one of a split."""
    num_tests = len(asked) // 4 + MAX_SPLIT_TESTS
    return MAX_FRAME_BYTES + MAX_READING_BYTES + num_tests * MAX_RESULT_BYTES


# A use of numpy by its usual name, whether it is imported or not: `np.allclose(`.
_NUMPY = re.compile(r"\bnp\.")


def _zygotes(
    program: Program, judge: Program, tests: Function | Asserts
) -> tuple[ZygoteKind, ZygoteKind]:
    """The zygotes of a program and its judge: both have numpy if one of them names it.

    Arrays of numpy cross by value, and each side makes them again.
    """
    uses_numpy = isinstance(tests, Asserts) and _NUMPY.search(tests.code) is not None
    kind = zygote_kind_of(program)
    if kind is zygote_kind_of(judge) is ZygoteKind.STD and not uses_numpy:
        return ZygoteKind.STD, ZygoteKind.STD
    return (kind if kind is ZygoteKind.DATA else ZygoteKind.SCI), ZygoteKind.SCI


def _findings_of(pair: Pair, record: JudgesRecord) -> Findings:
    """The findings in the journal, completed by how the two processes ended.

    Raises:
        SandboxError: the judge was ended from outside before it had read the tests.
    """
    findings = record.findings
    if findings is None:
        # The program has been asked for nothing yet, so it is no fault of the program.
        why = f"the tests could not be read within the limits: {pair.judge.reason}"
        is_killed = pair.judge.reason is ExitReason.SIGNALED and pair.judge.signal == signal.SIGKILL
        if is_killed or pair.judge.reason is ExitReason.WALL_LIMIT:
            raise SandboxError(why)
        return _failed(0, EngineReason.BAD_REFERENCE, why)
    if findings.reason in UNVERIFIABLE:
        return findings
    if pair.program.reason is ExitReason.COMPILE_ERROR:
        return _failed(findings.total, CodeReason.COMPILE_ERROR, _text(pair.program.stderr))
    if record.end == "gone":
        findings.fail(reason_of(pair.program), _end(pair.program.stderr))
    elif record.end is None or not pair.judge.succeeded:
        # Returned values were too much for the judge.
        reason = REASON_OF_EXIT[pair.judge.reason]
        if reason is not CodeReason.TIME_LIMIT_EXCEEDED:
            reason = CodeReason.INVALID_OUTPUT
        findings.fail(reason, _end(pair.judge.stderr))
    return findings


def _text(output: bytes) -> str:
    return output.decode(errors="replace")


def _end(output: bytes) -> str:
    """The last characters of an output: a traceback ends with the error."""
    return _text(output)[-MAX_SHOWN_CHARACTERS:]
