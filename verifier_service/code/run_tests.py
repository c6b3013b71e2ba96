"""Runs a program against its tests in the sandbox, and counts the results."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import msgspec

from verifier_service.code.findings import MAX_SHOWN_CHARACTERS, Findings
from verifier_service.code.languages import CompileFailure, Language
from verifier_service.code.output_checkers import accepts
from verifier_service.code.reasons import REASON_OF_EXIT, CodeReason
from verifier_service.code.reference_tests import Asserts, Function, Stdio, StdioCase, Tests
from verifier_service.reason import EngineReason
from verifier_service.sandbox.execution import Execution, ExitReason, Limits, Pair, Program
from verifier_service.sandbox.runner import Runner, zygote_kind_of

ENTRIES = {
    "serve": "verifier_service.code.program_process:serve_program",
    "judge": "verifier_service.code.judge_process:run_judge",
}
"""Entries of the two processes in which the calls of a program are tested, for the `Runner`."""

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
        program = await language.build(runner, payload)
        if isinstance(program, CompileFailure):
            return _failed(CodeReason.COMPILE_ERROR, program.message)
        try:
            return await _run_cases(runner, program, tests, plan)
        except _BadSpecialJudge as error:
            return _failed(EngineReason.BAD_REFERENCE, expected=str(error))
    if not language.has_calls:
        found = f"programs in {language.tags[0]} have tests of type stdio, found {tests.type}"
        return _failed(CodeReason.UNSUPPORTED_TEST, found)
    return await _run_calls(runner, payload, tests, plan)


def _failed(reason: str, shown: str = "", expected: str = "") -> Findings:
    """Findings of tests that ended with their first."""
    findings = Findings.empty()
    findings.add(reason, shown, expected)
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


async def _run_cases(runner: Runner, program: Program, tests: Stdio, plan: Plan) -> Findings:
    findings = Findings.empty()
    repeated, judge = _RepeatedProgram(runner, program, plan), None
    if tests.program is not None:
        judge = _RepeatedProgram(runner, Program(payload=tests.program.encode()), plan)
    for case in tests.cases:
        run = await repeated.run(case.stdin)
        printed = _text(run.stdout)
        if run.succeeded:
            if judge is None:
                right = accepts(tests.checker, printed, case.stdout, tests.tolerance)
            else:
                right = await _judge_accepts(judge, case, printed)
            reason = CodeReason.PASSED if right else CodeReason.WRONG_ANSWER
            findings.add(reason, printed, case.stdout)
        else:
            findings.add(REASON_OF_EXIT[run.reason], _text(run.stderr), case.stdout)
        if _ends_the_cases(findings, plan):
            break
        if repeated.is_out_of_time or (judge and judge.is_out_of_time):
            break
    for _ in range(findings.total, len(tests.cases)):
        findings.add(CodeReason.TIME_LIMIT_EXCEEDED)
    return findings


def _ends_the_cases(findings: Findings, plan: Plan) -> bool:
    """Whether a case failed after which no other is run."""
    if findings.reason == CodeReason.PASSED:
        return False
    # A program that is not compiled for one case is compiled for none.
    return not plan.run_all or findings.reason == CodeReason.COMPILE_ERROR


class _BadSpecialJudge(Exception):
    """The special judge does not compile; the message is the compiler's."""


async def _judge_accepts(judge: _RepeatedProgram, case: StdioCase, printed: str) -> bool:
    """Whether the special judge accepts what the program printed.

    A judge that fails or meets a limit does not accept: the output may be the cause.

    Raises:
        _BadSpecialJudge: the judge does not compile, whatever the program printed.
    """
    shown = {"stdin": case.stdin, "stdout": printed, "expected": case.stdout}
    run = await judge.run(json.dumps(shown))
    if run.reason is ExitReason.COMPILE_ERROR:
        raise _BadSpecialJudge(_text(run.stderr))
    return run.succeeded


# Calls: the program in one process, its tests in another


async def _run_calls(
    runner: Runner, source: bytes, tests: Function | Asserts, plan: Plan
) -> Findings:
    try:
        payload = json.dumps({**tests.model_dump(), "run_all": plan.run_all})
    except RecursionError:
        return _failed(CodeReason.UNSUPPORTED_TEST, "nested too deeply")
    limits = plan.limits
    judge_limits = dataclasses.replace(
        limits,
        cpu_seconds=limits.cpu_seconds * JUDGE_CPU_SHARE,
        wall_seconds=limits.wall_seconds + JUDGE_WAIT_SECONDS,
        idle_seconds=None,
    )
    pair = await runner.run_pair(
        Program(payload=source, entry="serve"),
        Program(payload=payload.encode(), entry="judge"),
        limits,
        judge_limits,
    )
    if pair.program.reason is ExitReason.COMPILE_ERROR:
        return _failed(CodeReason.COMPILE_ERROR, _text(pair.program.stderr))
    return _findings_of(pair)


def _findings_of(pair: Pair) -> Findings:
    """The judge's findings, completed by how the two processes ended."""
    try:
        findings = msgspec.json.decode(pair.judge.result, type=Findings)
    except msgspec.MsgspecError:
        findings = None
    if findings is None or not pair.judge.succeeded:  # returned values were too much for the judge
        reason = REASON_OF_EXIT[pair.judge.reason]
        if reason is not CodeReason.TIME_LIMIT_EXCEEDED:
            reason = CodeReason.INVALID_OUTPUT
        return _failed(reason, _end(pair.judge.stderr))
    if findings.reason is None:
        findings.reason = REASON_OF_EXIT[pair.program.reason]
        findings.shown = _end(pair.program.stderr)
    return findings


def _text(output: bytes) -> str:
    return output.decode(errors="replace")


def _end(output: bytes) -> str:
    """The last characters of an output: a traceback ends with the error."""
    return _text(output)[-MAX_SHOWN_CHARACTERS:]
