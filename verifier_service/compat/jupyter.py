"""SandboxFusion's `POST /run_jupyter`: cells of a notebook, run in one session.

The session is one program and ends with the request. There is no kernel of Jupyter's behind it: a
cell is Python, without magics.
"""

from __future__ import annotations

import base64
import json
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from verifier_service.code.plain_run import MAX_SECONDS, RunOptions, RunReport
from verifier_service.compat.programs import check_files, decoded_files, run_one
from verifier_service.compat.sandbox_fusion import (
    MARGIN_SECONDS,
    CommandRunResult,
    OverallStatus,
    RunCodeRoute,
    RunStatus,
    memory_bytes_of,
    result_of,
)
from verifier_service.compat.scheduling import NotNow
from verifier_service.errors import QueueFull
from verifier_service.schemas import ErrorResponse

MAX_CELLS = 1000

router = APIRouter(route_class=RunCodeRoute, tags=["SandboxFusion"])


class RunJupyterRequest(BaseModel):
    """The cells of a session, and its limits."""

    model_config = ConfigDict(extra="ignore")

    cells: list[str] = Field(max_length=MAX_CELLS, fail_fast=True)
    cell_timeout: float = Field(default=0.0, ge=0, description="seconds of each cell; 0: no limit")
    total_timeout: float = Field(default=45.0, gt=0, le=MAX_SECONDS, description="seconds")
    memory_limit_MB: int = Field(default=-1, description="-1: the service's default, 1024")
    kernel: Literal["python3"] = "python3"
    files: dict[str, str | None] = Field(default={}, description="base64 by name")
    fetch_files: list[str] = Field(default=[], description="names of files to answer with")


MimeType = Literal["text/plain", "text/html", "text/latex", "image/svg+xml", "image/png"]


class CellError(BaseModel):
    """The error that ended a cell."""

    ename: str
    evalue: str
    traceback: list[str]


class CellResult(BaseModel):
    """The output of a cell, the values that it showed, and its error, if it had one."""

    stdout: str
    stderr: str
    display: list[dict[MimeType, str]] = Field(description="a value in several forms, by MIME type")
    error: list[CellError]


class RunJupyterResponse(BaseModel):
    """The cells that ended, and how the session did."""

    status: OverallStatus
    message: str
    driver: CommandRunResult | None = None
    cells: list[CellResult] = []
    executor_pod_name: str | None = None
    files: dict[str, str] = Field(default={}, description="base64 by name")


@router.post(
    "/run_jupyter",
    responses={504: {"model": ErrorResponse, "description": "not run this time; try again"}},
)
async def run_jupyter(body: RunJupyterRequest, request: Request) -> RunJupyterResponse:
    """Run cells in one session. An error of a cell does not end it."""
    try:
        asked = _session_options(body)
    except ValueError as error:
        return RunJupyterResponse(status=OverallStatus.SANDBOX_ERROR, message=str(error))
    source = session_source(body.cells, cell_seconds=body.cell_timeout)
    deadline = body.total_timeout + MARGIN_SECONDS
    try:
        found = await run_one(request, source, asked, deadline_seconds=deadline)
    except NotNow as error:
        raise QueueFull(str(error)) from error
    return _session_response(found, len(body.cells))


def session_source(cells: list[str], *, cell_seconds: float = 0.0) -> str:
    """The source of a session, as `RunOptions.is_session` expects it."""
    return json.dumps({"cells": cells, "cell_seconds": cell_seconds})


def cells_of(found: RunReport) -> list[CellResult]:
    """The cells that ended; none after a line that the program garbled."""
    cells = []
    for line in found.result.splitlines():
        try:
            cells.append(_cell.validate_python(json.loads(line)))
        except (ValueError, ValidationError, RecursionError):
            break
    return [_without_surrogates(cell) for cell in cells]


_cell = TypeAdapter(CellResult)


def _without_surrogates(cell: CellResult) -> CellResult:
    """The cell as JSON can hold it: a lone surrogate becomes a question mark."""
    text = json.dumps(cell.model_dump(), ensure_ascii=False).encode("utf-8", "replace")
    return _cell.validate_json(text)


def _session_options(body: RunJupyterRequest) -> RunOptions:
    """How the session is run. Raises ValueError."""
    files = decoded_files({name: text for name, text in body.files.items() if text is not None})
    check_files(files, body.fetch_files)
    return RunOptions(
        language="python",
        is_session=True,
        files=files,
        fetched_files=tuple(body.fetch_files),
        run_seconds=body.total_timeout,
        memory_bytes=memory_bytes_of(body.memory_limit_MB),
    )


def _session_response(found: RunReport, num_cells: int) -> RunJupyterResponse:
    if found.problem is not None:
        return RunJupyterResponse(status=OverallStatus.SANDBOX_ERROR, message=found.problem)
    cells, driver = cells_of(found), result_of(found.run)
    assert driver is not None  # a session has no compile step
    finished = driver.status is RunStatus.FINISHED and len(cells) == num_cells
    return RunJupyterResponse(
        status=OverallStatus.SUCCESS if finished else OverallStatus.FAILED,
        message="",
        driver=driver,
        cells=cells[:num_cells],
        files={name: base64.b64encode(data).decode() for name, data in found.files.items()},
    )
