"""Worker processes that judge text: a fork server, and the workers it forks.

    API process --control socket--> fork server (this module; has imported sympy, sees no text)
         |                               |  forks
         '---- one socket per worker ----'--> worker: reads a task, writes its verdicts

`fork_server` tells how workers are confined. Nothing here limits the time of an item: the parent
does, by killing the worker.
"""

from __future__ import annotations

import gc
import importlib
import logging
import math
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import msgspec
from pydantic import TypeAdapter

from verifier_service import chinese_words, frames
from verifier_service.completion import Completion
from verifier_service.current_call import enter_call
from verifier_service.explanation import DecidingStage, Explanation
from verifier_service.gym_scorers import loading as gym_scorers
from verifier_service.logs import raised_at
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict, unverifiable
from verifier_service.verifier import (
    MAX_EXTRACTED_CHARACTERS,
    ExplainedQuestion,
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
from verifier_service.verifiers.multiple_choice import MultipleChoice
from verifier_service.workers.fork_server import fork_server
from verifier_service.workers.shared_position import SharedPosition
from verifier_service.workers.shared_references import WorkerReferences
from verifier_service.workers.tasks import (
    SharedReference,
    Task,
    TaskPart,
    TaskResult,
    TaskVerdicts,
    to_worker,
)

SEND_SECONDS = 0.01
"""Time for which verdicts are collected. They are sent after the first item that ends later."""

MAX_KEPT_VERIFIERS = 64
"""Most verifiers that a worker keeps for its next tasks."""
MAX_KEPT_OPTIONS_BYTES = 2**12
"""Largest options of a verifier that is kept, in JSON: a schema may take megabytes."""
MAX_EXPLAINED_SECONDS = 0.1
"""Longest CPU time of judging a completion whose verdict is explained. To explain takes ten times
as long at most. A worker that is killed at it would give another verdict."""

_verifier_adapter: TypeAdapter[Verifier] = TypeAdapter(AnyVerifier)


_MODULES_OF_EXTRAS = ("verifier_service.duckdb_queries", "sacrebleu.metrics")
"""Modules that take long to load, or that a confined process cannot load."""


def serve(control: socket.socket) -> None:
    """Fork text workers until the other side of control is closed."""
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    gc.disable()  # collections would take a fifth of the time, and find nothing
    _warm_up()
    _open_databases()
    gc.enable()
    fork_server(control, run_text_worker)


def _warm_up() -> None:
    """Use verifiers once, so that imports and compilations happen here and not in every worker."""
    reference = {"answer": r"\frac{x}{2}"}
    Accuracy().prepare(reference)(Completion(r"\boxed{\sqrt{x}}"))
    Accuracy().settle(reference)(r"\sqrt{x}")
    Accuracy(mode="math_verify").prepare(reference)(Completion("$1$"))
    MultipleChoice().prepare({"answer": "A"})(Completion("The answer is A."))
    JsonSchema().prepare({"schema": {"type": "object"}})(Completion("{}"))
    if (
        chinese_words.can_split()
    ):  # its dictionary takes 0.7 s to read, and 60 MB that workers share
        chinese_words.load_dictionary()
    if gym_scorers.can_score():
        gym_scorers.load_package()
    for module in _MODULES_OF_EXTRAS:
        with suppress(ImportError):
            importlib.import_module(module)


def _open_databases() -> None:
    """Open DuckDB, where it is installed, while files may be read."""
    if find_spec("duckdb") is not None:
        from verifier_service.duckdb_queries import open_instance  # noqa: PLC0415  extra

        open_instance()


def run_text_worker(connection: socket.socket, shared_memory: int) -> None:
    """Judge tasks until the parent closes the connection.

    Args:
        connection: socket to the parent.
        shared_memory: descriptor of the file of the worker's `SharedPosition`.
    """
    position = SharedPosition(shared_memory)
    references = WorkerReferences(dict)
    while True:
        try:
            message = to_worker.decode(frames.receive_frame(connection))
        except EOFError:
            return
        if isinstance(message, SharedReference):
            references.keep(message.name, frames.receive_frame(connection))
        else:
            try:
                _judge_task(message.task, references, _Outbox(connection), position)
            except Exception as error:  # its message may have text of a model
                position.say_last_words(f"{type(error).__name__} at {raised_at(error)}")
                raise


class _Outbox:
    """Collects verdicts for some milliseconds and sends them together."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting: list[TaskResult] = []
        self._last_sent = time.perf_counter()

    def add(self, verdicts: Iterable[TaskResult]) -> None:
        """Send verdicts, now or with later ones."""
        self._waiting += verdicts
        if time.perf_counter() - self._last_sent >= SEND_SECONDS:
            self.send()

    def send(self, *, finished: bool = False) -> None:
        """Send the verdicts that wait."""
        message = TaskVerdicts(self._waiting, finished)
        self._connection.sendall(frames.pack(msgspec.json.encode(message)))
        self._waiting = []
        self._last_sent = time.perf_counter()


def _judge_task(
    task: Task,
    references: WorkerReferences[dict[str, Any]],
    outbox: _Outbox,
    position: SharedPosition,
) -> None:
    enter_call(task.request_id)
    index = 0
    for part in task.parts:
        position.write(index, in_reference=True)
        verifier = _verifier(part.verifier)
        start = time.perf_counter()
        try:
            reference = references.of_part(part)
            judge = _prepare(verifier, part, reference, settle=task.settle)
        except Unverifiable as error:
            verdict = unverifiable(error.reason, time.perf_counter() - start, error.message)
            if task.explain:
                verdict = msgspec.structs.replace(verdict, explanation=_NO_REFERENCE)
            outbox.add([verdict] * len(part.completions))
            index += len(part.completions)
            continue
        for completion in part.completions:
            position.write(index, in_reference=False)
            start = time.process_time() if task.explain else 0.0
            found = _verdict(judge, completion)
            if task.explain and time.process_time() - start < MAX_EXPLAINED_SECONDS:
                found = _explained(found, verifier, reference, judge, completion)
            outbox.add([found])
            index += 1
    outbox.send(finished=True)


def _verifier(options: bytes) -> Verifier:
    """The verifier with these options in JSON, which tasks repeat."""
    if len(options) > MAX_KEPT_OPTIONS_BYTES:
        return _read_verifier(options)
    return _kept_verifier(options)


def _read_verifier(options: bytes) -> Verifier:
    return _verifier_adapter.validate_python(msgspec.json.decode(options))


_kept_verifier = lru_cache(MAX_KEPT_VERIFIERS)(_read_verifier)


def _prepare(
    verifier: Verifier, part: TaskPart, reference: Mapping[str, Any], *, settle: bool
) -> Judge:
    """A function that judges completions of a part, or settles open questions in their place."""
    match verifier:
        case SettlingVerifier() if settle:
            settler = verifier.settle(reference)
            return lambda question: settler(question.text)
        case TextVerifier():
            return verifier.prepare(reference)
        case GroupVerifier() if part.group is not None:
            return verifier.prepare_group(reference, part.group)
        case _:
            raise TypeError(f"{verifier.type}: not a verifier of text workers, or without a group")


def _verdict(judge: Judge, completion: Completion) -> TaskResult:
    start = time.perf_counter()
    try:
        judgement = judge(completion)
    except (MemoryError, RecursionError):
        seconds = time.perf_counter() - start
        return Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_LARGE, seconds)
    except Unverifiable as error:
        return unverifiable(error.reason, time.perf_counter() - start, error.message)
    if isinstance(judgement, Undecided):
        return judgement.question
    extracted = judgement.extracted
    if not math.isfinite(judgement.score):
        raise ValueError("a score is not a finite number")
    return Verdict(
        Outcome.SCORED,
        judgement.score,
        judgement.reason,
        time.perf_counter() - start,
        extracted[:MAX_EXTRACTED_CHARACTERS] if extracted is not None else None,
        judgement.details,
        audit=judgement.audit,
    )


_NO_REFERENCE = Explanation(DecidingStage.REFERENCE)


def _explained(
    found: TaskResult,
    verifier: Verifier,
    reference: Mapping[str, Any],
    judge: Judge,
    completion: Completion,
) -> TaskResult:
    """A result with its explanation, which cannot change it."""
    if isinstance(found, Verdict) and found.outcome is not Outcome.SCORED:
        return msgspec.structs.replace(found, explanation=_NO_REFERENCE)
    is_asked = not isinstance(found, Verdict) and verifier.asks == "model"
    explanation = Explanation(DecidingStage.MODEL if is_asked else DecidingStage.RULE)
    if isinstance(verifier, TextVerifier):
        try:
            explanation = verifier.explain(reference, judge, completion)
        except (MemoryError, RecursionError, Unverifiable):
            return found
    if isinstance(found, Verdict):
        return msgspec.structs.replace(found, explanation=explanation)
    return ExplainedQuestion(str(found), explanation)
