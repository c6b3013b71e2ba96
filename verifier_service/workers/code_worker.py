"""Worker processes that judge programs, each with a sandbox of one slot.

    API process --socket--> server of this module --fork--> code workers
    API process --socket--> code worker (tests, expected values, verdicts)
                                 '-- sandbox.Runner --> zygotes --> confined children

A worker first tells whether its sandbox works, then takes tasks as text workers do. The sandbox
keeps a program to its limits. The parent kills a worker only when it is stuck.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import cached_property, partial
from typing import Any, TypeVar

import msgspec

from verifier_service import frame_stream, frames
from verifier_service.code.languages.language import compiled_programs
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.plain_run import RUN_PROGRAM, run_completion
from verifier_service.code.reasons import CodeReason
from verifier_service.code.reference_tests import Tests, read_tests
from verifier_service.code.run_tests import ENTRIES, readings
from verifier_service.code.verdicts import judge_completion
from verifier_service.completion import Completion
from verifier_service.current_call import enter_call
from verifier_service.explanation import DecidingStage, Explanation
from verifier_service.logs import raised_at
from verifier_service.proofs.coq_toolchain import COQ, coq_tools
from verifier_service.proofs.judging import ProofJudge
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, SandboxError, Tools
from verifier_service.sandbox.layers import hide_process
from verifier_service.sandbox.runner import Runner
from verifier_service.sandbox.turns import Turn
from verifier_service.verdict import Verdict, failed, unverifiable
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.proof import Proof
from verifier_service.workers.fork_server import MAX_MESSAGE_BYTES, fork_workers
from verifier_service.workers.shared_position import SharedPosition
from verifier_service.workers.shared_references import WorkerReferences
from verifier_service.workers.tasks import (
    CodeServerTerms,
    CodeWorkerOrder,
    CodeWorkerStarted,
    SharedReference,
    Task,
    TaskResult,
    TaskVerdicts,
    to_worker,
)

log = logging.getLogger(__name__)

T = TypeVar("T")
PROOF = Proof.model_fields["type"].default
NUM_SHARED = 3
"""Descriptors that come with the terms."""
START_SECONDS = 2.0
"""Longest time for which a worker that starts takes its turn as a program does."""


def serve(control: socket.socket) -> None:
    """Take the terms, then fork a worker for each order, until the other side closes control."""
    hide_process()
    message, descriptors, _, _ = socket.recv_fds(control, MAX_MESSAGE_BYTES, NUM_SHARED)
    if not message:
        return  # no workers are wanted
    terms = msgspec.json.decode(message, type=CodeServerTerms)
    shared_readings, compiled, turns = descriptors
    unsafe = frozenset(map(Layer, terms.unsafe_without)) & COMMON_LAYERS
    readings.share(shared_readings)
    compiled_programs.share(compiled)
    for descriptor in (shared_readings, compiled):
        os.close(descriptor)
    gc.collect()

    def become_worker(message: bytes, connection: socket.socket, shared: int) -> None:
        hide_process()
        order = msgspec.json.decode(message, type=CodeWorkerOrder)
        tempfile.tempdir = order.directory
        position = SharedPosition(shared)
        turn = Turn(turns, order.place, terms.num_processors, on_long=position.say_long)
        for descriptor in (shared, turns):
            os.close(descriptor)
        runner = Runner(
            1,
            entries=ENTRIES,
            expects_pairs=order.place < terms.num_processors,  # the others are spare
            tools=_tools,
            unsafe_without=unsafe,
            turn=turn,
        )
        asyncio.run(_run(connection, position, turn, runner))

    fork_workers(control, become_worker)


def _tools(name: str) -> Tools:
    """Tools of a language or of Coq, for the `Runner`. Raises ToolchainError."""
    return coq_tools(name) if name == COQ else language_tools(name)


async def _run(
    connection: socket.socket, position: SharedPosition, turn: Turn, runner: Runner
) -> None:
    connection.setblocking(False)
    # Not the blocking reader of `frames` in a thread: a thread costs as much as starting a program.
    reader, writer = await asyncio.open_connection(sock=connection, limit=frame_stream.LIMIT_BYTES)
    try:
        await _judge_tasks(reader, writer, position, turn, runner)
    except (BrokenPipeError, ConnectionResetError):
        return  # the parent is gone
    except Exception as error:  # noqa: BLE001  the message may have text of a model
        # Logged while the connection is open: when it closes, the parent kills this process.
        log.error("a code worker ends: %s at %s", type(error).__name__, raised_at(error))
        sys.exit(1)


async def _judge_tasks(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    position: SharedPosition,
    turn: Turn,
    runner: Runner,
) -> None:
    """Tell whether the sandbox works, then judge tasks until the parent closes the connection."""
    turn.enter(START_SECONDS)  # programs wait for this worker; long ones wait meanwhile
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(runner)
        except SandboxError as error:
            await _send(writer, CodeWorkerStarted(f"the sandbox does not start: {error}"))
            return
        turn.rest()
        await _send(writer, CodeWorkerStarted(None))
        references = WorkerReferences(_CodeReference)
        proofs = ProofJudge(runner)
        while True:
            try:
                frame = await frame_stream.read_frame(reader)
            except asyncio.IncompleteReadError:
                return
            message = to_worker.decode(frame)
            if isinstance(message, SharedReference):
                references.keep(message.name, await frame_stream.read_frame(reader))
            else:
                await _judge_task(
                    message.task,
                    runner=runner,
                    proofs=proofs,
                    references=references,
                    writer=writer,
                    position=position,
                    turn=turn,
                )


async def _send(writer: asyncio.StreamWriter, message: CodeWorkerStarted | TaskVerdicts) -> None:
    writer.write(frames.pack(msgspec.json.encode(message)))
    await writer.drain()


class _CodeReference:
    """A reference whose tests are read once for all completions."""

    def __init__(self, reference: dict[str, Any]) -> None:
        self.reference = reference

    @cached_property
    def tests(self) -> Tests | Unverifiable:
        """The tests, or why they cannot be read."""
        try:
            return read_tests(self.reference)
        except Unverifiable as error:
            return error


async def _judge_task(
    task: Task,
    *,
    runner: Runner,
    proofs: ProofJudge,
    references: WorkerReferences[_CodeReference],
    writer: asyncio.StreamWriter,
    position: SharedPosition,
    turn: Turn,
) -> None:
    enter_call(task.request_id)
    index, last = 0, task.num_completions - 1
    for part in task.parts:
        position.write(index, in_reference=True)
        try:
            reference = references.of_part(part)
            judge = _prepare(runner, proofs, part.options, reference, explain=task.explain)
        except Unverifiable as error:
            verdict = unverifiable(error.reason, message=error.message)
            if task.explain:
                explanation = Explanation(DecidingStage.REFERENCE)
                verdict = msgspec.structs.replace(verdict, explanation=explanation)
            verdicts: list[TaskResult] = [verdict] * len(part.completions)
            index += len(part.completions)
            await _send(writer, TaskVerdicts(verdicts, finished=index > last))
            continue
        for completion in part.completions:
            position.write(index, in_reference=False)
            turn.begin_program()
            found = await verdict_of(judge, completion)
            await _send(writer, TaskVerdicts([found], finished=index == last))
            index += 1


def _prepare(
    runner: Runner,
    proofs: ProofJudge,
    options: dict[str, Any],
    reference: _CodeReference,
    *,
    explain: bool,
) -> Callable[[Completion], Awaitable[TaskResult]]:
    """A function that judges completions by a reference. Raises Unverifiable."""
    if options["type"] == RUN_PROGRAM:
        return partial(run_completion, runner, reference.reference)
    if options["type"] == PROOF:
        proof = Proof.model_validate(options)
        return partial(proofs.judge, proof, reference.reference, explain=explain)
    if isinstance(reference.tests, Unverifiable):
        raise reference.tests
    code = Code.model_validate(options)
    return partial(judge_completion, runner, code, reference.tests, explain=explain)


async def verdict_of(
    judge: Callable[[Completion], Awaitable[T]], completion: Completion
) -> T | Verdict:
    """The judge's verdict, or why there is none: the reference, or the sandbox that failed."""
    start = time.perf_counter()
    try:
        return await judge(completion)
    except Unverifiable as error:
        return unverifiable(error.reason, time.perf_counter() - start, error.message)
    except SandboxError as error:
        log.error("a program could not be run: %s", error)
        return failed(CodeReason.SANDBOX_ERROR, time.perf_counter() - start)
