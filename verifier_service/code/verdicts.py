"""What a run means: from a verifier's settings to a plan, and from what happened to a verdict."""

from __future__ import annotations

import time
from typing import Any

from verifier_service.code import languages
from verifier_service.code.reference_tests import Asserts, Function, Stdio
from verifier_service.code.run_tests import Grade, Plan, Result, grade
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import EngineReason, Outcome, Verdict
from verifier_service.verifiers.code import Code, CodeReason

Tests = Stdio | Function | Asserts
UNVERIFIABLE = {
    Result.UNSUPPORTED_TEST: CodeReason.UNSUPPORTED_TEST,
    Result.BAD_TESTS: EngineReason.BAD_REFERENCE,
}
REASONS = {result: CodeReason[result.name] for result in Result if result not in UNVERIFIABLE}
WALL_SHARE, MIN_WAIT_SECONDS = 3.0, 5.0
"""Wall time in shares of CPU time, and at least so much more: on a busy machine a program waits."""


async def judge_completion(
    runner: Runner, verifier: Code, tests: Tests, completion: Completion
) -> Verdict:
    """The verdict on a completion; the runner has the entries and tools of `grading`.

    Raises:
        SandboxError: its program could not be run, which is nobody's fault but ours.
    """
    return await judge_program(runner, verifier, tests, verifier.program_in(completion.text))


async def judge_program(
    runner: Runner, verifier: Code, tests: Tests, source: str | None
) -> Verdict:
    """The verdict on a program, or on there being none. Raises SandboxError, see above."""
    start = time.perf_counter()
    language = languages.LANGUAGES[verifier.language]
    missing = await language.missing(runner)
    if missing is not None:
        seconds, details = time.perf_counter() - start, {"message": missing}
        reason = CodeReason.MISSING_TOOLCHAIN
        return Verdict(Outcome.UNVERIFIABLE, None, reason, seconds, None, details)
    if source is None:
        return Verdict(Outcome.SCORED, 0.0, CodeReason.NO_CODE, time.perf_counter() - start)
    found = await grade(runner, language, source, tests, plan_of(verifier))
    return _verdict(verifier, found, time.perf_counter() - start)


def plan_of(verifier: Code) -> Plan:
    """How the verifier's settings have tests run."""
    limits = Limits(
        cpu_seconds=verifier.cpu_seconds,
        wall_seconds=_wall_seconds(verifier.cpu_seconds),
        memory_bytes=verifier.memory_bytes,
        output_bytes=verifier.output_bytes,
    )
    run_all = verifier.run_all or verifier.scoring == "fraction"
    total = verifier.total_cpu_seconds
    return Plan(limits, total, _wall_seconds(total), run_all)


def _wall_seconds(cpu_seconds: float) -> float:
    return max(WALL_SHARE * cpu_seconds, cpu_seconds + MIN_WAIT_SECONDS)


def _verdict(verifier: Code, found: Grade, seconds: float) -> Verdict:
    details: dict[str, Any] = {"passed": found.passed, "total": found.total}
    if found.first_failed is not None:
        details["first_failed"] = found.first_failed
        details["output"] = found.shown
        if verifier.reveal_expected:
            details["expected"] = found.expected
    if (reason := UNVERIFIABLE.get(found.result)) is not None:
        details["message"] = found.shown or "the tests cannot be run"
        return Verdict(Outcome.UNVERIFIABLE, None, reason, seconds, None, details)
    share = found.passed / found.total if found.total else 0.0
    score = share if verifier.scoring == "fraction" else float(found.result is Result.PASSED)
    return Verdict(Outcome.SCORED, score, REASONS[found.result], seconds, None, details)
