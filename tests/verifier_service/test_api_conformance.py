"""Responses to generated calls are those of the OpenAPI document."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import positive_data_acceptance

NUM_CASES = int(os.environ.get("SOAK_EXECUTIONS", "20000")) // 400
"""Generated calls; to make one takes as long as some hundred programs run, 0.2 s of CPU time."""

BEYOND_THE_SCHEMA = (
    "verifiers with the same name",
    "give either `verifiers` or `profile`",
    "no message has the role 'assistant'",
    "has no `content`, a text, and no `tool_calls`",
    "no profile",
    "not enabled here",
    "no effect in mode",
    "not a pattern of RE2",
    "zh needs the package jieba",
    "unit tokens: open-r1 counts characters",
    "is more than max_completion_tokens",
    "expected a minimum below the maximum",
    "Input should be a valid integer",  # 1.0 is one to JSON Schema
)
"""Rules that make input that fits the schema a 422; nothing else may."""

load_all_checks()


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_scoring_conforms(service_url: str, mode: GenerationMode) -> None:
    """No 5xx, nothing that is not documented, and what fits is refused for few reasons."""

    def check(case: Case[Any]) -> None:
        response = case.call(timeout=600)
        case.validate_response(response, excluded_checks=[positive_data_acceptance])
        if mode is GenerationMode.POSITIVE and response.status_code == 422:
            error = response.text  # of a union, a line for each member
            assert any(text in error for text in BEYOND_THE_SCHEMA), (error, case.body)

    generate(service_url, "/v1/score", "POST", mode, NUM_CASES // 2, check)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/", "/v1/verifiers", "/v1/profiles", "/healthz", "/readyz", "/metrics"]
)
def test_what_is_read_conforms(service_url: str, path: str) -> None:
    def check(case: Case[Any]) -> None:
        case.call_and_validate(timeout=600)

    generate(service_url, path, "GET", GenerationMode.POSITIVE, 5, check)


def generate(
    url: str,
    path: str,
    method: str,
    mode: GenerationMode,
    num_cases: int,
    check: Callable[[Case[Any]], None],
) -> None:
    """Check so many calls of an operation."""
    operation = schemathesis.openapi.from_url(f"{url}/openapi.json")[path][method]
    given(operation.as_strategy(generation_mode=mode))(
        settings(
            max_examples=num_cases,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            derandomize=True,
        )(check)
    )()
