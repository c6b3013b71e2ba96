"""The process that all fork servers are forked from.

    API process --control socket--> template --fork--> fork server of texts --fork--> workers
         |                                  '--fork--> fork server of programs --fork--> workers
         '---- one socket per fork server ----'

It has loaded what they share, which each of them would load again, and receives no text from
outside. A fork server lives on if it ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import socket
import sys
from pathlib import Path

from verifier_service.workers.fork_server import fork_for_messages
from verifier_service.workers.server_process import HELLO

log = logging.getLogger(__name__)

MAX_NAME_CHARACTERS = 15
"""Longest name of a process, see prctl(2)."""


def main() -> None:
    """Fork a fork server for each module that is named on the control socket."""
    gc.disable()  # collections would take a fifth of the time to load modules, and find nothing
    importlib.import_module("verifier_service.verifiers")
    gc.enable()
    fork_for_messages(socket.socket(fileno=int(sys.argv[1])), _become_server, _has_forked)


def _has_forked(forked: int | OSError) -> None:
    """Whoever asked finds the control socket closed if nothing could be forked."""
    if isinstance(forked, OSError):
        log.error("no fork server can be forked: %s", forked)


def _become_server(message: bytes, descriptors: list[int]) -> None:
    """Run the fork server of a module, whose function `serve` has its control socket."""
    os.setsid()
    control = socket.socket(fileno=descriptors[0])
    say_hello(control)
    module = message.decode()
    with contextlib.suppress(OSError):  # a name for people only; /proc may be read-only
        Path("/proc/self/comm").write_text(name_of(module))
    try:
        loaded = importlib.import_module(module)
    except Exception as error:
        log.error("%s cannot be loaded: %r", module, error)  # it has seen no text of a model
        raise
    loaded.serve(control)


def say_hello(control: socket.socket) -> None:
    """Send the first message of a fork server: a descriptor of this process."""
    pidfd = os.pidfd_open(os.getpid())
    socket.send_fds(control, [HELLO], [pidfd])
    os.close(pidfd)


def name_of(module: str) -> str:
    """The name that the processes of a module have in a list of processes."""
    return module.rpartition(".")[2][:MAX_NAME_CHARACTERS]


if __name__ == "__main__":
    main()
