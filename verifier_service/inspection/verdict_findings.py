"""Findings that follow from a row and the verdicts on its probes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifier_service.code.reasons import CodeReason
from verifier_service.inspection.columns import solutions_of
from verifier_service.inspection.findings import FindingKind, RowFinding
from verifier_service.inspection.judging import ProbeVerdict, ProbeVerdicts
from verifier_service.inspection.prepared_row import PreparedRow
from verifier_service.inspection.probes import NUM_RUNS, answers_in
from verifier_service.inspection.stated_answers import contains_program, states
from verifier_service.inspection.trivial_programs import expected_outputs
from verifier_service.verdict import Outcome
from verifier_service.verifiers.accuracy import AccuracyReason

MIN_SCORE = 0.99
"""Score from which a completion counts as right."""
MAX_ANSWERS = 20
"""Most acceptable answers that are looked for in a problem."""
_EMPTY_ANSWERS = frozenset(
    {
        *("\\emptyset", "\\varnothing", "∅", "{}", "\\{\\}", "[]", "()", "none", "null", "n/a"),
        *("nosolution", "nosolutions", "norealsolution", "norealsolutions", "thereisnosolution"),
        *("emptyset", "theemptyset", "nothing", "unknown"),
    }
)
# An address that differs from run to run: the `0x7f3a` of `<object at 0x7f3a>`.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def findings_of(row: PreparedRow, verdicts: ProbeVerdicts, *, min_tests: int) -> list[RowFinding]:
    """The findings about a row, but for those that other rows make.

    Args:
        row: with its probes.
        verdicts: on the probes.
        min_tests: fewest tests of a program.
    """
    found = list(row.findings)
    if row.reading is None:
        return found
    found += _failures(verdicts)
    if row.reading.verifier == "code":
        found += _program_findings(row, verdicts, min_tests)
    else:
        found += _answer_findings(row, verdicts)
    return list(dict.fromkeys(found))


def _failures(verdicts: ProbeVerdicts) -> Iterator[RowFinding]:
    for name, verdict in verdicts.items():
        if verdict.outcome is Outcome.FAILED:
            yield RowFinding(FindingKind.NOT_JUDGED, f"{name}: {verdict.reason}")
            return
    for verdict in verdicts.values():
        if verdict.outcome is Outcome.UNVERIFIABLE:
            yield _unverifiable(verdict)
            return


def _unverifiable(verdict: ProbeVerdict) -> RowFinding:
    message = str(verdict.details.get("message", verdict.reason))
    if verdict.reason == CodeReason.MISSING_TOOLCHAIN:
        return RowFinding(FindingKind.LANGUAGE_MISSING, message)
    return RowFinding(FindingKind.BAD_REFERENCE, message)


def _is_right(verdict: ProbeVerdict | None) -> bool:
    return verdict is not None and verdict.score is not None and verdict.score >= MIN_SCORE


def _is_wrong(verdict: ProbeVerdict | None) -> bool:
    return verdict is not None and verdict.score is not None and verdict.score < MIN_SCORE


def _answer_findings(row: PreparedRow, verdicts: ProbeVerdicts) -> Iterator[RowFinding]:
    reading = row.reading
    assert reading is not None
    reference, reach = verdicts.get("reference"), verdicts.get("reach")
    if reference is not None and _is_wrong(reference):
        yield RowFinding(FindingKind.SELF_MISMATCH, _told(reference))
    elif reach is not None and _is_wrong(reach):
        yield RowFinding(FindingKind.UNREACHABLE_ANSWER, _told(reach))
    solution = verdicts.get("solution")
    if solution is not None and solution.reason == AccuracyReason.DIFFERENT:
        yield RowFinding(
            FindingKind.SOLUTION_DIFFERS, f"the solution ends with {solution.extracted}"
        )
    answers = [] if reading.verifier == "tool_calls" else answers_in(reading.reference)
    readable = verdicts.get("readable")
    if readable is not None and readable.score is not None and reading.verifier == "accuracy":
        yield RowFinding(FindingKind.BAD_REFERENCE, "the reference has no final answer")
    if _is_right(verdicts.get("prompt")) or any(
        states(row.prompt, one) for one in answers[:MAX_ANSWERS]
    ):
        yield RowFinding(FindingKind.GIVEN_AWAY)
    is_empty = answers and all(_bare(one) in _EMPTY_ANSWERS for one in answers)
    if is_empty or reading.reference.get("tool_calls") == []:
        yield RowFinding(FindingKind.EMPTY_ANSWER, answers[0] if answers else "")


def _bare(answer: str) -> str:
    return re.sub(r"[\s$.]", "", answer).casefold()


def _told(verdict: ProbeVerdict) -> str:
    found = f": {verdict.extracted}" if verdict.extracted else ""
    return f"{verdict.reason}{found}"


def _program_findings(
    row: PreparedRow, verdicts: ProbeVerdicts, min_tests: int
) -> Iterator[RowFinding]:
    programs = [one for name, one in verdicts.items() if name.startswith("program_")]
    if programs and all(map(_is_wrong, programs)):
        yield _failing(programs[0])
    if _has_changed(verdicts):
        yield RowFinding(FindingKind.NONDETERMINISTIC, _shown_change(verdicts))
    elif _is_right(verdicts.get("program_0")) and _is_slow(verdicts):
        yield RowFinding(FindingKind.SLOW_TESTS)
    passing = [
        name for name, one in verdicts.items() if name.startswith("trivial") if _is_right(one)
    ]
    if passing:
        yield RowFinding(FindingKind.TRIVIAL_PASSES, passing[0].removeprefix("trivial: "))
    number = _num_tests(row, verdicts)
    if number is not None and number < min_tests:
        yield RowFinding(FindingKind.FEW_TESTS, f"{number} of at least {min_tests}")
    if any(contains_program(row.prompt, one) for one in solutions_of(row.source.columns)):
        yield RowFinding(FindingKind.GIVEN_AWAY, "the problem holds a whole solution")


def _failing(verdict: ProbeVerdict) -> RowFinding:
    details = verdict.details
    output = " ".join(str(details.get("output", "")).split())
    if verdict.reason == CodeReason.MODULE_NOT_FOUND:
        return RowFinding(FindingKind.PACKAGE_MISSING, output[-200:])
    message = str(verdict.reason)
    if "first_failed" in details:
        message += f" in test {details['first_failed'] + 1}"
    if output:
        message += f": {output}"
        message += f"; expected {details['expected']}" if details.get("expected") else ""
    return RowFinding(FindingKind.SOLUTION_FAILS, message)


def _runs(verdicts: ProbeVerdicts) -> list[ProbeVerdict]:
    names = ["program_0", *(f"run_{number}" for number in range(1, NUM_RUNS))]
    return [verdicts[name] for name in names if name in verdicts]


def _is_slow(verdicts: ProbeVerdicts) -> bool:
    return any(one.reason == CodeReason.TIME_LIMIT_EXCEEDED for one in _runs(verdicts)[1:])


def _has_changed(verdicts: ProbeVerdicts) -> bool:
    """Whether runs of one program differ; the time limit of the later ones is shorter."""
    timed = CodeReason.TIME_LIMIT_EXCEEDED
    runs = [one for one in _runs(verdicts) if one.outcome is Outcome.SCORED and one.reason != timed]
    return len({(one.reason, _output(one)) for one in runs}) > 1


def _output(verdict: ProbeVerdict) -> str:
    passed, output = verdict.details.get("passed"), verdict.details.get("output", "")
    return f"{passed} {_ADDRESS.sub('', str(output))}"


def _shown_change(verdicts: ProbeVerdicts) -> str:
    return ", ".join(one.reason for one in _runs(verdicts))


def _num_tests(row: PreparedRow, verdicts: ProbeVerdicts) -> int | None:
    totals = [one.details["total"] for one in verdicts.values() if one.details.get("total")]
    if totals:
        return int(max(totals))
    assert row.reading is not None
    tests = row.reading.reference.get("tests")
    return (len(expected_outputs(tests)) or None) if isinstance(tests, dict) else None
