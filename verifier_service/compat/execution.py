"""Programs of other protocols, run by the workers of `/v1/score` as their clients ask."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus

from fastapi import Request

from verifier_service.code.program_run import (
    SPACE_BYTES,
    Asked,
    ProgramRun,
    RunProgram,
    as_reference,
    program_run,
)
from verifier_service.errors import ApiError
from verifier_service.sandbox.execution import MAX_FETCHED_FILES, check_name
from verifier_service.scheduler import QueueFull, Scheduler
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verdict import Outcome, Verdict

MAX_FILES = 256
MAX_FILE_BYTES = SPACE_BYTES // 2
"""Of all files that a program is given, so that there is room for its own."""


class NotRun(Exception):
    """A program could not be run this time: the client is to ask again."""


async def run_programs(
    request: Request, programs: Sequence[tuple[str, Asked]], *, deadline_seconds: float
) -> list[ProgramRun | NotRun]:
    """Run sources, each as asked; for what was not run by the deadline there is a NotRun.

    Raises:
        NotRun: there is too much to do.
        ApiError: 422 if programs are not run here at all.
    """
    require_enabled(request, ["code"])
    scheduler: Scheduler = request.app.state.scheduler
    groups = [
        Group(reference=as_reference(asked), completions=[source]) for source, asked in programs
    ]
    verifier = RunProgram()
    body = ScoreRequest.model_construct(
        verifiers=[verifier],  # not offered in /v1/score
        groups=groups,
    )
    limit = request.app.state.settings.max_deadline_seconds
    try:
        scored = await scheduler.score(body, deadline_seconds=min(deadline_seconds, limit))
    except QueueFull as error:
        raise NotRun(str(error)) from error
    return [_run(group[0][verifier.key]) for group in scored.groups]


def require_enabled(request: Request, types: Iterable[str]) -> None:
    """Raise ApiError 422 unless verifiers of these types are served."""
    missing = sorted(set(types) - set(request.app.state.settings.enabled))
    if missing:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "verifier_not_enabled",
            f"not enabled here: {missing}; VERIFIER_ENABLED leaves them out",
        )


async def run_one(
    request: Request, source: str, asked: Asked, *, deadline_seconds: float
) -> ProgramRun:
    """Run a source. Raises NotRun."""
    programs = [(source, asked)]
    (found,) = await run_programs(request, programs, deadline_seconds=deadline_seconds)
    if isinstance(found, NotRun):
        raise found
    return found


def _run(verdict: Verdict) -> ProgramRun | NotRun:
    if verdict.outcome is not Outcome.SCORED or verdict.details is None:
        return NotRun(f"the program was not run: {verdict.reason}")
    return program_run(verdict)


def decoded_files(files: Mapping[str, str]) -> dict[str, bytes]:
    """Files by name, from base64. Raises ValueError: a name, the text, or too much of them."""
    found = {}
    for name, content in files.items():
        try:
            found[name] = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"{name[:100]!r} is not base64: {error}") from error
    check_files(found)
    return found


def check_files(files: Mapping[str, bytes], fetched_files: Sequence[str] = ()) -> None:
    """Raise ValueError: a name, or too much of them."""
    for name in (*files, *fetched_files):
        check_name(name)
    num_bytes = sum(map(len, files.values()))
    if len(files) > MAX_FILES or num_bytes > MAX_FILE_BYTES:
        raise ValueError(
            f"{len(files)} files of {num_bytes} bytes; at most {MAX_FILES} of {MAX_FILE_BYTES}"
        )
    if len(fetched_files) > MAX_FETCHED_FILES:
        raise ValueError(f"{len(fetched_files)} files to fetch; at most {MAX_FETCHED_FILES}")


def as_text(output: bytes) -> str:
    """What a program printed."""
    return output.decode(errors="replace")
