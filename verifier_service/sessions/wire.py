"""The wire of `/v1/sessions`: opening, calling, looking at and ending a session."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from verifier_service.code.plain_run import MAX_MEMORY_BYTES, MAX_SECONDS, MIN_MEMORY_BYTES
from verifier_service.executions.reasons import EndReason, RunOutcome
from verifier_service.executions.wire import MIN_OUTPUT_BYTES, FileContent, StrictModel
from verifier_service.reason import Reason

MAX_SESSION_SECONDS = 24 * 3600.0
"""Longest idle time, and longest life, that a request may ask for."""
MAX_FILE_BYTES = 2**28
"""Largest room for files that a request may ask for."""
MAX_OUTPUT_BYTES = 2**20
MAX_CALLS = 2**31

SessionSeconds = Annotated[float, Field(gt=0, le=MAX_SESSION_SECONDS)]


class SessionLimits(StrictModel):
    """Limits of one session."""

    seconds: float = Field(
        default=30.0,
        gt=0,
        le=MAX_SECONDS,
        description="of one call: time in which it ran or slept, and CPU time",
    )
    memory_bytes: int = Field(
        default=512 * 2**20,
        ge=MIN_MEMORY_BYTES,
        le=MAX_MEMORY_BYTES,
        description="address space beyond what the interpreter takes itself",
    )
    output_bytes: int = Field(
        default=2**16,
        ge=MIN_OUTPUT_BYTES,
        le=MAX_OUTPUT_BYTES,
        description="most of stdout, and most of stderr, that a call answers with; what is beyond "
        "is counted and dropped",
    )
    file_bytes: int = Field(
        default=16 * 2**20,
        ge=0,
        le=MAX_FILE_BYTES,
        description="room in the working directory; 0: there is none",
    )
    idle_seconds: SessionSeconds = Field(
        default=900.0, description="time between two calls, after which the session ends"
    )
    life_seconds: SessionSeconds = Field(
        default=7200.0, description="time since it was opened, after which the session ends"
    )


Packages = Literal["standard", "scientific", "data"]
"""Packages that have been imported: none; numpy and sympy; pandas, scipy and networkx too."""


class SessionRequest(StrictModel):
    """The interpreter to open."""

    language: Literal["python", "bash"] = "python"
    packages: Packages = Field(
        default="scientific",
        description="what Python can import beside its library: nothing; numpy and sympy; pandas, "
        "scipy and networkx too, where they are installed",
    )
    files: dict[str, FileContent] = Field(
        default={}, description="files in the working directory, by name"
    )
    limits: SessionLimits = SessionLimits()


class SessionState(StrEnum):
    """The state of a session."""

    IDLE = "idle"
    RUNNING = "running"
    ENDED = "ended"


class LostReason(Reason):
    """Why there is no session any more."""

    CLOSED = "closed", "a client has ended it."
    IDLE_LIMIT = "idle_limit", "no call came within `limits.idle_seconds`."
    LIFE_LIMIT = "life_limit", "it was open for `limits.life_seconds`."
    OWN_END = "own_end", "its own code ended it, in a call whose response said so."
    SERVICE_MEMORY = (
        "service_memory",
        "all sessions together took more than `VERIFIER_MAX_SESSIONS_BYTES`, this one most.",
    )
    MACHINE = "machine", "the machine or the service ended it: memory, a crash, a restart."
    OTHER_REPLICA = (
        "other_replica",
        "another replica, or an earlier start of this one, has opened it.",
    )


class SessionDescription(BaseModel):
    """A session as it stands."""

    id: str
    replica: str = Field(description="the process that has the session; no other one knows it")
    language: Literal["python", "bash"]
    state: SessionState
    calls: int = Field(description="calls so far")
    age_seconds: float
    idle_seconds: float = Field(description="since the last call ended; 0 while one runs")
    cpu_seconds: float = Field(description="of all calls")
    memory_bytes: int = Field(description="resident now, with pages that other sessions share")
    limits: SessionLimits


class SessionsDescription(BaseModel):
    """The sessions of this replica."""

    replica: str
    open: int
    running: int
    max_sessions: int
    memory_bytes: int = Field(
        description="that they take: growth since the opening, room of files, 8 MiB each"
    )
    max_memory_bytes: int | None


class CallRequest(StrictModel):
    """Code to run in a session."""

    code: str
    call: int | None = Field(
        default=None,
        ge=1,
        le=MAX_CALLS,
        description="number of this call in the session, from 1. The number of the last call gets "
        "its response again and runs nothing, so that a lost response can be asked for",
    )
    seconds: float | None = Field(
        default=None, gt=0, description="limit of this call, at most `limits.seconds`"
    )
    files: dict[str, FileContent] = Field(
        default={}, description="files to write first, by name; Python only"
    )
    fetch: list[str] = Field(
        default=[], fail_fast=True, description="names of files to answer with; Python only"
    )


class RaisedError(BaseModel):
    """The exception that ended a call of a Python session."""

    name: str = Field(description="of its class")
    message: str
    traceback: str


class CallReport(BaseModel):
    """The end of one call. Where it is `failed`, no other fact is known.

    Everything but `outcome`, `reason`, `session`, the counts and the times is the word of the code
    that ran: it can print and show whatever it likes.
    """

    call: int
    outcome: RunOutcome
    reason: EndReason
    message: str | None = Field(default=None, description="details for people")
    session: SessionState = Field(description="`idle`, or `ended` if this call was the last")
    stdout: str | None = None
    stderr: str | None = None
    stdout_bytes: int | None = Field(
        default=None, description="bytes written; more than `stdout` has if it was cut off"
    )
    stderr_bytes: int | None = None
    value: str | None = Field(
        default=None, description="the value of the last expression, as its `repr`"
    )
    display: list[dict[str, str]] | None = Field(
        default=None, description="values shown, in several forms by MIME type"
    )
    error: RaisedError | None = None
    exit_code: int | None = Field(
        default=None, description="of bash's last command; of the process if the session ended"
    )
    signal: int | None = Field(default=None, description="that ended the process")
    files: dict[str, FileContent] | None = None
    seconds: float | None = Field(default=None, description="by the clock")
    cpu_seconds: float | None = None


class SessionEnd(BaseModel):
    """The session that a client has ended."""

    id: str
    state: Literal[SessionState.ENDED] = SessionState.ENDED
    calls: int


def response_json(found: BaseModel) -> bytes:
    """The body of a response: facts that are not known are left out."""
    return found.model_dump_json(exclude_none=True).encode()
