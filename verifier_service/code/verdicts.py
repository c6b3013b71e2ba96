"""Verdicts on programs: from a verifier's settings to limits, and from findings to a verdict."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from verifier_service.code.explained_tests import explained_tests
from verifier_service.code.extraction import tags_of_blocks
from verifier_service.code.findings import Findings
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reasons import UNVERIFIABLE, CodeReason
from verifier_service.code.reference_tests import Interactive, Stdio, Tests
from verifier_service.code.repeated_program import Plan
from verifier_service.code.run_tests import run_tests
from verifier_service.code.wall_limit import wall_seconds
from verifier_service.completion import Completion
from verifier_service.explanation import DecidingStage, Explanation, spans_of
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from verifier_service.verifiers.code import Code

NO_CAUSE = (
    "the tests cannot be run, such as a checker that does not compile; `expected` has the cause "
    "with the option reveal_expected"
)
"""Message where the cause may quote the tests, which a reward's reader may not see."""


async def judge_completion(
    runner: Runner,
    verifier: Code,
    tests: Tests,
    completion: Completion,
    *,
    explain: bool = False,
) -> Verdict:
    """The verdict on a completion; `run_tests` tells what the runner has to have.

    Raises:
        SandboxError: the completion's program could not be run, which is our failure.
    """
    find = partial(verifier.program_in, tests=tests)
    source = find(completion.text)
    verdict = await judge_program(runner, verifier, tests, source, explain=explain)
    if verdict.reason is CodeReason.NO_CODE:
        return msgspec.structs.replace(verdict, details=_other_languages(verifier, completion.text))
    if verdict.explanation is None or source is None:
        return verdict
    spans = spans_of(completion.text, [source], find)
    explanation = msgspec.structs.replace(verdict.explanation, spans=spans)
    return msgspec.structs.replace(verdict, explanation=explanation)


def _other_languages(verifier: Code, text: str) -> dict[str, Any] | None:
    """Details of a completion without a program: the languages of its blocks, if it has any."""
    tags = tags_of_blocks(text)
    found = [one.name for one in LANGUAGES.values() if tags & set(one.tags)]
    if not found:
        return None
    message = f"its blocks are in {', '.join(found)}; this verifier judges {verifier.language}"
    return {"message": message}


async def judge_program(
    runner: Runner, verifier: Code, tests: Tests, source: str | None, *, explain: bool = False
) -> Verdict:
    """The verdict on a program's source; None is a completion without a program.

    Raises:
        SandboxError: the program could not be run, which is our failure.
    """
    start = time.perf_counter()
    language = LANGUAGES[verifier.language]
    missing = await language.missing(runner)
    if missing is not None:
        seconds, details = time.perf_counter() - start, {"message": missing}
        reason = CodeReason.MISSING_TOOLCHAIN
        explanation = Explanation(DecidingStage.REFERENCE) if explain else None
        return Verdict(Outcome.UNVERIFIABLE, None, reason, seconds, None, details, explanation)
    if source is None:
        explanation = Explanation(DecidingStage.EXTRACTION) if explain else None
        seconds = time.perf_counter() - start
        return Verdict(Outcome.SCORED, 0.0, CodeReason.NO_CODE, seconds, explanation=explanation)
    plan = dataclasses.replace(plan_of(verifier), keeps_runs=explain)
    findings = await run_tests(runner, language, source, tests, plan)
    verdict = _verdict(verifier, tests, findings, time.perf_counter() - start)
    if not explain:
        return verdict
    return msgspec.structs.replace(verdict, explanation=explained_tests(tests, findings))


def plan_of(verifier: Code) -> Plan:
    """The limits and the choice of tests that follow from the verifier's settings."""
    limits = Limits(
        cpu_seconds=verifier.cpu_seconds,
        wall_seconds=wall_seconds(verifier.cpu_seconds),
        memory_bytes=verifier.memory_bytes,
        output_bytes=verifier.output_bytes,
    )
    run_all = verifier.run_all or verifier.scoring == "fraction"
    total = verifier.total_cpu_seconds
    return Plan(limits, total, wall_seconds(total), run_all, after_time_limit=verifier.run_all)


def _verdict(verifier: Code, tests: Tests, findings: Findings, seconds: float) -> Verdict:
    details: dict[str, Any] = {"passed": findings.passed, "total": findings.total}
    if findings.first_failed is not None:
        details["first_failed"] = findings.first_failed
        details["output"] = findings.shown
        if verifier.reveal_expected:
            details["expected"] = findings.expected
    if findings.reason in UNVERIFIABLE:
        details["message"] = findings.shown or NO_CAUSE
        return Verdict(Outcome.UNVERIFIABLE, None, findings.reason, seconds, None, details)
    if findings.transcript:
        details["transcript"] = findings.transcript
    if isinstance(tests, Stdio | Interactive) and tests.subtasks:
        details["subtasks"] = _points(tests, findings)
    if verifier.scoring == "fraction":
        score = _fraction(tests, findings)
    else:
        score = float(findings.reason == CodeReason.PASSED)
    return Verdict(Outcome.SCORED, score, findings.reason, seconds, None, details)


def _fraction(tests: Tests, findings: Findings) -> float:
    """The share of tests that passed, or of the points that they and their subtasks give."""
    if not findings.total:
        return 0.0
    if isinstance(tests, Stdio | Interactive) and tests.subtasks:
        most = sum(subtask.points for subtask in tests.subtasks)
        return min(sum(_points(tests, findings)) / most, 1.0)
    parts = sum(share for share in findings.shares if 0 < share < 1)
    return (findings.passed + parts) / findings.total


def _points(tests: Stdio | Interactive, findings: Findings) -> list[float]:
    """The points of each subtask: those of its worst case, and none for a case not reached."""
    shares = findings.shares + [0.0] * (len(tests.cases) - len(findings.shares))
    return [
        subtask.points * min(shares[index] for index in subtask.cases) for subtask in tests.subtasks
    ]
