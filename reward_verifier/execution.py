"""Programs that the service has run, and sessions, without input and output.

The conversations are driven as those of `protocol`. A program that could not be run is never taken
for one that printed nothing: its outcome is `failed`, and it has no output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from reward_verifier.deadline import deadline_seconds
from reward_verifier.errors import VerifierNonsense, VerifierUnavailable
from reward_verifier.protocol import (
    Conversation,
    Request,
    Response,
    ask,
    excerpt_of,
    raise_unless_accepted,
    usable,
)
from reward_verifier.retries import Attempts
from reward_verifier.service_access import ServiceAccess

RAN, FAILED = "ran", "failed"
SESSION_LOST = "session_lost"
WRONG_CALL = "wrong_call"
"""Type of the error of a call that has not run: its number is another one's."""
GONE_STATUS, CREATED_STATUS = 410, 201


@dataclass(frozen=True)
class ExecutionResult:
    """The end of a program, or of a call of a session.

    | attribute | meaning |
    |---|---|
    | `outcome` | `ran`, or `failed`: our failure, of which nothing may be concluded |
    | `reason` | one of the service's closed set, such as `completed` or `time_limit_exceeded` |
    | `stdout`, `stderr` | texts; None where it is `failed` |
    | `exit_code`, `signal` | of its process, where there is one |
    | `value` | of a session: `repr` of the last expression |
    | `error` | of a session: `name`, `message` and `traceback` of the exception |
    | `session` | of a session: `idle`, or `ended` if its state is gone |
    | `files` | those that were asked for: a text, or `{"base64": ...}` |
    | `fields` | all of it, as the service sent it |
    """

    outcome: str
    reason: str
    message: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    value: str | None = None
    error: Mapping[str, str] | None = None
    session: str | None = None
    files: Mapping[str, Any] | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    fields: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, found: Any) -> Self:
        """The result in a report of the wire. Raises ValueError."""
        if not isinstance(found, dict) or found.get("outcome") not in (RAN, FAILED):
            raise ValueError("a report has no outcome")
        if not isinstance(found.get("reason"), str):
            raise ValueError("a report has no reason")
        names = {one.name for one in fields(cls)} - {"fields"}
        return cls(**{name: found[name] for name in names & found.keys()}, fields=found)

    @property
    def failed(self) -> bool:
        """Whether it is our failure: a trainer drops what depends on it."""
        return self.outcome != RAN

    @property
    def text(self) -> str:
        """Output, value and error in one text, as a model may be shown them."""
        parts = [self.stdout, self.stderr, self.value]
        if self.error is not None:
            parts.append(
                self.error["traceback"] or f"{self.error['name']}: {self.error['message']}"
            )
        return "\n".join(part.rstrip("\n") for part in parts if part)


def lost(message: str) -> ExecutionResult:
    """The result of a call to a session that is gone."""
    return ExecutionResult(FAILED, SESSION_LOST, message=message, session="ended")


def execute(
    access: ServiceAccess, executions: Sequence[str | Mapping[str, Any]]
) -> Conversation[list[ExecutionResult]]:
    """The results of programs, in order. Those that `failed` are asked for again.

    Args:
        access: the service.
        executions: each as in `POST /v1/execute`, or the code of a Python program.

    Raises:
        VerifierUnavailable: no attempt had a usable response.
        VerifierRejected: the service refused the request, or its response is no report.
    """
    asked = [{"code": one} if isinstance(one, str) else dict(one) for one in executions]
    if not asked:
        return []
    attempts = access.attempts()
    results = yield from _execute_once(access, asked, attempts)
    for _ in range(access.max_failed_attempts - 1):
        failed = [index for index, one in enumerate(results) if one.failed]
        if not failed or not attempts.left:
            break
        yield attempts.wait()
        try:
            again = yield from _execute_once(access, [asked[index] for index in failed], attempts)
        except VerifierUnavailable:
            break  # results of earlier attempts are kept
        for index, result in zip(failed, again, strict=True):
            results[index] = result
    return results


