"""Runs a program against its tests in the sandbox, and counts the results."""

from __future__ import annotations

import dataclasses
import json
import re
import signal

from verifier_service.code.checker_programs import (
    CaseJudgement,
    compile_judging_program,
    judged_output,
)
from verifier_service.code.findings import MAX_SHOWN_CHARACTERS, CaseRun, Findings, readable
from verifier_service.code.interaction import run_conversation
from verifier_service.code.journal import (
    MAX_FRAME_BYTES,
    MAX_READING_BYTES,
    MAX_RESULT_BYTES,
    JudgesRecord,
    read_journal,
)
from verifier_service.code.kept_readings import KeptReadings
from verifier_service.code.languages.language import CompileFailure, Language
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.output_checkers import accepts
from verifier_service.code.reasons import REASON_OF_EXIT, UNVERIFIABLE, CodeReason, reason_of
from verifier_service.code.records_in_text import may_have_records
from verifier_service.code.reference_tests import (
    Asserts,
    CheckerProgram,
    Function,
    Interactive,
    InteractiveCase,
    JudgingProgram,
    Stdio,
    StdioCase,
    Tests,
)
from verifier_service.code.repeated_program import Plan, RepeatedProgram, encoded, room_for
from verifier_service.code.special_judge import compile_special_judge
from verifier_service.code.split_tests import MAX_SPLIT_TESTS
from verifier_service.reason import EngineReason
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Pair,
    Program,
    SandboxError,
    ZygoteKind,
)
from verifier_service.sandbox.runner import Runner, zygote_kind_of

MAX_ROOM_OF_OUTPUT = 2**24
"""Most bytes that a program may have for its output because a case expects many."""
ENTRIES = {
    "serve": "verifier_service.code.program_process:serve_program",
    "serve_with_classes": "verifier_service.code.program_process:serve_with_classes",
    "judge": "verifier_service.code.judge_process:run_judge",
    "compile": "verifier_service.code.compile_process:compile_only",
    "cells": "verifier_service.code.cells_process:run_cells",
}
"""Entries for the `Runner`: of the two processes in which the calls of a program are tested, of
one that compiles a special judge, and of a session."""

MAX_KEPT_RUNS = 64
"""Most runs that findings keep for people to read."""
SKIPPED = "skipped"
"""Word for a case that was not run, because all of its subtasks were lost."""
JUDGE_CPU_SHARE = 1.0
"""CPU time of a judge as a share of the program's: it may have as much to compare."""
JUDGE_WAIT_SECONDS = 3.0
"""Wall time of a judge beyond the program's."""


