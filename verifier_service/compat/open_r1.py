"""open-r1's router: `POST /execute_batch`, for `--e2b_router_url` and `--morph_router_url`.

open-r1's `code_reward` does not send programs with tests. It sends scripts that hold a program and
test cases, start the program with `subprocess` and end with the share of the cases that passed.
Such a script is not run: no program may start another here. Its program and its cases are read from
its text, and judged like any other. Any other script is run as a cell of a notebook, as E2B does:
its value is that of a bare expression on its last line.

The clients have no time-out, or one of 28 s, and treat every status but 200 as a bug. A script that
could not be judged has `exception_str`; its reward is None then.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pydantic_core
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from verifier_service import strict_json
from verifier_service.code.plain_run import RunOptions, RunReport
from verifier_service.compat.completions import (
    LabelledCompletion,
    UnusableReference,
    rewarded_or_failed,
)
from verifier_service.compat.jupyter import CellResult, cells_of, session_source
from verifier_service.compat.open_instruct import TestCase
from verifier_service.compat.programs import as_text, run_programs
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.scheduling import NotNow
from verifier_service.strict_json import FlawedJson
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.code import Code

router = APIRouter(route_class=StrictRoute, tags=["open-r1"])

CLIENT_WAIT_SECONDS = 28.0
DEADLINE_SECONDS = 26.0
"""Time until a response to a client that waits CLIENT_WAIT_SECONDS; others get the same share."""
MAX_RUN_SECONDS = 20.0
MAX_SCRIPTS = 4096
VERIFIER = Code(
    part="completion", scoring="fraction", cpu_seconds=5.0, total_cpu_seconds=20.0, weight=1.0
)
"""Judges the programs of `code_reward`; each case has the 5 seconds of open-r1's script."""

# The line of a script with its program: `code_snippet = "print(1)"`. Its value is a text of
# json.dumps, so it cannot hold a line break.
_PROGRAM = re.compile(r"^[ ]*code_snippet = (\".*\")[ ]*$", re.MULTILINE)
# The line with its cases: `test_cases = json.loads("[{\"input\": \"1\", \"output\": \"2\"}]")`
_CASES = re.compile(r"^[ ]*test_cases = json\.loads\((\".*\")\)[ ]*$", re.MULTILINE)
_CALL = "evaluate_code(code_snippet, test_cases)"


class BatchRequest(BaseModel):
    """Scripts with their languages, and the seconds for each and for all."""

    model_config = ConfigDict(extra="ignore")

    scripts: list[str] = Field(max_length=MAX_SCRIPTS, fail_fast=True)
    languages: list[str] = Field(default=[], fail_fast=True)
    timeout: float = Field(default=30.0, gt=0)
    request_timeout: float = Field(default=CLIENT_WAIT_SECONDS, gt=0)


class ScriptError(BaseModel):
    """The error that ended a script."""

    name: str
    value: str
    traceback: str


class E2BExecution(BaseModel):
    """An execution in E2B's form; the value of a script is the text of its main result."""

    results: list[dict[str, Any]]
    logs: dict[str, list[str]]
    error: ScriptError | None
    execution_count: int = 1


class ScriptResult(BaseModel):
    """The result of a script; the client of the Morph router reads `text`."""

    execution: E2BExecution | None = None
    text: str | None = None
    exception_str: str | None = None


@router.post("/execute_batch")
async def execute_batch(body: BatchRequest, request: Request) -> list[ScriptResult]:
    """Run scripts, as open-r1's routers do; scripts of `code_reward` are judged."""
    deadline = min(DEADLINE_SECONDS, body.request_timeout * DEADLINE_SECONDS / CLIENT_WAIT_SECONDS)
    found = [item_in(script) for script in body.scripts]
    items = {index: item for index, item in enumerate(found) if item is not None}
    others = [index for index in _in_python(body) if index not in items]
    results = [_other_language(index) for index in range(len(body.scripts))]
    judging = asyncio.create_task(
        rewarded_or_failed(request, list(items.values()), [VERIFIER], deadline_seconds=deadline)
    )
    running = asyncio.create_task(_run_scripts(request, body, others, deadline))
    try:
        judged, runs = await asyncio.gather(judging, running)
    except NotNow as error:
        return [ScriptResult(exception_str=str(error))] * len(body.scripts)
    finally:  # if one of them ends with an error, the other would go on
        judging.cancel()
        running.cancel()
        await asyncio.gather(judging, running, return_exceptions=True)
    for index, one in zip(items, judged, strict=True):
        results[index] = _judged(one.first)
    for index, run in zip(others, runs, strict=True):
        results[index] = _ran(run)
    return results


