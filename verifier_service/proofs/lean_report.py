"""Lean's messages on a file of `lean_task`: whether they say that the proof is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from verifier_service.proofs.lean_task import LeanQuestion
from verifier_service.proofs.reasons import ProofReason
from verifier_service.reason import EngineReason, Reason

MAX_ERROR_CHARACTERS = 500
_LATE = "(deterministic) timeout"


class LeanPlace(msgspec.Struct, frozen=True):
    """A place in a file: its line, from 1, and its column."""

    line: int
    column: int = 0


class LeanMessage(msgspec.Struct, frozen=True):
    """A message of Lean."""

    severity: str
    data: str
    pos: LeanPlace


class LeanFinding(msgspec.Struct, frozen=True):
    """A reason with its details."""

    reason: Reason
    details: dict[str, Any]


def finding_of(question: LeanQuestion, messages: Sequence[LeanMessage]) -> LeanFinding:
    """The finding in Lean's messages.

    A reference that Lean does not take is `bad_reference`, and messages without the lists of axioms
    that the file asks for are `server_unreadable`, whatever else they say.
    """
    errors = [one for one in messages if one.severity == "error"]
    wanted = _listing(f"{question.mark}_wanted", messages)
    if wanted is None:
        if errors:
            return _of_error(EngineReason.BAD_REFERENCE, errors[0], question)
        return LeanFinding(ProofReason.UNREADABLE, {})
    early = [one for one in errors if one.pos.line <= wanted.pos.line]
    if early:
        return _of_error(EngineReason.BAD_REFERENCE, early[0], question)
    if errors:
        check_line = question.check_line - question.wanted_line + wanted.pos.line
        return _of_error(_reason_of(errors, check_line), errors[0], question)
    return _of_axioms(question, messages)


def _reason_of(errors: Iterable[LeanMessage], check_line: int) -> Reason:
    if any(_LATE in one.data for one in errors):
        return ProofReason.TIME_LIMIT_EXCEEDED
    if all(one.pos.line >= check_line for one in errors):
        return ProofReason.OTHER_STATEMENT
    return ProofReason.REJECTED


def _of_axioms(question: LeanQuestion, messages: Iterable[LeanMessage]) -> LeanFinding:
    """The finding where there are no errors."""
    listing = _listing(f"{question.mark}_check", messages)
    if listing is None:
        return LeanFinding(ProofReason.UNREADABLE, {})
    axioms = _axioms_in(listing)
    if "sorryAx" in axioms:
        return LeanFinding(ProofReason.INCOMPLETE, {"axioms": axioms})
    if set(axioms) - set(question.axioms):
        return LeanFinding(ProofReason.AXIOM_USED, {"axioms": axioms})
    return LeanFinding(ProofReason.PROVED, {"axioms": axioms})


# The list of axioms of one theorem: `'a' depends on axioms: [propext,\n Quot.sound]`.
_LISTING = re.compile(
    r"'(?P<name>[^']+)' (?:depends on axioms: \[(?P<axioms>[^\]]*)\]|does not depend on any axioms)"
)


def _listing(name: str, messages: Iterable[LeanMessage]) -> LeanMessage | None:
    """The one message that lists the axioms of a theorem; None without one, or with several."""
    found = [
        one
        for one in messages
        if one.severity == "info"
        and (listing := _LISTING.fullmatch(one.data.strip())) is not None
        and listing["name"] == name
    ]
    return found[0] if len(found) == 1 else None


def _axioms_in(listing: LeanMessage) -> list[str]:
    found = _LISTING.fullmatch(listing.data.strip())
    assert found is not None
    return (found["axioms"] or "").replace(",", " ").split()


def _of_error(reason: Reason, error: LeanMessage, question: LeanQuestion) -> LeanFinding:
    text = error.data.replace(question.mark, "the statement")[: 2 * MAX_ERROR_CHARACTERS]
    return LeanFinding(reason, {"error": " ".join(text.split())[:MAX_ERROR_CHARACTERS]})
