"""Interactive problems: the program talks with an interactor, each in a sandbox of its own.

The interactor is given testlib's arguments: its input file, a file that it may write, and its
answer file; the program can read none of them. Its exit code is the judgement, as a checker's is.
An interactor that accepts has the last word, however the program ends afterwards.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from verifier_service.code.checker_programs import (
    ANSWER_FILE,
    INPUT_FILE,
    OUTPUT_FILE,
    CaseJudgement,
    files_of_case,
    judgement_of,
)
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reasons import CodeReason, reason_of
from verifier_service.code.reference_tests import InteractiveCase, JudgingProgram
from verifier_service.code.repeated_program import Plan, RepeatedProgram, encoded, room_for
from verifier_service.sandbox.execution import Execution, ExitReason, Program
from verifier_service.sandbox.runner import Runner

WAIT_SECONDS = 3.0
"""Wall time of an interactor beyond the program's."""
MIN_MEMORY_BYTES = 256 * 2**20
"""Least memory of an interactor, whose own limits no problem states."""
MIN_TALK_BYTES = 2**20


@dataclass(frozen=True)
class TalkResult:
    """One conversation, judged."""

    run: Execution
    """The program's."""
    judgement: CaseJudgement
    reason: CodeReason
    transcript: str


async def run_conversation(
    runner: Runner,
    program: RepeatedProgram,
    interactor: tuple[Program, JudgingProgram],
    case: InteractiveCase,
    plan: Plan,
) -> TalkResult:
    """Have a program talk with an interactor. Raises SandboxError.

    Args:
        runner: runs both.
        program: the program that is judged.
        interactor: the compiled interactor, and where it comes from.
        case: its files.
        plan: limits; the interactor has the program's.
    """
    compiled, asked = interactor
    beside = {name: encoded(content) for name, content in asked.files.items()}
    files = {**beside, **files_of_case(case.stdin, case.stdout), **compiled.files}
    interactors = dataclasses.replace(
        compiled, arguments=(INPUT_FILE, OUTPUT_FILE, ANSWER_FILE), files=files
    )
    limits = program.limits_with(program.program.files)
    room = LANGUAGES[asked.language].run_limits(plan.limits)
    interactors_limits = dataclasses.replace(
        room,
        wall_seconds=limits.wall_seconds + WAIT_SECONDS,
        memory_bytes=max(plan.limits.memory_bytes, MIN_MEMORY_BYTES),
        output_bytes=max(plan.limits.output_bytes, MIN_TALK_BYTES),
        idle_seconds=None,
        file_bytes=max(room.file_bytes, room_for(files)),
    )
    pair, talk = await runner.run_conversation(
        program.program, interactors, limits, interactors_limits
    )
    program.charge(pair.program)
    judgement = judgement_of(pair.judge)
    if judgement.is_fault:
        # A fault that it also finds with nobody there is no fault of the program.
        alone = await runner.run(interactors, interactors_limits)
        judgement = dataclasses.replace(judgement, is_fault=judgement_of(alone).is_fault)
    reason = _reason(pair.program, judgement, is_first=talk.silent_first == "program")
    return TalkResult(pair.program, judgement, reason, talk.text())


def _reason(run: Execution, judgement: CaseJudgement, *, is_first: bool) -> CodeReason:
    """The reason of a case.

    A program that is still there when its interactor has ended reads the end of its input, and may
    crash over that. So its end counts only if it was the first to fall silent, or met a limit.
    """
    if judgement.share == 1.0:
        return CodeReason.PASSED
    met_limit = run.reason not in (ExitReason.EXITED, ExitReason.SIGNALED, ExitReason.STOPPED)
    if met_limit or (is_first and not run.succeeded and run.reason is not ExitReason.STOPPED):
        return reason_of(run)
    return CodeReason.WRONG_ANSWER
