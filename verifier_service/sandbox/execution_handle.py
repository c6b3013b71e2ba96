"""One execution, as the runner's process sees it: what goes in, what comes out, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from verifier_service.sandbox import entries, limit_watch
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Limits,
    Program,
    SandboxError,
)
from verifier_service.sandbox.exit_reason import ProcessEnd, exit_reason
from verifier_service.sandbox.layers import ChildLimits
from verifier_service.sandbox.limit_watch import LimitWatch
from verifier_service.sandbox.memory_files import sealed
from verifier_service.sandbox.workspace import pack_workspace
from verifier_service.sandbox.zygote_messages import (
    CHANNEL,
    ORDER,
    RESULT,
    STDIN,
    TALKS,
    WORKSPACE,
)

if TYPE_CHECKING:
    from verifier_service.sandbox.zygote_handle import ZygoteHandle

GRACE_SECONDS = 10.0
"""Longest time a zygote may take to fork, or to report the end of a process that was killed."""
READ_BYTES = 2**16
MESSAGE_BYTES = 4096

_CREDENTIALS = struct.Struct("=iII")


class ExecutionHandle:
    """One execution: its descriptors, its output, and the process that its zygote forks for it."""

    def __init__(self, zygote: ZygoteHandle, limits: Limits) -> None:
        self.watch = LimitWatch(limits)
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Execution] = loop.create_future()
        self._loop = loop
        self._zygote = zygote
        self.limits = limits
        self._pidfd = -1
        self._killed_for: ExitReason | None = None
        self._killed_at: float | None = None
        self._is_stopped = False
        self._status: socket.socket | None = None
        self._statuses: list[bytes] = []
        self._fetched_files: tuple[str, ...] = ()
        self._streams: list[OutputStream] = []
        first_look = min(limit_watch.WATCH_SECONDS, limits.wall_seconds)
        self._timer = loop.call_later(first_look, self._look)

    def start(
        self,
        control: socket.socket,
        program: Program,
        channel: socket.socket | None,
        *,
        result: bool,
    ) -> None:
        """Order the zygote to fork. Raises OSError."""
        self._fetched_files = program.fetched_files
        descriptors: list[int] = []
        try:
            optional = self._collect_descriptors(descriptors, program, channel, result=result)
            order = ORDER.pack(optional) + ChildLimits.of(self.limits).pack()
            names = json.dumps([program.entry, program.fetched_files]).encode()
            socket.send_fds(control, [order + names], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _collect_descriptors(
        self,
        descriptors: list[int],
        program: Program,
        channel: socket.socket | None,
        *,
        result: bool,
    ) -> int:
        """Add the descriptors of an order to a list; the flags say which optional ones are there.

        They are added one by one, so that the caller can close those made before an OSError.
        """
        limit = self.limits.output_bytes
        descriptors.append(self._open_status())
        if program.entry == "binary":
            descriptors.append(self._zygote.executable(program.payload))
        else:
            descriptors.append(sealed(program.payload))
        descriptors += [self._open_stream(limit), self._open_stream(limit)]
        optional = 0
        files = dict(program.files)
        if program.stdin_name is not None:
            files[program.stdin_name] = program.stdin
        elif program.stdin:
            optional |= STDIN
            descriptors.append(sealed(program.stdin))
        if channel is not None:
            optional |= CHANNEL | (TALKS if program.talks else 0)
            descriptors.append(os.dup(channel.fileno()))
        if result:
            optional |= RESULT
            descriptors.append(self._open_stream(max(limit, entries.MAX_COMPILED_BYTES)))
        if program.arguments or files:
            optional |= WORKSPACE
            descriptors.append(sealed(pack_workspace(program.arguments, files)))
        return optional

    def _open_status(self) -> int:
        """Make the status socket; the process's end of it."""
        self._status, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._status.setblocking(False)
        self._status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        return theirs.detach()

    def _open_stream(self, limit: int) -> int:
        """Make a pipe that is read up to a limit; the end that the process writes to."""
        reading, writing = os.pipe()
        self._streams.append(OutputStream(reading, limit, self._on_flood))
        return writing

    def _on_flood(self) -> None:
        self.kill(ExitReason.OUTPUT_LIMIT)

    async def wait(self) -> Execution:
        """Wait until the process has ended. Raises ZygoteDied, SandboxError."""
        # Without the shield, cancelling the caller would cancel `ended`: the process would look
        # ended while it still runs, and nobody would kill it.
        return await asyncio.shield(self.ended)

    def begin(self, pidfd: int) -> None:
        """Take the descriptor of the process.

        The process may run for a while before: it may even have been stopped or killed by now.
        """
        self._pidfd = pidfd
        for stream in self._streams:
            stream.watch()
        if self._is_stopped:
            self._send(signal.SIGSTOP)
        if self._killed_for is not None:
            self._send(signal.SIGKILL)

    def kill(self, reason: ExitReason) -> None:
        """Kill the process; the first call decides the reason. An ended one is left alone."""
        if self.ended.done() or self._killed_for is not None:
            return
        self._killed_for = reason
        self._killed_at = time.monotonic()
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, number)

    def runs(self) -> bool:
        """Whether the process has said that it runs; its clock and its threads are known then."""
        if self.watch.pid is None:
            self._read_status()
        return self._pidfd >= 0 and self.watch.pid is not None

    def stop(self) -> None:
        """Stop the process until `go_on`, because it is others' turn."""
        self._is_stopped = True
        self.watch.stop()
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        """Have a stopped process go on."""
        self._is_stopped = False
        self.watch.go_on()
        self._send(signal.SIGCONT)

    def end(
        self,
        descriptors: Mapping[int, int],
        status: int,
        user_seconds: float,
        system_seconds: float,
        peak_kib: int,
    ) -> None:
        """Take the kernel's report on the process, which has ended, and the files that it left.

        Args:
            descriptors: of fetched files, by their index in `Program.fetched_files`. Closed here.
            status: as wait(2) gives it.
            user_seconds: CPU time of the process.
            system_seconds: CPU time of the kernel for it.
            peak_kib: its peak resident memory, in KiB.
        """
        files = self._read_files(descriptors)
        if self.ended.done():
            return
        for stream in self._streams:
            stream.drain()
        self._read_status()
        if self._killed_for is None and not self._was_confined():
            statuses = b" ".join(self._statuses).decode(errors="replace")
            self._zygote.die(f"a process could not be confined; status {status}: {statuses}")
            return
        execution = self._execution(status, user_seconds + system_seconds, peak_kib * 1024, files)
        if execution.reason is ExitReason.WALL_LIMIT and self.watch.is_overloaded:
            waited = f"{self.watch.all_waited_seconds:.1f} of {execution.wall_seconds:.1f} s"
            used = f"used {execution.cpu_seconds:.2f} s of CPU time and waited {waited}"
            why = f"the machine is overloaded: a program {used} for a processor"
            self.ended.set_exception(SandboxError(why))
            # Retrieved once here: asyncio logs exceptions that nobody retrieves, and the caller
            # may have been cancelled.
            self.ended.exception()
            return
        self.ended.set_result(execution)

    def _read_files(self, descriptors: Mapping[int, int]) -> dict[str, bytes]:
        """The contents of fetched files, together at most `Limits.file_bytes`."""
        files, left = {}, self.limits.file_bytes
        for index, descriptor in descriptors.items():
            with open(descriptor, "rb") as file:
                content = file.read(left)
            files[self._fetched_files[index]] = content
            left -= len(content)
        return files

    def _was_confined(self) -> bool:
        """Whether the process reported every layer in force, and no failure of ours after that."""
        begins_right = self._statuses[:1] == [entries.CONFINED]
        return begins_right and not self._statuses[-1].startswith(entries.BROKEN)

    def _execution(
        self, status: int, cpu_seconds: float, peak_bytes: int, files: Mapping[str, bytes]
    ) -> Execution:
        code: int | None = os.waitstatus_to_exitcode(status)
        assert code is not None
        ended_by, code = (-code, None) if code < 0 else (None, code)
        stdout, stderr, *results = self._streams
        end = ProcessEnd(
            killed_for=self._killed_for,
            cpu_seconds=cpu_seconds,
            own_memory_bytes=peak_bytes
            - max(self._zygote.resident_bytes, self.limits.runtime_bytes),
            is_flooded=any(stream.is_flooded for stream in self._streams),
            is_compile_error=entries.COMPILE_ERROR in self._statuses,
            exit_code=code,
            signal=ended_by,
        )
        return Execution(
            reason=exit_reason(end, self.limits),
            exit_code=code,
            signal=ended_by,
            stdout=stdout.kept,
            stdout_bytes=stdout.num_bytes,
            stderr=stderr.kept,
            stderr_bytes=stderr.num_bytes,
            result=results[0].kept if results else b"",
            cpu_seconds=cpu_seconds,
            wall_seconds=self.watch.wall_seconds,
            waited_seconds=self.watch.waited_seconds + self.watch.stopped_seconds,
            peak_memory_bytes=peak_bytes,
            layers=self._zygote.layers,
            files=files,
        )

    def close(self) -> None:
        """Close every descriptor."""
        self._timer.cancel()
        for stream in self._streams:
            stream.close()
        if self._status is not None:
            self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _look(self) -> None:
        """Compare what the process uses with its limits, now and again until it has ended."""
        if self.ended.done():  # its pid may be another process's by now
            return
        self._timer = self._loop.call_later(limit_watch.WATCH_SECONDS, self._look)
        if self._killed_at is not None:
            if time.monotonic() - self._killed_at > GRACE_SECONDS:
                self._zygote.die("a killed process does not end")
        elif self._pidfd < 0:
            if self.watch.wall_seconds > GRACE_SECONDS:
                self._zygote.die("it does not fork")
        else:
            self._read_status()
            has_written = any([stream.read() for stream in self._streams])
            if (reason := self.watch.exceeded(has_written=has_written)) is not None:
                self.kill(reason)
            elif self.limits.file_bytes and self._zygote.is_scratch_full(self.limits.file_bytes):
                self.kill(ExitReason.OUTPUT_LIMIT)

    def _read_status(self) -> None:
        """Read the status socket. The kernel adds the sender's pid, as this process knows it."""
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
            self._statuses.append(message)
            for _, kind, data in ancillary:
                if kind == socket.SCM_CREDENTIALS and self.watch.pid is None:
                    self.watch.pid = _CREDENTIALS.unpack(data)[0]


