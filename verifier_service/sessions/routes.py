"""The routes of sessions: `/v1/sessions`."""

from __future__ import annotations

import asyncio
import hashlib
import json
from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.compat.programs import check_files
from verifier_service.compat.route import StrictRoute
from verifier_service.errors import RequestFailed
from verifier_service.executions.wire import FileContent, file_bytes
from verifier_service.http.error_statuses import ApiError
from verifier_service.http.intake import intake_of
from verifier_service.http.promised_errors import BODY_ERRORS, STRANGER_ERRORS, promised
from verifier_service.http.score_call import JSON_MEDIA_TYPE
from verifier_service.http.service import ALLOWANCE, service_of
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sessions.open_sessions import OpenSessions
from verifier_service.sessions.session import Session, SessionCall
from verifier_service.sessions.wire import (
    CallReport,
    CallRequest,
    LostReason,
    SessionDescription,
    SessionEnd,
    SessionRequest,
    SessionsDescription,
    response_json,
)
from verifier_service.validation import invalid_request

GONE_ERRORS = {
    404: "no session has the id",
    410: "the session is gone; `details.reason` says why",
}
REPLICA_HEADER = "Session-Replica"
"""Header of a new session with the name of its replica, by which a proxy can route its calls."""
OPEN_ERRORS = {
    501: "the interpreter cannot run here",
    503: "no more sessions may be open, or the service is ending; try again later",
}
CALL_ERRORS = GONE_ERRORS | {409: "a call is under way, or has another number or content"}


class SessionRoute(StrictRoute):
    """A route whose calls belong to this process, which has the sessions."""

    is_only_here = True


router = APIRouter(route_class=SessionRoute, responses=promised(STRANGER_ERRORS))


@router.post(
    "/v1/sessions",
    status_code=HTTPStatus.CREATED,
    response_model=SessionDescription,
    responses=promised(BODY_ERRORS, OPEN_ERRORS),
)
async def open_session(body: SessionRequest, request: Request) -> Response:
    """Open a confined interpreter that keeps its state between calls.

    It lives in this process of this replica, until a client ends it, it expires, or it ends itself.
    """
    service_of(request).limits.check_enabled(["code"])
    sessions = sessions_of(request)
    files = _files(body.files)
    try:
        session = await sessions.open(body, files, owner_of(request))
    except ToolchainError as error:
        raise ApiError(HTTPStatus.NOT_IMPLEMENTED, "no_toolchain", str(error)) from error
    except (SandboxError, OSError) as error:
        raise RequestFailed(f"the session could not be opened: {error}") from error
    response = _response(_described(session, sessions), request, HTTPStatus.CREATED)
    response.headers[REPLICA_HEADER] = sessions.replica
    return response


@router.get("/v1/sessions")
async def list_sessions(request: Request) -> SessionsDescription:
    """The number of sessions of this replica."""
    sessions = sessions_of(request)
    return SessionsDescription(
        replica=sessions.replica,
        open=sessions.num_open,
        running=sessions.num_running,
        max_sessions=sessions.max_sessions,
        memory_bytes=sessions.memory.num_bytes,
        max_memory_bytes=sessions.memory.max_bytes,
    )


@router.get("/v1/sessions/{name}", responses=promised(GONE_ERRORS))
async def look_at_session(name: str, request: Request) -> SessionDescription:
    """A session as it stands."""
    return _described(_session(name, request), sessions_of(request))


@router.post(
    "/v1/sessions/{name}",
    response_model=CallReport,
    responses=promised(BODY_ERRORS, CALL_ERRORS),
)
async def call_session(name: str, body: CallRequest, request: Request) -> Response:
    """Run code in a session, after all that ran in it before.

    200 whatever the code does. A call that was begun goes on when its client has gone; a client
    that numbers its calls asks for a lost response with the same number.
    """
    digest = _digest(body)
    again = await _repeated(name, body.call, digest, request)
    if again is not None:
        return _sent(again, request)
    session = _session(name, request)
    call = _call(body, digest, session)
    _check_number(body.call, session)
    report = await asyncio.shield(session.begin_call(call))
    if session.lost is not None:
        await sessions_of(request).close(session, session.lost)
    return _response(report, request)


async def _repeated(name: str, number: int | None, digest: bytes, request: Request) -> bytes | None:
    """The response to the last call if it is asked for again; None if it is not, or not kept.

    Raises ApiError if the number was that of another call.
    """
    sessions = sessions_of(request)
    found = sessions.found(name)
    running = found.running if isinstance(found, Session) else None
    if isinstance(found, Session) and running is not None:
        if found.owner != owner_of(request) or number != found.num_calls:
            return None
        _check_digest(digest, found.digest, number)
        return response_json(await asyncio.shield(running))
    kept = sessions.kept.get(name)
    if kept is None or kept.owner != owner_of(request) or number != kept.call:
        return None
    _check_digest(digest, kept.digest, number)
    return kept.content


