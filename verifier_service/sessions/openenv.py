"""OpenEnv's HTTP contract: `reset`, `step` and `state` of its coding environment, as sessions.

The contract has no name for an episode: a server is one environment. Here the path has the name
that the client chooses, so that `http://127.0.0.1:8080/openenv/NAME` is an environment of its own
for each NAME and API key.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.errors import RequestFailed, VerdictFailed
from verifier_service.executions.reasons import EndReason
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.service import service_of
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sessions.open_sessions import OpenSessions
from verifier_service.sessions.routes import SessionRoute, owner_of, sessions_of
from verifier_service.sessions.session import Session, SessionCall
from verifier_service.sessions.wire import CallReport, LostReason, SessionRequest, SessionState

MARGIN_SECONDS = 1.0
"""Time for the response within the client's own limit, `timeout_s`."""

router = APIRouter(prefix="/openenv/{environment}", route_class=SessionRoute, tags=["OpenEnv"])
EnvironmentName = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


class ResetRequest(BaseModel):
    """The beginning of an episode; a program needs no seed."""

    model_config = ConfigDict(extra="ignore")


class CodeAction(BaseModel):
    """Python to run."""

    model_config = ConfigDict(extra="ignore")

    code: str


class StepRequest(BaseModel):
    """A step of the episode."""

    model_config = ConfigDict(extra="ignore")

    action: CodeAction
    timeout_s: float | None = Field(default=None, gt=0)


class CodeObservation(BaseModel):
    """The output of a step; of an exception, `stderr` has the traceback."""

    stdout: str
    stderr: str
    exit_code: int = Field(description="0; 1 after an exception or at a limit")


class StepResponse(BaseModel):
    """The observation. Rewards are those of the trainer."""

    observation: CodeObservation
    reward: float | None = None
    done: bool = Field(description="whether the code has ended its own interpreter")


class EpisodeState(BaseModel):
    """The state of the episode."""

    episode_id: str | None
    step_count: int


class EnvironmentHealth(BaseModel):
    """The status, `healthy`."""

    status: str = "healthy"


@dataclass(frozen=True)
class _Key:
    owner: str | None
    environment: str


class Episodes:
    """The session of each environment."""

    def __init__(self, sessions: OpenSessions) -> None:
        self._sessions = sessions
        self._episodes: dict[_Key, Session] = {}

    def session(self, owner: str | None, environment: str) -> Session | None:
        """The session of the episode; None before the first."""
        return self._episodes.get(_Key(owner, environment))

    async def begin(self, owner: str | None, environment: str) -> None:
        """End the episode of an environment, and begin another one. Raises as `open`."""
        key = _Key(owner, environment)
        before = self._episodes.pop(key, None)
        if before is not None:
            await self._sessions.close(before, LostReason.CLOSED)
        for other, session in list(self._episodes.items()):
            if session.lost is not None:
                del self._episodes[other]
        session = await self._sessions.open(SessionRequest(), {}, owner)
        rival = self._episodes.get(key)
        self._episodes[key] = session
        if rival is not None:  # another reset of the same environment was faster
            await self._sessions.close(rival, LostReason.CLOSED)


def _episodes_of(request: Request) -> Episodes:
    episodes = request.app.state.episodes
    assert isinstance(episodes, Episodes)
    return episodes


@router.post("/reset")
async def reset(body: ResetRequest, environment: EnvironmentName, request: Request) -> StepResponse:
    """Begin an episode: a new Python session. That of the last episode ends."""
    service_of(request).limits.check_enabled(["code"])
    try:
        await _episodes_of(request).begin(owner_of(request), environment)
    except (SandboxError, ToolchainError, OSError) as error:
        raise RequestFailed(f"the session could not be opened: {error}") from error
    return StepResponse(observation=CodeObservation(stdout="", stderr="", exit_code=0), done=False)


@router.post("/step")
async def step(body: StepRequest, environment: EnvironmentName, request: Request) -> StepResponse:
    """Run code in the session of the episode.

    What is our failure is an error of HTTP and no observation.
    """
    session = _running_session(environment, request)
    limit = session.limits.seconds
    if body.timeout_s is not None:
        limit = min(limit, max(body.timeout_s - MARGIN_SECONDS, MARGIN_SECONDS))
    call = SessionCall(code=body.action.code, seconds=limit, files={})
    report = await asyncio.shield(session.begin_call(call))
    if session.lost is not None:
        await sessions_of(request).close(session, session.lost)
    if report.reason is EndReason.SESSION_LOST:
        raise VerdictFailed("the session of the episode was lost: reset, and drop the episode")
    return _step_response(report)


@router.get("/state")
async def state(environment: EnvironmentName, request: Request) -> EpisodeState:
    """The id and the number of steps of the episode."""
    session = _episodes_of(request).session(owner_of(request), environment)
    if session is None:
        return EpisodeState(episode_id=None, step_count=0)
    return EpisodeState(episode_id=session.name, step_count=session.num_calls)


@router.get("/health")
async def health(environment: EnvironmentName) -> EnvironmentHealth:
    """The process is alive."""
    return EnvironmentHealth()


def _running_session(environment: str, request: Request) -> Session:
    """The session of the episode, which is idle. Raises ApiError."""
    session = _episodes_of(request).session(owner_of(request), environment)
    if session is None:
        raise ApiError(HTTPStatus.CONFLICT, "no_episode", "the environment was not reset: reset it")
    if session.lost is not None:
        gone = f"the session of the episode is gone: {session.lost.meaning} Reset the environment"
        raise ApiError(HTTPStatus.GONE, "session_lost", gone)
    if session.running is not None:
        raise ApiError(HTTPStatus.CONFLICT, "session_busy", "a step of the episode is under way")
    return session


def _step_response(report: CallReport) -> StepResponse:
    has_ended = report.session is SessionState.ENDED
    parts = [report.stderr or ""]
    if report.error is not None:
        parts.append(report.error.traceback)
    elif report.reason is not EndReason.COMPLETED:
        parts.append(f"{report.reason}\n")
    return StepResponse(
        observation=CodeObservation(
            stdout=report.stdout or "",
            stderr="".join(parts),
            exit_code=0 if report.reason is EndReason.COMPLETED else 1,
        ),
        done=has_ended,
    )