async def run_tests(
    runner: Runner, language: Language, source: str, tests: Tests, plan: Plan
) -> Findings:
    """Run a program against its tests.

    Args:
        runner: has `ENTRIES` and `language_tools`.
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
    if isinstance(tests, Interactive):
        return await _run_interactive(runner, language, payload, tests, plan)
    if not language.has_calls:
        found = (
            f"programs in {language.tags[0]} have tests of type stdio or interactive, "
            f"found {tests.type}"
        )
        return _failed(0, CodeReason.UNSUPPORTED_TEST, found)
    return await _run_calls(runner, payload, tests, plan)


def _failed(total: int, reason: str, shown: str = "", expected: str = "") -> Findings:
    """Findings of tests that ended before the first."""
    findings = Findings(total)
    findings.fail(reason, shown, expected)
    return findings


# Whole programs: standard input and output


async def _run_stdio(
    runner: Runner, language: Language, source: bytes, tests: Stdio, plan: Plan
) -> Findings:
    # Compiled first: whether there is a verdict must not depend on what the program does.
    judge = await _special_judge(runner, tests, plan)
    if isinstance(judge, Findings):
        return judge
    program = await _built(runner, language, source, tests, plan)
    if isinstance(program, Findings):
        return program
    return await _run_cases(language, program, judge, tests, plan)


async def _built(
    runner: Runner, language: Language, source: bytes, tests: Stdio | Interactive, plan: Plan
) -> RepeatedProgram | Findings:
    """The program, ready to run, or the findings that it cannot be compiled."""
    files = {name: encoded(content) for name, content in tests.files.items()}
    memory_bytes = plan.limits.memory_bytes
    program = await language.build(runner, source, files=files, memory_bytes=memory_bytes)
    if isinstance(program, CompileFailure):
        return _failed(len(tests.cases), CodeReason.COMPILE_ERROR, program.message)
    return RepeatedProgram(runner, program, _with_room(plan, language), tests.files)


def _with_room(plan: Plan, language: Language) -> Plan:
    """The plan, with the room that the runtime of a language needs."""
    return dataclasses.replace(plan, limits=language.run_limits(plan.limits))


async def _special_judge(
    runner: Runner, tests: Stdio, plan: Plan
) -> RepeatedProgram | Findings | None:
    """The program that judges outputs, if there is one, or the findings that it is unusable."""
    if isinstance(tests.checker, CheckerProgram):
        compiled = await _judging_program(runner, tests.checker, len(tests.cases), plan)
        if isinstance(compiled, Findings):
            return compiled
        checkers_plan = _with_room(plan, LANGUAGES[tests.checker.language])
        return RepeatedProgram(runner, compiled, checkers_plan, tests.checker.files)
    if tests.program is None:
        return None
    source = await compile_special_judge(runner, tests.program, plan.limits)
    if isinstance(source, str):
        return _failed(len(tests.cases), EngineReason.BAD_REFERENCE, expected=source)
    return RepeatedProgram(runner, source, plan)


async def _judging_program(
    runner: Runner, judging: JudgingProgram, num_cases: int, plan: Plan
) -> Program | Findings:
    """A program of the tests, compiled, or the findings that it is unusable."""
    missing = await LANGUAGES[judging.language].missing(runner)
    if missing is not None:
        return _failed(num_cases, CodeReason.MISSING_TOOLCHAIN, missing)
    compiled = await compile_judging_program(runner, judging, plan.limits)
    if isinstance(compiled, str):
        return _failed(num_cases, EngineReason.BAD_REFERENCE, expected=compiled)
    return compiled


async def _run_cases(
    language: Language,
    repeated: RepeatedProgram,
    judge: RepeatedProgram | None,
    tests: Stdio,
    plan: Plan,
) -> Findings:
    findings, subtasks = Findings(len(tests.cases)), _OpenSubtasks(tests)
    for index, case in enumerate(tests.cases):
        if not subtasks.need(index):
            findings.count(SKIPPED)
            continue
        run = await repeated.run(case.stdin, output_bytes=_room_of_output(case))
        _measure(findings, run)
        if plan.keeps_runs and len(findings.runs) < MAX_KEPT_RUNS:
            findings.runs[findings.num_results] = _case_run(case, run)
        if not run.succeeded:
            reason = language.reason_told(run) or reason_of(run)
            findings.add(reason, _text(run.stderr), case.stdout)
        elif not await _add_output(findings, tests, case, _text(run.stdout), judge):
            return findings
        subtasks.take(index, findings.shares[-1])
        if _ends_the_cases(findings, plan, tests, reason_of(run)):
            break
        if repeated.is_out_of_time or (judge and judge.is_out_of_time):
            break
    if findings.num_results < findings.total:
        findings.fail(CodeReason.TIME_LIMIT_EXCEEDED)
    return findings


async def _add_output(
    findings: Findings,
    tests: Stdio,
    case: StdioCase,
    printed: str,
    judge: RepeatedProgram | None,
) -> bool:
    """Count what a program printed. Whether the tests can go on: a faulty case ends them."""
    if isinstance(tests.checker, CheckerProgram):
        assert judge is not None
        found = await _checked(judge, tests.checker, case, printed)
        if found.is_fault:
            _at_fault(findings, found)
            return False
        share = found.share
    elif judge is not None:
        share = float(await _judge_accepts(judge, case, printed))
    else:
        share = float(accepts(tests.checker, printed, case.stdout, tests.tolerance))
    reason = CodeReason.PASSED if share == 1.0 else CodeReason.WRONG_ANSWER
    findings.add(reason, printed, case.stdout, share=share)
    return True


def _room_of_output(case: StdioCase) -> int:
    """Bytes that a right output may have: those expected, and as much white space and decimals."""
    return min(2 * len(encoded(case.stdout)), MAX_ROOM_OF_OUTPUT)


def _at_fault(findings: Findings, judgement: CaseJudgement) -> Findings:
    """The findings of tests of which a case is at fault, whatever the program did before it."""
    findings.reason, findings.shown = EngineReason.BAD_REFERENCE, readable(judgement.message)
    return findings


async def _checked(
    judge: RepeatedProgram, checker: CheckerProgram, case: StdioCase, printed: str
) -> CaseJudgement:
    """A checker's judgement; a fault of the case only if the jury's own answer has it too."""
    asked = {"stdin": case.stdin, "answer": case.stdout}
    found = await judged_output(judge, checker, printed=printed, **asked)
    if not found.is_fault:
        return found
    jurys = await judged_output(judge, checker, printed=case.stdout, **asked)
    return found if jurys.is_fault else CaseJudgement(0.0, found.message)


class _OpenSubtasks:
    """The subtasks that may still give points, by what was found so far."""

    def __init__(self, tests: Stdio | Interactive) -> None:
        self._of_case: dict[int, list[int]] = {}
        for number, subtask in enumerate(tests.subtasks):
            for index in subtask.cases:
                self._of_case.setdefault(index, []).append(number)
        self._lost: set[int] = set()

    def need(self, index: int) -> bool:
        """Whether a case can change the points; where there are no subtasks, each one can."""
        mine = self._of_case.get(index)
        return mine is None or not self._lost.issuperset(mine)

    def take(self, index: int, share: float) -> None:
        """Take note of a case's share."""
        if share == 0:
            self._lost.update(self._of_case.get(index, ()))


