"""Contest problems (common_oj, Code Contests): whole programs and the lines that they print."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from pydantic import TypeAdapter, ValidationError

from verifier_service.code.languages.names import is_language
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.plain_run import RunOptions, RunReport
from verifier_service.compat.data_sets.messages import (
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    EvaluatedCase,
    Evaluation,
    SubmitRequest,
)
from verifier_service.compat.data_sets.rows import UnusableRow, column, json_column
from verifier_service.compat.data_sets.verdicts import DEFAULT_SECONDS, program_of
from verifier_service.compat.programs import check_files, run_programs
from verifier_service.compat.sandbox_fusion import OverallStatus, response_of
from verifier_service.compat.scheduling import NotNow
from verifier_service.errors import VerdictFailed
from verifier_service.validation import first_problem

CASES_AT_A_TIME = 8
"""Cases that run at the same time, unless all are asked for: after a failure no other begins."""
MAX_CASES = 1000
MAX_SHOWN = 1000
"""Longest text of a passed case that goes back, unless the whole is asked for."""

_WHOLE_PROGRAM = (
    "Write a whole program in {language} that reads standard input and writes its answer to "
    "standard output. Put it into a fenced block."
)


@dataclass(frozen=True)
class _StreamCase:
    """The input of a run and the output that it must have: streams and files by name."""

    input: dict[str, str]
    output: dict[str, str]


_stream_cases = TypeAdapter(list[_StreamCase])


def common_prompts(row: DataSetRow, config: DataSetConfig) -> list[DataSetPrompt]:
    """The prompt of a row. Raises UnusableRow."""
    asked = _WHOLE_PROGRAM.format(language=config.language or "a language")
    prompt = f"{column(row, 'content')}\n\n{asked}"
    labels = json_column(row, "labels", dict)
    return [DataSetPrompt(id=column(row, "id", (str, int)), prompt=prompt, labels=labels)]


async def evaluate_common(request: Request, body: SubmitRequest, row: DataSetRow) -> Evaluation:
    """The judgement of a completion. Raises UnusableRow, NotNow, VerdictFailed."""
    language = body.config.language
    if language is None or not is_language(language):
        raise UnusableRow(f"config.language is {language!r}; expected one of {sorted(LANGUAGES)}")
    cases = _cases_of(row)
    source = program_of(body, language=language)
    asked = [_options(case, body.config, language) for case in cases]
    run_all = bool(body.config.extra.get("run_all_cases"))
    step = len(cases) if run_all else CASES_AT_A_TIME
    tests: list[EvaluatedCase] = []
    for start in range(0, len(cases), max(step, 1)):
        runs = await _runs(request, source, asked[start : start + step], body.config)
        for run, case in zip(runs, cases[start : start + step], strict=True):
            tests.append(_evaluated(run, case, body.config))
            if not tests[-1].passed and not run_all:
                break
        if not tests[-1].passed and not run_all:
            break
    accepted = all(test.passed for test in tests)
    return Evaluation(id=body.id, accepted=accepted, extracted_code=source, tests=tests)


def _cases_of(row: DataSetRow) -> list[_StreamCase]:
    """The cases of a row. Raises UnusableRow."""
    try:
        cases = _stream_cases.validate_python(json_column(row, "test", list))
    except ValidationError as error:
        raise UnusableRow(first_problem(error, "config.provided_data.test")) from error
    if not 0 < len(cases) <= MAX_CASES:
        raise UnusableRow(
            f"config.provided_data.test has {len(cases)} cases; expected 1 to {MAX_CASES}"
        )
    for case in cases:
        if not case.output:
            raise UnusableRow("config.provided_data.test: a case has no output to compare with")
    return cases


def _options(case: _StreamCase, config: DataSetConfig, language: str) -> RunOptions:
    """How the program of a case is run. Raises UnusableRow."""
    files = {name: text.encode() for name, text in case.input.items() if name != "stdin"}
    fetched = tuple(name for name in case.output if name != "stdout")
    try:
        check_files(files, fetched)
    except ValueError as error:
        raise UnusableRow(f"config.provided_data.test: {error}") from error
    assert is_language(language)
    compiles = LANGUAGES[language].is_compiled
    return RunOptions(
        language=language,
        stdin=case.input.get("stdin", ""),
        files=files,
        fetched_files=fetched,
        compile_seconds=config.compile_timeout or 10.0,
        run_seconds=config.run_timeout or (10.0 if compiles else DEFAULT_SECONDS),
    )


async def _runs(
    request: Request, source: str, asked: Sequence[RunOptions], config: DataSetConfig
) -> list[RunReport]:
    """The runs of a program. Raises NotNow, VerdictFailed."""
    seconds = sum(one.compile_seconds + one.run_seconds for one in asked)
    programs = [(source, one) for one in asked]
    found = await run_programs(request, programs, deadline_seconds=seconds + 10)
    for run in found:
        if isinstance(run, NotNow):
            raise VerdictFailed(str(run))
        if run.problem is not None:
            raise UnusableRow(f"config.language {config.language!r}: {run.problem}")
    return [run for run in found if isinstance(run, RunReport)]


def _evaluated(run: RunReport, case: _StreamCase, config: DataSetConfig) -> EvaluatedCase:
    response = response_of(run)
    passed = response.status is OverallStatus.SUCCESS and all(
        _same_lines(_output(run, name), expected) for name, expected in case.output.items()
    )
    is_whole = not passed or bool(config.extra.get("return_full_case"))
    shown = {
        "input": {name: text if is_whole else _cut(text) for name, text in case.input.items()},
        "output": {name: text if is_whole else _cut(text) for name, text in case.output.items()},
    }
    return EvaluatedCase(passed=passed, exec_info=response, test_info=shown)


def _output(run: RunReport, name: str) -> str:
    assert run.run is not None
    content = run.run.stdout if name == "stdout" else run.files.get(name, b"")
    return content.decode(errors="replace")


def _same_lines(printed: str, expected: str) -> bool:
    """Whether two outputs have the same lines: case, margins and small errors do not matter.

    A line that is one number may differ from its number by a share of 1e-5, as at SandboxFusion.
    """
    found, wanted = (text.strip().lower().split("\n") for text in (printed, expected))
    return len(found) == len(wanted) and all(
        one.strip() == other.strip() or _close(one.strip(), other.strip())
        for one, other in zip(found, wanted, strict=True)
    )


# A decimal number alone on its line, such as -1.5e-3.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?")


def _close(one: str, other: str) -> bool:
    if not (_NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return False
    found, expected = float(one), float(other)
    return math.isfinite(expected) and abs(found - expected) < 1e-5 * max(abs(expected), 1e-10)


def _cut(text: str) -> str:
    if len(text) <= MAX_SHOWN:
        return text
    half = (MAX_SHOWN - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
