"""Verdicts on proofs in Coq: four runs of Coq's programs, each in a sandboxed process of its own.

reference   coqc Problem, coqc Wanted    once for a statement
completion  coqc Solution                reads what the completion says
            coqc Check                   compares types, prints axioms
            coqchk Solution Check        checks both again, runs nothing that they say
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from verifier_service.completion import Completion
from verifier_service.explanation import DecidingStage, Explanation, spans_of
from verifier_service.proofs.coq_guards import check_commands
from verifier_service.proofs.coq_report import (
    UnreadReport,
    axioms_used,
    new_in,
    parts_of_summary,
    unknown_axioms,
)
from verifier_service.proofs.coq_task import WANTED, CoqTask, read_coq_task
from verifier_service.proofs.coq_text import TextProblem, sentences
from verifier_service.proofs.coq_toolchain import coq_toolchain, run_coqc, run_coqchk, try_coq
from verifier_service.proofs.missing import missing_verdict
from verifier_service.proofs.reasons import ProofReason
from verifier_service.proofs.refusal import Refused
from verifier_service.proofs.standard_axioms import COQ_AXIOMS
from verifier_service.reason import EngineReason, Reason
from verifier_service.reference import bad
from verifier_service.sandbox.execution import Execution, ExitReason, Limits, SandboxError
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import MAX_EXTRACTED_CHARACTERS

if TYPE_CHECKING:
    from verifier_service.verifiers.proof import Proof

MAX_KEPT_FILES = 32
"""Compiled preambles and statements that a worker keeps."""
MAX_ERROR_CHARACTERS = 500
MAX_PROOF_CHARACTERS = 2**18
"""Longest text of a proof; a longer one is `too_large`."""
FILE_BYTES = 64 * 2**20
OUTPUT_BYTES = 2**20
MIN_SECONDS = 0.1
"""Least time limit. A run whose time is used up before it starts gets this and is ended by it."""
_REFERENCE_LIMITS = Limits(
    cpu_seconds=60,
    wall_seconds=240,
    idle_seconds=None,
    memory_bytes=2**30,
    output_bytes=OUTPUT_BYTES,
    file_bytes=FILE_BYTES,
    num_threads=1,
)
"""Limits on each file of a reference."""
_REASONS = {
    ExitReason.CPU_LIMIT: ProofReason.TIME_LIMIT_EXCEEDED,
    ExitReason.WALL_LIMIT: ProofReason.TIME_LIMIT_EXCEEDED,
    ExitReason.IDLE_LIMIT: ProofReason.TIME_LIMIT_EXCEEDED,
    ExitReason.OUTPUT_LIMIT: ProofReason.OUTPUT_LIMIT_EXCEEDED,
    ExitReason.MEMORY_LIMIT: ProofReason.MEMORY_LIMIT_EXCEEDED,
    ExitReason.FORBIDDEN: ProofReason.SANDBOX_VIOLATION,
}
# Coq's words where its own memory or stack is used up: `Error: Out of memory.`
_NO_MEMORY = re.compile(
    r"^(?:Error: |Fatal error: )?(?:Out of memory|Stack overflow)", re.MULTILINE
)
# An error that Coq tells: `Error: The variable x was not found.`, to the end or the next file.
_ERROR = re.compile(r"Error:\s+(.*?)(?=\n\s*\nFile |\Z)", re.DOTALL)


class _NotProved(Exception):
    """A proof that is not accepted."""

    def __init__(self, reason: Reason, **details: Any) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.details = details


class CoqJudge:
    """Judges proofs in Coq, and keeps the compiled files of statements.

    Args:
        runner: has the tools of `coq_tools`.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._kept: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        """Compiled files by their texts, each after those that it needs."""
        self._problems: list[str | None] = []

    async def missing(self) -> str | None:
        """Advice where this machine has no Coq, or None. Raises SandboxError."""
        if not self._problems:
            self._problems.append(await try_coq(self._runner, _REFERENCE_LIMITS))
        return self._problems[0]

    async def judge(
        self,
        proof: Proof,
        reference: dict[str, Any],
        completion: Completion,
        *,
        explain: bool = False,
    ) -> Verdict:
        """The verdict on a completion.

        Raises:
            Unverifiable: the reference cannot be used.
            SandboxError: Coq could not be run, which is our failure.
        """
        start = time.perf_counter()
        missing = await self.missing()
        if missing is not None:
            return missing_verdict(missing, time.perf_counter() - start, explain=explain)
        task = read_coq_task(reference)
        libraries = await self._libraries(task)
        text = proof.proof_in(completion.text)
        reason: Reason = ProofReason.PROVED
        details: dict[str, Any] = {"by": f"coq {coq_toolchain().version}"}
        try:
            details["axioms"] = await self._check(proof, task, libraries, text)
        except _NotProved as end:
            reason = end.reason
            details |= end.details
        explanation = _explanation(proof, completion, text) if explain else None
        return Verdict(
            Outcome.SCORED,
            float(reason is ProofReason.PROVED),
            reason,
            time.perf_counter() - start,
            None if text is None else text[:MAX_EXTRACTED_CHARACTERS],
            details,
            explanation,
        )

    async def _libraries(self, task: CoqTask) -> dict[str, bytes]:
        """The compiled files of a reference. Raises Unverifiable and SandboxError."""
        libraries: dict[str, bytes] = {}
        texts: tuple[str, ...] = ()
        for (module, text), key in zip(
            task.reference_files, ("preamble", "statement"), strict=True
        ):
            texts = (*texts, text)
            if texts not in self._kept:
                self._kept[texts] = await self._library(module, text, libraries, key)
                if len(self._kept) > MAX_KEPT_FILES:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(texts)
            libraries[module] = self._kept[texts]
        return libraries

    async def _library(
        self, module: str, text: str, libraries: dict[str, bytes], key: str
    ) -> bytes:
        """A compiled file of a reference. Raises Unverifiable, with the key, and SandboxError."""
        run = await run_coqc(self._runner, module, text, _REFERENCE_LIMITS, libraries=libraries)
        if not run.succeeded:
            if run.reason in (ExitReason.SIGNALED, ExitReason.WALL_LIMIT):
                raise SandboxError(f"coqc did not end by itself: {run.reason}")
            raise bad(key, f"Coq does not take it: {_error(run) or run.reason}")
        return run.files[f"{module}.vo"]

    async def _check(
        self, proof: Proof, task: CoqTask, libraries: dict[str, bytes], text: str | None
    ) -> list[str]:
        """The axioms of a proof that is accepted. Raises _NotProved."""
        solution = _solution(task, text)
        budget = _Budget(proof)
        problem = {"Problem": libraries["Problem"]}
        run = await run_coqc(self._runner, "Solution", solution, budget.limits, libraries=problem)
        _expect_success(run, ProofReason.REJECTED)
        budget.spend(run)
        both = {**libraries, "Solution": run.files["Solution.vo"]}
        run = await run_coqc(self._runner, "Check", task.check, budget.limits, libraries=both)
        _expect_success(run, ProofReason.OTHER_STATEMENT)
        budget.spend(run)
        axioms = _axioms(run, proof)
        everything = {**both, "Check": run.files["Check.vo"]}
        run = await run_coqchk(
            self._runner, ("Solution", "Check"), budget.limits, libraries=everything
        )
        _expect_success(run, ProofReason.UNSOUND)
        _expect_no_news(run, task)
        return axioms


