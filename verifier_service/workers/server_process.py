"""Starts the process of a fork server: early, where its imports can go on beside a command's.

It loads nothing of ours, so that a command can start one before it loads anything itself.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SEND_BUFFER_BYTES = 2**20
"""Buffer of a worker's socket, as far as the kernel permits: a task of long texts fits in it."""
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""Environment of every worker. It has none of our variables, and fixes the order of sets."""


class WorkerStartError(RuntimeError):
    """A worker could not be started."""


class ServerProcess(NamedTuple):
    """The process of a fork server, and our end of the socket that asks it for workers."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def kill(self) -> None:
        """End the process, and with it the workers that it forked."""
        self.control.close()
        self.process.kill()
        self.process.wait()


_BOOT = """
import os, runpy, sys
folders, module = sys.argv[1:3]
del sys.argv[1:3]
sys.path += [folder for folder in folders.split(os.pathsep) if folder not in sys.path]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""Source that runs a module as -m does, with more folders behind those that -I leaves."""
_IMPORT_ROOT = Path(__file__).resolve().parents[2]

_early: dict[str, ServerProcess] = {}
"""Processes that no source of workers has taken yet, by their module."""


def start_early(module: str) -> None:
    """Start the process of a module's fork server for whoever asks for it first.

    It ends with this process if nobody does. Where it cannot be started, whoever asks is told why.
    """
    with contextlib.suppress(WorkerStartError):
        _early[module] = start_server(module)
        atexit.register(end_early)


def take_early(module: str) -> ServerProcess | None:
    """The process that was started early, once; None without one."""
    return _early.pop(module, None)


def end_early() -> None:
    """End the processes that nobody has taken."""
    while _early:
        _early.popitem()[1].kill()


def start_server(module: str) -> ServerProcess:
    """Start a process that runs a module of ours, and calls `fork_server.fork_workers`.

    Args:
        module: full name of the module, whose argument is the descriptor of the control socket.

    Raises:
        WorkerStartError: descriptors or memory for the process are lacking.
    """
    ours, theirs = socket_pair()
    with contextlib.ExitStack() as stack:
        stack.callback(ours.close)
        with theirs:
            try:
                process = _start(module, theirs.fileno())
            except OSError as error:
                raise WorkerStartError(f"no fork server can be started: {error}") from error
        stack.pop_all()
    return ServerProcess(process, ours)


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets. Raises WorkerStartError."""
    try:
        pair = socket.socketpair()
    except OSError as error:
        raise WorkerStartError(f"there is no socket for a worker: {error}") from error
    for one in pair:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return pair


def _start(module: str, control: int) -> subprocess.Popen[bytes]:
    """Start a process that runs one of our modules, in a session of its own."""
    folders = os.pathsep.join(_import_folders())
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _BOOT, folders, module, str(control)],
        pass_fds=[control],
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def _import_folders() -> list[str]:
    """Folders to import from that -I hides: the one this package is in, and those of PYTHONPATH."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [str(_IMPORT_ROOT), *(os.path.abspath(folder) for folder in named if folder)]
