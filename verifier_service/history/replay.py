"""Judging the verdicts of a store again, with this version, and what has changed.

Equal questions (`request_hash`) are judged once. What cannot be judged again is counted by why:
rows with hashes only, texts too long to keep, verdicts that had failed, options that this version
does not have, and checkers or models that are absent now.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from verifier_service import __version__
from verifier_service.code.reasons import CodeReason
from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.engine.engine import Engine
from verifier_service.engine.in_flight import in_flight
from verifier_service.engine.mixed_scoring import scoring_of
from verifier_service.engine.store_records import MAX_TEXT_CHARACTERS
from verifier_service.explanation import Explanation
from verifier_service.model_judge.reasons import CallReason
from verifier_service.profiles import stored_verifier
from verifier_service.proofs.reasons import ProofReason
from verifier_service.schemas import ChatMessage, CompletionObject, Group, ScoreRequest
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verdict_store.stored_files import read_rows, stored_files
from verifier_service.verifier import GroupVerifier, Verifier

COMPLETIONS_PER_REQUEST = 256
SCORE_TOLERANCE = 1e-9
_LONGEST = f"{MAX_TEXT_CHARACTERS:,} characters"
HASHES_ONLY = f"only its hashes are stored; --store-texts text keeps texts of up to {_LONGEST}"
TOO_LONG = f"the store keeps no completion and no reference of more than {_LONGEST}"
UNKNOWN_OPTIONS = "this version has no such verifier or option"
ABSENT = "its checker or model is absent now; --lean-url, --judge-url or a toolchain brings it"
_ABSENT_REASONS = (
    CallReason.NO_JUDGE,
    CodeReason.MISSING_TOOLCHAIN,
    ProofReason.MISSING_TOOLCHAIN,
)
MAX_SHOWN_CHARACTERS = 1000
"""Longest completion or reference that the list of changes shows."""
NEEDED_COLUMNS = (
    *("time", "record_id", "group_index", "completion_index", "request_hash", "options"),
    *("version", "outcome", "score", "reason", "reference", "completion", "num_tokens"),
    *("truncated", "extracted", "verifier"),
)
_COMPARED = ("outcome", "score", "reason", "extracted")

VerdictRow = dict[str, Any]


@dataclass(frozen=True)
class ReplayFilter:
    """The verdicts that are judged again."""

    verifiers: frozenset[str] = frozenset()
    """Types; empty: all."""
    since: datetime | None = None
    max_questions: int | None = None
    """Most different verdicts."""


@dataclass(frozen=True)
class Change:
    """A verdict that this version gives differently."""

    row: VerdictRow
    """The stored verdict."""
    verdict: Verdict
    explanation: Explanation | None = None
    """How this version comes to its verdict."""

    @property
    def changes_score(self) -> bool:
        """Whether the outcome or the score is another, and not the reason alone."""
        return self.row["outcome"] != self.verdict.outcome or not _same_score(
            self.row["score"], self.verdict.score
        )

    @property
    def kind(self) -> str:
        """The change in words: `different 0 -> equal 1`."""
        before = _in_words(self.row["outcome"], self.row["score"], self.row["reason"])
        now = self.verdict
        return f"{before} -> {_in_words(now.outcome, now.score, now.reason)}"

    def as_json(self) -> dict[str, Any]:
        """The change as a line of the list."""
        row = self.row
        return {
            "change": self.kind,
            "verifier": row["verifier"],
            "options": json.loads(row["options"]),
            "request_hash": row["request_hash"],
            "time": row["time"].isoformat(),
            "before": {key: row[key] for key in (*_COMPARED, "version")},
            "after": {
                "outcome": self.verdict.outcome,
                "score": self.verdict.score,
                "reason": self.verdict.reason,
                "extracted": self.verdict.extracted,
                "version": __version__,
            },
            "reference": row["reference"][:MAX_SHOWN_CHARACTERS],
            "completion": row["completion"][-MAX_SHOWN_CHARACTERS:],
            "explanation": msgspec.to_builtins(self.explanation),
        }


@dataclass
class ReplayResult:
    """The result of judging a store again."""

    num_stored: int = 0
    num_repeated: int = 0
    """Verdicts on questions that were judged already."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Verdicts that cannot be judged again, by why."""
    judged: Counter[str] = field(default_factory=Counter)
    """Different questions by type of verifier."""
    num_failed: int = 0
    """Verdicts that this version could not give, for a reason of its own."""
    changes: list[Change] = field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        """Whether a score or an outcome is another."""
        return any(one.changes_score for one in self.changes)


