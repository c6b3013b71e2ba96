"""Sources of a pool's workers: fork servers, for those that judge texts and for code workers."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import select
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from verifier_service import frames
from verifier_service.code.compiled_programs import CompiledPrograms
from verifier_service.code.kept_readings import KeptReadings
from verifier_service.sandbox.scratch import remove_directory
from verifier_service.sandbox.turns import Turn
from verifier_service.workers.server_process import (
    START_TIMEOUT_SECONDS,
    WorkerStartError,
    socket_pair,
    start_server,
    take_early,
)
from verifier_service.workers.shared_position import SharedPosition
from verifier_service.workers.tasks import CodeServerTerms, CodeWorkerOrder, CodeWorkerStarted

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
POLL_SECONDS = 0.02
MAX_REPLY_BYTES = 1024
SPARE_PLACES = 16
"""Places among the turns beyond one for each worker: those that were killed may not have ended."""


class ForkedWorker(NamedTuple):
    """A process that a fork server has forked, and the handles on it, to be closed."""

    pid: int
    pidfd: int
    stat: int
    """The open file /proc/PID/stat, which never becomes that of another process."""
    connection: socket.socket


class StartedWorker(NamedTuple):
    """A worker process and the handles on it, which the receiver has to close."""

    pid: int
    pidfd: int
    stat: int
    """The open file /proc/PID/stat, see `ForkedWorker`."""
    connection: socket.socket
    position: SharedPosition
    """The memory in which the worker tells its position."""


class WorkerSource(Protocol):
    """Starts workers for a pool, several at a time."""

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
        self._process = take_early(module) or start_server(module)
        self._control = self._process.control
        self._control.settimeout(START_TIMEOUT_SECONDS)
        self._message = str(address_space_bytes).encode()
        self._asking = threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.alive

    def tell_terms(self, terms: bytes, descriptors: Sequence[int]) -> None:
        """Tell the process what all its workers have, before the first one is started.

        No later message is read together with this one: descriptors are a barrier, see unix(7).

        Raises:
            WorkerStartError: the process is gone.
        """
        try:
            socket.send_fds(self._control, [terms], descriptors)
        except OSError as error:
            self._process.kill()
            raise WorkerStartError(f"the fork server takes no terms: {error}") from error

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
                forked = self.fork_with(shared)
            finally:
                os.close(shared)
            stack.pop_all()
        return StartedWorker(*forked, position)

    def fork_with(self, descriptor: int, message: bytes | None = None) -> ForkedWorker:
        """Start a worker that gets a descriptor.

        Args:
            descriptor: for the worker.
            message: asks for the worker; None: with its address space.

        Raises:
            WorkerStartError: the fork server is gone, could not fork, or did not reply in time and
                was killed; or the worker cannot be watched.
        """
        ours, theirs = socket_pair()
        try:
            with theirs, self._asking:
                self._process.wait_for_start()
                socket.send_fds(
                    self._control, [message or self._message], [theirs.fileno(), descriptor]
                )
                reply, descriptors, _, _ = socket.recv_fds(self._control, MAX_REPLY_BYTES, 1)
        except OSError as error:
            ours.close()
            # Its late reply would be taken for the reply to the next fork.
            self._process.give_up(is_late=isinstance(error, TimeoutError))
            raise WorkerStartError(f"the fork server does not answer: {error}") from error
        if not reply:
            ours.close()
            raise WorkerStartError("the fork server ended, see the log")
        if not descriptors:  # if a worker runs, it ends: its connection is closed next
            ours.close()
            why = "there are too many open files" if reply.isdigit() else reply.decode()
            raise WorkerStartError(f"the fork server gave no worker: {why}")
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, descriptors[0])
            stack.callback(ours.close)  # which ends the worker
            forked = ForkedWorker(int(reply), descriptors[0], _receive_stat(ours), ours)
            stack.pop_all()
        return forked

    def close(self) -> None:
        """End the process and every worker it forked. Blocks until they have ended."""
        self._process.close(STOP_SECONDS)


class CodeWorkers:
    """Starts processes of `workers.code_worker`, forked from one that has imported it.

    Each has a directory for its sandbox. This source removes it, because a killed worker cannot.
    All share a table of readings of tests and a ring of compiled programs, which outlive a worker,
    and a table of turns on the processors.

    Args:
        unsafe_without: layers of the sandbox to leave out.
        num_processors: programs that run at a time; None: as many as there are workers.
        num_workers: most workers at a time.
    """

    def __init__(
        self,
        unsafe_without: Sequence[str] = (),
        num_processors: int | None = None,
        num_workers: int = 16,
    ) -> None:
        self._unsafe_without = unsafe_without
        self._num_processors = num_processors or num_workers
        self._num_places = SPARE_PLACES + num_workers
        self._workers: dict[int, tuple[Path, int]] = {}
        """Each worker's directory, and its place among the turns, by a pidfd."""
        self._abandoned: set[Path] = set()
        """Directories of workers that did not start, to which a process may still write."""
        self._readings = KeptReadings.create_file()
        self._compiled = CompiledPrograms.create_file()
        self._turns = Turn.create_file(self._num_places)
        self._server: ForkServer | None = None
        self._forking = threading.Lock()
        self._is_closed = False

    @property
    def alive(self) -> bool:
        """Whether workers can be started."""
        return not self._is_closed and (self._server is None or self._server.alive)

    def start_worker(self) -> StartedWorker:
        """Start a worker. Blocks until its sandbox works.

        Raises:
            WorkerStartError: the worker, or its sandbox, does not start.
        """
        with contextlib.ExitStack() as stack:
            shared = SharedPosition.create_file()
            try:
                position = SharedPosition(shared)
                stack.callback(position.close)
                with self._forking:
                    if self._is_closed:
                        raise WorkerStartError("the source of workers was closed")
                    self._forget_ended()
                    forked = self._fork(shared)
            finally:
                os.close(shared)
            stack.callback(os.close, forked.pidfd)
            stack.callback(os.close, forked.stat)
            stack.callback(forked.connection.close)
            stack.callback(_kill, forked.pidfd)
            forked.connection.settimeout(START_TIMEOUT_SECONDS)
            if (problem := _start_problem(forked.connection)) is not None:
                raise WorkerStartError(problem)
            stack.pop_all()
        return StartedWorker(*forked, position)

    def _fork(self, shared: int) -> ForkedWorker:
        """Fork a worker with a directory and a place of its own; see `ForkServer.fork_with`."""
        server = self._running_server()
        place = self._free_place()
        directory = Path(tempfile.mkdtemp(prefix="verifier-code-"))
        directory.chmod(0o711)  # the users of the sandbox have to pass through it
        try:
            order = msgspec.json.encode(CodeWorkerOrder(str(directory), place))
            forked = server.fork_with(shared, order)
        except BaseException:
            # The worker may have begun before its pidfd could be opened, and its zygote may write.
            if not remove_directory(directory):
                self._abandoned.add(directory)
            raise
        self._workers[os.dup(forked.pidfd)] = directory, place
        return forked

    def _running_server(self) -> ForkServer:
        if self._server is None:
            # The address space is not limited: that of programs is.
            self._server = ForkServer("verifier_service.workers.code_worker", 0)
            terms = CodeServerTerms(self._num_processors, tuple(self._unsafe_without))
            self._server.tell_terms(msgspec.json.encode(terms), self._shared())
        return self._server

    def _free_place(self) -> int:
        """The lowest place that no living worker has. Raises WorkerStartError."""
        taken = {place for pidfd, (_, place) in self._workers.items() if not _has_ended(pidfd)}
        free = set(range(self._num_places)) - taken
        if not free:
            raise WorkerStartError(f"{len(taken)} code workers have not ended yet")
        return min(free)

    def _forget_ended(self) -> None:
        self._abandoned = {one for one in self._abandoned if not remove_directory(one)}
        for pidfd, (directory, _) in list(self._workers.items()):
            if _has_ended(pidfd) and remove_directory(directory):
                del self._workers[pidfd]
                os.close(pidfd)

    def close(self) -> None:
        """End every worker. Blocks until they have ended and their directories are removed."""
        with self._forking:
            self._is_closed = True
            for pidfd in self._workers:
                _kill(pidfd)
            deadline = time.monotonic() + STOP_SECONDS
            while (self._workers or self._abandoned) and time.monotonic() < deadline:
                self._forget_ended()
                time.sleep(POLL_SECONDS)
            if self._server is not None:
                self._server.close()
            for directory in (*self._abandoned, *(one for one, _ in self._workers.values())):
                log.warning("%s is left: a process is still writing to it", directory)
            for pidfd in self._workers:
                os.close(pidfd)
            self._workers.clear()
            for descriptor in self._shared():
                os.close(descriptor)

    def _shared(self) -> tuple[int, int, int]:
        """The descriptors that all workers are given."""
        return self._readings, self._compiled, self._turns


def _kill(pidfd: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _has_ended(pidfd: int) -> bool:
    """Whether the process of a pidfd has ended, see pidfd_open(2)."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def _receive_stat(connection: socket.socket) -> int:
    """The open /proc/PID/stat of a new worker, which it sends. Raises WorkerStartError."""
    connection.settimeout(START_TIMEOUT_SECONDS)
    try:
        first, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    except OSError as error:
        raise WorkerStartError(f"a new worker does not start: {error}") from error
    connection.settimeout(None)
    if descriptors:
        return descriptors[0]
    if not first:
        raise WorkerStartError("a new worker ended at once")
    why = os.strerror(first[0] or errno.EMFILE)  # without a free descriptor none arrives here
    raise WorkerStartError(f"a new worker cannot be watched by /proc/PID/stat: {why}")


def _start_problem(connection: socket.socket) -> str | None:
    """Why a code worker does not work; None when it has told that it works."""
    try:
        return msgspec.json.decode(frames.receive_frame(connection), type=CodeWorkerStarted).problem
    except (OSError, EOFError, msgspec.MsgspecError) as error:
        return f"a worker did not start: {error or 'it ended'}"
