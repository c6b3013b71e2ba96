"""Where a pool's workers come from: a fork server, or processes started one by one."""

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
from verifier_service.sandbox.scratch import remove_directory
from verifier_service.workers.progress import Progress
from verifier_service.workers.tasks import CodeWorkerStarted

log = logging.getLogger(__name__)

START_TIMEOUT_SECONDS = 60.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.02
MAX_REPLY_BYTES = 1024
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""Of every worker: nothing of ours, and the same order of sets each time."""


class WorkerStartError(RuntimeError):
    """No worker could be started."""


class StartedWorker(NamedTuple):
    """A worker process and what leads to it; all of it is the receiver's to close."""

    pid: int
    pidfd: int
    stat: int
    """Its /proc/PID/stat, which cannot become that of another process."""
    connection: socket.socket
    progress: Progress
    """Where the worker tells how far it is."""


class WorkerSource(Protocol):
    """Where a pool's workers come from."""

    @property
    def alive(self) -> bool:
        """Whether it can give more, and those that it gave are not ended by its end."""
        ...

    def fork(self) -> StartedWorker:
        """A new worker. Blocks until it is there. Raises WorkerStartError."""
        ...

    def close(self) -> None:
        """End every worker. Blocks until they are gone."""
        ...


class ForkServer:
    """The parent's handle on a module that calls `fork_server`.

    Args:
        module: `workers.text_worker` or `large_requests.request_process`, by its full name.
        address_space_bytes: what a worker may map beyond what it inherits.

    Raises:
        WorkerStartError: there are no descriptors or no memory for it.
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

    def fork(self) -> StartedWorker:
        """A new worker. Blocks for milliseconds, the first time for as long as the imports take.

        Raises:
            WorkerStartError: the fork server is gone or does not answer.
        """
        with contextlib.ExitStack() as stack:
            shared = Progress.create_file()
            try:
                progress = Progress(shared)
                stack.callback(progress.close)
                pid, pidfd, connection = self.fork_with(shared)
            finally:
                os.close(shared)
            stack.callback(os.close, pidfd)
            stack.callback(connection.close)
            stat = _open_stat(pid, pidfd)
            started = StartedWorker(pid, pidfd, stat, connection, progress)
            stack.pop_all()
        return started

    def fork_with(self, descriptor: int) -> tuple[int, int, socket.socket]:
        """A new worker that is given a descriptor: its pid, a pidfd, and the socket to it.

        Raises:
            WorkerStartError: the fork server is gone, could not fork, or did not answer and was
                killed.
        """
        ours, theirs = _socket_pair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"f"], [theirs.fileno(), descriptor])
            message, descriptors, _, _ = socket.recv_fds(self._control, MAX_REPLY_BYTES, 1)
        except OSError as error:
            ours.close()
            self._kill()  # a reply that came late would be taken for the next one
            raise WorkerStartError(f"the fork server does not answer: {error}") from error
        if not message:
            ours.close()
            raise WorkerStartError(f"the fork server ended with status {self._process.wait()}")
        if not descriptors:  # of a worker that is there after all, the connection ends with this
            ours.close()
            why = "there are too many open files" if message.isdigit() else message.decode()
            raise WorkerStartError(f"the fork server gave no worker: {why}")
        return int(message), descriptors[0], ours

    def close(self) -> None:
        """End the process and every worker it forked. Blocks until they are gone."""
        self._control.close()  # it reaps its workers and ends
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()


class CodeWorkers:
    """Starts processes of `verifier_service.workers.code_worker`.

    Each has a directory for its sandbox, which is removed here: a worker that is killed cannot.

    Args:
        unsafe_without: layers of the sandbox to leave out.
    """

    def __init__(self, unsafe_without: Sequence[str] = ()) -> None:
        self._unsafe_without = unsafe_without
        self._processes: dict[subprocess.Popen[bytes], Path] = {}

    @property
    def alive(self) -> bool:
        """Always: no process stands behind the workers."""
        return True

    def fork(self) -> StartedWorker:
        """A new worker whose sandbox works. Blocks until it does.

        Raises:
            WorkerStartError: it does not start, or its sandbox does not.
        """
        self._forget_ended()
        with contextlib.ExitStack() as stack:
            ours, theirs = _socket_pair()
            stack.callback(ours.close)
            ours.settimeout(START_TIMEOUT_SECONDS)
            shared = Progress.create_file()
            stack.callback(os.close, shared)
            progress = Progress(shared)
            stack.callback(progress.close)
            with theirs:
                process = self._start(theirs.fileno(), shared)
            stack.callback(process.wait)
            stack.callback(process.kill)
            problem = _hello(ours)
            if problem is not None:
                raise WorkerStartError(problem)
            pidfd = os.pidfd_open(process.pid)
            stack.callback(os.close, pidfd)
            stat = _open_stat(process.pid, pidfd)
            stack.pop_all()
        os.close(shared)
        return StartedWorker(process.pid, pidfd, stat, ours, progress)

    def _start(self, connection: int, shared: int) -> subprocess.Popen[bytes]:
        directory = Path(tempfile.mkdtemp(prefix="verifier-code-"))
        directory.chmod(0o711)  # the users of its sandbox pass through
        try:
            process = _start(
                "verifier_service.workers.code_worker",
                (str(connection), str(shared), ",".join(self._unsafe_without)),
                descriptors=[connection, shared],
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
        """End every worker. Blocks until they and their directories are gone."""
        for process in self._processes:
            process.kill()
            process.wait()
        deadline = time.monotonic() + STOP_SECONDS
        while self._processes and time.monotonic() < deadline:
            self._forget_ended()
            time.sleep(POLL_SECONDS)
        for directory in self._processes.values():
            log.warning("%s is left: a process is still writing to it", directory)


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Raises WorkerStartError."""
    try:
        return socket.socketpair()
    except OSError as error:
        raise WorkerStartError(f"there is no socket for a worker: {error}") from error


def _open_stat(pid: int, pidfd: int) -> int:
    """Of the process of the pidfd. Raises WorkerStartError."""
    with contextlib.ExitStack() as stack:
        try:
            stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
            stack.callback(os.close, stat)
            signal.pidfd_send_signal(pidfd, 0)  # its pid was no other's when the file was opened
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
    """A process of one of our modules, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-I", "-m", module, *arguments],
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT | (environment or {}),
        start_new_session=True,
    )


def _hello(connection: socket.socket) -> str | None:
    """What is wrong with a worker that starts; None if nothing is."""
    try:
        return msgspec.json.decode(frames.receive(connection), type=CodeWorkerStarted).problem
    except (OSError, EOFError, msgspec.MsgspecError) as error:
        return f"a worker did not start: {error or 'it ended'}"
