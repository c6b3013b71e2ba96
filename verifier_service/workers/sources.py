"""Sources of a pool's workers: a fork server, or processes started one by one."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from verifier_service import frames
from verifier_service.code.kept_readings import KeptReadings
from verifier_service.sandbox.scratch import remove_directory
from verifier_service.workers.shared_position import SharedPosition
from verifier_service.workers.tasks import CodeWorkerStarted

log = logging.getLogger(__name__)

START_TIMEOUT_SECONDS = 60.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.02
MAX_REPLY_BYTES = 1024
SEND_BUFFER_BYTES = 2**20
"""Buffer of a worker's socket, as far as the kernel permits: a task of long texts fits in it."""
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""Environment of every worker. It has none of our variables, and fixes the order of sets."""


class WorkerStartError(RuntimeError):
    """A worker could not be started."""


class StartedWorker(NamedTuple):
    """A worker process and the handles on it, which the receiver has to close."""

    pid: int
    pidfd: int
    stat: int
    """The open file /proc/PID/stat, which never becomes that of another process."""
    connection: socket.socket
    position: SharedPosition
    """The memory in which the worker tells its position."""


class WorkerSource(Protocol):
    """Starts workers for a pool."""

    @property
    def alive(self) -> bool:
        """Whether the source can start workers. If not, the workers it started are ending too."""
        ...

    def start_worker(self) -> StartedWorker:
        """Start a worker. Blocks until it runs. Raises WorkerStartError."""
        ...

    def close(self) -> None:
        """End every worker. Blocks until they have ended."""
        ...


class ForkServer:
    """The parent's side of a process that runs `fork_server.fork_server`.

    Args:
        module: full name of the module that the process runs.
        address_space_bytes: address space of a worker beyond the part that it inherits.

    Raises:
        WorkerStartError: descriptors or memory for the process are lacking.
    """

    def __init__(self, module: str, address_space_bytes: int) -> None:
        with contextlib.ExitStack() as stack:
            ours, theirs = _socket_pair()
            stack.callback(ours.close)
            ours.settimeout(START_TIMEOUT_SECONDS)
            with theirs:
                arguments = (str(theirs.fileno()), str(address_space_bytes))
                try:
                    self._process = _start(module, arguments, descriptors=[theirs.fileno()])
                except OSError as error:
                    raise WorkerStartError(f"no fork server can be started: {error}") from error
            stack.pop_all()
        self._control = ours

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def start_worker(self) -> StartedWorker:
        """Start a worker. Blocks for milliseconds, but the first time for the server's imports.

        Raises:
            WorkerStartError: the fork server is gone or does not reply.
        """
        with contextlib.ExitStack() as stack:
            shared = SharedPosition.create_file()
            try:
                position = SharedPosition(shared)
                stack.callback(position.close)
                pid, pidfd, connection = self.fork_with(shared)
            finally:
                os.close(shared)
            stack.callback(os.close, pidfd)
            stack.callback(connection.close)
            stat = _open_stat(pid, pidfd)
            started = StartedWorker(pid, pidfd, stat, connection, position)
            stack.pop_all()
        return started

    def fork_with(self, descriptor: int) -> tuple[int, int, socket.socket]:
        """Start a worker that gets a descriptor; returns its pid, a pidfd and the socket to it.

        Raises:
            WorkerStartError: the fork server is gone, could not fork, or did not reply in time and
                was killed.
        """
        ours, theirs = _socket_pair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"f"], [theirs.fileno(), descriptor])
            message, descriptors, _, _ = socket.recv_fds(self._control, MAX_REPLY_BYTES, 1)
        except OSError as error:
            ours.close()
            self._kill()  # its late reply would be taken for the reply to the next fork
            raise WorkerStartError(f"the fork server does not answer: {error}") from error
        if not message:
            ours.close()
            raise WorkerStartError(f"the fork server ended with status {self._process.wait()}")
        if not descriptors:  # if a worker runs, it ends: its connection is closed next
            ours.close()
            why = "there are too many open files" if message.isdigit() else message.decode()
            raise WorkerStartError(f"the fork server gave no worker: {why}")
        return int(message), descriptors[0], ours

    def close(self) -> None:
        """End the process and every worker it forked. Blocks until they have ended."""
        self._control.close()  # the process reads the end, and its workers end with it
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()


class CodeWorkers:
    """Starts processes of `workers.code_worker`.

    Each has a directory for its sandbox. This source removes it, because a killed worker cannot.
    All share one table of readings of tests, which outlives a worker.

    Args:
        unsafe_without: layers of the sandbox to leave out.
    """

    def __init__(self, unsafe_without: Sequence[str] = ()) -> None:
        self._unsafe_without = unsafe_without
        self._processes: dict[subprocess.Popen[bytes], Path] = {}
        self._readings = KeptReadings.create_file()

    @property
    def alive(self) -> bool:
        """True: the workers do not depend on another process."""
        return True

    def start_worker(self) -> StartedWorker:
        """Start a worker. Blocks until its sandbox works.

        Raises:
            WorkerStartError: the worker, or its sandbox, does not start.
        """
        self._forget_ended()
        with contextlib.ExitStack() as stack:
            ours, theirs = _socket_pair()
            stack.callback(ours.close)
            ours.settimeout(START_TIMEOUT_SECONDS)
            shared = SharedPosition.create_file()
            stack.callback(os.close, shared)
            position = SharedPosition(shared)
            stack.callback(position.close)
            with theirs:
                process = self._start(theirs.fileno(), shared)
            stack.callback(process.wait)
            stack.callback(process.kill)
            problem = _start_problem(ours)
            if problem is not None:
                raise WorkerStartError(problem)
            pidfd = os.pidfd_open(process.pid)
            stack.callback(os.close, pidfd)
            stat = _open_stat(process.pid, pidfd)
            stack.pop_all()
        os.close(shared)
        return StartedWorker(process.pid, pidfd, stat, ours, position)

    def _start(self, connection: int, shared: int) -> subprocess.Popen[bytes]:
        descriptors = (connection, shared, self._readings)
        directory = Path(tempfile.mkdtemp(prefix="verifier-code-"))
        directory.chmod(0o711)  # the users of the sandbox have to pass through it
        try:
            process = _start(
                "verifier_service.workers.code_worker",
                (*(str(number) for number in descriptors), ",".join(self._unsafe_without)),
                descriptors=descriptors,
                environment={"TMPDIR": str(directory)},
            )
        except OSError:
            directory.rmdir()
            raise
        self._processes[process] = directory
        return process

    def _forget_ended(self) -> None:
        for process, directory in list(self._processes.items()):
            if process.poll() is not None and remove_directory(directory):
                del self._processes[process]

    def close(self) -> None:
        """End every worker. Blocks until they have ended and their directories are removed."""
        for process in self._processes:
            process.kill()
            process.wait()
        os.close(self._readings)
        deadline = time.monotonic() + STOP_SECONDS
        while self._processes and time.monotonic() < deadline:
            self._forget_ended()
            time.sleep(POLL_SECONDS)
        for directory in self._processes.values():
            log.warning("%s is left: a process is still writing to it", directory)


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets. Raises WorkerStartError."""
    try:
        pair = socket.socketpair()
    except OSError as error:
        raise WorkerStartError(f"there is no socket for a worker: {error}") from error
    for one in pair:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return pair


def _open_stat(pid: int, pidfd: int) -> int:
    """Open /proc/PID/stat of the process of a pidfd. Raises WorkerStartError."""
    with contextlib.ExitStack() as stack:
        try:
            stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
            stack.callback(os.close, stat)
            signal.pidfd_send_signal(pidfd, 0)  # fails if the pid may have been reused
        except OSError as error:
            raise WorkerStartError(f"a new worker cannot be watched: {error}") from error
        stack.pop_all()
    return stat


def _start(
    module: str,
    arguments: Sequence[str],
    *,
    descriptors: Sequence[int],
    environment: dict[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process that runs one of our modules, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-I", "-m", module, *arguments],
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT | (environment or {}),
        start_new_session=True,
    )


def _start_problem(connection: socket.socket) -> str | None:
    """Why a code worker does not work; None when it has told that it works."""
    try:
        return msgspec.json.decode(frames.receive_frame(connection), type=CodeWorkerStarted).problem
    except (OSError, EOFError, msgspec.MsgspecError) as error:
        return f"a worker did not start: {error or 'it ended'}"
