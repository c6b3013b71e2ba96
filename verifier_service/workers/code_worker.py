"""The processes that judge programs: each has a sandbox with one slot, and a socket to its parent.

    API process --socket--> code worker (this module: tests, expected values, verdicts)
                                 '-- sandbox.Runner --> zygotes --> confined children

A worker starts by saying whether its sandbox works, then takes tasks as text workers do. The
program's limits are the sandbox's; the parent kills a worker only if it is stuck.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import cached_property, partial
from typing import Any

import msgspec

from verifier_service import frames
from verifier_service.code import languages
from verifier_service.code.plain_run import RUN_PROGRAM, judge_run
from verifier_service.code.reference_tests import read_tests
from verifier_service.code.run_tests import ENTRIES
from verifier_service.code.verdicts import Tests, judge_completion
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, SandboxError
from verifier_service.sandbox.layers import hide_process
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Verdict, failed, unverifiable
from verifier_service.verifier import OpenQuestion, Unverifiable
from verifier_service.verifiers.code import Code, CodeReason
from verifier_service.workers.fork_server import place
from verifier_service.workers.progress import Progress
from verifier_service.workers.shared_references import SharedReferences
from verifier_service.workers.tasks import (
    CodeWorkerStarted,
    SharedReference,
    Task,
    TaskPart,
    TaskVerdicts,
)

MAX_READ_BYTES = 2**20
_decoder: msgspec.json.Decoder[Task | SharedReference] = msgspec.json.Decoder(
    Task | SharedReference
)


async def work(
    connection: socket.socket, progress: Progress, unsafe_without: frozenset[Layer]
) -> None:
    """Say whether the sandbox works; then work on tasks until the connection is closed."""
    runner = Runner(
        1,
        entries=ENTRIES,
        expects_pairs=True,
        tools=languages.tools,
        unsafe_without=unsafe_without,
    )
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(runner)
        except SandboxError as error:
            _send(connection, CodeWorkerStarted(f"the sandbox does not start: {error}"))
            return
        _send(connection, CodeWorkerStarted(None))
        shared: SharedReferences[_Reference] = SharedReferences()
        while (frame := await _receive(connection)) is not None:
            message = _decoder.decode(frame)
            if isinstance(message, SharedReference):
                shared.add(message.name, _Reference(message.decode()))
            else:
                await _work(runner, message, shared, connection, progress)


async def _receive(connection: socket.socket) -> bytes | None:
    """The next frame; None at the end. A thread would cost as much as starting a program."""
    header = await _exactly(connection, frames.HEADER_BYTES)
    return None if header is None else await _exactly(connection, frames.body_length(header))


async def _exactly(connection: socket.socket, num_bytes: int) -> bytes | None:
    """So many bytes; None at the end of the stream."""
    loop = asyncio.get_running_loop()
    parts = bytearray()
    connection.setblocking(False)
    try:
        while len(parts) < num_bytes:
            part = await loop.sock_recv(connection, min(num_bytes - len(parts), MAX_READ_BYTES))
            if not part:
                return None
            parts += part
    finally:
        connection.setblocking(True)
    return bytes(parts)


def _send(connection: socket.socket, message: CodeWorkerStarted | TaskVerdicts) -> None:
    connection.sendall(frames.pack(msgspec.json.encode(message)))


class _Reference:
    """A reference, with its tests read once for all completions."""

    def __init__(self, reference: dict[str, Any]) -> None:
        self.reference = reference

    @cached_property
    def tests(self) -> Tests | Unverifiable:
        """What to run, or why it cannot be read."""
        try:
            return read_tests(self.reference)
        except Unverifiable as error:
            return error


def _reference(part: TaskPart, shared: SharedReferences[_Reference]) -> _Reference:
    if part.shared_reference is not None:
        return shared[part.shared_reference]
    return _Reference(part.reference or {})


async def _work(
    runner: Runner,
    task: Task,
    shared: SharedReferences[_Reference],
    connection: socket.socket,
    progress: Progress,
) -> None:
    index, last = 0, task.num_completions - 1
    for part in task.parts:
        progress.write(index, in_reference=True)
        try:
            judge = _prepare(runner, task.verifier, _reference(part, shared))
        except Unverifiable as error:
            verdict = unverifiable(error.reason, message=error.message)
            verdicts: list[Verdict | OpenQuestion] = [verdict] * len(part.completions)
            index += len(part.completions)
            _send(connection, TaskVerdicts(verdicts, finished=index > last))
            continue
        for completion in part.completions:
            progress.write(index, in_reference=False)
            _send(
                connection,
                TaskVerdicts([await verdict_of(judge, completion)], finished=index == last),
            )
            index += 1


def _prepare(
    runner: Runner, options: dict[str, Any], reference: _Reference
) -> Callable[[Completion], Awaitable[Verdict]]:
    """What judges completions by a reference. Raises Unverifiable."""
    if options["type"] == RUN_PROGRAM:
        return partial(judge_run, runner, reference.reference)
    if isinstance(reference.tests, Unverifiable):
        raise reference.tests
    return partial(judge_completion, runner, Code.model_validate(options), reference.tests)


async def verdict_of(
    judge: Callable[[Completion], Awaitable[Verdict]], completion: Completion
) -> Verdict:
    """The judge's verdict; `failed` where the sandbox could not run what it was asked to."""
    start = time.perf_counter()
    try:
        return await judge(completion)
    except SandboxError as error:
        logging.getLogger(__name__).error("a program could not be run: %s", error)
        return failed(CodeReason.SANDBOX_ERROR, time.perf_counter() - start)


def main() -> None:
    """Run a worker: descriptors of its socket and progress, layers to leave out."""
    connection, shared, without = sys.argv[1:]
    hide_process()
    layers = frozenset(Layer(name) for name in without.split(",") if name)
    unsafe = layers & COMMON_LAYERS
    try:
        asyncio.run(work(socket.socket(fileno=int(connection)), Progress(int(shared)), unsafe))
    except (BrokenPipeError, ConnectionResetError):
        return  # nobody waits for an answer
    except Exception as error:  # noqa: BLE001  the message may have text of a model
        kind = type(error).__name__
        logging.getLogger(__name__).error("a code worker ends: %s at %s", kind, place(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
