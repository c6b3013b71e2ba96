"""The processes that judge text: a fork server, and the workers it forks.

    API process --control socket--> fork server (this module; has imported sympy, sees no text)
         |                               |  forks
         '---- one socket per worker ----'--> worker: reads a task, writes a message per verdict

The fork server is started with a clean environment and has one thread, so forking it is safe and
costs milliseconds. A worker has a socket to its parent and nothing else. It parses hostile text, so
it is confined by the layers of the sandbox: it can read what it may have to import, and do nothing
else to the machine. Nothing here limits an item's time: the parent does, by killing the worker.

Messages are frames: four bytes of length, big-endian, then JSON.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from pydantic import TypeAdapter

from verifier_service.sandbox.execution import COMMON_LAYERS
from verifier_service.sandbox.layers import (
    NUM_SPARE_THREADS,
    ChildLimits,
    Layers,
    memory_bytes,
    num_threads_of_user,
    unavailable,
)
from verifier_service.verdict import (
    Completion,
    EngineReason,
    Finished,
    Judged,
    Outcome,
    ReferenceRead,
    Task,
    Verdict,
    WorkerMessage,
    unverifiable,
)
from verifier_service.verifier import MAX_EXTRACTED_CHARACTERS, Judge, Unverifiable, Verifier
from verifier_service.verifiers import AnyVerifier
from verifier_service.verifiers.accuracy import Accuracy

log = logging.getLogger(__name__)

FRAME_HEADER = struct.Struct(">I")
NO_LIMIT = 2**40

_verifier_adapter: TypeAdapter[Verifier] = TypeAdapter(AnyVerifier)


def fork_server(control: socket.socket, address_space_bytes: int) -> None:
    """Fork a worker for each socket that arrives on control; answer with a pidfd of the worker.

    Ends when the other side of control is closed; its workers end with it.

    Args:
        control: a Unix socket; each message is one byte with one socket of a new worker.
        address_space_bytes: what a worker may map beyond what it inherits.
    """
    signal.signal(signal.SIGCHLD, _reap)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    _warm_up()
    layers = _layers()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # no reaping before pidfd_open
        pid = os.fork()
        if pid == 0:
            control.close()
            _become_worker(socket.socket(fileno=descriptors[0]), layers, address_space_bytes)
        os.close(descriptors[0])
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [str(pid).encode()], [pidfd])
        os.close(pidfd)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _warm_up() -> None:
    """Have math-verify compile its expressions once, here, instead of in every worker."""
    Accuracy().prepare({"answer": "1"})(Completion("$1$"))


def _reap(_signal: int, _frame: Any) -> None:
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def _layers() -> Layers:
    """What confines the workers. A layer that the platform lacks is left out, and logged."""
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


def _become_worker(connection: socket.socket, layers: Layers, address_space_bytes: int) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    limits = ChildLimits(
        cpu_seconds=NO_LIMIT,
        address_space_bytes=address_space_bytes,
        file_bytes=0,
        num_files=64,
        num_threads=64,
    )
    layers.apply(limits)
    layers.filter_calls()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody waits for an answer
        serve(connection)
    os._exit(0)


def serve(connection: socket.socket) -> None:
    """Work on tasks until the other side closes the connection."""
    stream = connection.makefile("rwb")

    def send(message: WorkerMessage) -> None:
        frame = msgspec.json.encode(message)
        stream.write(FRAME_HEADER.pack(len(frame)) + frame)
        stream.flush()

    while header := stream.read(FRAME_HEADER.size):
        frame = stream.read(FRAME_HEADER.unpack(header)[0])
        task = msgspec.json.decode(frame, type=Task)
        start = time.perf_counter()
        try:
            judge = _verifier_adapter.validate_python(task.verifier).prepare(task.reference)
        except Unverifiable as error:
            send(ReferenceRead())
            for _ in task.completions:
                send(Judged(unverifiable(error.reason, time.perf_counter() - start)))
        else:
            send(ReferenceRead())
            for completion in task.completions:
                send(Judged(_verdict(judge, completion)))
        send(Finished())


def _verdict(judge: Judge, completion: Completion) -> Verdict:
    start = time.perf_counter()
    try:
        judgement = judge(completion)
    except (MemoryError, RecursionError):
        seconds = time.perf_counter() - start
        return Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_LARGE, seconds)
    extracted = judgement.extracted
    return Verdict(
        Outcome.SCORED,
        judgement.score,
        judgement.reason,
        time.perf_counter() - start,
        extracted[:MAX_EXTRACTED_CHARACTERS] if extracted is not None else None,
        judgement.details,
    )


if __name__ == "__main__":
    fork_server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