class OutputStream:
    """The reading end of a pipe: its bytes are kept up to a limit, and counted beyond it.

    Until `watch` they stay in the pipe: what a program that ends at once has written is read when
    it has ended.
    """

    def __init__(self, descriptor: int, limit: int, on_flood: Callable[[], None]) -> None:
        os.set_blocking(descriptor, False)
        self.num_bytes = 0
        self._descriptor = descriptor
        self._limit = limit
        self._on_flood = on_flood
        self._chunks: list[bytes] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self) -> None:
        """Read from now on whatever is written."""
        if self._descriptor >= 0 and self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._descriptor, self.read)

    @property
    def kept(self) -> bytes:
        """The first bytes, at most as many as the limit."""
        return b"".join(self._chunks)[: self._limit]

    @property
    def is_flooded(self) -> bool:
        """Whether more bytes came than the limit."""
        return self.num_bytes > self._limit

    def start_again(self) -> None:
        """Forget what was read so far."""
        self.num_bytes = 0
        self._chunks.clear()

    def drain(self) -> None:
        """Read the rest. Only when nobody writes any more: it would never end."""
        while self.read():
            pass

    def close(self) -> None:
        """Close the descriptor. Closing twice does nothing."""
        if self._descriptor >= 0:
            if self._loop is not None:
                self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def read(self) -> bool:
        """Read once; False if there was nothing to read."""
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
