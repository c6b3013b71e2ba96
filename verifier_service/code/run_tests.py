"""Run a program against its tests in the sandbox, and say what that means."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from verifier_service.code.languages import CompileFailure, Language
from verifier_service.code.output_checkers import accepts
from verifier_service.code.reference_tests import Asserts, Function, Stdio, StdioCase
from verifier_service.sandbox.execution import Execution, ExitReason, Limits, Pair, Program
from verifier_service.sandbox.runner import Runner, zygote_kind_of

ENTRIES = {
    "serve": "verifier_service.code.program_process:serve",
    "judge": "verifier_service.code.judge_process:judge",
}
"""For the `Runner`."""

JUDGE_CPU_SHARE = 1.0
"""CPU time of a judge in shares of the program's: it may have as much to compare."""
JUDGE_WAIT_SECONDS = 3.0
"""Wall time of a judge beyond the program's."""
MAX_SHOWN_CHARACTERS = 500


class Result(StrEnum):
    """What came of one test, or of all."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    COMPILE_ERROR = "compile_error"
    TIME_LIMIT_EXCEEDED = "time_limit_exceeded"
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded"
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded"
    INVALID_OUTPUT = "invalid_output"
    SANDBOX_VIOLATION = "sandbox_violation"
    UNSUPPORTED_TEST = "unsupported_test"
    BAD_TESTS = "bad_tests"


_ENDINGS = {
    ExitReason.CPU_LIMIT: Result.TIME_LIMIT_EXCEEDED,
    ExitReason.WALL_LIMIT: Result.TIME_LIMIT_EXCEEDED,
    ExitReason.OUTPUT_LIMIT: Result.OUTPUT_LIMIT_EXCEEDED,
    ExitReason.COMPILE_ERROR: Result.COMPILE_ERROR,
    ExitReason.FORBIDDEN: Result.SANDBOX_VIOLATION,
    ExitReason.MEMORY_LIMIT: Result.MEMORY_LIMIT_EXCEEDED,
    ExitReason.SIGNALED: Result.RUNTIME_ERROR,
    ExitReason.EXITED: Result.RUNTIME_ERROR,
    ExitReason.STOPPED: Result.INVALID_OUTPUT,
}


@dataclass(frozen=True)
class Plan:
    """How tests are run."""

    limits: Limits
    """Of one stdio case, or of all calls of a function."""
    total_cpu_seconds: float
    """Of all stdio cases together. A special judge may have as much in all of them."""
    total_wall_seconds: float
    """The same of wall time."""
    run_all: bool
    """Whether to go on after the first test that fails."""


@dataclass
class Grade:
    """What came of a program's tests."""

    passed: int = 0
    total: int = 0
    result: Result = Result.PASSED
    """Of the first test that failed."""
    first_failed: int | None = None
    shown: str = ""
    """What the first failed test got, cut."""
    expected: str = ""
    """What it should have got."""

    def add(self, result: Result, shown: str = "", expected: str = "") -> None:
        """Count a test."""
        self.total += 1
        if result is Result.PASSED:
            self.passed += 1
        elif self.result is Result.PASSED:
            self.result, self.first_failed = result, self.total - 1
            self.shown, self.expected = (
                shown[:MAX_SHOWN_CHARACTERS],
                expected[:MAX_SHOWN_CHARACTERS],
            )


async def grade(
    runner: Runner, language: Language, source: str, tests: Stdio | Function | Asserts, plan: Plan
) -> Grade:
    """Run a program against its tests.

    Args:
        runner: with `ENTRIES` and `languages.tools`.
        language: of the program. Its toolchain must be there.
        source: of the program.
        tests: to run.
        plan: how to run them.

    Raises:
        SandboxError: they could not be run, which is nobody's fault but ours.
    """
    payload = source.encode("utf-8", "surrogatepass")
    if isinstance(tests, Stdio):
        program = await language.build(runner, payload)
        if isinstance(program, CompileFailure):
            return _only(Result.COMPILE_ERROR, program.message)
        try:
            return await _grade_stdio(runner, program, tests, plan)
        except _BadJudge as error:
            return _only(Result.BAD_TESTS, expected=str(error))
    if not language.has_calls:
        found = f"programs in {language.tags[0]} have tests of type stdio, found {tests.type}"
        return _only(Result.UNSUPPORTED_TEST, found)
    return await _grade_calls(runner, payload, tests, plan)


def _only(result: Result, shown: str = "", expected: str = "") -> Grade:
    """What came of tests that end with their first."""
    found = Grade()
    found.add(result, shown, expected)
    return found