def _check_number(number: int | None, session: Session) -> None:
    """Check that the session is idle, and that this is the number of its next call."""
    if session.running is not None:
        raise ApiError(
            HTTPStatus.CONFLICT,
            "session_busy",
            f"call {session.num_calls} of the session is under way",
        )
    if number is None or number == session.num_calls + 1:
        return
    if number == session.num_calls:  # not `wrong_call`, after which a client may run its code
        message = f"call {number} has run, and its response is not kept any more"
        raise ApiError(HTTPStatus.CONFLICT, "response_not_kept", message)
    message = f"the next call of the session is {session.num_calls + 1}, not {number}"
    raise ApiError(HTTPStatus.CONFLICT, "wrong_call", message)


def _check_digest(digest: bytes, of_call: bytes | None, number: int) -> None:
    if digest != of_call:
        raise ApiError(
            HTTPStatus.CONFLICT,
            "wrong_call",
            f"call {number} of the session asked for something else: it has run, and its response "
            f"is not that of this request; the next call is {number + 1}",
        )


def _digest(body: CallRequest) -> bytes:
    """A hash of what the call asks for, whatever its number."""
    asked = body.model_dump(exclude={"call"})
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


@router.delete("/v1/sessions/{name}", responses=promised(GONE_ERRORS))
async def end_session(name: str, request: Request) -> SessionEnd:
    """End a session. A call under way gets `session_lost`."""
    session = _session(name, request)
    await sessions_of(request).close(session, LostReason.CLOSED)
    return SessionEnd(id=name, calls=session.num_calls)


def sessions_of(request: Request) -> OpenSessions:
    """The sessions of this replica."""
    sessions = request.app.state.sessions
    assert isinstance(sessions, OpenSessions)
    return sessions


def _session(name: str, request: Request) -> Session:
    """The open session of a name, of the call's API key. Raises ApiError."""
    sessions = sessions_of(request)
    found = sessions.found(name)
    if isinstance(found, Session) and found.lost is not None:
        found = found.lost
    if isinstance(found, LostReason):
        error = ApiError(HTTPStatus.GONE, "session_lost", f"the session is gone: {found.meaning}")
        error.details = {"reason": found, "replica": sessions.replica}
        raise error
    if found is None or found.owner != owner_of(request):
        raise ApiError(HTTPStatus.NOT_FOUND, "no_session", "no session has this id")
    return found


def owner_of(request: Request) -> str | None:
    """The hash of the call's API key, which owns its sessions; None without keys."""
    allowance = request.scope["state"].get(ALLOWANCE)
    return None if allowance is None else str(allowance.owner)


def _call(body: CallRequest, digest: bytes, session: Session) -> SessionCall:
    """The call of a request. Raises InvalidRequest."""
    if session.language == "bash":
        for field in ("files", "fetch"):
            if getattr(body, field):
                raise wrong_field(field, "a bash session takes files only when it is opened")
        if "\0" in body.code:
            raise wrong_field("code", "bash takes no NUL character")
    try:
        check_files({}, body.fetch)
    except ValueError as error:
        raise wrong_field("fetch", str(error)) from error
    return SessionCall(
        code=body.code,
        seconds=min(body.seconds or session.limits.seconds, session.limits.seconds),
        files=_files(body.files),
        fetch=body.fetch,
        digest=digest,
    )


def _files(given: dict[str, FileContent]) -> dict[str, bytes]:
    try:
        files = {name: file_bytes(content, name) for name, content in given.items()}
        check_files(files)
    except ValueError as error:
        raise wrong_field("files", str(error)) from error
    return files


def wrong_field(field: str, problem: str) -> Exception:
    """The error of a call whose body has a wrong field."""
    return invalid_request([{"loc": ("body", field), "msg": problem, "type": "value_error"}])


def _described(session: Session, sessions: OpenSessions) -> SessionDescription:
    return SessionDescription(
        id=session.name,
        replica=sessions.replica,
        language=session.language,
        state=session.state,
        calls=session.num_calls,
        age_seconds=round(session.age_seconds, 3),
        idle_seconds=round(session.idle_seconds, 3),
        cpu_seconds=round(session.cpu_seconds, 6),
        memory_bytes=session.memory_bytes,
        limits=session.limits,
    )


def _response(
    found: CallReport | SessionDescription, request: Request, status: HTTPStatus = HTTPStatus.OK
) -> Response:
    """The response, counted until it has been sent. Raises QueueFull."""
    return _sent(response_json(found), request, status)


def _sent(content: bytes, request: Request, status: HTTPStatus = HTTPStatus.OK) -> Response:
    intake_of(request).reservation.grow_by_response(num_bytes=len(content))
    return Response(content, status, media_type=JSON_MEDIA_TYPE)
