"""The process that the zygotes of sessions are forked from.

    service --control socket--> nursery ----fork----> zygote --fork--> session
       '---------------- control socket of the zygote ---'

A session has a zygote of its own, and so namespaces, a root and a scratch directory of its own,
which end with it. A zygote that imported its modules itself would take tens of megabytes. Forked
from a process that has imported them, it shares that memory. The nursery sees no payload.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
from dataclasses import dataclass
from typing import Any, NoReturn

from verifier_service.sandbox.execution import ZygoteKind
from verifier_service.sandbox.zygote import become_zygote, begin, skip_repair_of_threads
from verifier_service.sandbox.zygote_messages import MAX_CONFIG_BYTES
from verifier_service.sandbox.zygote_modules import Inherited

READY = b"R"
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, kw_only=True)
class NurseryConfig:
    """How a nursery is started, as JSON in the first message that it is sent."""

    kind: str
    packages: dict[str, str]
    """Directories of the packages that its kind has, by name."""
    entries: dict[str, str]
    """Entries besides those of `ENTRIES`, as `module:function`."""


def main() -> NoReturn:
    """Become a nursery; the argument is the control socket's descriptor."""
    number, message = begin()
    config = NurseryConfig(**json.loads(message))
    inherited = Inherited.made(ZygoteKind(config.kind), config.entries, config.packages)
    del config, message
    # A zygote's parent ends as soon as it has entered its namespaces. This process collects it.
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGCHLD, _reap)
    skip_repair_of_threads()
    gc.collect()
    gc.freeze()  # a collection in a zygote would write to every page that they share
    control = socket.socket(fileno=number)
    control.send(READY)
    while True:
        _fork_zygote(control, inherited)


def _fork_zygote(control: socket.socket, inherited: Inherited) -> None:
    """Fork a zygote for the next order; end this process if no further one comes."""
    try:
        message, descriptors, _, _ = socket.recv_fds(control, MAX_CONFIG_BYTES, 1)
    except ConnectionResetError:
        os._exit(0)
    if not message:
        os._exit(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        control.close()
        orders = [message]
        del message  # the children inherit the memory, and see this frame
        become_zygote(descriptors.pop(), orders.pop(), inherited)
    for descriptor in descriptors:
        os.close(descriptor)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _reap(_signal: int, _frame: Any) -> None:
    """Collect zygotes that have ended, which would stay as zombies."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
