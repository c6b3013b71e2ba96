"""Starts fork servers: early, where their imports can go on beside a command's.

All are forked from one process, the template (`fork_template`), which is started with the first and
ends with the last. This module loads nothing of ours, so that a command can use it before it loads
anything.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

SEND_BUFFER_BYTES = 2**20
"""Buffer of a worker's socket, as far as the kernel permits: a task of long texts fits in it."""
HELLO = b"started"
"""First message of a fork server on its control socket; its pidfd comes with it."""
START_TIMEOUT_SECONDS = 60.0
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""Environment of every worker. It has none of our variables, and fixes the order of sets."""


class WorkerStartError(RuntimeError):
    """A worker could not be started."""


class ServerProcess:
    """A fork server: its process, and our end of the socket that asks it for workers.

    Args:
        control: our end.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self._pidfd: int | None = None
        self._is_open = True
        self._ending = threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether the process runs, or is still to be forked."""
        poll = select.poll()
        try:
            poll.register(self.control, 0)  # of hanging up, poll(2) tells always
        except ValueError:  # it was closed, perhaps by another thread at this moment
            return False
        return not poll.poll(0)

    def wait_for_start(self) -> None:
        """Block until the process has been forked.

        Raises:
            OSError: it was not, or not within the timeout of the socket.
        """
        if self._pidfd is None:
            _, descriptors, _, _ = socket.recv_fds(self.control, len(HELLO), 1)
            if not descriptors:
                raise ConnectionResetError("it ended before it started")
            (self._pidfd,) = descriptors

    def close(self, seconds: float) -> None:
        """End the process, and its workers with it, which may take so long. Blocks."""
        with self._ending:
            if not self._is_open:
                return
            self._is_open = False
        with contextlib.suppress(OSError):
            self.control.settimeout(seconds)
            self.wait_for_start()
        self.control.close()  # the process reads the end, and its workers end with it
        if self._pidfd is not None and not _has_ended(self._pidfd, seconds):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            _has_ended(self._pidfd, None)
        _template.release()
        if self._pidfd is not None:
            with contextlib.suppress(ChildProcessError):  # an orphan, where this is process 1
                os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG)
            os.close(self._pidfd)

    def kill(self) -> None:
        """End the process now."""
        self.close(0.0)

    def give_up(self, *, is_late: bool) -> None:
        """End a process that does not answer; what should have forked it hangs if it is late."""
        has_started = self._pidfd is not None
        self.kill()
        if is_late and not has_started:
            _template.replace()


def _has_ended(pidfd: int, seconds: float | None) -> bool:
    """Whether a process ends within so many seconds, or ever."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else 1000 * seconds))


_BOOT = """
import os, runpy, sys
more, order, module = sys.argv[1:4]
del sys.argv[1:4]
folders = list(dict.fromkeys([*sys.path, *more.split(os.pathsep)]))
places = {os.path.realpath(one): place for place, one in enumerate(order.split(os.pathsep))}
sys.path[:] = sorted(folders, key=lambda one: places.get(os.path.realpath(one), len(places)))
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""Source that runs a module as -m does, with more folders than -I leaves, in the order of ours.

In another order a worker might load another version of a package, such as that of the system."""
_IMPORT_ROOT = Path(__file__).resolve().parents[2]
_TEMPLATE = "verifier_service.workers.fork_template"


class _Template:
    """The process that forks fork servers. It runs while any of them does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_servers = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, module: str, control: socket.socket) -> None:
        """Have it fork a fork server, see `start_server`. Raises OSError."""
        with self._lock:
            try:
                self._ask(module, control)
            except ConnectionError:  # it has died since it was used last
                self._end()
                self._ask(module, control)
            self._num_servers += 1

    def _ask(self, module: str, control: socket.socket) -> None:
        if self._control is None:
            ours, theirs = socket_pair()
            with theirs:
                try:
                    self._process = _start(_TEMPLATE, theirs.fileno())
                except OSError:
                    ours.close()
                    raise
            self._control = ours
            ours.settimeout(START_TIMEOUT_SECONDS)
        socket.send_fds(self._control, [module.encode()], [control.fileno()])

    def release(self) -> None:
        """Say that a fork server has ended."""
        with self._lock:
            self._num_servers -= 1
            if self._num_servers == 0:
                self._end()

    def replace(self) -> None:
        """End a process that hangs; the next fork server gets another one."""
        with self._lock:
            self._end(0.0)

    def _end(self, seconds: float = 1.0) -> None:
        """End it, which may take so long: it first collects the fork servers that have ended."""
        if self._control is not None and self._process is not None:
            self._control.close()
            self._control = None
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


_template = _Template()
_early: dict[str, ServerProcess] = {}
"""Fork servers that no source of workers has taken yet, by their module."""


def start_early(module: str) -> None:
    """Start a module's fork server for whoever asks for it first.

    It ends with this process if nobody does. Where it cannot be started, whoever asks is told why.
    """
    with contextlib.suppress(WorkerStartError):
        _early[module] = start_server(module)
        atexit.register(end_early)


def take_early(module: str) -> ServerProcess | None:
    """The fork server that was started early, once; None without one."""
    return _early.pop(module, None)


def end_early() -> None:
    """End the fork servers that nobody has taken."""
    while _early:
        _early.popitem()[1].kill()


def start_server(module: str) -> ServerProcess:
    """Start the fork server of a module of ours.

    Args:
        module: full name of the module, whose function `serve` is called with the control socket.

    Raises:
        WorkerStartError: descriptors or memory for the process are lacking.
    """
    ours, theirs = socket_pair()
    with contextlib.ExitStack() as stack:
        stack.callback(ours.close)
        with theirs:
            try:
                _template.fork(module, theirs)
            except OSError as error:
                raise WorkerStartError(f"no fork server can be started: {error}") from error
        stack.pop_all()
    return ServerProcess(ours)


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets. Raises WorkerStartError."""
    try:
        pair = socket.socketpair()
    except OSError as error:
        raise WorkerStartError(f"there is no socket for a process: {error}") from error
    for one in pair:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return pair


def _start(module: str, control: int) -> subprocess.Popen[bytes]:
    """Start a process that runs one of our modules, in a session of its own."""
    more = os.pathsep.join(_import_folders())
    order = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _BOOT, more, order, module, str(control)],
        pass_fds=[control],
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def _import_folders() -> list[str]:
    """Folders to import from that -I hides: the one this package is in, and those of PYTHONPATH."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [str(_IMPORT_ROOT), *(os.path.abspath(folder) for folder in named if folder)]
