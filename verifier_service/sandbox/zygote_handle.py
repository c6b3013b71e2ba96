"""The runner's side of a zygote: its start, the order to fork, its end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Self, TypeVar

from verifier_service.sandbox.execution import (
    ExitReason,
    Layer,
    Limits,
    Program,
)
from verifier_service.sandbox.execution_handle import (
    GRACE_SECONDS,
    MESSAGE_BYTES,
    ExecutionHandle,
)
from verifier_service.sandbox.file_names import MAX_FETCHED_FILES
from verifier_service.sandbox.memory_files import ExecutableFiles, sealed
from verifier_service.sandbox.scratch import SCRATCH_INODES, empty_directory, holds_more_than
from verifier_service.sandbox.zygote_messages import (
    ENDED,
    STARTED,
    ZygoteConfig,
    ZygoteStarted,
)

START_TIMEOUT_SECONDS = 60.0
RENEWAL_FACTOR = 50
"""CPU time of executions after which a zygote is replaced, in units of that of its start.

Executions of one zygote have the same memory layout, those of the next one another."""

_BOOT = """
import os, sys
sys.path.append(os.getcwd())  # behind the standard library, which others may shadow there
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
_IMPORT_ROOT = Path(__file__).parents[2]


AnyExecution = TypeVar("AnyExecution", bound=ExecutionHandle)


class ZygoteDied(Exception):
    """The zygote has ended, or does not answer."""


