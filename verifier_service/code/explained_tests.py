"""Explanations of verdicts on programs: each test with what it expected and what came."""

from __future__ import annotations

import json
from typing import Any

from verifier_service.code.findings import CaseRun, Findings
from verifier_service.code.reasons import UNVERIFIABLE
from verifier_service.code.reference_tests import Function, Tests
from verifier_service.explanation import (
    MAX_TESTS,
    MAX_TEXT_CHARACTERS,
    DecidingStage,
    ExplainedTest,
    Explanation,
    cut,
)


def explained_tests(tests: Tests, findings: Findings) -> Explanation:
    """The explanation of findings: the first tests that were run, and the first that failed."""
    stage = DecidingStage.REFERENCE if findings.reason in UNVERIFIABLE else DecidingStage.TESTS
    indices = list(range(min(len(findings.reasons), MAX_TESTS)))
    failed = findings.first_failed
    if failed is not None and failed not in indices:
        indices.append(failed)
    return Explanation(
        stage,
        tests=[_explained(index, tests, findings) for index in indices],
        cpu_seconds=findings.cpu_seconds or None,
        peak_memory_bytes=findings.peak_memory_bytes or None,
    )


def _explained(index: int, tests: Tests, findings: Findings) -> ExplainedTest:
    reason = findings.reasons[index] if index < len(findings.reasons) else findings.reason
    run = findings.runs.get(index)
    if run is not None:
        return _explained_run(index, reason, run)
    call, expected = _call(tests, index)
    received = None
    if index == findings.first_failed:
        received = cut(findings.shown) or None
        expected = expected or cut(findings.expected) or None
    return ExplainedTest(index, reason, call, expected, received)


def _explained_run(index: int, reason: str, run: CaseRun) -> ExplainedTest:
    return ExplainedTest(
        index,
        reason,
        cut(run.stdin),
        cut(run.expected),
        cut(run.received),
        run.cpu_seconds,
        run.wall_seconds,
        run.peak_memory_bytes,
    )


def _call(tests: Tests, index: int) -> tuple[str | None, str | None]:
    """The call of a test of a function and its expected result; None for any other test."""
    if not isinstance(tests, Function) or index >= len(tests.cases):
        return None, None
    case = tests.cases[index]
    arguments = [_json(one) for one in case.args]
    arguments += [f"{name}={_json(value)}" for name, value in case.kwargs.items()]
    return cut(f"{tests.entry_point}({', '.join(arguments)})"), cut(_json(case.returns))


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)[: MAX_TEXT_CHARACTERS + 1]
    except RecursionError:
        return "…"
