"""Runs programs in sandboxed processes, from asyncio.

    runner -- slot --+-- zygote (std)     one child at a time
                     +-- zygote (sci)
                     +-- zygote (native)
                     '-- zygote (judge)   for the second process of a pair

A slot runs one execution, or one pair, at a time. Its first zygote is started with it, the others
when they are first needed; they are replaced when they die. The runner keeps the limits: it reads
what the child writes, counts it, watches its CPU time, and kills it. The kernel's own limits are
the second line.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import fcntl
import importlib.util
import json
import logging
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from verifier_service.sandbox import entries
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    MAX_FETCHED_FILES,
    Execution,
    ExitReason,
    Layer,
    Limits,
    Pair,
    Profile,
    Program,
    SandboxError,
    Tools,
    check_name,
    level,
)
from verifier_service.sandbox.layers import ChildLimits
from verifier_service.sandbox.scratch import empty_directory, holds_more_than
from verifier_service.sandbox.users import Users
from verifier_service.sandbox.zygote import (
    CHANNEL,
    ENDED,
    ORDER,
    RESULT,
    SCRATCH_INODES,
    STARTED,
    STDIN,
    WORKSPACE,
    Config,
    Hello,
    pack_workspace,
)

log = logging.getLogger(__name__)

WATCH_SECONDS = 0.05
START_TIMEOUT_SECONDS = 60.0
STOP_SECONDS = 0.05
"""How long a program may go on after its judge has ended, so that it can end by itself. One that
waits for its judge does so at once; one that does anything else is in the way of the next."""
GRACE_SECONDS = 10.0
"""How long a zygote may take to fork, or to report the end of a child that was killed."""
MAX_KILLS = 4
"""Runs after which an execution that was killed, nobody knows why, is said to have done it."""
MAX_ZYGOTE_DEATHS = 20
"""Runs after which an execution whose zygote dies each time is given up."""
RESTART_SECONDS = 0.05
"""Pause before a run, for each zygote that has died before."""
NEAR_LIMIT = 0.8
"""Share of the memory limit above which an unexplained failure is put down to memory."""
READ_BYTES = 2**16
MESSAGE_BYTES = 4096

PACKAGES = {Profile.STD: (), Profile.NATIVE: (), Profile.SCI: ("mpmath", "numpy", "sympy")}
_PACKAGE_NAMES = tuple(name.encode() for name in PACKAGES[Profile.SCI])
_BOOT = """
import sys
sys.path.insert(0, {root!r})
from verifier_service.sandbox.zygote import main
main()
"""
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "HOME": "/",
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "2",  # each arena of glibc takes 64 MiB of the address space
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_NO_TOOLS = Tools(executable=(), readable=())
_MFD_EXEC = 0x10
_READABLE_MODE, _EXECUTABLE_MODE = 0o444, 0o111
"""Of files in memory. A program that is started from a file that it cannot read is not dumpable."""
_IMPORT_ROOT = Path(__file__).parents[2]
_CREDENTIALS = struct.Struct("=iII")
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class _ZygoteDied(Exception):
    """The zygote ended, or does not answer."""


class Runner:
    """Runs programs.

    | call | result |
    |---|---|
    | `async with Runner(4) as runner` | starts and ends the processes |
    | `await runner.run(program, limits)` | an `Execution` |
    | `await runner.run_pair(program, judge, limits, judge_limits)` | a `Pair` |
    | `runner.layers` | what confines the executions |
    | `runner.problems` | why there is not more |

    Cancelling a call kills what it runs.

    Args:
        num_slots: executions, or pairs, at the same time.
        required: layers without which nothing is run.
        entries: functions, as `module:function`, which `Program.entry` can name besides `script`.
            See `verifier_service.sandbox.entries`.
        expects_pairs: start each slot with what pairs need, so that the first one does not wait.
        tools: gives what the entry `tool` may start, when it is first needed.
        unsafe_without: layers to leave out. For tests that show what each layer does.
    """

    def __init__(
        self,
        num_slots: int,
        *,
        required: frozenset[Layer] = COMMON_LAYERS,
        entries: Mapping[str, str] | None = None,
        expects_pairs: bool = False,
        tools: Callable[[], Tools] = lambda: _NO_TOOLS,
        unsafe_without: frozenset[Layer] = frozenset(),
    ) -> None:
        self._tools = tools
        self._required = required - unsafe_without
        self._entries = dict(entries or {})
        self._first_zygotes = (False, True) if expects_pairs else (False,)
        self._unsafe_without = unsafe_without
        self._slots = [_Slot(self) for _ in range(num_slots)]
        self._idle: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()
        self._directory: Path | None = None
        self._users = contextlib.ExitStack()
        self._zygotes: set[_Zygote] = set()
        self._num_zygotes = 0
        self.layers: frozenset[Layer] = frozenset()
        self.problems: list[str] = []

    async def __aenter__(self) -> Self:
        self._directory = Path(tempfile.mkdtemp(prefix="verifier-sandbox-"))
        self._directory.chmod(0o711)
        try:
            for slot in self._slots:
                slot.users = self._users.enter_context(contextlib.closing(Users()))
            async with asyncio.TaskGroup() as group:
                for slot in self._slots:
                    for judge in self._first_zygotes:
                        group.create_task(slot.zygote(Profile.STD, judge=judge))
        except BaseException as error:
            await self._close()
            if isinstance(error, ExceptionGroup):
                first = error.exceptions[0]
                if isinstance(first, _ZygoteDied):
                    raise SandboxError(f"a zygote did not start: {first}") from first
                raise first from None
            raise
        for slot in reversed(self._slots):
            self._idle.put_nowait(slot)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        directory, self._directory = self._directory, None
        await asyncio.gather(*(zygote.close() for zygote in self._zygotes))
        if directory is not None:
            directory.rmdir()
        self._users.close()

    async def run(self, program: Program, limits: Limits, *, result: bool = False) -> Execution:
        """Run a program.

        Args:
            program: to run.
            limits: of the process.
            result: whether the entry is given a result pipe.

        Raises:
            SandboxError: it could not be run, which is not its fault.
        """
        self._check(program)

        async def attempt(slot: _Slot) -> list[Execution]:
            zygote = await slot.zygote(profile_of(program), judge=False)
            async with zygote.running(program, limits, result=result) as child:
                return [await child.end_of_run()]

        (execution,) = await self._try(attempt)
        return execution

    async def run_pair(
        self, program: Program, judge: Program, limits: Limits, judge_limits: Limits
    ) -> Pair:
        """Run two processes that are connected by a stream socket, `Context.channel` in both.

        Neither trusts the other: they share nothing but the socket. Only the judge can write a
        result. When one ends, the other reads the end of the stream. The judge then goes on; a
        program that does not end soon is stopped. The judge's wall time should exceed the
        program's. No descriptors can be sent: the filter refuses sendmsg and recvmsg.

        Args:
            program: what is judged.
            judge: what judges it.
            limits: of the program.
            judge_limits: of the judge.

        Raises:
            SandboxError: the pair could not be run, which is not the program's fault.
        """
        self._check(program, judge)

        async def attempt(slot: _Slot) -> list[Execution]:
            theirs = await slot.zygote(profile_of(program), judge=False)
            judges = await slot.zygote(profile_of(judge), judge=True)
            ours, other = socket.socketpair()
            with ours, other:
                async with (
                    theirs.running(program, limits, channel=ours) as child,
                    judges.running(judge, judge_limits, channel=other, result=True) as judging,
                ):
                    ours.close()
                    other.close()
                    judgement = await judging.end_of_run()
                    # It may have ended first, and its end must not be taken for our doing.
                    await asyncio.wait([child.ended], timeout=STOP_SECONDS)
                    child.kill(ExitReason.STOPPED)
                    return [await child.end_of_run(), judgement]

        execution, judgement = await self._try(attempt)
        return Pair(execution, judgement)

    def _check(self, *programs: Program) -> None:
        known = {*entries.ENTRIES, *self._entries}
        for program in programs:
            if program.entry not in known:
                raise ValueError(f"no entry {program.entry!r}; there are {sorted(known)}")
            for name in (*program.files, *program.fetched_files):
                check_name(name)
            if len(program.fetched_files) > MAX_FETCHED_FILES:
                raise ValueError(f"at most {MAX_FETCHED_FILES} files can be fetched")

    async def _try(self, attempt: Callable[[_Slot], Awaitable[list[Execution]]]) -> list[Execution]:
        num_deaths = num_kills = 0
        while True:
            slot = await self._idle.get()
            try:
                executions = await attempt(slot)
            except _ZygoteDied as death:
                num_deaths += 1
                log.warning("a zygote died: %s", death)
                if num_deaths == MAX_ZYGOTE_DEATHS:
                    raise SandboxError(f"tried {num_deaths} times; the last: {death}") from death
                await asyncio.sleep(RESTART_SECONDS * (num_deaths - 1))
                continue
            finally:
                self._idle.put_nowait(slot)
            num_kills += 1
            if num_kills == MAX_KILLS or not any(map(_is_unexplained, executions)):
                return executions

    async def start_zygote(self, profile: Profile, user: int) -> _Zygote:
        """Start a zygote.

        Raises:
            SandboxError: a required layer is not available, or the runner is closed.
            _ZygoteDied: it did not start.
        """
        if self._directory is None:
            raise SandboxError("the runner is closed")
        packages = _packages(profile)
        tools = self._tools() if profile is Profile.NATIVE else _NO_TOOLS
        self._num_zygotes += 1
        directory = self._directory / str(self._num_zygotes)
        directory.mkdir(mode=0o711)
        zygote = _Zygote(
            profile=profile,
            packages=packages,
            directory=directory,
            user=user,
            without=self._unsafe_without,
            entries=self._entries,
            tools=tools,
        )
        self._zygotes.add(zygote)
        try:
            await zygote.ready()
            self.layers, self.problems = zygote.layers, zygote.problems
            missing = self._required - zygote.layers
            if missing:
                raise SandboxError(
                    f"required and not available: {level(missing)}; "
                    f"in force: {level(zygote.layers)}"
                )
        except BaseException:
            await self.end_zygote(zygote)
            raise
        return zygote

    async def end_zygote(self, zygote: _Zygote) -> None:
        """End a zygote, and wait until everything it started is gone."""
        await zygote.close()
        self._zygotes.discard(zygote)


class _Slot:
    """The zygotes of which at most one child, or one pair of children, runs at a time."""

    users: Users

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._zygotes: dict[tuple[Profile, bool], _Zygote] = {}

    async def zygote(self, profile: Profile, *, judge: bool) -> _Zygote:
        """The zygote of a profile, started if there is none. Raises as `Runner.start_zygote`."""
        key = profile, judge
        found = self._zygotes.get(key)
        if found is not None and found.alive:
            return found
        if found is not None:
            await self._runner.end_zygote(found)
            del self._zygotes[key]
        user = self.users.judge if judge else self.users.program
        self._zygotes[key] = await self._runner.start_zygote(profile, user)
        return self._zygotes[key]


class _Zygote:
    """The runner's side of a zygote."""

    def __init__(
        self,
        *,
        profile: Profile,
        packages: dict[str, str],
        directory: Path,
        user: int,
        without: frozenset[Layer],
        entries: dict[str, str],
        tools: Tools,
    ) -> None:
        self.alive = True
        self.layers: frozenset[Layer] = frozenset()
        self.problems: list[str] = []
        self.resident_bytes = 0
        self._directory = directory
        self._child: _Child | None = None
        self._closing = asyncio.Lock()
        self._pidfd = -1
        self._loop = asyncio.get_running_loop()
        self._hello: asyncio.Future[None] = self._loop.create_future()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = Config(
            control=theirs.fileno(),
            profile=profile,
            packages=packages,
            executable=[str(path) for path in tools.executable],
            readable=[str(path) for path in tools.readable],
            entries=entries,
            directory=str(directory),
            user=user,
            without=sorted(without),
        )
        with theirs:
            self._process = subprocess.Popen(
                [
                    # -I without -E: the environment is ours, and sets the hash seed.
                    *(sys.executable, "-P", "-s", "-S", "-X", "utf8"),
                    *(
                        "-c",
                        _BOOT.format(root=str(_IMPORT_ROOT)),
                        json.dumps(dataclasses.asdict(config)),
                    ),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
        ours.setblocking(False)
        self._control = ours
        self._loop.add_reader(ours, self._read)

    async def ready(self) -> None:
        """Wait until it can fork. Raises _ZygoteDied."""
        try:
            await asyncio.wait_for(asyncio.shield(self._hello), START_TIMEOUT_SECONDS)
        except TimeoutError as error:
            raise _ZygoteDied(f"it did not start in {START_TIMEOUT_SECONDS:.0f} s") from error

    @contextlib.asynccontextmanager
    async def running(
        self,
        program: Program,
        limits: Limits,
        *,
        channel: socket.socket | None = None,
        result: bool = False,
    ) -> AsyncIterator[_Child]:
        """A child that runs the program; if it runs at the end, it is killed with the zygote."""
        if not self.alive:
            raise _ZygoteDied("between executions")
        child = _Child(self, limits)
        self._child = child
        try:
            child.start(self._control, program, channel, result=result)
            yield child
        except OSError as error:
            self.die(f"no child could be started: {error}")
            raise _ZygoteDied(str(error)) from error
        finally:
            if not child.ended.done():
                child.kill(ExitReason.STOPPED)
                self.die("its execution was given up")
            child.close()
            self._child = None

    def is_scratch_full(self, num_bytes: int) -> bool:
        """Whether the scratch directory holds more; with a private root, the kernel sees to it."""
        scratch = self._directory / "scratch"
        return Layer.ROOT not in self.layers and holds_more_than(
            scratch, num_bytes=num_bytes, num_files=SCRATCH_INODES
        )

    def die(self, why: str) -> None:
        """Kill the process; what waits for it fails."""
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control)
        self._control.close()
        self._kill()
        death = _ZygoteDied(why)
        for future in (self._hello, self._child.ended if self._child else None):
            if future is not None and not future.done():
                future.set_exception(death)
                future.exception()  # it may be that nobody waits any more

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            self._process.kill()

    async def close(self) -> None:
        """End the process and wait until everything it started is gone. It can be called again."""
        self.die("it was closed")
        async with self._closing:
            if self._pidfd >= 0:
                await asyncio.to_thread(select.select, [self._pidfd], [], [], GRACE_SECONDS)
                os.close(self._pidfd)
                self._pidfd = -1
            await asyncio.to_thread(self._process.wait)
            if self._directory.exists():
                await asyncio.to_thread(_remove, self._directory)

    def _read(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self._control, MESSAGE_BYTES, MAX_FETCHED_FILES, socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return
        except OSError as error:
            self.die(str(error))
            return
        if not message:
            self.die(f"pid {self._process.pid} ended")
        elif not self._hello.done():
            hello = Hello(**json.loads(message))
            self.layers = frozenset(Layer(name) for name in hello.layers)
            self.problems = hello.problems
            self.resident_bytes = hello.resident_bytes
            (self._pidfd,) = descriptors
            self._hello.set_result(None)
        elif self._child is not None and message == STARTED:
            self._child.begin(*descriptors)
        elif self._child is not None:
            places = message[ENDED.size :]
            files = dict(zip(places, descriptors, strict=True))
            self._child.end(files, *ENDED.unpack_from(message))


class _Child:
    """One execution: its descriptors, what it wrote, and the watch on its limits."""

    def __init__(self, zygote: _Zygote, limits: Limits) -> None:
        self._pidfd = -1
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Execution] = loop.create_future()
        self._loop = loop
        self._zygote = zygote
        self._limits = limits
        self._pid: int | None = None
        self._reason: ExitReason | None = None
        self._killed_at: float | None = None
        self._status: socket.socket | None = None
        self._said: list[bytes] = []
        self._fetched_files: tuple[str, ...] = ()
        self._streams: list[_Stream] = []
        self._start = time.monotonic()
        self._timer = loop.call_later(min(WATCH_SECONDS, limits.wall_seconds), self._watch)

    def start(
        self,
        control: socket.socket,
        program: Program,
        channel: socket.socket | None,
        *,
        result: bool,
    ) -> None:
        """Order the zygote to fork. Raises OSError."""
        limit = self._limits.output_bytes
        self._status, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._status.setblocking(False)
        self._status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        payload = _sealed(program.payload, executable=program.entry == "binary")
        given = [theirs.detach(), payload]
        optional = 0
        try:
            for _ in range(2):
                given.append(self._open_stream(limit))
            if program.stdin:
                optional |= STDIN
                given.append(_sealed(program.stdin))
            if channel is not None:
                optional |= CHANNEL
                given.append(os.dup(channel.fileno()))
            if result:
                optional |= RESULT
                given.append(self._open_stream(max(limit, entries.MAX_COMPILED_BYTES)))
            if program.arguments or program.files:
                optional |= WORKSPACE
                given.append(_sealed(pack_workspace(program.arguments, program.files)))
            self._fetched_files = program.fetched_files
            order = ORDER.pack(optional) + ChildLimits.of(self._limits).pack()
            what = json.dumps([program.entry, program.fetched_files]).encode()
            socket.send_fds(control, [order + what], given)
        finally:
            for descriptor in given:
                os.close(descriptor)

    def _open_stream(self, limit: int) -> int:
        reading, writing = os.pipe()
        self._streams.append(_Stream(reading, limit, self._on_flood))
        return writing

    def _on_flood(self) -> None:
        self.kill(ExitReason.OUTPUT_LIMIT)

    async def end_of_run(self) -> Execution:
        """Wait until the process has ended. Raises _ZygoteDied."""
        return await asyncio.shield(self.ended)  # to be cancelled is not to have ended

    def begin(self, pidfd: int) -> None:
        """Take the descriptor of the process, which is there from now on."""
        self._pidfd = pidfd
        if self._reason is not None:
            self._send_kill()

    def kill(self, reason: ExitReason) -> None:
        """End the process; the first call decides what it is called. An ended one is left alone."""
        if self.ended.done() or self._reason is not None:
            return
        self._reason = reason
        self._killed_at = time.monotonic()
        self._send_kill()

    def _send_kill(self) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def end(
        self,
        descriptors: Mapping[int, int],
        status: int,
        user_seconds: float,
        system_seconds: float,
        peak_kib: int,
    ) -> None:
        """Take the kernel's last word on the process, and what it left."""
        files, left = {}, self._limits.file_bytes
        for place, descriptor in descriptors.items():
            with open(descriptor, "rb") as file:
                content = file.read(left)
            files[self._fetched_files[place]] = content
            left -= len(content)
        if self.ended.done():
            return
        for stream in self._streams:
            stream.drain()
        self._listen()
        is_broken = self._said[:1] != [entries.CONFINED] or self._said[-1].startswith(
            entries.BROKEN
        )
        if is_broken and self._reason is None:
            said = b" ".join(self._said).decode(errors="replace")
            self._zygote.die(f"a child could not be confined; status {status}: {said}")
            return
        code: int | None = os.waitstatus_to_exitcode(status)
        assert code is not None
        ended_by, code = (-code, None) if code < 0 else (None, code)
        stdout, stderr, *results = self._streams
        execution = Execution(
            reason=ExitReason.EXITED,
            exit_code=code,
            signal=ended_by,
            stdout=stdout.kept,
            stdout_bytes=stdout.num_bytes,
            stderr=stderr.kept,
            stderr_bytes=stderr.num_bytes,
            result=results[0].kept if results else b"",
            result_bytes=results[0].num_bytes if results else 0,
            cpu_seconds=user_seconds + system_seconds,
            wall_seconds=time.monotonic() - self._start,
            peak_memory_bytes=peak_kib * 1024,
            layers=self._zygote.layers,
            files=files,
        )
        self.ended.set_result(dataclasses.replace(execution, reason=self._explain(execution)))

    def _explain(self, execution: Execution) -> ExitReason:
        if execution.cpu_seconds >= self._limits.cpu_seconds:
            return ExitReason.CPU_LIMIT
        if self._reason is not None:
            return self._reason
        if any(stream.is_flooded for stream in self._streams):
            return ExitReason.OUTPUT_LIMIT
        if entries.COMPILE_ERROR in self._said:
            return ExitReason.COMPILE_ERROR
        if execution.signal == signal.SIGSYS:
            return ExitReason.FORBIDDEN
        own_bytes = execution.peak_memory_bytes - self._zygote.resident_bytes
        if execution.exit_code != 0 and own_bytes >= NEAR_LIMIT * self._limits.memory_bytes:
            return ExitReason.MEMORY_LIMIT
        return ExitReason.EXITED if execution.signal is None else ExitReason.SIGNALED

    def close(self) -> None:
        """Give back every descriptor."""
        self._timer.cancel()
        for stream in self._streams:
            stream.close()
        if self._status is not None:
            self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _watch(self) -> None:
        now = time.monotonic()
        self._timer = self._loop.call_later(WATCH_SECONDS, self._watch)
        if now - (self._killed_at or now) > GRACE_SECONDS:
            self._zygote.die("a killed child does not end")
        elif self._pidfd < 0:
            if now - self._start > GRACE_SECONDS:
                self._zygote.die("it does not fork")
        elif self._reason is not None:
            pass
        elif self._cpu_seconds() >= self._limits.cpu_seconds:
            self.kill(ExitReason.CPU_LIMIT)
        elif now - self._start >= self._limits.wall_seconds:
            self.kill(ExitReason.WALL_LIMIT)
        elif self._limits.file_bytes and self._zygote.is_scratch_full(self._limits.file_bytes):
            self.kill(ExitReason.OUTPUT_LIMIT)

    def _cpu_seconds(self) -> float:
        self._listen()
        if self._pid is None:
            return 0.0
        try:
            return time.clock_gettime(~self._pid << 3 | 2)  # see clock_getcpuclockid(3)
        except OSError:
            return 0.0  # it has ended

    def _listen(self) -> None:
        """Read the status socket. The kernel says who wrote: its pid, as it is known here."""
        assert self._status is not None
        while True:
            try:
                message, ancillary, _, _ = self._status.recvmsg(
                    MESSAGE_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size)
                )
            except (BlockingIOError, ConnectionResetError):
                return
            if not message:
                return
            self._said.append(message)
            for _, kind, data in ancillary:
                if kind == socket.SCM_CREDENTIALS and self._pid is None:
                    self._pid = _CREDENTIALS.unpack(data)[0]