class _Budget:
    """The limits on all runs for one completion together."""

    def __init__(self, proof: Proof) -> None:
        self._left_cpu = proof.cpu_seconds
        self._left_wall = 3 * proof.cpu_seconds + 5
        self._memory_bytes = proof.memory_bytes

    @property
    def limits(self) -> Limits:
        """The limits on the next run."""
        return dataclasses.replace(
            _REFERENCE_LIMITS,
            cpu_seconds=max(self._left_cpu, MIN_SECONDS),
            wall_seconds=max(self._left_wall, MIN_SECONDS),
            memory_bytes=self._memory_bytes,
        )

    def spend(self, run: Execution) -> None:
        """Take what a run used."""
        self._left_cpu -= run.cpu_seconds
        self._left_wall -= run.wall_seconds - run.waited_seconds


def _solution(task: CoqTask, text: str | None) -> str:
    """The file to compile. Raises _NotProved where the text may not be compiled."""
    if text is None:
        raise _NotProved(ProofReason.NO_PROOF)
    if len(text) > MAX_PROOF_CHARACTERS:
        raise _NotProved(EngineReason.TOO_LARGE, characters=len(text))
    try:
        found = list(sentences(text))
        check_commands(text, found)
    except Refused as refused:
        raise _NotProved(refused.reason, problem=refused.problem) from refused
    except TextProblem as error:
        raise _NotProved(ProofReason.REJECTED, error=str(error)) from error
    return task.solution(text, found)


def _expect_success(run: Execution, otherwise: ProofReason) -> None:
    """Raise _NotProved for a run that did not succeed."""
    if run.succeeded:
        return
    said = run.stderr.decode(errors="replace")
    reason = _REASONS.get(run.reason, otherwise)
    if reason is otherwise and _NO_MEMORY.search(said):
        reason = ProofReason.MEMORY_LIMIT_EXCEEDED
    if reason is ProofReason.REJECTED and "given up goals" in said:
        reason = ProofReason.INCOMPLETE
    error = _error(run)
    raise _NotProved(reason, **({"error": error} if error else {}))


def _error(run: Execution) -> str:
    """The first error that Coq tells, without the names that no completion may learn."""
    said = run.stderr.decode(errors="replace").replace(f"{WANTED}.{WANTED}", "the statement")
    found = _ERROR.search(said)
    text = found[1] if found else ""
    return " ".join(text.replace(WANTED, "the statement").split())[:MAX_ERROR_CHARACTERS]


def _axioms(run: Execution, proof: Proof) -> list[str]:
    """The axioms of a proof, all of them allowed. Raises _NotProved."""
    allowed = COQ_AXIOMS if proof.axioms is None else proof.axioms
    try:
        used = axioms_used(run.stdout.decode(errors="replace"))
    except UnreadReport as error:
        raise _NotProved(ProofReason.UNSOUND, error=str(error)) from error
    if unknown_axioms(used, allowed):
        raise _NotProved(ProofReason.AXIOM_USED, axioms=used)
    return used


def _expect_no_news(run: Execution, task: CoqTask) -> None:
    """Raise _NotProved where the checker names axioms or unchecked parts of the completion."""
    try:
        news = new_in(parts_of_summary(run.stderr.decode(errors="replace")), task.name)
    except UnreadReport as error:
        raise _NotProved(ProofReason.UNSOUND, error=str(error)) from error
    if axioms := news.pop("Axioms", None):
        raise _NotProved(ProofReason.AXIOM_USED, axioms=axioms)
    for title, names in news.items():
        raise _NotProved(ProofReason.UNSOUND, error=f"{title}: {', '.join(names)}")


def _explanation(proof: Proof, completion: Completion, text: str | None) -> Explanation:
    if text is None:
        return Explanation(DecidingStage.EXTRACTION)
    return Explanation(DecidingStage.PROOF, spans_of(completion.text, [text], proof.proof_in))
