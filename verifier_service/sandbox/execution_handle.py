"""One execution, as the runner's process sees it: what it is given, what it wrote, its limits."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import fcntl
import json
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verifier_service.sandbox import entries
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Limits,
    Program,
    SandboxError,
)
from verifier_service.sandbox.layers import ChildLimits
from verifier_service.sandbox.zygote import (
    CHANNEL,
    ORDER,
    RESULT,
    STDIN,
    WORKSPACE,
    pack_workspace,
)

if TYPE_CHECKING:
    from verifier_service.sandbox.zygote_handle import ZygoteHandle

WATCH_SECONDS = 0.05
GRACE_SECONDS = 10.0
"""How long a zygote may take to fork, or to report the end of a child that was killed."""
OVERLOAD_SHARE = 4
"""Shares of its time after which an execution that had to wait for processors is given up.

A program cannot bring this about, which would be to choose that it gets no verdict. While its main
thread waits for a processor, other threads run there. Those of its own use up its CPU time. So
alone on the machine it ends after its wall time and its CPU time at the latest, and in a pair,
whose waiting is added up, after its CPU time once more. The threads of others are the machine's
load, which is ours to bound."""
NEAR_LIMIT = 0.8
"""Share of the memory limit above which an unexplained failure is put down to memory."""
READ_BYTES = 2**16
MESSAGE_BYTES = 4096

_MFD_EXEC = 0x10
_READABLE_MODE, _EXECUTABLE_MODE = 0o444, 0o111
"""Of files in memory. A program that is started from a file that it cannot read is not dumpable."""
_CREDENTIALS = struct.Struct("=iII")
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Child:
    """One execution: its descriptors, what it wrote, and the watch on its limits."""

    def __init__(self, zygote: ZygoteHandle, limits: Limits) -> None:
        self.partner: Child | None = None
        """In a pair, the other one; what one waits, both wait."""
        self._pidfd = -1
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Execution] = loop.create_future()
        self._loop = loop
        self._zygote = zygote
        self._limits = limits
        self._pid: int | None = None
        self._reason: ExitReason | None = None
        self._killed_at: float | None = None
        self._waited_seconds = 0.0
        self._is_overloaded = False
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
        """Wait until the process has ended. Raises ZygoteDied."""
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
            cpu_seconds=user_seconds + system_seconds,
            wall_seconds=time.monotonic() - self._start,
            waited_seconds=self._waited_seconds,
            peak_memory_bytes=peak_kib * 1024,
            layers=self._zygote.layers,
            files=files,
        )
        reason = self._explain(execution)
        if reason is ExitReason.WALL_LIMIT and self._is_overloaded:
            waited = f"{self._all_waited_seconds():.1f} of {execution.wall_seconds:.1f} s"
            why = f"the machine is overloaded: a program waited {waited} for a processor"
            self.ended.set_exception(SandboxError(why))
            self.ended.exception()  # it may be that nobody waits any more
            return
        self.ended.set_result(dataclasses.replace(execution, reason=reason))

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
        ran = now - self._start
        self._timer = self._loop.call_later(WATCH_SECONDS, self._watch)
        if now - (self._killed_at or now) > GRACE_SECONDS:
            self._zygote.die("a killed child does not end")
        elif self._pidfd < 0:
            if ran > GRACE_SECONDS:
                self._zygote.die("it does not fork")
        elif self._reason is not None:
            pass
        elif self._cpu_seconds() >= self._limits.cpu_seconds:
            self.kill(ExitReason.CPU_LIMIT)
        elif ran - self._all_waited_seconds() >= self._limits.wall_seconds:
            self.kill(ExitReason.WALL_LIMIT)
        elif ran >= OVERLOAD_SHARE * max(self._limits.wall_seconds, self._limits.cpu_seconds):
            self._is_overloaded = True
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

    def _all_waited_seconds(self) -> float:
        """What this execution and its partner have waited for a processor."""
        if self._pid is not None and not self.ended.done():
            self._waited_seconds = max(self._waited_seconds, waited_seconds(self._pid))
        return self._waited_seconds + (self.partner._waited_seconds if self.partner else 0.0)

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


def waited_seconds(pid: int) -> float:
    """How long the kernel had a process's main thread wait for a processor.

    0 where the kernel does not tell: schedstat needs CONFIG_SCHED_INFO, see
    Documentation/scheduler/sched-stats.rst.
    """
    try:
        _, waited, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):  # it has ended, and then there may be nothing in it
        return 0.0
    return int(waited) * 1e-9


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
