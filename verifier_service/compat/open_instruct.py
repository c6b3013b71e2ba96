"""open-instruct's code API: `/test_program`, `/test_program_stdio` and `/health`.

The client waits ten times `max_execution_time`, at least 30 s and at most 300 s. It tries again
three times after 500, 502, 503 and 504. Its tests are a list, the JSON text of one, or packed: see
`packed_tests`.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import pydantic_core
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from verifier_service import strict_json
from verifier_service.compat.completions import RewardedCompletion, rewarded
from verifier_service.compat.packed_tests import packed_value
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.rule_fields import RuledBody
from verifier_service.http.error_statuses import ApiError
from verifier_service.plain_pickle import UnreadablePickle
from verifier_service.strict_json import FlawedJson
from verifier_service.validation import first_problem
from verifier_service.verdict import Outcome
from verifier_service.verifiers.code import Code

router = APIRouter(route_class=StrictRoute, tags=["open-instruct"])

T = TypeVar("T")

MIN_WAIT_SECONDS, MAX_WAIT_SECONDS = 30.0, 300.0
SHARE_OF_WAIT = 0.93
MAX_TESTS = 1000
FAILED_RUNTIME = -1.0


class TestCase(RuledBody):
    """The input of a program and the output that it must print."""

    input: str
    output: str


class TestRequest(RuledBody):
    """A program and its tests."""

    program: str
    tests: Any = Field(description="a list, or the text of one: JSON, or a packed pickle")
    max_execution_time: float = Field(default=1.0, gt=0, le=60, description="seconds, of each test")


class TestResponse(BaseModel):
    """The result of each test, 1 or 0, and its seconds; -1.0 seconds for a failed test."""

    results: list[int]
    runtimes: list[float]


class Health(BaseModel):
    """The status, `healthy`."""

    status: str


_cases = TypeAdapter(list[TestCase])
_asserts = TypeAdapter(list[str])


@router.post("/test_program")
async def test_program(body: TestRequest, request: Request) -> TestResponse:
    """Run a program against lines of test code, such as `assert add(1, 2) == 3`."""
    tests = await _read_cases(request, body.tests, _asserts, "a list of lines of test code")
    return await _run_tests(request, body, [{"type": "asserts", "code": test} for test in tests])


@router.post("/test_program_stdio")
async def test_program_stdio(body: TestRequest, request: Request) -> TestResponse:
    """Run a program against standard input and output."""
    expected = "a list of objects with `input` and `output`"
    cases = await _read_cases(request, body.tests, _cases, expected)
    return await _run_tests(
        request,
        body,
        [
            {
                "type": "stdio",
                "checker": "tokens",
                "cases": [{"stdin": case.input, "stdout": case.output}],
            }
            for case in cases
        ],
    )


@router.get("/health")
async def health() -> Health:
    """The process is alive."""
    return Health(status="healthy")


async def _run_tests(
    request: Request, body: TestRequest, tests: Sequence[dict[str, Any]]
) -> TestResponse:
    seconds = min(max(10 * body.max_execution_time, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)
    verifier = Code(
        weight=1.0,
        part="completion",
        cpu_seconds=body.max_execution_time,
        total_cpu_seconds=body.max_execution_time,
    )
    judged = await rewarded(
        request,
        [(body.program, {"tests": test}) for test in tests],
        [verifier],
        deadline_seconds=SHARE_OF_WAIT * seconds,
    )
    passed = [_passed(one) for one in judged]
    return TestResponse(
        results=[int(one) for one in passed],
        runtimes=[
            one.first.seconds if is_passed else FAILED_RUNTIME
            for one, is_passed in zip(judged, passed, strict=True)
        ],
    )


def _passed(judged: RewardedCompletion) -> bool:
    return judged.first.outcome is Outcome.SCORED and judged.first.score == 1.0


async def _read_cases(
    request: Request, tests: Any, adapter: TypeAdapter[list[T]], expected: str
) -> list[T]:
    """The tests of a request. Raises ApiError if they are unreadable or too many; TooMuchHere."""
    if isinstance(tests, str):
        tests = await _value_in(request, tests, expected)
    try:
        found = adapter.validate_python(tests, strict=True)
    except ValidationError as error:
        raise _unreadable(f"{first_problem(error, 'tests')}; expected {expected}") from error
    if len(found) > MAX_TESTS:
        raise ApiError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too_many_tests",
            f"{len(found)} tests; at most {MAX_TESTS}",
        )
    return found


async def _value_in(request: Request, text: str, expected: str) -> Any:
    """The value of a text, JSON or packed. Raises ApiError, TooMuchHere."""
    try:
        found = pydantic_core.from_json(text)
        strict_json.check(text)
    except FlawedJson as error:
        raise _unreadable(f"tests.{error}") from error
    except ValueError:
        pass
    else:
        return found
    try:
        return await packed_value(request, text)
    except UnreadablePickle as error:
        raise _unreadable(
            f"tests is a text that is neither JSON nor packed plain data: {error}. "
            f"Expected {expected}"
        ) from error


def _unreadable(message: str) -> ApiError:
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "unreadable_tests", message)