@dataclass(frozen=True)
class _Question:
    """A group to judge, and the rows that its verdicts are compared with, in order."""

    verifier: Verifier
    group: Group
    rows: list[VerdictRow]


async def replay(
    engine: Engine,
    folder: Path,
    chosen: ReplayFilter,
    on_read: Callable[[int], None] = lambda number: None,
) -> ReplayResult:
    """Judge the verdicts of a store again.

    Args:
        engine: judges.
        folder: of the store.
        chosen: the verdicts to judge.
        on_read: is called with a number of stored verdicts that were just read.

    Raises:
        StoreError: the store cannot be read.
    """
    found = ReplayResult()
    batches = _batches(_questions(folder, chosen, found, on_read))
    async with in_flight(_asked(engine, questions) for questions in batches) as judged:
        async for questions, verdicts in judged:
            _compare(questions, verdicts, found)
    return found


async def explained(engine: Engine, changes: Iterable[Change]) -> AsyncIterator[Change]:
    """The changes, each with how this version comes to its verdict where its verifier can tell."""
    for change in changes:
        verifier = stored_verifier(change.row["options"])
        if verifier is None or isinstance(verifier, GroupVerifier):
            yield change
            continue
        question = _question(verifier, [change.row])
        [[verdicts]] = await _judged(engine, [question], explain=True)
        yield replace(change, explanation=verdicts[verifier.key].explanation)


def _questions(
    folder: Path, chosen: ReplayFilter, found: ReplayResult, on_read: Callable[[int], None]
) -> Iterator[_Question]:
    """The different questions of a store, oldest first."""
    asked: set[bytes] = set()
    for rows in _stored_groups(folder, on_read):
        some = [row for row in rows if _is_chosen(row, chosen)]
        found.num_stored += len(some)
        for options, of_one in groupby(sorted(some, key=_options_of), key=_options_of):
            yield from _new_questions(options, list(of_one), asked, found)
            if chosen.max_questions is not None and len(asked) >= chosen.max_questions:
                return


def _stored_groups(folder: Path, on_read: Callable[[int], None]) -> Iterator[list[VerdictRow]]:
    """The verdicts on each group, which a file has behind each other."""
    for path in stored_files(folder):
        try:
            rows = (row for some in read_rows(path, NEEDED_COLUMNS) for row in some)
            for _, group in groupby(rows, key=lambda row: (row["record_id"], row["group_index"])):
                members = list(group)
                yield members
                on_read(len(members))
        except FileNotFoundError:  # a service deleted it for its age
            continue


def _is_chosen(row: VerdictRow, chosen: ReplayFilter) -> bool:
    is_late = chosen.since is None or row["time"] >= chosen.since
    return is_late and (not chosen.verifiers or row["verifier"] in chosen.verifiers)


def _options_of(row: VerdictRow) -> str:
    return str(row["options"])


def _new_questions(
    options: str, rows: list[VerdictRow], asked: set[bytes], found: ReplayResult
) -> Iterator[_Question]:
    """The questions of one verifier about one group that were not asked before."""
    verifier = stored_verifier(options)
    new = []
    for row in rows:
        question = bytes.fromhex(row["request_hash"])
        if isinstance(verifier, GroupVerifier):  # equal completions of a group are judged each
            question += row["completion_index"].to_bytes(8)
        why = _why_left_out(row, verifier)
        if why is not None:
            found.left_out[why] += 1
        elif question in asked:
            found.num_repeated += 1
        else:
            asked.add(question)
            new.append(row)
    if verifier is None or not new:
        return
    if isinstance(verifier, GroupVerifier):
        if len(new) == len(rows):
            yield _question(verifier, new)
        else:
            found.left_out["its group is not whole"] += len(new)
        return
    yield _question(verifier, new)


