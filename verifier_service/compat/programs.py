"""Programs of other protocols, run by the workers of `/v1/score`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence

from fastapi import Request

from verifier_service.code.plain_run import (
    SPACE_BYTES,
    RunOptions,
    RunProgram,
    RunReport,
    as_reference,
    report_in,
)
from verifier_service.compat.scheduling import NotNow, verdicts_of
from verifier_service.sandbox.file_names import MAX_FETCHED_FILES, check_name
from verifier_service.schemas import Group
from verifier_service.verdict import Outcome, Verdict

MAX_FILES = 256
MAX_FILE_BYTES = SPACE_BYTES // 2
"""Most bytes of all files that a program is given; the rest of the space is for its own files."""


async def run_programs(
    request: Request, programs: Sequence[tuple[str, RunOptions]], *, deadline_seconds: float
) -> list[RunReport | NotNow]:
    """Run programs: sources, each with how to run it.

    A program that was not run by the deadline has a NotNow in the list.

    Raises NotNow and RequestError as `verdicts_of`.
    """
    groups = [
        Group(reference=as_reference(asked), completions=[source]) for source, asked in programs
    ]
    verifier = RunProgram()
    found = await verdicts_of(request, groups, [verifier], deadline_seconds=deadline_seconds)
    return [_run_of(verdicts[verifier.key]) for verdicts in found]


async def run_one(
    request: Request, source: str, asked: RunOptions, *, deadline_seconds: float
) -> RunReport:
    """Run a source. Raises NotNow and RequestError as `verdicts_of`."""
    programs = [(source, asked)]
    (found,) = await run_programs(request, programs, deadline_seconds=deadline_seconds)
    if isinstance(found, NotNow):
        raise found
    return found


def _run_of(verdict: Verdict) -> RunReport | NotNow:
    if verdict.outcome is Outcome.FAILED:
        return NotNow(f"the program was not run: {verdict.reason}")
    # The same request would end the same way, so the client must not be told to ask again: the
    # program is too large, or its worker was killed over it.
    problem = None
    if verdict.outcome is Outcome.UNVERIFIABLE:
        problem = f"the program's input and files are more than is taken ({verdict.reason})"
    elif verdict.details is None:
        problem = f"the program is {verdict.reason}"
    if problem is not None:
        return RunReport(compiled=None, run=None, problem=problem)
    return report_in(verdict)


def decoded_files(files: Mapping[str, str]) -> dict[str, bytes]:
    """The content of each file by name. Raises ValueError if one is not base64."""
    found = {}
    for name, content in files.items():
        try:
            found[name] = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"{name[:100]!r} is not base64: {error}") from error
    return found


def check_files(files: Mapping[str, bytes], fetched_files: Sequence[str] = ()) -> None:
    """Raise ValueError if a name is not allowed, or if the files are too many or too large."""
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
    """The output of a program as text; bytes that are not UTF-8 are replaced."""
    return output.decode(errors="replace")
