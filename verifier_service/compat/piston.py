"""Piston's `POST /api/v2/execute` and `GET /api/v2/runtimes`.

open-r1's client waits 30 s for a response, and tries five times after any status but 200. The
runtimes are the plain ones, by Piston's names, and those of open-r1's package `codeforces`. Its
package `cms_ioi` compiles a submission with a grader of several files, and is refused by name.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import signal
from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.names import language_named
from verifier_service.code.languages.status import language_version
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.plain_run import (
    DEFAULT_MEMORY_BYTES,
    MAX_MEMORY_BYTES,
    MIN_MEMORY_BYTES,
    ProcessReport,
    RunOptions,
)
from verifier_service.code.reasons import CodeReason
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.compat.codeforces import (
    CONFIG_FILE,
    LANGUAGES_OF_PACKAGE,
    judged_submission,
)
from verifier_service.compat.programs import as_text, check_files, run_one
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.scheduling import NotNow
from verifier_service.current_call import request_id
from verifier_service.errors import RequestError
from verifier_service.http.error_handlers import refused
from verifier_service.http.error_statuses import status_of
from verifier_service.http.promised_errors import MALFORMED
from verifier_service.http.service import service_of
from verifier_service.sandbox.execution import ExitReason


class PistonRoute(StrictRoute):
    """A route whose refusals have Piston's form."""

    def refusal(self, error: RequestError, request: Request) -> Response:
        """The response to a refused call."""
        refused(error, request.scope, service_of(request).metrics)
        return _error(status_of(error), error.message)


router = APIRouter(route_class=PistonRoute, tags=["Piston"])

DEADLINE_SECONDS = 28.0
MAX_TIMEOUT_MS = 60_000
"""Longest time limit that a request may ask for; a longer one is refused."""
MAX_COMPILE_SECONDS, MAX_RUN_SECONDS = 10.0, 15.0
"""Most time that a program gets, so that the response comes before the client gives up."""
NAMES: dict[str, str] = {"cpp": "c++", "r": "rscript", "sql": "sqlite3"}
"""Piston's names of languages, where they are not those of this service."""

Milliseconds = Annotated[int, Field(ge=0)]


class PistonFile(BaseModel):
    """A file; the first one is the program."""

    model_config = ConfigDict(extra="ignore")

    name: str | None = None
    content: str
    encoding: Literal["utf8", "base64", "hex"] = "utf8"


class ExecuteRequest(BaseModel):
    """A program and how to run it."""

    model_config = ConfigDict(extra="ignore")

    language: str
    version: str = "*"
    files: list[PistonFile] = Field(min_length=1, fail_fast=True)
    stdin: str = ""
    args: list[str] = Field(default=[], fail_fast=True)
    compile_timeout: Milliseconds = 10_000
    run_timeout: Milliseconds = 3_000
    compile_cpu_time: Milliseconds | None = None
    run_cpu_time: Milliseconds | None = None
    compile_memory_limit: int = Field(
        default=-1, description="has no effect: compilers have limits of their own"
    )
    run_memory_limit: int = Field(default=-1, description="bytes; -1: the service's default")


class Stage(BaseModel):
    """The result of compiling, or of running."""

    stdout: str
    stderr: str
    output: str = Field(description="both")
    code: int | None
    signal: str | None
    message: str | None
    status: Literal["RE", "SG", "TO", "OL", "XX"] | None
    cpu_time: int = Field(description="milliseconds")
    wall_time: int = Field(description="milliseconds")
    memory: int = Field(description="bytes")


class ExecuteResponse(BaseModel):
    """The result of a program; `compile` only if it was compiled."""

    model_config = ConfigDict(extra="allow")

    language: str
    version: str = Field(description="empty where the compiler does not say")
    run: Stage


class PistonError(BaseModel):
    """Piston's body of an error, with the id of the call."""

    message: str
    request_id: str | None = None


class PistonRuntime(BaseModel):
    """A language."""

    language: str
    version: str
    aliases: list[str]


@router.post(
    "/api/v2/execute",
    response_model=ExecuteResponse,
    responses={
        400: {"model": PistonError, "description": "it cannot be run here"},
        422: {"model": PistonError, "description": MALFORMED},
        503: {"model": PistonError, "description": "not run this time; try again"},
    },
)
async def execute(body: ExecuteRequest, request: Request) -> ExecuteResponse | JSONResponse:
    """Run a program, as Piston does."""
    package_language = LANGUAGES_OF_PACKAGE.get(body.language)
    if package_language is not None and any(one.name == CONFIG_FILE for one in body.files):
        return await _execute_submission(body, package_language, request)
    try:
        source, asked = _program(body)
    except ValueError as error:
        return _error(HTTPStatus.BAD_REQUEST, str(error))
    try:
        found = await run_one(request, source, asked, deadline_seconds=DEADLINE_SECONDS)
    except NotNow as error:
        return _error(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}; try again later")
    if found.problem is not None:
        return _error(HTTPStatus.BAD_REQUEST, found.problem)
    stages = {"compile": found.compiled, "run": found.run or _NOT_RUN}
    return ExecuteResponse.model_validate(
        {
            "language": NAMES.get(asked.language, asked.language),
            "version": found.version,
            **{name: _stage(ran) for name, ran in stages.items() if ran is not None},
        }
    )