def _measure(findings: Findings, run: Execution) -> None:
    findings.cpu_seconds += run.cpu_seconds
    findings.peak_memory_bytes = max(findings.peak_memory_bytes, run.peak_memory_bytes)


def _case_run(case: StdioCase | InteractiveCase, run: Execution) -> CaseRun:
    received = _text(run.stdout) if run.succeeded else _end(run.stderr)
    return CaseRun(
        readable(case.stdin),
        readable(case.stdout),
        readable(received),
        run.cpu_seconds,
        run.wall_seconds,
        run.peak_memory_bytes,
    )


def _ends_the_cases(
    findings: Findings, plan: Plan, tests: Stdio | Interactive, reason: CodeReason
) -> bool:
    """Whether a case failed after which no other is run."""
    if not findings.has_failed:
        return False
    # A program that is not compiled for one case is compiled for none.
    if not plan.run_all or findings.reason == CodeReason.COMPILE_ERROR:
        return True
    # Subtasks differ in size: a program may meet its limit in one and have points in the next.
    is_late = reason is CodeReason.TIME_LIMIT_EXCEEDED
    return is_late and not plan.after_time_limit and not tests.subtasks


async def _judge_accepts(judge: RepeatedProgram, case: StdioCase, printed: str) -> bool:
    """Whether the special judge accepts what the program printed.

    A judge that fails or meets a limit does not accept: the output may be the cause.
    """
    shown = {"stdin": case.stdin, "stdout": printed, "expected": case.stdout}
    run = await judge.run(json.dumps(shown))
    return run.succeeded


# Conversations: the program and an interactor


async def _run_interactive(
    runner: Runner, language: Language, source: bytes, tests: Interactive, plan: Plan
) -> Findings:
    compiled = await _judging_program(runner, tests.interactor, len(tests.cases), plan)
    if isinstance(compiled, Findings):
        return compiled
    program = await _built(runner, language, source, tests, plan)
    if isinstance(program, Findings):
        return program
    findings, subtasks = Findings(len(tests.cases)), _OpenSubtasks(tests)
    for index, case in enumerate(tests.cases):
        if not subtasks.need(index):
            findings.count(SKIPPED)
            continue
        interactor = compiled, tests.interactor
        found = await run_conversation(runner, program, interactor, case, plan)
        _measure(findings, found.run)
        if plan.keeps_runs and len(findings.runs) < MAX_KEPT_RUNS:
            findings.runs[findings.num_results] = _case_run(case, found.run)
        if not findings.has_failed:
            findings.transcript = found.transcript
        if found.judgement.is_fault:
            return _at_fault(findings, found.judgement)
        shown = "" if found.run.succeeded else _end(found.run.stderr)
        findings.add(found.reason, shown, found.judgement.message, share=found.judgement.share)
        subtasks.take(index, findings.shares[-1])
        if _ends_the_cases(findings, plan, tests, found.reason) or program.is_out_of_time:
            break
    if findings.num_results < findings.total:
        findings.fail(CodeReason.TIME_LIMIT_EXCEEDED)
    return findings


# Calls: the program in one process, its tests in another


async def _run_calls(
    runner: Runner, source: bytes, tests: Function | Asserts, plan: Plan
) -> Findings:
    try:
        asked = json.dumps({**tests.model_dump(exclude={"files"}), "run_all": plan.run_all})
    except RecursionError:
        return _failed(0, CodeReason.UNSUPPORTED_TEST, "nested too deeply")
    reading = readings.get(asked)
    files = {name: encoded(content) for name, content in tests.files.items()}
    limits = dataclasses.replace(plan.limits, file_bytes=room_for(files))
    judge_limits = dataclasses.replace(
        limits,
        cpu_seconds=limits.cpu_seconds * JUDGE_CPU_SHARE,
        wall_seconds=limits.wall_seconds + JUDGE_WAIT_SECONDS,
        output_bytes=max(limits.output_bytes, _journal_bytes(asked)),
        idle_seconds=None,
        file_bytes=0,
    )
    has_records = isinstance(tests, Asserts) and may_have_records(tests.code)
    entry = "serve_with_classes" if has_records else "serve"
    program = Program(payload=source, entry=entry, files=files)
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
