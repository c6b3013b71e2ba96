"""Completions of data sets, judged by `code`: tests in Python run in a process of their own."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import Request

from verifier_service.code.reasons import CodeReason
from verifier_service.compat.completions import rewarded
from verifier_service.compat.data_sets.answered_code import first_program
from verifier_service.compat.data_sets.messages import EvaluatedCase, Evaluation, SubmitRequest
from verifier_service.compat.data_sets.rows import UnusableRow
from verifier_service.compat.sandbox_fusion import (
    CommandRunResult,
    OverallStatus,
    RunCodeResponse,
    RunStatus,
)
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.code import Code

DEFAULT_SECONDS = 20.0
MAX_JUDGED_SECONDS = 60.0
"""Most CPU time of one test that `code` allows."""

_PRELUDE = """\
import collections, copy, datetime, functools, hashlib, heapq, itertools, math, random, re, string
import sys
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from operator import *
from typing import *
"""
"""Imports that programs of HumanEval and LiveCodeBench may do without."""
_NUMPY = re.compile(r"\b(?:np\.|numpy\b)")


async def judged(
    request: Request, body: SubmitRequest, program: str, tests: dict[str, Any], seconds: float
) -> Verdict:
    """The verdict on a program. Raises QueueFull, VerdictFailed, ApiError."""
    verifier = Code(
        part="completion",
        weight=1.0,
        cpu_seconds=min(seconds, MAX_JUDGED_SECONDS),
        total_cpu_seconds=10 * min(seconds, MAX_JUDGED_SECONDS),
    )
    judged = await rewarded(
        request, [(program, {"tests": tests})], [verifier], deadline_seconds=10 * seconds + 20
    )
    verdict = judged[0].first
    if verdict.outcome is not Outcome.SCORED:
        said = (verdict.details or {}).get("message", "")
        raise UnusableRow(f"the tests of row {body.id!r} cannot be judged: {verdict.reason} {said}")
    return verdict


def run_of(verdict: Verdict) -> RunCodeResponse:
    """A verdict in the form of a run, which is what a client of SandboxFusion reads."""
    passed = verdict.reason == CodeReason.PASSED
    is_timeout = verdict.reason == CodeReason.TIME_LIMIT_EXCEEDED
    shown = str((verdict.details or {}).get("output", ""))
    is_wrong = verdict.reason == CodeReason.WRONG_ANSWER
    said = json.dumps({"error_message": "Wrong Answer", "output": shown}) if is_wrong else ""
    return RunCodeResponse(
        status=OverallStatus.SUCCESS if passed else OverallStatus.FAILED,
        message="",
        run_result=CommandRunResult(
            status=RunStatus.TIME_LIMIT_EXCEEDED if is_timeout else RunStatus.FINISHED,
            execution_time=verdict.seconds,
            return_code=None if is_timeout else int(not passed),
            stdout=said,
            stderr="" if passed else f"{verdict.reason}: {shown}",
        ),
    )


def evaluation(
    body: SubmitRequest, verdict: Verdict, extracted: str, full: str, test_code: str | None = None
) -> Evaluation:
    """The judgement of a completion that a verdict makes."""
    accepted = verdict.reason == CodeReason.PASSED
    return Evaluation(
        id=body.id,
        accepted=accepted,
        extracted_code=extracted,
        full_code=full,
        test_code=test_code,
        tests=[EvaluatedCase(passed=accepted, exec_info=run_of(verdict))],
    )


def with_prelude(source: str) -> str:
    """The source after the imports that it may do without."""
    numpy = "import numpy\nimport numpy as np\n" if _NUMPY.search(source) else ""
    return f"{_PRELUDE}{numpy}{source}"


def program_of(body: SubmitRequest, *, any_tag: bool = False, language: str = "python") -> str:
    """The program in the completion. Raises UnusableRow."""
    if body.config.custom_extract_logic is not None:
        raise UnusableRow(
            "config.custom_extract_logic is code for the server, which runs none; send the "
            "extracted program as the completion, in a fenced block"
        )
    return first_program(body.completion, language, any_tag=any_tag)
