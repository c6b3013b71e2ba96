"""Python programs of the trainer in processes that are forked, not started.

The fork server is a process that has imported torch and the trainer, which takes seconds of CPU
time. A program that is forked from it finds them imported, and is otherwise on its own: it has its
arguments, environment, folder and output, and its exit status.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["trainer_client.train", "trainer_client.cli"])


def fork_python(
    *arguments: str, stdout: int, stderr: int, environment: Mapping[str, str]
) -> ForkServerProcess:
    """Begin a script, or a module after `-m`, in this folder.

    Args:
        arguments: after the name of the interpreter.
        stdout: descriptor of a file or a pipe.
        stderr: descriptor of a file or a pipe.
        environment: variables besides those of this process.
    """
    outputs = [Connection(os.dup(descriptor), readable=False) for descriptor in (stdout, stderr)]
    process = _FORKS.Process(
        target=_run, args=(arguments, {**os.environ, **environment}, os.getcwd(), *outputs)
    )
    process.start()
    for output in outputs:
        output.close()
    return process


def _run(
    arguments: tuple[str, ...],
    environment: dict[str, str],
    folder: str,
    stdout: Connection,
    stderr: Connection,
) -> None:
    # A shell starts jobs in the background with Ctrl-C ignored, and the tests with them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(stdout.fileno(), sys.stdout.fileno())
    os.dup2(stderr.fileno(), sys.stderr.fileno())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")