class ZygoteHandle:
    """The runner's side of a zygote.

    | call | result |
    |---|---|
    | `ZygoteHandle.start(config)` | starts the process |
    | `await zygote.ready()` | waits until it can fork |
    | `async with zygote.running(program, limits) as execution` | has it fork |
    | `await zygote.close()` | ends it |

    Args:
        process: the zygote, which has been started; None if a nursery has forked it.
        control: this side of its control socket.
        directory: of the zygote's own; removed with it.
        executables: files of programs, which it shares with others; None: each run has its own.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes] | None,
        control: socket.socket,
        directory: Path,
        *,
        executables: ExecutableFiles | None = None,
    ) -> None:
        self.alive = True
        self.layers: frozenset[Layer] = frozenset()
        """The layers in force, once it is ready."""
        self.problems: list[str] = []
        """Layers that it could not have, and why."""
        self.resident_bytes = 0
        self.has_loopback = False
        """Whether its executions may open sockets, in networks of their own."""
        self.start_seconds = 0.0
        """CPU time that its start took."""
        self.used_seconds = 0.0
        """CPU time of its executions since then."""
        self._process = process
        self._control = control
        self._directory = directory
        self._executables = executables
        self._execution: ExecutionHandle | None = None
        self._end: asyncio.Task[None] | None = None
        self._pidfd = -1
        self._loop = asyncio.get_running_loop()
        self._started: asyncio.Future[None] = self._loop.create_future()
        control.setblocking(False)
        self._loop.add_reader(control, self._read)

    @property
    def is_worn(self) -> bool:
        """Whether its executions have taken so long that another start is cheap beside them."""
        return self.used_seconds > RENEWAL_FACTOR * self.start_seconds

    @classmethod
    def start(cls, config: ZygoteConfig, executables: ExecutableFiles | None = None) -> Self:
        """Start a zygote. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            ours.send(json.dumps(dataclasses.asdict(config)).encode())
            process = start_process(theirs.fileno(), _BOOT)
        return cls(process, ours, Path(config.directory), executables=executables)

    async def ready(self) -> None:
        """Wait until it can fork. Raises ZygoteDied."""
        try:
            # Not `wait_for`: in Python 3.11 it loses a cancellation that comes with the result.
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
                await asyncio.shield(self._started)
        except TimeoutError as error:
            raise ZygoteDied(f"it did not start in {START_TIMEOUT_SECONDS:.0f} s") from error

    def running(
        self,
        program: Program,
        limits: Limits,
        *,
        channel: socket.socket | None = None,
        result: bool = False,
    ) -> AbstractAsyncContextManager[ExecutionHandle]:
        """An execution of the program; arguments and errors as of `executing`."""
        return self.executing(
            ExecutionHandle(self, limits), program, channel=channel, result=result
        )

    @contextlib.asynccontextmanager
    async def executing(
        self,
        execution: AnyExecution,
        program: Program,
        *,
        channel: socket.socket | None = None,
        result: bool = False,
    ) -> AsyncIterator[AnyExecution]:
        """Have a program executed; if it still runs at the end, it is killed with the zygote.

        Raises:
            ZygoteDied: the zygote is dead, or no process could be started.
        """
        if not self.alive:
            execution.close()
            raise ZygoteDied("between executions")
        self._execution = execution
        try:
            execution.start(self._control, program, channel, result=result)
            yield execution
        except OSError as error:
            self.die(f"no process could be started: {error}")
            raise ZygoteDied(str(error)) from error
        finally:
            if not execution.ended.done():
                execution.kill(ExitReason.STOPPED)
                self.die("its execution was given up", gently=True)
            execution.close()
            self._execution = None

    def executable(self, content: bytes) -> int:
        """A descriptor of a program's file, which the caller closes. Raises OSError."""
        if self._executables is None:
            return sealed(content, executable=True)
        return self._executables.descriptor(content)

    def is_scratch_full(self, num_bytes: int) -> bool:
        """Whether the scratch directory holds more than this many bytes, or too many files.

        Never with a private root: the kernel keeps the limit there.
        """
        scratch = self._directory / "scratch"
        return Layer.ROOT not in self.layers and holds_more_than(
            scratch, num_bytes=num_bytes, num_files=SCRATCH_INODES
        )

    def die(self, why: str, *, gently: bool = False) -> None:
        """End the process; whoever waits for it gets ZygoteDied.

        Args:
            why: the message of ZygoteDied.
            gently: whether the process may end by itself, which it does when its control socket is
                closed. It collects its child first. `close` kills it if it does not.
        """
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control)
        self._control.close()
        if not gently or not self._started.done():
            self._kill()
        death = ZygoteDied(why)
        for future in (self._started, self._execution.ended if self._execution else None):
            if future is not None and not future.done():
                future.set_exception(death)
                # Retrieved once here: asyncio logs exceptions that nobody retrieves, and the
                # caller may have been cancelled.
                future.exception()

    def _kill(self) -> None:
        """Kill the zygote, but not the process that started it in a namespace and collects it."""
        if self._pidfd < 0:
            if self._process is not None:  # else it ends when it finds its socket closed
                self._process.terminate()
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def close(self) -> None:
        """End the process and wait until everything it started is gone. It can be called again."""
        self.die("it was closed", gently=True)
        if self._end is None:
            self._end = self._loop.create_task(self._finish())
        # A caller who is cancelled does not stop the threads that wait and remove. Without the
        # shield the next call would start others beside them.
        await asyncio.shield(self._end)

    async def _finish(self) -> None:
        await asyncio.to_thread(self._wait)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._directory.exists():
            await asyncio.to_thread(_remove, self._directory)

    def _wait(self) -> None:
        """Wait until the process has ended; one that does not is killed."""
        if self._process is None:
            self._wait_for_child_of_nursery()
            return
        for end in (self._kill, self._process.kill):
            try:
                self._process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                end()
        self._process.wait()

    def _wait_for_child_of_nursery(self) -> None:
        if self._pidfd < 0:
            return
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        if not ended.poll(GRACE_SECONDS * 1000):
            self._kill()
            ended.poll()

    def _read(self) -> None:
        """Read one message of the zygote: it can fork, it has forked, or its child has ended."""
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
            self.die("it ended" if self._process is None else f"pid {self._process.pid} ended")
        elif not self._started.done():
            self._take_start(ZygoteStarted(**json.loads(message)), *descriptors)
        elif self._execution is not None and message == STARTED:
            self._execution.begin(*descriptors)
        elif self._execution is not None:
            indices = message[ENDED.size :]
            files = dict(zip(indices, descriptors, strict=True))
            status, user_seconds, system_seconds, peak_kib = ENDED.unpack_from(message)
            self.used_seconds += user_seconds + system_seconds
            self._execution.end(files, status, user_seconds, system_seconds, peak_kib)

    def _take_start(self, started: ZygoteStarted, pidfd: int) -> None:
        self.layers = frozenset(Layer(name) for name in started.layers)
        self.problems = started.problems
        self.resident_bytes = started.resident_bytes
        self.has_loopback = started.has_loopback
        self.start_seconds = started.cpu_seconds
        self._pidfd = pidfd
        self._started.set_result(None)


def start_process(control: int, boot: str) -> subprocess.Popen[bytes]:
    """Start a zygote or a nursery with a clean environment. Raises OSError.

    Args:
        control: descriptor of its control socket.
        boot: source that imports and calls its `main`.
    """
    return subprocess.Popen(
        [
            # Not -I, which implies -E: without the environment the hash seed would be random.
            *(sys.executable, "-P", "-s", "-S", "-X", "utf8"),
            *("-c", boot, str(control)),
        ],
        pass_fds=[control],
        stdin=subprocess.DEVNULL,
        cwd=_IMPORT_ROOT,
        env=_ENVIRONMENT,
        start_new_session=True,
    )


def _remove(directory: Path) -> None:
    """Remove the directory of a zygote that has ended."""
    for scratch in directory.iterdir():
        empty_directory(scratch)
        scratch.rmdir()
    directory.rmdir()
