"""All sessions of one replica: they are opened, found, expired and ended here.

    POST /v1/sessions --> nursery of the kind --fork--> zygote --fork--> process of the session

A nursery is started with the first session of its kind. It ends with the replica, and so does every
session: nothing of one outlives the process that answers for it. `sessions.wire.SessionLimits` has
the defaults of a session's times.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from verifier_service.errors import QueueFull
from verifier_service.http.drain import Drain
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    Layer,
    SandboxError,
    ZygoteKind,
    level,
)
from verifier_service.sandbox.nursery_handle import NurseryHandle
from verifier_service.sandbox.users import Users
from verifier_service.sandbox.zygote_handle import ZygoteDied, ZygoteHandle
from verifier_service.sandbox.zygote_messages import ZygoteConfig
from verifier_service.sessions.interpreter import Interpreter, interpreter_of
from verifier_service.sessions.kept_responses import KeptResponses
from verifier_service.sessions.session import Session
from verifier_service.sessions.session_memory import SessionMemory
from verifier_service.sessions.wire import LostReason, SessionRequest

log = logging.getLogger(__name__)

REPLICA_BYTES, NAME_BYTES = 4, 16
MAX_REMEMBERED = 10_000
"""Sessions that have ended of which the reason is known; older ones are `closed`."""
OPENED_AT_ONCE = 4
"""Sessions that are being started at a time."""
MAX_ATTEMPTS = 3
"""Attempts to start a session whose zygote dies."""
LOOK_SECONDS = 1.0
"""Time between two looks for sessions that have expired or died."""
MEMORY_LOOK_SECONDS = 0.1
"""Time between two looks at the memory of sessions that run."""


class SessionsFull(QueueFull):
    """No further session may be opened now."""

    kind = "sessions_full"


class OpenSessions:
    """The sessions of this replica.

    | call | result |
    |---|---|
    | `async with OpenSessions(256, drain) as sessions` | nothing is started before it is needed |
    | `await sessions.open(request, files, owner)` | a `Session` |
    | `sessions.found(name)` | the `Session`, or the `LostReason`, or None |
    | `await sessions.close(session, reason)` | ends it |

    Args:
        max_sessions: most open sessions.
        max_bytes: most memory of all of them, see `SessionMemory`; None: no bound.
        drain: when it gives up the calls under way, every session ends.
        unsafe_without: layers that may be missing.
        replica: name of this replica, `REPLICA_BYTES` in hexadecimal; None: one by chance.
    """

    def __init__(
        self,
        max_sessions: int,
        drain: Drain,
        *,
        max_bytes: int | None = None,
        unsafe_without: Iterable[Layer] = (),
        replica: str | None = None,
    ) -> None:
        self.replica = replica or secrets.token_hex(REPLICA_BYTES)
        self.max_sessions = max_sessions
        self.memory = SessionMemory(max_bytes)
        self.kept = KeptResponses()
        self._drain = drain
        self._unsafe_without = frozenset(unsafe_without)
        self._open: dict[str, Session] = {}
        self._users: dict[str, Users] = {}
        self._lost: OrderedDict[str, LostReason] = OrderedDict()
        self._num_opening = 0
        self._starts = asyncio.Semaphore(OPENED_AT_ONCE)
        self._nurseries: dict[ZygoteKind, NurseryHandle] = {}
        self._nursery_lock = asyncio.Lock()
        self._directory: Path | None = None
        self._num_zygotes = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._bug: str | None = None

    async def __aenter__(self) -> Self:
        self._directory = Path(tempfile.mkdtemp(prefix="verifier-sessions-"))
        self._directory.chmod(0o711)
        for work in (self._look_after(), self._bound_memory(), self._end_when_given_up()):
            task = asyncio.create_task(work)
            task.add_done_callback(self._has_ended)
            self._tasks.append(task)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        directory, self._directory = self._directory, None
        await self._end_all()
        await asyncio.gather(*(nursery.close() for nursery in self._nurseries.values()))
        if directory is not None:
            await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)

    def _has_ended(self, task: asyncio.Task[None]) -> None:
        """Report a background task that failed: without it sessions have no bounds, or no end."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._bug = f"what looks after sessions has a bug: {type(error).__name__}"
            log.error("%s", self._bug, exc_info=error)

    @property
    def num_open(self) -> int:
        """Number of sessions that are open, or being opened."""
        return len(self._open) + self._num_opening

    @property
    def num_running(self) -> int:
        """Number of sessions with a call under way."""
        return sum(session.running is not None for session in self._open.values())

    async def open(
        self, request: SessionRequest, files: Mapping[str, bytes], owner: str | None
    ) -> Session:
        """Open a session.

        Raises:
            SessionsFull: as many are open as may be.
            SessionsMemoryFull: they take as much memory as they may.
            ToolchainError: its interpreter is not installed.
            SandboxError: it does not work, or not this time.
        """
        if self._bug is not None:
            raise SandboxError(self._bug)
        if self.num_open >= self.max_sessions:
            raise SessionsFull(
                f"{self.num_open} sessions are open, of at most {self.max_sessions}",
                details={"open": self.num_open, "max_sessions": self.max_sessions},
            )
        opening = secrets.token_hex(NAME_BYTES)
        self.memory.reserve(opening, request.limits.file_bytes)
        self._num_opening += 1
        try:
            async with self._starts:
                session = await self._started(request, files, owner)
        finally:
            self._num_opening -= 1
            self.memory.release(opening)
        self.memory.count(session)
        self._open[session.name] = session
        return session

    async def _started(
        self, request: SessionRequest, files: Mapping[str, bytes], owner: str | None
    ) -> Session:
        interpreter = interpreter_of(request.language, request.packages)
        for _ in range(MAX_ATTEMPTS):
            name = f"s-{self.replica}-{secrets.token_hex(NAME_BYTES)}"
            users = self._users[name] = Users()
            try:
                session = Session(
                    name=name,
                    owner=owner,
                    interpreter=interpreter,
                    limits=request.limits,
                    zygote=await self._zygote(interpreter, users),
                    kept=self.kept,
                )
            except BaseException as error:
                self._release(name)
                if not isinstance(error, ZygoteDied):
                    raise
                log.warning("a session's zygote died: %s", error)
                why = str(error)
                continue
            try:
                await session.start(files)
            except BaseException as error:
                await session.end(LostReason.MACHINE)
                self._release(name)
                if not isinstance(error, ZygoteDied):
                    raise
                why = str(error)
                continue
            return session
        raise SandboxError(f"tried {MAX_ATTEMPTS} times; the last: {why}")

    def _release(self, name: str) -> None:
        self._users.pop(name).close()

    async def _zygote(self, interpreter: Interpreter, users: Users) -> ZygoteHandle:
        """A zygote for one session. Raises ZygoteDied, SandboxError, ToolchainError."""
        if self._directory is None:
            raise SandboxError("the service is ending")
        tools = await asyncio.to_thread(interpreter.tools)
        nursery = await self._nursery(interpreter)
        self._num_zygotes += 1
        directory = self._directory / str(self._num_zygotes)
        directory.mkdir(mode=0o711)
        config = ZygoteConfig(
            kind=interpreter.kind,
            packages={},
            executable=[str(path) for path in tools.executable],
            readable=[str(path) for path in tools.readable],
            binary_readable=[],
            devices=[str(path) for path in tools.devices],
            runtime_calls=tools.runtime_calls,
            binary_runtime_calls=tools.binary_runtime_calls,
            links=dict(tools.links),
            entries={},
            directory=str(directory),
            user=users.program,
            without=sorted(self._unsafe_without & COMMON_LAYERS),
        )
        zygote = await nursery.zygote(config)
        missing = COMMON_LAYERS - self._unsafe_without - zygote.layers
        if missing:
            await zygote.close()
            raise SandboxError(
                f"required and not available: {level(missing)}; in force: {level(zygote.layers)}"
            )
        return zygote

    async def _nursery(self, interpreter: Interpreter) -> NurseryHandle:
        """The living nursery of a kind; started if necessary. Raises SandboxError."""
        async with self._nursery_lock:
            found = self._nurseries.get(interpreter.kind)
            if found is not None and not found.alive:
                log.warning("the nursery of %s sessions died", interpreter.kind)
                await found.close()
                found = None
            if found is None:
                found = await asyncio.to_thread(
                    NurseryHandle.start, interpreter.kind, interpreter.entries
                )
                self._nurseries[interpreter.kind] = found
            return found

    def found(self, name: str) -> Session | LostReason | None:
        """The session of a name; or why it is gone; None if no service gives such a name."""
        if name in self._open:
            return self._open[name]
        if name in self._lost:
            return self._lost[name]
        prefix, _, rest = name.partition("-")
        replica, _, secret = rest.partition("-")
        if prefix != "s" or not (_is_hex(replica, REPLICA_BYTES) and _is_hex(secret, NAME_BYTES)):
            return None
        # A name of this replica that it does not remember: it ended long ago, or was never given.
        return LostReason.CLOSED if replica == self.replica else LostReason.OTHER_REPLICA

    async def close(self, session: Session, reason: LostReason) -> None:
        """End a session; a call under way gets `session_lost`."""
        if self._open.pop(session.name, None) is None:
            return
        self.memory.release(session.name)
        self._lost[session.name] = session.lost or reason
        if self._lost[session.name] is not LostReason.OWN_END:
            self.kept.drop(session.name)
        while len(self._lost) > MAX_REMEMBERED:
            forgotten, _ = self._lost.popitem(last=False)
            self.kept.drop(forgotten)
        try:
            await session.end(reason)
        finally:
            self._release(session.name)

    async def _look_after(self) -> None:
        """End sessions that have expired or died, now and again."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            ended = [(one, why) for one in self._open.values() if (why := _why_ended(one))]
            for session, why in ended:
                log.info("session %s: %s", session.name, why.meaning)
            found = await asyncio.gather(
                *(self.close(session, why) for session, why in ended), return_exceptions=True
            )
            for error in found:
                if error is not None:
                    log.error("a session was not ended: %r", error)

    async def _bound_memory(self) -> None:
        """End the sessions that grew most while all of them take more than the bound."""
        while True:
            await asyncio.sleep(MEMORY_LOOK_SECONDS)
            self.memory.look(self._open.values())
            while (name := self.memory.largest) is not None:
                session = self._open[name]
                log.warning("session %s: %s", name, LostReason.SERVICE_MEMORY.meaning)
                await asyncio.gather(
                    self.close(session, LostReason.SERVICE_MEMORY), return_exceptions=True
                )

    async def _end_when_given_up(self) -> None:
        await self._drain.wait_stopped()
        await self._end_all()

    async def _end_all(self) -> None:
        while self._open:
            sessions = list(self._open.values())
            await asyncio.gather(
                *(self.close(session, LostReason.MACHINE) for session in sessions),
                return_exceptions=True,
            )


def _why_ended(session: Session) -> LostReason | None:
    """Why a session is to be ended now; None if it goes on."""
    if session.lost is not None:
        return session.lost
    if session.is_dead:
        return LostReason.MACHINE
    if session.age_seconds > session.limits.life_seconds:
        return LostReason.LIFE_LIMIT
    if session.idle_seconds > session.limits.idle_seconds:
        return LostReason.IDLE_LIMIT
    return None


def _is_hex(text: str, num_bytes: int) -> bool:
    with contextlib.suppress(ValueError):
        return len(text) == 2 * num_bytes and len(bytes.fromhex(text)) == num_bytes
    return False
