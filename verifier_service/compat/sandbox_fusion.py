"""SandboxFusion's `POST /run_code` and `GET /v1/ping`.

verl, SkyRL-agent, tinker-cookbook and ROLL call it. The response is 200 with a `status`, whatever
the program does. A program that could not be run this time is 504, the status that verl retries.
"""

from __future__ import annotations

import base64
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.code.languages.names import runnable_named
from verifier_service.code.languages.runners import RUNNABLE
from verifier_service.code.plain_run import (
    DEFAULT_MEMORY_BYTES,
    MAX_MEMORY_BYTES,
    MAX_SECONDS,
    MIN_MEMORY_BYTES,
    ProcessReport,
    RunOptions,
    RunReport,
)
from verifier_service.compat.programs import (
    as_text,
    check_files,
    decoded_files,
    run_one,
)
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.scheduling import NotNow
from verifier_service.http.error_statuses import ApiError
from verifier_service.schemas import ErrorResponse


class RunCodeRoute(StrictRoute):
    """A route whose clients retry 504."""

    try_later_status = HTTPStatus.GATEWAY_TIMEOUT


router = APIRouter(route_class=RunCodeRoute, tags=["SandboxFusion"])

MARGIN_SECONDS = 8.0
"""Time beyond the limits of compiling and running; verl waits 10 s more than these."""


class RunCodeRequest(BaseModel):
    """A program and how to run it."""

    model_config = ConfigDict(extra="ignore")

    code: str
    language: str = Field(
        default="python",
        description="SandboxFusion's name, such as nodejs or pytest, or the service's",
    )
    stdin: str | None = None
    compile_timeout: float = Field(default=10.0, description="seconds")
    run_timeout: float = Field(default=10.0, description="seconds")
    memory_limit_MB: int = Field(default=-1, description="-1: the service's default, 1024")
    files: dict[str, str | None] = Field(default={}, description="base64 by name")
    fetch_files: list[str] = Field(
        default=[], description="names of files to answer with", fail_fast=True
    )


class RunStatus(StrEnum):
    """The end of one command."""

    FINISHED = "Finished"
    ERROR = "Error"
    TIME_LIMIT_EXCEEDED = "TimeLimitExceeded"


class OverallStatus(StrEnum):
    """The end of the whole run."""

    SUCCESS = "Success"
    FAILED = "Failed"
    SANDBOX_ERROR = "SandboxError"


class CommandRunResult(BaseModel):
    """The result of a command."""

    status: RunStatus
    execution_time: float | None
    return_code: int | None
    stdout: str | None
    stderr: str | None


class RunCodeResponse(BaseModel):
    """The result of a program."""

    status: OverallStatus
    message: str
    compile_result: CommandRunResult | None = None
    run_result: CommandRunResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = Field(default={}, description="base64 by name")


@router.post(
    "/run_code",
    responses={504: {"model": ErrorResponse, "description": "not run this time; try again"}},
)
async def run_code(
    body: RunCodeRequest,
    request: Request,
    wait_seconds: Annotated[
        float | None,
        Query(gt=0, description="how long this client waits; default: almost as long as verl does"),
    ] = None,
) -> RunCodeResponse:
    """Run a program, as SandboxFusion does."""
    try:
        asked = _run_settings(body)
    except ValueError as error:
        return RunCodeResponse(status=OverallStatus.SANDBOX_ERROR, message=str(error))
    deadline = wait_seconds or _wait_seconds(body)
    try:
        found = await run_one(request, body.code, asked, deadline_seconds=deadline)
    except NotNow as error:
        raise ApiError(
            HTTPStatus.GATEWAY_TIMEOUT, "not_run", f"{error}; try again later"
        ) from error
    return response_of(found)


@router.get("/v1/ping")
async def ping() -> str:
    """The process is alive."""
    return "pong"


def _run_settings(body: RunCodeRequest) -> RunOptions:
    """The settings of the run. Raises ValueError if the program cannot be run here."""
    language = runnable_named(body.language)
    if language is None:
        raise ValueError(
            f"language {body.language[:50]!r} is not served; there are {sorted(RUNNABLE)}"
        )
    for name in ("compile_timeout", "run_timeout"):
        if not 0 < getattr(body, name) <= MAX_SECONDS:
            raise ValueError(f"{name} is {getattr(body, name)}; expected up to {MAX_SECONDS} s")
    files = decoded_files({name: text for name, text in body.files.items() if text is not None})
    check_files(files, body.fetch_files)
    return RunOptions(
        language=language,
        stdin=body.stdin or "",
        files=files,
        fetched_files=tuple(body.fetch_files),
        compile_seconds=body.compile_timeout,
        run_seconds=body.run_timeout,
        memory_bytes=memory_bytes_of(body.memory_limit_MB),
    )


def memory_bytes_of(limit_mb: int) -> int:
    """The limit that a request asks for, within the service's; -1 is its default."""
    asked = limit_mb * 2**20 if limit_mb > 0 else DEFAULT_MEMORY_BYTES
    return min(max(asked, MIN_MEMORY_BYTES), MAX_MEMORY_BYTES)


def _wait_seconds(body: RunCodeRequest) -> float:
    """The time until a response must be sent: less than verl waits."""
    return body.compile_timeout + body.run_timeout + MARGIN_SECONDS


def response_of(found: RunReport) -> RunCodeResponse:
    """The report on a run in SandboxFusion's form."""
    if found.problem is not None:
        return RunCodeResponse(status=OverallStatus.SANDBOX_ERROR, message=found.problem)
    results = [result_of(ran) for ran in (found.compiled, found.run)]
    succeeded = found.run is not None and found.run.exit_code == 0 and not found.run.note
    return RunCodeResponse(
        status=OverallStatus.SUCCESS if succeeded else OverallStatus.FAILED,
        message="",
        compile_result=results[0],
        run_result=results[1],
        files={name: base64.b64encode(data).decode() for name, data in found.files.items()},
    )


def result_of(ran: ProcessReport | None) -> CommandRunResult | None:
    """The report on a process in SandboxFusion's form."""
    if ran is None:
        return None
    status = RunStatus.FINISHED
    if ran.note:
        status = RunStatus.TIME_LIMIT_EXCEEDED if ran.is_timeout else RunStatus.ERROR
    return CommandRunResult(
        status=status,
        execution_time=ran.wall_seconds,
        return_code=None if ran.is_timeout else ran.return_code,
        stdout=as_text(ran.stdout),
        stderr=as_text(ran.stderr) + (f"\n{ran.note}" if ran.note else ""),
    )