def _execute_once(
    access: ServiceAccess, asked: list[dict[str, Any]], attempts: Attempts
) -> Conversation[list[ExecutionResult]]:
    deadline = deadline_seconds(access.timeout_seconds)
    body = {"executions": asked, "deadline_seconds": deadline}
    response = yield from ask(access, Request("POST", "/v1/execute", body), attempts)
    try:
        results = [ExecutionResult.read(one) for one in _object(response)["executions"]]
    except (ValueError, KeyError, TypeError) as error:
        raise _nonsense(response) from error
    if len(results) != len(asked):
        raise _nonsense(response)
    return results


@dataclass(frozen=True)
class OpenedSession:
    """A session, and the number of its next call."""

    name: str
    """Its id."""
    next_call: int = 1

    @property
    def path(self) -> str:
        """Its route."""
        return f"/v1/sessions/{self.name}"


def open_session(access: ServiceAccess, asked: Mapping[str, Any]) -> Conversation[OpenedSession]:
    """A new session.

    An attempt whose response is lost may leave a session that nobody knows; it ends when it is idle
    for too long.

    Raises:
        VerifierUnavailable: no attempt had a usable response, or as many are open as may be.
        VerifierRejected: the service refused the request.
    """
    request = Request("POST", "/v1/sessions", asked)
    response = yield from usable(access, request, access.attempts())
    if response.status != CREATED_STATUS:
        raise_unless_accepted(response, access)
        raise _nonsense(response)
    try:
        return OpenedSession(str(_object(response)["id"]))
    except (ValueError, KeyError) as error:
        raise _nonsense(response) from error


def call_session(
    access: ServiceAccess, session: OpenedSession, asked: Mapping[str, Any]
) -> Conversation[tuple[ExecutionResult, OpenedSession]]:
    """The result of a call, and the session after it.

    Calls are numbered, so that another attempt never runs the code twice. A session that is gone
    gives a `failed` result with the reason `session_lost`.

    Raises:
        VerifierUnavailable: no attempt had a usable response.
        VerifierRejected: the service refused the request.
    """
    attempts = access.attempts()
    response = yield from _call(access, session, asked, attempts)
    if response.error_type == WRONG_CALL:
        # The call before this one ran, and no response of it arrived. This one has not run.
        session = yield from _renumbered(access, session, attempts)
        response = yield from _call(access, session, asked, attempts)
    if response.status == GONE_STATUS:
        return lost(response.error_message), session
    raise_unless_accepted(response, access)
    try:
        result = ExecutionResult.read(_object(response))
    except ValueError as error:
        raise _nonsense(response) from error
    return result, replace(session, next_call=session.next_call + 1)


def _call(
    access: ServiceAccess, session: OpenedSession, asked: Mapping[str, Any], attempts: Attempts
) -> Conversation[Response]:
    body = {**asked, "call": session.next_call}
    return (yield from usable(access, Request("POST", session.path, body), attempts))


def _renumbered(
    access: ServiceAccess, session: OpenedSession, attempts: Attempts
) -> Conversation[OpenedSession]:
    """The session with the number of its next call as the service counts them."""
    response = yield from usable(access, Request("GET", session.path), attempts)
    if response.status == GONE_STATUS:
        return session
    raise_unless_accepted(response, access)
    try:
        return replace(session, next_call=int(_object(response)["calls"]) + 1)
    except (ValueError, KeyError, TypeError) as error:
        raise _nonsense(response) from error


def end_session(access: ServiceAccess, session: OpenedSession) -> Conversation[None]:
    """End a session. One that is gone already, or whose service is, needs no end."""
    reply = yield Request("DELETE", session.path)
    assert reply is not None, "the driver of a conversation answers each request"


def _object(response: Response) -> dict[str, Any]:
    """The body. Raises ValueError."""
    found = json.loads(response.content)
    if not isinstance(found, dict):
        raise ValueError("the body is no object")
    return found


def _nonsense(response: Response) -> VerifierNonsense:
    return VerifierNonsense(
        f"{response.url} did not answer as a verifier service; the response begins "
        f"{excerpt_of(response.content)}"
    )
