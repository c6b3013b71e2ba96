"""Coq's reports on a proof: its axioms, and the parts that were not checked.

`coqc` tells by `Print Assumptions` which axioms the proof rests on, in names that are as short as
its context allows. `coqchk`, which runs nothing that a file says, tells in full names which axioms
each module has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from verifier_service.proofs.coq_task import WANTED

_CLOSED = "Closed under the global context"
# The first line on an axiom: `Classical_Prop.classic : forall P`, or its name alone.
_AXIOM = re.compile(r"(\S+)(?: :.*)?")
_SUMMARY = "CONTEXT SUMMARY"
# The title of a part of the summary: `* Axioms: <none>`.
_TITLE = re.compile(r"\* ([^:]+):\s*(.*)")
_AXIOMS = "Axioms"
_THEORY = "Theory", "Set is predicative"


class UnreadReport(Exception):
    """A report in which something else is said than a sound proof has said of it."""


def axioms_used(printed: str) -> list[str]:
    """The axioms that `Print Assumptions` lists.

    >>> axioms_used("Axioms:\\nClassical_Prop.classic\\n  : forall P : Prop, P \\\\/ ~ P\\n")
    ['Classical_Prop.classic']

    Raises:
        UnreadReport: it lists definitions that were not checked, or cannot be read.
    """
    lines = printed.rstrip().split("\n")
    if lines == [_CLOSED]:
        return []
    if lines[0] != "Axioms:" or len(lines) == 1:
        raise UnreadReport(lines[0][:200])
    found = []
    for line in lines[1:]:
        if line.startswith(" "):
            continue
        axiom = _AXIOM.fullmatch(line)
        if axiom is None:
            raise UnreadReport(line[:200])
        found.append(axiom[1])
    return found


def unknown_axioms(used: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """The axioms that are neither the reference's nor allowed, by their last names or longer ones.

    >>> unknown_axioms(["Problem.A", "Classical_Prop.classic", "Foo.bar"], ["classic"])
    ['Foo.bar']
    """
    ends = tuple(f".{name}" for name in allowed)
    return [one for one in used if not one.startswith("Problem.") and not f".{one}".endswith(ends)]


def parts_of_summary(printed: str) -> dict[str, list[str]]:
    """The parts of `coqchk`'s summary by their titles. Raises UnreadReport."""
    _, _, summary = printed.partition(_SUMMARY)
    parts: dict[str, list[str]] = {}
    title = ""
    for line in summary.split("\n")[2:]:
        if (head := _TITLE.match(line)) is not None:
            title = head[1]
            parts[title] = [] if head[2] in ("", "<none>") else [head[2].strip()]
        elif line.strip():
            parts.setdefault(title, []).append(line.strip())
    if parts.get(_THEORY[0]) != [_THEORY[1]] or _AXIOMS not in parts:
        raise UnreadReport("coqchk gives no summary")
    return parts


def new_in(parts: Mapping[str, list[str]], name: str) -> dict[str, list[str]]:
    """Axioms and unchecked definitions of the completion's own modules, by titles of a summary.

    Args:
        parts: of the summary.
        name: of the theorem, which the module `WANTED` has as an axiom.
    """
    ours = ("Solution.", "Check.", f"{WANTED}.")
    allowed = f"{WANTED}.{name}"
    return {
        title: own
        for title, names in parts.items()
        if (own := [one for one in names if one.startswith(ours) and one != allowed])
    }