def item_in(script: str) -> LabelledCompletion | None:
    """The program and the tests that a script of `code_reward` holds; None for another script."""
    program, cases = _PROGRAM.search(script), _CASES.search(script)
    if program is None or cases is None or not script.rstrip().endswith(_CALL):
        return None
    try:
        # Unlike `json`, this refuses a lone surrogate, which no text for the workers may hold.
        text = pydantic_core.from_json(cases[1])
        tests = _cases.validate_json(text)
        source = pydantic_core.from_json(program[1])
    except (ValueError, ValidationError):
        return None
    try:
        strict_json.check(text)
    except FlawedJson as error:
        return source, UnusableReference(f"test_cases.{error}")
    return source, {
        "tests": {
            "type": "stdio",
            "cases": [{"stdin": case.input, "stdout": case.output} for case in tests],
        }
    }


_cases = TypeAdapter(list[TestCase])


def _in_python(body: BatchRequest) -> list[int]:
    """Indices of the scripts in Python; all of them if no languages are given."""
    languages = body.languages or ["python"] * len(body.scripts)
    return [
        index
        for index, language in enumerate(languages[: len(body.scripts)])
        if language == "python"
    ]


def _other_language(index: int) -> ScriptResult:
    return ScriptResult(exception_str=f"script {index} is not in python, the only language here")


async def _run_scripts(
    request: Request, body: BatchRequest, indices: Sequence[int], deadline_seconds: float
) -> list[RunReport | NotNow]:
    """The runs of the scripts at these indices. Raises NotNow."""
    seconds = min(body.timeout, MAX_RUN_SECONDS)
    asked = RunOptions(language="python", is_session=True, run_seconds=seconds)
    programs = [(session_source([body.scripts[index]]), asked) for index in indices]
    return await run_programs(request, programs, deadline_seconds=deadline_seconds)


def _judged(verdict: Verdict) -> ScriptResult:
    if verdict.outcome is not Outcome.SCORED:
        return ScriptResult(exception_str=f"{verdict.outcome}: {verdict.reason}")
    text = str(verdict.score)
    return ScriptResult(
        text=text,
        execution=E2BExecution(
            results=[{"text": text, "is_main_result": True}],
            logs={"stdout": [], "stderr": []},
            error=None,
        ),
    )


def _ran(found: RunReport | NotNow) -> ScriptResult:
    if isinstance(found, NotNow):
        return ScriptResult(exception_str=str(found))
    if found.problem is not None:
        return ScriptResult(exception_str=found.problem)
    cell = next(iter(cells_of(found)), None)
    return _ended(found) if cell is None else _finished(found, cell)


def _finished(found: RunReport, cell: CellResult) -> ScriptResult:
    """The result of a script that was run to its end, or to its error."""
    assert found.run is not None  # Python has no compile step
    error = None
    for raised in cell.error:
        trace = "".join(raised.traceback)
        error = ScriptError(name=raised.ename, value=raised.evalue, traceback=trace)
    shown: list[dict[str, Any]] = [
        {_FORMS[form]: made for form, made in one.items()} for one in cell.display
    ]
    text = shown[-1].get("text") if shown else None
    if shown:
        shown[-1]["is_main_result"] = True
    # What a script writes past `sys.stdout` comes last: nobody knows when it was written.
    stdout, stderr = (
        cell.stdout + as_text(found.run.stdout),
        cell.stderr + as_text(found.run.stderr),
    )
    return ScriptResult(
        text=text,
        execution=E2BExecution(
            results=shown, logs={"stdout": [stdout], "stderr": [stderr]}, error=error
        ),
    )


_FORMS = {
    "text/plain": "text",
    "text/html": "html",
    "text/latex": "latex",
    "image/svg+xml": "svg",
    "image/png": "png",
}
"""E2B's names of the forms of a value."""


def _ended(found: RunReport) -> ScriptResult:
    """The result of a script that ended its process, or met a limit."""
    assert found.run is not None
    run, stderr = found.run, as_text(found.run.stderr)
    error = None
    if run.exit_code != 0 or run.note:
        said = stderr.strip().rpartition("\n")[2]
        name, _, value = said.partition(": ")
        error = ScriptError(name=run.note or name, value=value, traceback=stderr)
    return ScriptResult(
        execution=E2BExecution(
            results=[], logs={"stdout": [as_text(run.stdout)], "stderr": [stderr]}, error=error
        )
    )
