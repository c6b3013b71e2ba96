"""Processes that fork workers, confined ones among them.

Each is forked from the template (`fork_template`), with a clean environment and one thread, so
forking it is safe and costs milliseconds. It imports the modules that its workers need and receives
no text from outside.

A worker has a socket to the parent and one more descriptor. One that parses hostile text is
confined by the layers of the sandbox: it can read modules that it may have to import, and nothing
else. A code worker reads no foreign text but through a sandbox of its own, and is not confined.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from verifier_service.logs import log_in_worker, raised_at
from verifier_service.sandbox.execution import COMMON_LAYERS
from verifier_service.sandbox.layers import (
    NUM_SPARE_THREADS,
    ChildLimits,
    Layers,
    memory_bytes,
    num_threads_of_user,
    unavailable,
)

log = logging.getLogger(__name__)

NO_LIMIT = 2**40
MAX_MESSAGE_BYTES = 4096
"""Largest message that asks for a worker."""

WorkerMain = Callable[[socket.socket, int], None]
"""A worker's work: it takes its socket and its descriptor, and returns when the parent closes the
socket."""


def fork_server(control: socket.socket, main: WorkerMain) -> NoReturn:
    """Fork a worker for each socket that arrives on control; reply with its pid and a pidfd.

    If the fork fails, the reply says why and has no descriptor; the other workers live on. The
    process ends when the other side of control is closed, and the workers with it.

    Args:
        control: a Unix socket; each message has a new worker's socket and one more descriptor, and
            says in digits the address space of the worker beyond the part that it inherits.
        main: is called in each worker.
    """
    layers = _layers()

    def become_worker(message: bytes, connection: socket.socket, descriptor: int) -> None:
        _become_worker(connection, descriptor, layers, int(message), main)

    fork_workers(control, become_worker)


def fork_workers(
    control: socket.socket, become_worker: Callable[[bytes, socket.socket, int], None]
) -> NoReturn:
    """Fork a worker for each socket that arrives on control, see `fork_server`.

    The first byte from a worker comes with its open /proc/self/stat, or is the error number.

    Args:
        control: a Unix socket; each message has a new worker's socket and one more descriptor.
        become_worker: is called in each worker, with the message, the socket and the descriptor.
    """

    def become(message: bytes, descriptors: list[int]) -> None:
        connection = socket.socket(fileno=descriptors[0])
        _send_stat(connection)
        become_worker(message, connection, descriptors[1])

    fork_for_messages(control, become, partial(_reply, control))


def fork_for_messages(
    control: socket.socket,
    become: Callable[[bytes, list[int]], None],
    on_fork: Callable[[int | OSError], None],
) -> NoReturn:
    """Fork a process for each message, until the other side of control is closed.

    Args:
        control: a Unix socket, whose messages come with descriptors.
        become: is called in each process, with the message and its descriptors.
        on_fork: is called in this process, with the pid, or why there is no process.
    """
    log_in_worker()
    signal.signal(signal.SIGCHLD, _reap)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # a collection in a worker would write to every page that workers share
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MAX_MESSAGE_BYTES, 2)
        if not message:
            os._exit(0)  # an interpreter that ends would first free all objects of its modules
        # A process that is reaped before pidfd_open cannot be opened any more.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        try:
            pid = os.fork()
        except OSError as error:
            on_fork(error)
        else:
            if pid == 0:
                control.close()
                _run_to_exit(become, message, descriptors)
            on_fork(pid)
        for descriptor in descriptors:
            os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _run_to_exit(
    become: Callable[[bytes, list[int]], None], message: bytes, descriptors: list[int]
) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    try:
        become(message, descriptors)
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the parent is gone
    except SystemExit:  # it has logged why
        os._exit(1)
    except BaseException as error:  # noqa: BLE001  the message may have text of a model
        log.error("a process ends: %s at %s", type(error).__name__, raised_at(error))
        os._exit(1)
    os._exit(0)


def _send_stat(connection: socket.socket) -> None:
    """Send /proc/self/stat, by which the parent watches this process.

    The parent itself cannot open it where /proc hides the processes of others (`hidepid`, or
    `ProtectProc=` of systemd), once a worker has hidden its memory.
    """
    try:
        stat = os.open("/proc/self/stat", os.O_RDONLY)
    except OSError as error:
        connection.sendall(bytes([error.errno or 0]))
        sys.exit()
    socket.send_fds(connection, [b"\0"], [stat])
    os.close(stat)


def _reply(control: socket.socket, forked: int | OSError) -> None:
    """Reply about a new worker. Without a free descriptor the reply has no pidfd."""
    if isinstance(forked, OSError):
        socket.send_fds(control, [str(forked).encode()], [])
        return
    pidfds = []
    with contextlib.suppress(OSError):
        pidfds.append(os.pidfd_open(forked))
    socket.send_fds(control, [str(forked).encode()], pidfds)
    for pidfd in pidfds:
        os.close(pidfd)


def _reap(_signal: int, _frame: Any) -> None:
    """Collect workers that have ended, which would stay as zombies."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def _layers() -> Layers:
    """The layers that confine workers. A layer that the platform lacks is left out and logged."""
    missing = unavailable()
    for layer, why in missing.items():
        log.warning("workers run without %s: %s", layer, why)
    mapped_bytes, _ = memory_bytes()
    return Layers(
        in_force=COMMON_LAYERS - missing.keys(),
        user=os.getuid(),
        packages=[path for path in map(Path, sys.path) if path.exists()],
        scratch=None,
        address_space_bytes=mapped_bytes,
        num_other_threads=num_threads_of_user() + NUM_SPARE_THREADS,
    )


def _become_worker(
    connection: socket.socket,
    descriptor: int,
    layers: Layers,
    address_space_bytes: int,
    main: WorkerMain,
) -> None:
    limits = ChildLimits(
        cpu_seconds=NO_LIMIT,
        address_space_bytes=address_space_bytes,
        file_bytes=0,
        num_files=64,
        num_threads=64,
    )
    layers.apply(limits)
    layers.filter_calls()
    main(connection, descriptor)