class _Stream:
    """What comes out of a pipe: kept up to a limit, counted beyond it."""

    def __init__(self, descriptor: int, limit: int, on_flood: Callable[[], None]) -> None:
        os.set_blocking(descriptor, False)
        self.num_bytes = 0
        self._descriptor = descriptor
        self._limit = limit
        self._on_flood = on_flood
        self._chunks: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    @property
    def kept(self) -> bytes:
        """The first bytes, at most as many as the limit."""
        return b"".join(self._chunks)[: self._limit]

    @property
    def is_flooded(self) -> bool:
        """Whether there was more than the limit."""
        return self.num_bytes > self._limit

    def drain(self) -> None:
        """Read what is there. Only when nobody writes any more."""
        while self._read():
            pass

    def close(self) -> None:
        """Close the descriptor. Closing again does nothing."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> bool:
        if self._descriptor < 0:
            return False
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        if self.num_bytes < self._limit:
            self._chunks.append(data)
        self.num_bytes += len(data)
        if self.is_flooded:
            self._on_flood()
        return True


def profile_of(program: Program) -> Profile:
    """The profile of a program: the one that it asks for, or one that has what it names."""
    if program.profile is not None:
        return program.profile
    if program.entry in entries.NATIVE:
        return Profile.NATIVE
    names_package = any(name in program.payload for name in _PACKAGE_NAMES)
    return Profile.SCI if names_package else Profile.STD


def _packages(profile: Profile) -> dict[str, str]:
    found = {}
    for name in PACKAGES[profile]:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"the profile {profile} needs {name}, which is not installed")
        found[name] = str(Path(spec.origin).parent)
    return found


def _remove(directory: Path) -> None:
    """Remove the directory of a zygote that is gone."""
    for scratch in directory.iterdir():
        empty_directory(scratch)
        scratch.rmdir()
    directory.rmdir()


def _is_unexplained(execution: Execution) -> bool:
    """Whether it was killed, and not by the runner: by the kernel, short of memory, or by hand."""
    return execution.reason is ExitReason.SIGNALED and execution.signal == signal.SIGKILL


def _sealed(content: bytes, *, executable: bool = False) -> int:
    """A file in memory that holds the content and cannot be changed."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create("payload", flags | (_MFD_EXEC if executable else 0))
    except OSError:  # Linux before 6.3: every such file can be executed
        descriptor = os.memfd_create("payload", flags)
    os.fchmod(descriptor, _EXECUTABLE_MODE if executable else _READABLE_MODE)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor
