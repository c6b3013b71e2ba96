"""E2B's protocol, as far as its code interpreter needs it: sandboxes that are Python sessions.

The SDK (`e2b-code-interpreter`) is pointed here by two variables of its environment,
E2B_API_URL and E2B_SANDBOX_URL, both `http://HOST/compat/e2b`. Code goes to `/execute` in the
sandbox that a header names; the response has a line of JSON for each output, result and error.
Files, commands, contexts, other languages and variables of the environment are refused, or have no
route.
"""

from __future__ import annotations

import asyncio
import json
import time
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.code.plain_run import MAX_SECONDS
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.errors import RequestFailed
from verifier_service.executions.reasons import EndReason
from verifier_service.http.call_context import key_of
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.intake import intake_of
from verifier_service.http.line_stream import NDJSON
from verifier_service.http.service import service_of
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sessions.routes import (
    REPLICA_HEADER,
    SessionRoute,
    owner_of,
    sessions_of,
    wrong_field,
)
from verifier_service.sessions.session import Session, SessionCall
from verifier_service.sessions.wire import (
    MAX_SESSION_SECONDS,
    CallReport,
    LostReason,
    SessionLimits,
    SessionRequest,
)

ENVD_VERSION = "0.2.4"
"""Version of E2B's agent in a sandbox; the SDK refuses sandboxes of one before 0.1.0."""
FORMATS = {
    "text/plain": "text",
    "text/html": "html",
    "text/latex": "latex",
    "image/svg+xml": "svg",
    "image/png": "png",
}
"""E2B's name of each form of a value."""

router = APIRouter(prefix="/compat/e2b", route_class=SessionRoute, tags=["E2B"])
SandboxId = Annotated[
    str, Header(alias="E2b-Sandbox-Id", description="the sandbox, as the SDK names it")
]


class NewSandbox(BaseModel):
    """A sandbox to open. Fields that it cannot have are ignored where they are empty."""

    model_config = ConfigDict(extra="ignore")

    template_id: str = Field(default="code-interpreter-v1", alias="templateID", max_length=200)
    timeout: float = Field(
        default=15.0, gt=0, le=MAX_SESSION_SECONDS, description="seconds until the sandbox ends"
    )
    env_vars: dict[str, str] = Field(default={}, alias="envVars", description="must be empty")


class SandboxDescription(BaseModel):
    """A sandbox as it was opened."""

    template_id: str = Field(serialization_alias="templateID")
    sandbox_id: str = Field(serialization_alias="sandboxID", description="the id of its session")
    client_id: str = Field(serialization_alias="clientID", description="the replica that has it")
    envd_version: str = Field(default=ENVD_VERSION, serialization_alias="envdVersion")
    envd_access_token: str | None = Field(
        default=None,
        serialization_alias="envdAccessToken",
        description="the caller's own API key, which the SDK sends along with code",
    )


class NewTimeout(BaseModel):
    """The rest of a sandbox's life."""

    model_config = ConfigDict(extra="ignore")

    timeout: float = Field(gt=0, le=MAX_SESSION_SECONDS, description="seconds from now")


class CodeRequest(BaseModel):
    """Code to run."""

    model_config = ConfigDict(extra="ignore")

    code: str
    language: str | None = Field(default=None, description="python, or null")
    context_id: str | None = Field(default=None, description="must be null")
    env_vars: dict[str, str] | None = Field(default=None, description="must be empty or null")


@router.post("/v2/sandboxes", status_code=HTTPStatus.CREATED, response_model_exclude_none=True)
@router.post("/sandboxes", status_code=HTTPStatus.CREATED, response_model_exclude_none=True)
async def open_sandbox(
    body: NewSandbox, request: Request, response: Response
) -> SandboxDescription:
    """Open a sandbox: a Python session, which the route `/v1/sessions` has too."""
    service_of(request).limits.check_enabled(["code"])
    _check_empty("envVars", body.env_vars)
    limits = SessionLimits(
        seconds=MAX_SECONDS, idle_seconds=MAX_SESSION_SECONDS, life_seconds=body.timeout
    )
    sessions = sessions_of(request)
    try:
        session = await sessions.open(SessionRequest(limits=limits), {}, owner_of(request))
    except (SandboxError, ToolchainError, OSError) as error:
        raise RequestFailed(f"the sandbox could not be opened: {error}") from error
    response.headers[REPLICA_HEADER] = sessions.replica
    return SandboxDescription(
        template_id=body.template_id,
        sandbox_id=session.name,
        client_id=sessions.replica,
        envd_access_token=None if session.owner is None else key_of(request.headers),
    )


