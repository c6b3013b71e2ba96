"""The command `check-tests`: do a data set's reference solutions pass its own tests?

Each solution is judged as the service judges a completion. On a problem whose own solution fails,
no model can be right; on one whose solution cannot be judged, no model gets a verdict.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verifier_service import strict_json
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.reasons import CodeReason
from verifier_service.code.reference_tests import read_tests
from verifier_service.code.run_tests import ENTRIES
from verifier_service.code.verdicts import judge_program
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Verdict
from verifier_service.verifier import Unverifiable

if TYPE_CHECKING:
    from verifier_service.verifiers.code import Code

ID_COLUMNS = ("id", "task_id")
MAX_DETAIL_CHARACTERS = 240
MAX_SHOWN_ROWS = 10


class BadRows(ValueError):
    """Rows of the file lack a column or are not JSON; the message names rows and columns."""


@dataclass(frozen=True)
class Row:
    """A problem's reference solution and its tests."""

    number: int
    """Number of the row, from 1; empty lines are not counted."""
    name: str
    """The problem's `id` or `task_id`; empty if the data set has no such column."""
    solution: str
    tests: Any

    def __str__(self) -> str:
        return f"row {self.number}" + (f" ({self.name})" if self.name else "")


@dataclass(frozen=True)
class Misfit:
    """A row whose solution does not pass its tests, or cannot be judged by them."""

    row: Row
    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.row}: {self.reason}" + (f": {self.detail}" if self.detail else "")


def read_rows(path: Path, *, solution_column: str, tests_column: str) -> list[Row]:
    """The rows of a JSONL file.

    Raises:
        BadRows: some rows are not JSON objects with both columns.
        OSError: the file cannot be read.
    """
    rows: list[Row] = []
    problems: dict[str, list[int]] = {}
    lines = (line for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
    for number, line in enumerate(lines, 1):
        try:
            rows.append(_read_row(number, line, solution_column, tests_column))
        except ValueError as error:
            problems.setdefault(str(error), []).append(number)
    if problems:
        each = [
            f"row {numbers[0]}{f' and {len(numbers) - 1} more' if numbers[1:] else ''}: {problem}"
            for problem, numbers in problems.items()
        ]
        more = sum(map(len, list(problems.values())[MAX_SHOWN_ROWS:]))
        raise BadRows("\n".join([*each[:MAX_SHOWN_ROWS], *([f"and {more} more"] if more else [])]))
    if not rows:
        raise BadRows("there are no rows")
    return rows


def _read_row(number: int, line: str, solution_column: str, tests_column: str) -> Row:
    try:
        row = strict_json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply to be read") from error
    if not isinstance(row, dict):
        raise ValueError(f"found {type(row).__name__}, expected an object")
    for column in (solution_column, tests_column):
        if column not in row:
            raise ValueError(f"no column {column!r}; there are {', '.join(sorted(row)) or 'none'}")
    solution = row[solution_column]
    if not isinstance(solution, str):
        raise ValueError(f"{solution_column!r}: found {type(solution).__name__}, expected text")
    names = [str(row[column]) for column in ID_COLUMNS if column in row]
    return Row(number, names[0] if names else "", solution, row[tests_column])


async def find_misfits(
    rows: list[Row], *, verifier: Code, num_workers: int, on_judged: Callable[[], None]
) -> list[Misfit]:
    """Judge every row and return the misfits, in the order of the rows.

    Args:
        rows: rows of the data set.
        verifier: language and limits.
        num_workers: number of programs that run at the same time.
        on_judged: called after each row.

    Raises:
        SandboxError: no row can be judged: the sandbox does not start or does not run programs, or
            the language has no compiler on this machine.
    """
    found: list[Misfit] = []
    left = iter(rows)

    async def work(runner: Runner, rows: Iterator[Row]) -> None:
        for row in rows:
            misfit = await _judge(runner, verifier, row)
            if misfit is not None:
                found.append(misfit)
            on_judged()

    try:
        async with (
            Runner(
                num_workers, entries=ENTRIES, expects_pairs=True, tools=language_tools
            ) as runner,
            asyncio.TaskGroup() as group,
        ):
            for _ in range(num_workers):
                group.create_task(work(runner, left))
    except ExceptionGroup as errors:
        if errors.split(SandboxError)[1] is None:
            raise errors.exceptions[0] from None
        raise
    return sorted(found, key=lambda misfit: misfit.row.number)


def misfit_summary(num_rows: int, misfits: list[Misfit]) -> str:
    """The number of rows that pass, and of misfits for each reason.

    >>> misfit_summary(3, [Misfit(Row(2, "", "", None), "wrong_answer", "")])
    '3 rows: 2 passed, 1 wrong_answer'
    """
    counts = Counter(misfit.reason for misfit in misfits).most_common()
    parts = [f"{num_rows - len(misfits)} passed", *(f"{num} {reason}" for reason, num in counts)]
    return f"{num_rows} rows: {', '.join(parts)}"


async def _judge(runner: Runner, verifier: Code, row: Row) -> Misfit | None:
    """Raises SandboxError, see `find_misfits`."""
    try:
        tests = read_tests({"tests": row.tests})
    except Unverifiable as error:
        return Misfit(row, error.reason, _beginning(error.message.removeprefix("reference.")))
    source = verifier.program_in(row.solution, tests)
    program = row.solution if source is None else source
    verdict = await judge_program(runner, verifier, tests, program)
    if verdict.reason == CodeReason.PASSED:
        return None
    if verdict.reason == CodeReason.MISSING_TOOLCHAIN:  # every row would get it
        raise SandboxError((verdict.details or {})["message"])
    return Misfit(row, verdict.reason, _describe(verdict, row.tests))


def _describe(verdict: Verdict, tests: Any) -> str:
    """The test that failed, the program's output or error in it, and what was expected."""
    details = verdict.details or {}
    if "first_failed" not in details:
        return _cut(details.get("message", ""))
    number = details["first_failed"]
    got = f"test {number + 1}: {_cut(details['output'])}".rstrip(": ")
    expected = details.get("expected")
    if not expected and verdict.reason == CodeReason.WRONG_ANSWER:
        expected = _returns(tests, number)
    return f"{got}; expected {_cut(expected)}" if expected else got


def _returns(tests: Any, number: int) -> str:
    """The value that a function case wants returned; empty for tests of another form."""
    cases = tests.get("cases") if isinstance(tests, dict) else None
    case = cases[number] if isinstance(cases, list) and number < len(cases) else None
    return repr(case["returns"]) if isinstance(case, dict) and "returns" in case else ""


def _beginning(message: str) -> str:
    """A message of ours without a long list at its end."""
    line = " ".join(message.split())
    return line if len(line) <= MAX_DETAIL_CHARACTERS else f"{line[:MAX_DETAIL_CHARACTERS]}..."


def _cut(text: str) -> str:
    """The text on one line; of a long text the end, where a traceback names the error."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_DETAIL_CHARACTERS else "..." + line[-MAX_DETAIL_CHARACTERS:]
