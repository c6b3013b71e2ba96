"""The proof checkers that a service has, and advice on those that it lacks."""

from __future__ import annotations

from typing import NamedTuple

from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.proofs.coq_toolchain import coq_toolchain
from verifier_service.proofs.lean_judge import NO_SERVER


class ProverStatus(NamedTuple):
    """A proof checker, and whether the service has it."""

    language: str
    version: str
    """Version of Coq; empty for Lean, which runs elsewhere."""
    problem: str | None
    """Advice on how to get it; None where the service has it."""


def prover_statuses(*, has_lean_server: bool) -> list[ProverStatus]:
    """The checkers of all languages of proofs. The first call starts Coq."""
    lean = ProverStatus("lean", "", None if has_lean_server else NO_SERVER)
    try:
        return [ProverStatus("coq", coq_toolchain().version, None), lean]
    except ToolchainError as error:
        return [ProverStatus("coq", "", str(error)), lean]