async def _execute_submission(
    body: ExecuteRequest, language: LanguageName, request: Request
) -> ExecuteResponse | JSONResponse:
    """The answer of the package `codeforces`. Raises RequestError."""
    try:
        files = {one.name or "": _content(one).decode(errors="replace") for one in body.files}
        passed, words, verdict = await judged_submission(
            request, language, files, deadline_seconds=DEADLINE_SECONDS
        )
    except ValueError as error:
        return _error(HTTPStatus.BAD_REQUEST, str(error))
    failed_to_compile = verdict.reason == CodeReason.COMPILE_ERROR
    compiled = _spoken(int(failed_to_compile), "", words if failed_to_compile else "", 0.0)
    run = _spoken(0, "1" if passed else "0", words, verdict.seconds)
    return ExecuteResponse.model_validate(
        {"language": body.language, "version": "1.0.0", "compile": compiled, "run": run}
    )


def _spoken(code: int, stdout: str, stderr: str, seconds: float) -> Stage:
    """A stage that was not run as one."""
    return Stage(
        stdout=stdout,
        stderr=stderr,
        output=stdout + stderr,
        code=code,
        signal=None,
        message=None,
        status="RE" if code else None,
        cpu_time=round(seconds * 1000),
        wall_time=round(seconds * 1000),
        memory=0,
    )


@router.get("/api/v2/runtimes")
async def runtimes() -> list[PistonRuntime]:
    """The languages whose toolchains are on this machine."""
    return await asyncio.to_thread(lambda: [*_runtimes()])


def _runtimes() -> Iterator[PistonRuntime]:
    for language in LANGUAGES.values():
        name = NAMES.get(language.name, language.name)
        with contextlib.suppress(ToolchainError):
            version = language_version(language.name)
            aliases = [one for one in (language.name, *language.aliases) if one != name]
            yield PistonRuntime(language=name, version=version, aliases=aliases)


def _program(body: ExecuteRequest) -> tuple[str, RunOptions]:
    """The source and how to run it. Raises ValueError if it cannot be run here."""
    language = language_named(body.language)
    if language is None:
        raise ValueError(
            f"{body.language[:50]}-{body.version[:50]} runtime is unknown; there are "
            f"{sorted(NAMES.get(name, name) for name in LANGUAGES)}"
        )
    for name in ("compile_timeout", "run_timeout", "compile_cpu_time", "run_cpu_time"):
        if (getattr(body, name) or 0) > MAX_TIMEOUT_MS:
            raise ValueError(f"{name} cannot exceed the configured limit of {MAX_TIMEOUT_MS}")
    if body.run_memory_limit > MAX_MEMORY_BYTES:
        raise ValueError(f"run_memory_limit cannot exceed the configured limit {MAX_MEMORY_BYTES}")
    main, *others = body.files
    files = {one.name or f"file{index}.code": _content(one) for index, one in enumerate(others, 1)}
    check_files(files)
    memory_bytes = body.run_memory_limit if body.run_memory_limit > 0 else DEFAULT_MEMORY_BYTES
    return _content(main).decode(errors="replace"), RunOptions(
        language=language,
        stdin=body.stdin,
        arguments=tuple(body.args),
        files=files,
        compile_seconds=_seconds(body.compile_timeout, body.compile_cpu_time, MAX_COMPILE_SECONDS),
        run_seconds=_seconds(body.run_timeout, body.run_cpu_time, MAX_RUN_SECONDS),
        memory_bytes=max(memory_bytes, MIN_MEMORY_BYTES),
        tells_version=True,
    )


def _seconds(wall_ms: int, cpu_ms: int | None, limit: float) -> float:
    return min(wall_ms / 1000, (wall_ms if cpu_ms is None else cpu_ms) / 1000, limit)


def _content(file: PistonFile) -> bytes:
    """The bytes of a file. Raises ValueError if they are not encoded as it says."""
    if file.encoding == "utf8":
        return file.content.encode()
    if file.encoding == "hex":
        return bytes.fromhex(file.content)
    return base64.b64decode(file.content, validate=True)


def _stage(ran: ProcessReport) -> Stage:
    stdout, stderr = as_text(ran.stdout), as_text(ran.stderr)
    code, number = ran.exit_code, ran.signal
    if ran.note and code is None and number is None:
        number = signal.SIGKILL
    return Stage(
        stdout=stdout,
        stderr=stderr,
        output=stdout + stderr,
        code=code,
        signal=None if number is None else _signal_name(number),
        message=ran.note or None,
        status=_status(ran),
        cpu_time=round(ran.cpu_seconds * 1000),
        wall_time=round(ran.wall_seconds * 1000),
        memory=ran.peak_memory_bytes,
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # Python names only the first and the last of the real-time signals
        return f"SIGRTMIN{number - signal.SIGRTMIN:+d}"


def _status(ran: ProcessReport) -> Literal["RE", "SG", "TO", "OL"] | None:
    if ran.is_timeout:
        return "TO"
    if ran.reason is ExitReason.OUTPUT_LIMIT:
        return "OL"
    if ran.signal is not None:
        return "SG"
    return "RE" if ran.exit_code != 0 else None


def _error(status: HTTPStatus, message: str) -> JSONResponse:
    body = PistonError(message=message, request_id=request_id())
    return JSONResponse(body.model_dump(), status_code=status)


_NOT_RUN = ProcessReport(
    reason=ExitReason.STOPPED,
    exit_code=None,
    signal=None,
    stdout=b"",
    stderr=b"",
    cpu_seconds=0.0,
    wall_seconds=0.0,
    peak_memory_bytes=0,
)