def _why_left_out(row: VerdictRow, verifier: Verifier | None) -> str | None:
    if row["outcome"] == Outcome.FAILED:
        return "it had failed"
    num_absent = (row["completion"], row["reference"]).count(None)
    if num_absent:
        return HASHES_ONLY if num_absent == 2 else TOO_LONG
    return UNKNOWN_OPTIONS if verifier is None else None


def _question(verifier: Verifier, rows: list[VerdictRow]) -> _Question:
    completions: list[str | list[ChatMessage] | CompletionObject] = [
        CompletionObject.model_construct(
            text=row["completion"], num_tokens=row["num_tokens"], truncated=row["truncated"]
        )
        for row in rows
    ]
    # As it was sent to the workers: the format of a data set's row is in it already.
    reference = json.loads(rows[0]["reference"])
    group = Group.model_construct(
        reference=reference, completions=completions, verifiers=[verifier]
    )
    return _Question(verifier, group, rows)


def _batches(questions: Iterable[_Question]) -> Iterator[list[_Question]]:
    some: list[_Question] = []
    number = 0
    for one in questions:
        some.append(one)
        number += len(one.rows)
        if number >= COMPLETIONS_PER_REQUEST:
            yield some
            some, number = [], 0
    if some:
        yield some


async def _asked(
    engine: Engine, questions: list[_Question]
) -> tuple[list[_Question], list[list[VerdictsByKey]]]:
    return questions, await _judged(engine, questions)


async def _judged(
    engine: Engine, questions: list[_Question], *, explain: bool = False
) -> list[list[VerdictsByKey]]:
    groups = [one.group for one in questions]
    request = ScoreRequest.model_construct(verifiers=[], groups=groups, explain=explain)
    return (await scoring_of(request, engine).run(math.inf)).groups


def _compare(
    questions: list[_Question], verdicts: list[list[VerdictsByKey]], found: ReplayResult
) -> None:
    for question, judged in zip(questions, verdicts, strict=True):
        for row, by_key in zip(question.rows, judged, strict=True):
            verdict = by_key[question.verifier.key]
            if verdict.reason in _ABSENT_REASONS and row["reason"] != verdict.reason:
                found.left_out[ABSENT] += 1
                continue
            found.judged[question.verifier.type] += 1
            if verdict.outcome is Outcome.FAILED:
                found.num_failed += 1
                continue
            change = Change(row, verdict)
            if change.changes_score or row["reason"] != verdict.reason:
                found.changes.append(change)


def _same_score(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= SCORE_TOLERANCE


def _in_words(outcome: str, score: float | None, reason: str) -> str:
    return f"{reason} {score:g}" if score is not None else f"{reason} ({outcome})"


def summary_text(found: ReplayResult) -> str:
    """A line for each verifier, for each kind of change, and for what was not judged again."""
    kinds = Counter((one.row["verifier"], one.changes_score, one.kind) for one in found.changes)
    lines = []
    for verifier, number in sorted(found.judged.items()):
        scores = sum(count for (name, yes, _), count in kinds.items() if name == verifier and yes)
        same = number - sum(count for (name, _, _), count in kinds.items() if name == verifier)
        told = f"{number} judged again, {same} as before, other scores: {scores}"
        lines.append(f"{verifier}: {told}")
        lines += [
            f"  {count} x {kind}{'' if yes else '  (the reason alone)'}"
            for (name, yes, kind), count in kinds.most_common()
            if name == verifier
        ]
    lines.append(f"verdicts stored: {found.num_stored}, of them repeated: {found.num_repeated}")
    lines += [f"  {count} not judged again: {why}" for why, count in found.left_out.most_common()]
    if found.num_failed:
        lines.append(f"  {found.num_failed} failed now: judge them again")
    return "\n".join(lines)
