"""Verdicts on proofs in Lean: a worker reads the text, and the API process asks a server."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from verifier_service.completion import Completion
from verifier_service.explanation import DecidingStage, Explanation, spans_of
from verifier_service.proofs.lean_guards import check_words
from verifier_service.proofs.lean_report import (
    LeanFinding,
    LeanMessage,
    finding_of,
)
from verifier_service.proofs.lean_task import MARK, LeanQuestion, LeanTask, read_lean_task
from verifier_service.proofs.lean_text import LeanTextProblem, imports_of, without_comments
from verifier_service.proofs.missing import missing_verdict
from verifier_service.proofs.reasons import ProofReason
from verifier_service.proofs.refusal import Refused
from verifier_service.proofs.standard_axioms import LEAN_AXIOMS, NATIVE_AXIOMS
from verifier_service.reason import EngineReason, Reason
from verifier_service.verdict import Outcome, Verdict, failed
from verifier_service.verifier import MAX_EXTRACTED_CHARACTERS, ExplainedQuestion

if TYPE_CHECKING:
    from verifier_service.verifiers.proof import Proof

NO_SERVER = (
    "the service has no Lean server to ask: start one (Kimina Lean server) and set "
    "VERIFIER_LEAN_URL, then start the service again"
)
MAX_PROOF_CHARACTERS = 2**18
_BY = {"by": "lean"}
_FAILURES = frozenset({ProofReason.UNREADABLE})
# A declaration of an axiom: `axiom between_swaps`.
_AXIOM = re.compile(r"(?<![\w.])axiom\s+([^\s({\[⦃:]+)")
_question = msgspec.json.Decoder(LeanQuestion)


class LeanServer(Protocol):
    """A server that runs Lean."""

    async def messages_on(self, code: str) -> Sequence[LeanMessage]:
        """Lean's messages on a file. Raises LeanServerFailed."""
        ...


class LeanServerFailed(Exception):
    """A server that gave no messages, for a reason that makes the verdict `failed`."""

    def __init__(self, reason: ProofReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


# In a worker


def lean_result(
    proof: Proof, reference: Mapping[str, Any], completion: Completion, *, explain: bool = False
) -> Verdict | str | ExplainedQuestion:
    """The verdict that the text alone decides, or a `LeanQuestion` in JSON. Raises Unverifiable."""
    start = time.perf_counter()
    task = read_lean_task(reference)
    text = proof.proof_in(completion.text)
    explanation = _explanation(proof, completion, text) if explain else None
    try:
        if text is None:
            raise Refused(ProofReason.NO_PROOF, "")
        question = _question_of(proof, task, text)
    except (Refused, _TooLarge) as end:
        reason: Reason = end.reason if isinstance(end, Refused) else EngineReason.TOO_LARGE
        details = dict(_BY)
        if isinstance(end, Refused) and end.problem:
            details["problem"] = end.problem
        seconds, shown = time.perf_counter() - start, text and text[:MAX_EXTRACTED_CHARACTERS]
        return Verdict(Outcome.SCORED, 0.0, reason, seconds, shown, details, explanation)
    encoded = msgspec.json.encode(question).decode()
    return encoded if explanation is None else ExplainedQuestion(encoded, explanation)


class _TooLarge(Exception):
    """A text that is too long to check."""


def _question_of(proof: Proof, task: LeanTask, text: str) -> LeanQuestion:
    """The question about a text. Raises Refused and _TooLarge."""
    if len(text) > MAX_PROOF_CHARACTERS:
        raise _TooLarge
    try:
        modules, code = imports_of(without_comments(text))
    except LeanTextProblem as error:
        raise Refused(ProofReason.NOT_ALLOWED, str(error)) from error
    _check_imports(modules, (*task.imports, *proof.imports))
    check_words(code, native_decide=proof.native_decide)
    if task.is_stated_in(code) and not task.is_stated_as_wanted_in(code):
        problem = f"the text states {task.name} in other words than the reference"
        raise Refused(ProofReason.OTHER_STATEMENT, problem)
    allowed = LEAN_AXIOMS if proof.axioms is None else proof.axioms
    native = NATIVE_AXIOMS if proof.native_decide else ()
    file, wanted_line, check_line = task.file(code)
    axioms = [*allowed, *native, *_AXIOM.findall(task.preamble)]
    shown = text[:MAX_EXTRACTED_CHARACTERS]
    return LeanQuestion(file, MARK, wanted_line, check_line, axioms, shown)


def _check_imports(modules: Sequence[str], allowed: Sequence[str]) -> None:
    for name in modules:
        if not any(name == one or name.startswith(f"{one}.") for one in allowed):
            raise Refused(ProofReason.NOT_ALLOWED, f"the import of {name}"[:80])


def _explanation(proof: Proof, completion: Completion, text: str | None) -> Explanation:
    if text is None:
        return Explanation(DecidingStage.EXTRACTION)
    return Explanation(DecidingStage.PROOF, spans_of(completion.text, [text], proof.proof_in))


# In the API process


async def ask_lean(server: LeanServer | None, question: str) -> Verdict:
    """The verdict on a `LeanQuestion` in JSON."""
    start = time.perf_counter()
    if server is None:
        return missing_verdict(NO_SERVER, 0.0)
    asked = _question.decode(question)
    try:
        messages = await server.messages_on(asked.code)
    except LeanServerFailed as error:
        return failed(error.reason, time.perf_counter() - start)
    return _verdict(asked, finding_of(asked, messages), time.perf_counter() - start)


def _verdict(asked: LeanQuestion, found: LeanFinding, seconds: float) -> Verdict:
    details = {**_BY, **found.details, "milliseconds": round(seconds * 1000)}
    if found.reason is EngineReason.BAD_REFERENCE:
        message = {"message": f"reference.statement: Lean does not take it: {details['error']}"}
        return Verdict(Outcome.UNVERIFIABLE, None, found.reason, seconds, None, message)
    if found.reason in _FAILURES:
        return Verdict(Outcome.FAILED, None, found.reason, seconds, asked.proof, details)
    score = float(found.reason is ProofReason.PROVED)
    return Verdict(Outcome.SCORED, score, found.reason, seconds, asked.proof, details)
