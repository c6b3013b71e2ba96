"""The processes that judge text: a fork server, and the workers it forks.

    API process --control socket--> fork server (this module; has imported sympy, sees no text)
         |                               |  forks
         '---- one socket per worker ----'--> worker: reads a task, writes a message per verdict

The fork server is started with a clean environment and has one thread, so forking it is safe and
costs milliseconds. A worker has a socket to its parent and nothing else. It parses hostile text, so
it is confined by the layers of the sandbox: it can read what it may have to import, and do nothing
else to the machine. Nothing here limits an item's time: the parent does, by killing the worker.

Messages are frames of JSON. Where in a task a worker is
stands in memory that it shares with its parent, so that verdicts can travel together and the item
that a worker was killed at is known all the same.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from pydantic import TypeAdapter

from verifier_service import frames
from verifier_service.progress import Progress
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
    Judged,
    Outcome,
    Part,
    Question,
    Task,
    Verdict,
    unverifiable,
)
from verifier_service.verifier import (
    MAX_EXTRACTED_CHARACTERS,
    GroupVerifier,
    Judge,
    SettlingVerifier,
    TextVerifier,
    Undecided,
    Unverifiable,
    Verifier,
)
from verifier_service.verifiers import AnyVerifier
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.json_schema import JsonSchema

log = logging.getLogger(__name__)

SEND_SECONDS = 0.01
"""Verdicts wait for others at most so long, and for the item after that."""
NO_LIMIT = 2**40

_verifier_adapter: TypeAdapter[Verifier] = TypeAdapter(AnyVerifier)


def fork_server(control: socket.socket, address_space_bytes: int) -> None:
    """Fork a worker for each socket that arrives on control; answer with a pidfd of the worker.

    Ends when the other side of control is closed; its workers end with it.

    Args:
        control: a Unix socket; each message is one byte with a new worker's socket and the file
            of its `Progress`.
        address_space_bytes: what a worker may map beyond what it inherits.
    """
    signal.signal(signal.SIGCHLD, _reap)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    _warm_up()
    layers = _layers()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not message:
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # no reaping before pidfd_open
        pid = os.fork()
        if pid == 0:
            control.close()
            connection, shared = socket.socket(fileno=descriptors[0]), descriptors[1]
            _become_worker(connection, Progress(shared), layers, address_space_bytes)
        for descriptor in descriptors:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [str(pid).encode()], [pidfd])
        os.close(pidfd)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _warm_up() -> None:
    """Have what is imported and compiled at first use so here, instead of in every worker."""
    reference = {"answer": r"\frac{x}{2}"}
    Accuracy().prepare(reference)(Completion(r"\boxed{\sqrt{x}}"))
    Accuracy().settle(reference)(r"\sqrt{x}")
    Accuracy(mode="math_verify").prepare(reference)(Completion("$1$"))
    JsonSchema().prepare({"schema": {"type": "object"}})(Completion("{}"))


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


def _become_worker(
    connection: socket.socket, progress: Progress, layers: Layers, address_space_bytes: int
) -> NoReturn:
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
        serve(connection, progress)
    os._exit(0)


def serve(connection: socket.socket, progress: Progress) -> None:
    """Work on tasks until the other side closes the connection."""
    while True:
        try:
            frame = frames.receive(connection)
        except EOFError:
            return
        _work(msgspec.json.decode(frame, type=Task), _Outbox(connection), progress)


class _Outbox:
    """Sends verdicts together where they come fast."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting: list[Verdict | Question] = []
        self._last_sent = time.perf_counter()

    def add(self, verdicts: Iterable[Verdict | Question]) -> None:
        """Send them, now or soon."""
        self._waiting += verdicts
        if time.perf_counter() - self._last_sent >= SEND_SECONDS:
            self.send()

    def send(self, *, finished: bool = False) -> None:
        """Send what waits."""
        message = Judged(self._waiting, finished)
        self._connection.sendall(frames.pack(msgspec.json.encode(message)))
        self._waiting = []
        self._last_sent = time.perf_counter()


def _work(task: Task, outbox: _Outbox, progress: Progress) -> None:
    verifier = _verifier_adapter.validate_python(task.verifier)
    index = 0
    for part in task.parts:
        progress.write(index, in_reference=True)
        start = time.perf_counter()
        try:
            judge = _prepared(verifier, part, settle=task.settle)
        except Unverifiable as error:
            verdict = unverifiable(error.reason, time.perf_counter() - start)
            outbox.add([verdict] * len(part.completions))
            index += len(part.completions)
            continue
        for completion in part.completions:
            progress.write(index, in_reference=False)
            outbox.add([_verdict(judge, completion)])
            index += 1
    outbox.send(finished=True)


def _prepared(verifier: Verifier, part: Part, *, settle: bool) -> Judge:
    """What judges the completions of a part, or settles the questions that stand in their place."""
    match verifier:
        case SettlingVerifier() if settle:
            settler = verifier.settle(part.reference)
            return lambda question: settler(question.text)
        case TextVerifier():
            return verifier.prepare(part.reference)
        case GroupVerifier() if part.group is not None:
            return verifier.prepare_group(part.reference, part.group)
        case _:
            raise TypeError(f"{verifier.type}: not a verifier of text workers, or without a group")


def _verdict(judge: Judge, completion: Completion) -> Verdict | Question:
    start = time.perf_counter()
    try:
        judgement = judge(completion)
    except (MemoryError, RecursionError):
        seconds = time.perf_counter() - start
        return Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_LARGE, seconds)
    except Unverifiable as error:
        return unverifiable(error.reason, time.perf_counter() - start)
    if isinstance(judgement, Undecided):
        return judgement.question
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
