"""One session: its process, its calls one after the other, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verifier_service.compat.programs import as_text
from verifier_service.executions.batch import end_reason
from verifier_service.executions.reasons import EndReason, outcome_of
from verifier_service.executions.wire import file_content
from verifier_service.sandbox.execution import Execution, ExitReason, SandboxError
from verifier_service.sandbox.limit_watch import resident_bytes
from verifier_service.sandbox.session_execution import CallOverloaded, SessionExecution
from verifier_service.sandbox.zygote_handle import ZygoteDied, ZygoteHandle
from verifier_service.sessions.interpreter import BrokenReply, Interpreter, SessionReply
from verifier_service.sessions.kept_responses import KeptResponse, KeptResponses
from verifier_service.sessions.wire import (
    CallReport,
    LostReason,
    SessionLimits,
    SessionState,
    response_json,
)

log = logging.getLogger(__name__)

OPENING_SECONDS = 60.0
"""Limit on the first, empty call, by which a session proves that it works."""
TOKEN_BYTES = 16
SETTLE_SECONDS = 5.0
"""Time that a process which has closed its channel has to end by itself."""
TIMEOUT_NAME = "CellTimeout"
"""Class of the error of a call that was interrupted."""


@dataclass(frozen=True, kw_only=True)
class SessionCall:
    """Code to run in a session, within its limits."""

    code: str
    seconds: float
    files: Mapping[str, bytes]
    fetch: Sequence[str] = ()
    digest: bytes | None = None
    """Hash of what the client asked for; None: the client does not ask for a lost response."""


@dataclass(frozen=True)
class _Reply:
    """The reply of a session, with the files that its call asked for."""

    said: SessionReply
    files: Mapping[str, bytes]


class Session:
    """A session whose process has been started.

    Args:
        name: its id.
        owner: hash of the API key that opened it; None without keys.
        interpreter: starts and calls its process.
        limits: of the session.
        zygote: has forked nothing yet; ends with the session.
        kept: gets the response to each call that has a digest.
    """

    def __init__(
        self,
        *,
        name: str,
        owner: str | None,
        interpreter: Interpreter,
        limits: SessionLimits,
        zygote: ZygoteHandle,
        kept: KeptResponses,
    ) -> None:
        self.name = name
        self.owner = owner
        self.limits = limits
        self.language = interpreter.language
        self.num_calls = 0
        self.opened = self.last_used = time.monotonic()
        self.cpu_seconds = 0.0
        self.lost: LostReason | None = None
        """Why it is gone; None while it is open."""
        self.running: asyncio.Task[CallReport] | None = None
        """The call under way."""
        self.digest: bytes | None = None
        """Digest of the last call."""
        self._opened_bytes = 0
        """Resident memory of its process before the first call, most of it shared with others."""
        self._kept = kept
        self._ending: asyncio.Task[None] | None = None
        self._interpreter = interpreter
        self._zygote = zygote
        self._stack = contextlib.AsyncExitStack()
        self._execution: SessionExecution
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def start(self, files: Mapping[str, bytes]) -> None:
        """Start the process, and have it run an empty call.

        Raises:
            ToolchainError: the interpreter is not installed.
            SandboxError: it does not work.
            ZygoteDied: likewise.
        """
        program = self._interpreter.program(files)
        limits = self._interpreter.limits(self.limits)
        ours, theirs = socket.socketpair()
        self._stack.callback(ours.close)  # after the writer, if it comes to one
        with theirs:
            for end in (ours, theirs):
                end.bind("")  # one end without a name could be given one by the program
            ours.setblocking(False)
            execution = SessionExecution(self._zygote, limits, self.limits.output_bytes)
            self._execution = await self._stack.enter_async_context(
                self._zygote.executing(execution, program, channel=theirs)
            )
        self._reader, self._writer = await asyncio.open_connection(sock=ours)
        report = await self._run(SessionCall(code="", seconds=OPENING_SECONDS, files={}), 0)
        if report.session is SessionState.ENDED:
            said = f"{report.reason}, {report.stderr or report.message}"
            raise SandboxError(f"a session does not start: {said}")
        self._opened_bytes = self.memory_bytes

    @property
    def state(self) -> SessionState:
        """The state as clients are told it."""
        if self.lost is not None:
            return SessionState.ENDED
        return SessionState.IDLE if self.running is None else SessionState.RUNNING

    @property
    def is_dead(self) -> bool:
        """Whether its process has ended while no call was under way."""
        return self.running is None and self._execution.ended.done()

    @property
    def idle_seconds(self) -> float:
        """Time since the last call ended; 0 while one runs."""
        return 0.0 if self.running is not None else time.monotonic() - self.last_used

    @property
    def age_seconds(self) -> float:
        """Time since it was opened."""
        return time.monotonic() - self.opened

    @property
    def memory_bytes(self) -> int:
        """Resident memory of its process, pages that it shares included."""
        pid = self._execution.watch.pid
        return 0 if pid is None or self._execution.ended.done() else resident_bytes(pid)

    @property
    def grown_bytes(self) -> int:
        """Memory that its process has taken since it was opened."""
        return max(0, self.memory_bytes - self._opened_bytes)

    def begin_call(self, call: SessionCall) -> asyncio.Task[CallReport]:
        """Begin the next call; none may be under way.

        The call goes on when its client has gone, whose next attempt asks for the same response.
        """
        assert self.running is None
        assert self.lost is None
        self.num_calls += 1
        self.digest = call.digest
        self.running = asyncio.create_task(self._finish(call, self.num_calls))
        return self.running

    async def _finish(self, call: SessionCall, number: int) -> CallReport:
        try:
            report = await self._run(call, number)
            self._keep(report)
        except BaseException:
            await self.end(LostReason.MACHINE)  # or it would go on unwatched
            raise
        finally:
            self.running = None
            self.last_used = time.monotonic()
        return report

    def _keep(self, report: CallReport) -> None:
        """Keep the report for a client that asks again; a lost session's says nothing."""
        if self.digest is None or report.reason is EndReason.SESSION_LOST:
            self._kept.drop(self.name)
            return
        response = KeptResponse(self.owner, report.call, self.digest, response_json(report))
        self._kept.keep(self.name, response)

    async def _run(self, call: SessionCall, number: int) -> CallReport:
        """Run a call. Its report says whether the session is still open."""
        token = secrets.token_hex(TOKEN_BYTES)
        start, cpu_before = time.monotonic(), self._execution.watch.cpu_seconds()
        self._execution.begin_call()
        self._writer.write(self._interpreter.call(token, call.code, call.files, call.fetch))
        reply = asyncio.create_task(self._reply(token, call.fetch))
        interrupted = False
        try:
            interrupted = await self._execution.watched(
                reply, seconds=call.seconds, can_interrupt=self._interpreter.can_interrupt
            )
        except CallOverloaded as error:
            log.warning("session %s: %s", self.name, error)
            await self.end(LostReason.MACHINE)
        found = await _settled(reply)
        if isinstance(found, _Reply) and not self._execution.ended.done():
            self._execution.end_call()
            cpu_seconds = self._execution.watch.cpu_seconds() - cpu_before
            self.cpu_seconds += cpu_seconds
            report = self._report(number, found, is_late=interrupted)
        else:
            report = await self._ended_report(number, found)
            cpu_seconds = max(0.0, report.cpu_seconds or 0.0)
        if report.reason is EndReason.SESSION_LOST:
            return report
        seconds = round(time.monotonic() - start, 6)
        return report.model_copy(update={"seconds": seconds, "cpu_seconds": round(cpu_seconds, 6)})

    async def _reply(self, token: str, fetch: Sequence[str]) -> _Reply:
        """The reply to the call with this token. Raises BrokenReply, IncompleteReadError."""
        reply = await self._interpreter.read_reply(self._reader)
        # Of texts, `compare_digest` takes ASCII alone, and a forged token is any text.
        if not secrets.compare_digest(reply.token.encode(), token.encode()):
            raise BrokenReply("a reply to another call")
        return _Reply(reply, reply.contents(fetch))

    def _report(self, number: int, found: _Reply, *, is_late: bool) -> CallReport:
        """The report on a call after which the session goes on."""
        reply = found.said
        raised = reply.error
        if is_late and (raised is None or raised.name == TIMEOUT_NAME):
            reason = EndReason.TIME_LIMIT_EXCEEDED
        elif raised is not None or reply.exit_code:
            reason = EndReason.RUNTIME_ERROR
        else:
            reason = EndReason.COMPLETED
        return CallReport(
            call=number,
            outcome=outcome_of(reason),
            reason=reason,
            session=SessionState.IDLE,
            **self._output(),
            value=reply.display[-1].get("text/plain") if reply.display else None,
            display=list(reply.display) or None,
            error=raised,
            exit_code=reply.exit_code,
            files={name: file_content(content) for name, content in found.files.items()} or None,
        )

    def _output(self) -> dict[str, str | int]:
        stdout, stderr = self._execution.output
        return {
            "stdout": as_text(stdout.kept),
            "stderr": as_text(stderr.kept),
            "stdout_bytes": stdout.num_bytes,
            "stderr_bytes": stderr.num_bytes,
        }

    async def _ended_report(self, number: int, found: _Reply | Exception) -> CallReport:
        """The report on a call with which the session ends."""
        is_broken = isinstance(found, BrokenReply)
        if is_broken:
            self._execution.kill(ExitReason.STOPPED)
        ended = await self._end_of_process()
        ordered = self.lost is not None  # by the service, while the call was under way
        if ended is None or ordered or ended.is_unexplained:
            await self.end(LostReason.MACHINE)
            return self._lost_report(number)
        reason = end_reason(ended.reason, ended.exit_code)
        if is_broken or ended.reason is ExitReason.STOPPED:
            reason = EndReason.SANDBOX_VIOLATION
        report = CallReport(
            call=number,
            outcome=outcome_of(reason),
            reason=reason,
            message=str(found) if is_broken else None,
            session=SessionState.ENDED,
            **self._output(),
            exit_code=ended.exit_code,
            signal=ended.signal,
            cpu_seconds=ended.cpu_seconds - self.cpu_seconds,
        )
        await self.end(LostReason.OWN_END)
        return report

    def _lost_report(self, number: int) -> CallReport:
        reason = EndReason.SESSION_LOST
        return CallReport(
            call=number,
            outcome=outcome_of(reason),
            reason=reason,
            message="the session was ended by the machine or the service",
            session=SessionState.ENDED,
        )

    async def _end_of_process(self) -> Execution | None:
        """The end of the process; None if the sandbox cannot tell.

        A process that has closed its channel without ending does not reply any more: it is killed.
        """
        if not self._execution.ended.done():
            await asyncio.wait([self._execution.ended], timeout=SETTLE_SECONDS)
            self._execution.kill(ExitReason.STOPPED)
        try:
            return await self._execution.wait()
        except (ZygoteDied, SandboxError) as error:
            log.warning("session %s: %s", self.name, error)
            return None

    async def end(self, why: LostReason) -> None:
        """End the session with all that it has, once; a call under way gets `session_lost`.

        Every caller waits for the end, after which nothing runs under the session's user.
        """
        if self._ending is None:
            self.lost = why
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        self._writer_close()
        await self._stack.aclose()
        await self._zygote.close()

    def _writer_close(self) -> None:
        with contextlib.suppress(AttributeError):  # it was not started
            self._writer.transport.abort()


async def _settled(reply: asyncio.Task[_Reply]) -> _Reply | Exception:
    """The reply, or why there is none; one that has not come by now does not come any more."""
    if not reply.done():
        await asyncio.wait([reply], timeout=0)
        reply.cancel()
    try:
        return await reply
    except (BrokenReply, OSError, asyncio.IncompleteReadError) as error:
        return error
    except asyncio.CancelledError:
        return BrokenPipeError("no reply came")