@router.delete("/sandboxes/{sandbox}", status_code=HTTPStatus.NO_CONTENT, response_model=None)
async def end_sandbox(sandbox: str, request: Request) -> None:
    """End a sandbox; 404 if it has ended."""
    session = _open(sandbox, request, gone=HTTPStatus.NOT_FOUND)
    await sessions_of(request).close(session, LostReason.CLOSED)


@router.post("/sandboxes/{sandbox}/timeout", status_code=HTTPStatus.NO_CONTENT, response_model=None)
async def set_timeout(sandbox: str, body: NewTimeout, request: Request) -> None:
    """Set the rest of a sandbox's life."""
    session = _open(sandbox, request, gone=HTTPStatus.NOT_FOUND)
    life = session.age_seconds + body.timeout
    session.limits = session.limits.model_copy(update={"life_seconds": life})


@router.get("/health", status_code=HTTPStatus.NO_CONTENT, response_model=None)
async def look_at_sandbox(sandbox: SandboxId, request: Request) -> None:
    """The sandbox runs; 502 if it does not."""
    _open(sandbox, request, gone=HTTPStatus.BAD_GATEWAY)


@router.post("/execute", response_class=Response)
async def execute(body: CodeRequest, sandbox: SandboxId, request: Request) -> Response:
    """Run code in a sandbox, after all that was sent there before.

    The lines come together once the code has ended. What is our failure is 502 and no line.
    """
    language = body.language or "python"
    if language != "python":
        raise wrong_field("language", f"only python is run here, not {language[:50]!r}")
    if body.context_id is not None:
        raise wrong_field("context_id", "a sandbox has one context here: create a sandbox for each")
    _check_empty("env_vars", body.env_vars)
    session = _open(sandbox, request, gone=HTTPStatus.BAD_GATEWAY)
    while session.running is not None:  # the SDK sends code while other code runs
        await asyncio.wait([session.running])
        session = _open(sandbox, request, gone=HTTPStatus.BAD_GATEWAY)
    call = SessionCall(code=body.code, seconds=session.limits.seconds, files={})
    report = await asyncio.shield(session.begin_call(call))
    if session.lost is not None:
        await sessions_of(request).close(session, session.lost)
    if report.reason is EndReason.SESSION_LOST:
        raise _gone(session.lost or LostReason.MACHINE, HTTPStatus.BAD_GATEWAY)
    content = b"".join(json.dumps(line).encode() + b"\n" for line in _lines(report))
    intake_of(request).reservation.grow_by_response(num_bytes=len(content))
    return Response(content, media_type=NDJSON)


def _lines(report: CallReport) -> list[dict[str, Any]]:
    """E2B's events of a call."""
    now = time.time_ns()
    lines: list[dict[str, Any]] = [
        {"type": name, "text": text, "timestamp": now}
        for name, text in (("stdout", report.stdout), ("stderr", report.stderr))
        if text
    ]
    shown = report.display or []
    for index, value in enumerate(shown):
        forms = {FORMATS[kind]: text for kind, text in value.items() if kind in FORMATS}
        is_main = index == len(shown) - 1 and report.value is not None
        lines.append({"type": "result", **forms, "is_main_result": is_main})
    if report.error is not None:
        error = report.error
        lines.append(_error(error.name, error.message, error.traceback))
    elif report.reason is not EndReason.COMPLETED:
        lines.append(_error(str(report.reason), report.message or report.reason.meaning, ""))
    return [*lines, {"type": "number_of_executions", "execution_count": report.call}]


def _error(name: str, value: str, traceback: str) -> dict[str, str]:
    return {"type": "error", "name": name, "value": value, "traceback": traceback}


def _open(sandbox: str, request: Request, *, gone: HTTPStatus) -> Session:
    """The open session of a sandbox, of the call's API key. Raises ApiError."""
    found = sessions_of(request).found(sandbox)
    if isinstance(found, Session) and found.owner != owner_of(request):
        found = None
    if isinstance(found, Session) and found.lost is not None:
        found = found.lost
    if isinstance(found, Session):
        return found
    if found is None:
        raise ApiError(HTTPStatus.NOT_FOUND, "no_session", "no sandbox has this id")
    raise _gone(found, gone)


def _gone(why: LostReason, status: HTTPStatus) -> ApiError:
    return ApiError(status, "session_lost", f"the sandbox is gone: {why.meaning}")


def _check_empty(field: str, given: dict[str, str] | None) -> None:
    if given:
        raise wrong_field(
            field, "variables of the environment cannot be set: set os.environ in code"
        )
