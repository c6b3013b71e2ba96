"""Programs of the tests: compiled once, and asked whether an output is right.

| convention | arguments | right | a share of it |
|---|---|---|---|
| `testlib` | input, output, answer | exit code 0 | exit code 7, and `points 0.5` on stderr |
| `cms` | input, answer, output | `1` on stdout | a number between 0 and 1 there |

Every other end is a wrong output: a checker that crashes or meets a limit may do so because of it.
testlib's exit code 3, a fault of the jury, is one of the tests only if the checker says the same of
the jury's own answer; else any program could have its problem taken out of the data.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from dataclasses import dataclass

from verifier_service.code.languages.language import CompileFailure
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reference_tests import CheckerProgram, JudgingProgram
from verifier_service.code.repeated_program import RepeatedProgram, encoded
from verifier_service.code.special_judge import compile_special_judge
from verifier_service.sandbox.execution import Execution, Limits, Program
from verifier_service.sandbox.runner import Runner

INPUT_FILE, OUTPUT_FILE, ANSWER_FILE = "input.txt", "output.txt", "answer.txt"
POINTS_CODE, FAULT_CODE = 7, 3
MAX_KEPT_PROGRAMS = 16
"""Compiled programs of tests that a worker keeps; each has at most a few MiB."""

# The share at the beginning of standard error: "points 0.5 two of four".
_POINTS = re.compile(r"\s*points\s+([0-9]*\.?[0-9]+)")


@dataclass(frozen=True)
class CaseJudgement:
    """The judgement of a program of the tests on one case."""

    share: float
    """Share of the case's points, from 0 to 1."""
    message: str
    """Its own words."""
    is_fault: bool = False
    """Whether it says that the case itself is at fault."""


class KeptPrograms:
    """Compiled programs of tests; those that were used last are kept."""

    def __init__(self) -> None:
        self._programs: OrderedDict[JudgingKey, Program] = OrderedDict()

    def get(self, key: JudgingKey) -> Program | None:
        """The compiled program, if it is kept."""
        found = self._programs.get(key)
        if found is not None:
            self._programs.move_to_end(key)
        return found

    def keep(self, key: JudgingKey, program: Program) -> None:
        """Keep a compiled program."""
        self._programs[key] = program
        if len(self._programs) > MAX_KEPT_PROGRAMS:
            self._programs.popitem(last=False)


JudgingKey = tuple[str, str, tuple[tuple[str, str], ...]]
"""Language, source and files, in their order."""
_kept = KeptPrograms()


async def compile_judging_program(
    runner: Runner, judging: JudgingProgram, limits: Limits
) -> Program | str:
    """Compile a program of the tests, or find it compiled.

    Returns the program, or why it does not compile. Raises SandboxError.
    """
    key = judging.language, judging.source, tuple(sorted(judging.files.items()))
    found = _kept.get(key)
    if found is not None:
        return found
    built = await _compile(runner, judging, limits)
    if isinstance(built, Program):
        _kept.keep(key, built)
    return built


async def _compile(runner: Runner, judging: JudgingProgram, limits: Limits) -> Program | str:
    language = LANGUAGES[judging.language]
    if language.find is None:
        return await compile_special_judge(runner, judging.source, limits)
    files = {name: encoded(content) for name, content in judging.files.items()}
    built = await language.build(runner, encoded(judging.source), files=files)
    return built.message if isinstance(built, CompileFailure) else built


async def judged_output(
    checker: RepeatedProgram, asked: CheckerProgram, *, stdin: str, printed: str, answer: str
) -> CaseJudgement:
    """The judgement of a checker on an output. Raises SandboxError."""
    files = files_of_case(stdin, answer) | {OUTPUT_FILE: encoded(printed)}
    is_testlib = asked.convention == "testlib"
    others = (OUTPUT_FILE, ANSWER_FILE) if is_testlib else (ANSWER_FILE, OUTPUT_FILE)
    run = await checker.run(arguments=(INPUT_FILE, *others), files=files)
    return judgement_of(run) if is_testlib else _share_printed(run)


def files_of_case(stdin: str, answer: str) -> dict[str, bytes]:
    """The files that a program of the tests reads."""
    return {INPUT_FILE: encoded(stdin), ANSWER_FILE: encoded(answer)}


def judgement_of(run: Execution) -> CaseJudgement:
    """The judgement that testlib's exit codes make."""
    message = run.stderr.decode(errors="replace")
    if run.succeeded:
        return CaseJudgement(1.0, message)
    if run.exit_code == POINTS_CODE and (points := _POINTS.match(message)):
        return CaseJudgement(min(float(points[1]), 1.0), message)
    return CaseJudgement(0.0, message, is_fault=run.exit_code == FAULT_CODE)


def _share_printed(run: Execution) -> CaseJudgement:
    """The judgement of a checker that prints its share."""
    message = run.stderr.decode(errors="replace")
    first = run.stdout.decode(errors="replace").split(maxsplit=1)[:1]
    if not run.succeeded or not first:
        return CaseJudgement(0.0, message)
    try:
        share = float(first[0])
    except ValueError:
        return CaseJudgement(0.0, message)
    return CaseJudgement(min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0, message)