class _Repeated:
    """A program that is run once for each case, and compiled once."""

    def __init__(self, runner: Runner, program: Program, plan: Plan) -> None:
        self._runner = runner
        self._program = program
        self._limits = plan.limits
        self._cpu_seconds_left = plan.total_cpu_seconds
        self._wall_seconds_left = plan.total_wall_seconds

    @property
    def is_out_of_time(self) -> bool:
        """Whether it has used up what it has for all cases."""
        return self._cpu_seconds_left <= 0 or self._wall_seconds_left <= 0

    async def run(self, stdin: str) -> Execution:
        """Run it, for as long as it may. Raises SandboxError."""
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


async def _grade_stdio(runner: Runner, program: Program, tests: Stdio, plan: Plan) -> Grade:
    found = Grade()
    judged, judge = _Repeated(runner, program, plan), None
    if tests.program is not None:
        judge = _Repeated(runner, Program(payload=tests.program.encode()), plan)
    for case in tests.cases:
        run = await judged.run(case.stdin)
        printed = run.stdout.decode(errors="replace")
        if run.succeeded:
            if judge is None:
                right = accepts(tests.checker, printed, case.stdout, tests.tolerance)
            else:
                right = await _judge_accepts(judge, case, printed)
            found.add(Result.PASSED if right else Result.WRONG_ANSWER, printed, case.stdout)
        else:
            found.add(_ENDINGS[run.reason], run.stderr.decode(errors="replace"), case.stdout)
        if found.result is not Result.PASSED and (not plan.run_all or _is_final(found.result)):
            break
        if judged.is_out_of_time or (judge and judge.is_out_of_time):
            break
    for _ in range(found.total, len(tests.cases)):
        found.add(Result.TIME_LIMIT_EXCEEDED)
    return found


class _BadJudge(Exception):
    """The special judge is no program; the message says why."""


async def _judge_accepts(judge: _Repeated, case: StdioCase, printed: str) -> bool:
    """Whether a special judge accepts what was printed.

    A judge that takes too much, or fails, does not: what was printed may be why.

    Raises:
        _BadJudge: it cannot be compiled, whatever was printed.
    """
    shown = {"stdin": case.stdin, "stdout": printed, "expected": case.stdout}
    run = await judge.run(json.dumps(shown))
    if run.reason is ExitReason.COMPILE_ERROR:
        raise _BadJudge(run.stderr.decode(errors="replace"))
    return run.succeeded


def _is_final(result: Result) -> bool:
    """Whether every other test would end the same way."""
    return result is Result.COMPILE_ERROR


async def _grade_calls(
    runner: Runner, source: bytes, tests: Function | Asserts, plan: Plan
) -> Grade:
    try:
        asked = json.dumps({**tests.model_dump(), "run_all": plan.run_all})
    except RecursionError:
        return _only(Result.UNSUPPORTED_TEST, "nested too deeply")
    limits = plan.limits
    judge_limits = dataclasses.replace(
        limits,
        cpu_seconds=limits.cpu_seconds * JUDGE_CPU_SHARE,
        wall_seconds=limits.wall_seconds + JUDGE_WAIT_SECONDS,
    )
    pair = await runner.run_pair(
        Program(payload=source, entry="serve"),
        Program(payload=asked.encode(), entry="judge"),
        limits,
        judge_limits,
    )
    if pair.program.reason is ExitReason.COMPILE_ERROR:
        return _only(Result.COMPILE_ERROR, pair.program.stderr.decode(errors="replace"))
    return _read_findings(pair, tests)


class _Findings(msgspec.Struct):
    passed: int
    total: int
    reason: str
    detail: str
    first_failed: int | None


def _read_findings(pair: Pair, tests: Function | Asserts) -> Grade:
    try:
        said = msgspec.json.decode(pair.judge.result, type=_Findings)
    except msgspec.MsgspecError:
        said = None
    if said is None or not pair.judge.succeeded:  # the program's answers were too much for it
        result = _ENDINGS[pair.judge.reason]
        if result is not Result.TIME_LIMIT_EXCEEDED:
            result = Result.INVALID_OUTPUT
        return _only(result, pair.judge.stderr.decode(errors="replace")[-MAX_SHOWN_CHARACTERS:])
    found = Grade(said.passed, said.total, first_failed=said.first_failed)
    if said.reason == "program_gone":
        found.result = _ENDINGS[pair.program.reason]
        found.shown = pair.program.stderr.decode(errors="replace")[-MAX_SHOWN_CHARACTERS:]
    elif said.reason == Result.WRONG_ANSWER and isinstance(tests, Asserts):
        # What test code says of its own accord names what it expects.
        found.result, found.expected = Result.WRONG_ANSWER, said.detail
    else:
        found.result, found.shown = Result(said.reason), said.detail
    return found
