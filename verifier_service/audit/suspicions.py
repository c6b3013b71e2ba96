"""Suspicions about verdicts: why each may be wrong, and how much that weighs.

A suspicion's weight is a rough chance that the verdict is wrong, from 0 to 1. Those of one verdict
are taken as independent: together they weigh `1 - (1 - w1) (1 - w2) ...`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from verifier_service.audit.scored_rows import ScoredRow, groups_of
from verifier_service.audit.second_opinions import RULES_TITLE, Opinions

MIN_MAJORITY = 3
"""Fewest completions of a group that make a majority."""
MAX_ALIKE = 3
"""Most listed verdicts on equal answers to equal references."""
RELATIVE_TOLERANCE = 0.01
SHORT_SHARE = 0.1
"""A completion is short below this share of the median length."""
MIN_TAGGED_SHARE = 0.8
"""Share of completions with tags or a box from which one without is odd."""
CLOSING_CHARACTERS = 80
RESTATED_SHARE = 0.6
_BOX = re.compile(r"\\boxed\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")  # \boxed{\frac{1}{2}}
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)  # <answer>7</answer>
_MARKED = re.compile(r"</think>|<answer>|\\boxed")
_CHOICE = re.compile(r"\b(?:or|either|perhaps|maybe|alternatively)\b", re.IGNORECASE)  # 3 or 4
_WORD = re.compile(r"\w+")


class SuspicionKind(StrEnum):
    """Reasons to doubt a verdict; those of refusals first."""

    RULES_ACCEPT = "rules_accept"
    MATH_VERIFY_ACCEPTS = "math_verify_accepts"
    SAME_TEXT = "same_text"
    CLOSE_NUMBER = "close_number"
    MAJORITY = "majority"
    REFERENCE_AT_THE_END = "reference_at_the_end"
    RULES_REFUSE = "rules_refuse"
    MATH_VERIFY_REFUSES = "math_verify_refuses"
    ALONE_AMONG_RIGHT = "alone_among_right"
    HEDGED = "hedged"
    RESTATED = "restated"
    TRUNCATED = "truncated"
    TAGLESS = "tagless"
    SHORT = "short"


WEIGHTS: Mapping[SuspicionKind, float] = {
    SuspicionKind.RULES_ACCEPT: 0.9,
    SuspicionKind.MATH_VERIFY_ACCEPTS: 0.5,
    SuspicionKind.SAME_TEXT: 0.85,
    SuspicionKind.CLOSE_NUMBER: 0.25,
    SuspicionKind.MAJORITY: 0.4,
    SuspicionKind.REFERENCE_AT_THE_END: 0.3,
    SuspicionKind.RULES_REFUSE: 0.9,
    SuspicionKind.MATH_VERIFY_REFUSES: 0.3,
    SuspicionKind.ALONE_AMONG_RIGHT: 0.35,
    SuspicionKind.HEDGED: 0.4,
    SuspicionKind.RESTATED: 0.25,
    SuspicionKind.TRUNCATED: 0.2,
    SuspicionKind.TAGLESS: 0.15,
    SuspicionKind.SHORT: 0.15,
}


@dataclass(frozen=True)
class Suspicion:
    """A reason to doubt a verdict."""

    kind: SuspicionKind
    message: str


@dataclass(frozen=True)
class DoubtedRow:
    """A completion whose verdict is doubted, or one drawn by chance."""

    row: ScoredRow
    accepted: bool
    answer: str
    """The answer that the rules of `accuracy` found."""
    suspicions: tuple[Suspicion, ...]

    @property
    def weight(self) -> float:
        """The weight of all suspicions together, from 0 to 1."""
        return 1 - math.prod(1 - WEIGHTS[one.kind] for one in self.suspicions)


@dataclass(frozen=True)
class _Norms:
    """The usual form of the file's completions."""

    median_length: float
    are_marked: bool


def doubted_rows(
    rows: Sequence[ScoredRow], source: str, opinions: Mapping[int, Opinions]
) -> list[DoubtedRow]:
    """The completions whose verdict by a source is doubted, the most doubtful first."""
    norms = _norms(rows)
    found = []
    for group in groups_of(rows):
        answers = {row.index: opinions.get(row.index, Opinions()) for row in group}
        for row in group:
            accepted = row.is_accepted(source)
            if accepted is None:
                continue
            opinion = answers[row.index]
            if accepted:
                suspicions = [*_of_acceptance(row, opinion, norms)]
            else:
                suspicions = [*_of_refusal(row, opinion)]
            suspicions += _of_group(row, accepted, group, answers, source)
            if suspicions:
                found.append(DoubtedRow(row, accepted, opinion.answer, tuple(suspicions)))
    return _without_repetition(sorted(found, key=lambda one: (-one.weight, one.row.index)))


def _without_repetition(doubted: Iterable[DoubtedRow]) -> list[DoubtedRow]:
    """The list with verdicts on equal answers to equal references at its end, but for a few."""
    seen: Counter[tuple[object, ...]] = Counter()
    first: list[DoubtedRow] = []
    repeated: list[DoubtedRow] = []
    for one in doubted:
        alike = (one.row.prompt, one.row.answers, one.answer, one.accepted)
        seen[alike] += 1
        (first if seen[alike] <= MAX_ALIKE else repeated).append(one)
    return first + repeated


def _norms(rows: Sequence[ScoredRow]) -> _Norms:
    marked = sum(_MARKED.search(row.completion) is not None for row in rows)
    return _Norms(
        median(len(row.completion) for row in rows), marked >= MIN_TAGGED_SHARE * len(rows)
    )


def _of_refusal(row: ScoredRow, opinion: Opinions) -> Iterator[Suspicion]:
    kinds = SuspicionKind
    if opinion.rules:
        yield Suspicion(kinds.RULES_ACCEPT, f"{RULES_TITLE} accept it: {opinion.rules_reason}")
    if opinion.math_verify:
        yield Suspicion(kinds.MATH_VERIFY_ACCEPTS, "math-verify accepts it")
    if not row.answers:
        return
    final = _final_text(row.completion)
    wanted = {_plain(one) for one in row.answers}
    if final is not None and _plain(final) in wanted:
        yield Suspicion(kinds.SAME_TEXT, f"its answer is the text of the reference: {final[:60]}")
    elif any(_stands_in(one, row.completion[-CLOSING_CHARACTERS:]) for one in row.answers):
        yield Suspicion(kinds.REFERENCE_AT_THE_END, "its end has the text of the reference")
    near = _near(opinion.answer, row.answers)
    if near is not None:
        yield Suspicion(kinds.CLOSE_NUMBER, f"within 1% of the reference {near}")


def _of_acceptance(row: ScoredRow, opinion: Opinions, norms: _Norms) -> Iterator[Suspicion]:
    kinds = SuspicionKind
    if opinion.rules is False:
        yield Suspicion(kinds.RULES_REFUSE, f"{RULES_TITLE} refuse it: {opinion.rules_reason}")
    if opinion.math_verify is False:
        yield Suspicion(kinds.MATH_VERIFY_REFUSES, "math-verify refuses it")
    hedge = _hedge(row.completion)
    if hedge:
        yield Suspicion(kinds.HEDGED, f"several answers: {hedge[:80]}")
    if _restates(row):
        yield Suspicion(kinds.RESTATED, "most of it repeats the problem")
    if row.truncated:
        yield Suspicion(kinds.TRUNCATED, "it ends at its limit of tokens")
    if norms.are_marked and not _MARKED.search(row.completion):
        yield Suspicion(kinds.TAGLESS, "no tags and no box, which nearly all others have")
    if len(row.completion) < SHORT_SHARE * norms.median_length:
        told = f"{len(row.completion)} characters; the median is {norms.median_length:.0f}"
        yield Suspicion(kinds.SHORT, told)


def _of_group(
    row: ScoredRow,
    accepted: bool,
    group: list[ScoredRow],
    opinions: Mapping[int, Opinions],
    source: str,
) -> Iterator[Suspicion]:
    """Suspicions from the answers of the other completions of the problem."""
    answer = _key(opinions[row.index].answer)
    if len(group) < MIN_MAJORITY or not answer:
        return
    if not accepted:
        number = sum(_key(opinions[one.index].answer) == answer for one in group)
        if number >= MIN_MAJORITY and 2 * number > len(group):
            told = f"{number} of {len(group)} completions of the problem give this answer"
            yield Suspicion(SuspicionKind.MAJORITY, told)
        return
    right = Counter(_key(opinions[one.index].answer) for one in group if one.is_accepted(source))
    if right[answer] == 1 and max(right.values()) > 1:
        told = f"{max(right.values())} others that were accepted give another answer"
        yield Suspicion(SuspicionKind.ALONE_AMONG_RIGHT, told)


def _final_text(completion: str) -> str | None:
    """The last box or tagged answer."""
    found = [*_BOX.finditer(completion), *_TAGGED.finditer(completion)]
    return max(found, key=lambda one: one.start())[1].strip() if found else None


def _plain(text: str) -> str:
    """The text without spaces and marks. The dot of a decimal stays: 4.2 is not 42."""
    return re.sub(r"[\s$*\\,()]+|\.(?!\d)", "", text).casefold()


def _key(answer: str) -> str:
    """A text that is the same for answers of the same number: 42 and 42.0."""
    value = _value(answer)
    return _plain(answer) if value is None else repr(value)


def _stands_in(reference: str, text: str) -> bool:
    wanted = reference.strip().strip("$").strip()
    return bool(wanted) and bool(re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text))


def _near(answer: str, references: Iterable[str]) -> str | None:
    """The reference that a number is close to, but not equal."""
    value = _value(answer)
    for one in references:
        wanted = _value(one)
        if value is None or wanted is None or value == wanted:
            continue
        if math.isclose(value, wanted, rel_tol=RELATIVE_TOLERANCE):
            return one
    return None


def _value(text: str) -> float | None:
    try:
        found = float(text.strip().strip("$").replace(",", ""))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _hedge(completion: str) -> str:
    """Several final answers, or a choice between answers inside the last one."""
    tagged = [_plain(one) for one in _TAGGED.findall(completion)]
    boxes = [_plain(one) for one in _BOX.findall(completion)]
    if len(set(tagged)) > 1:
        return ", ".join(tagged)
    if len(set(boxes)) > 1:
        return ", ".join(boxes)
    final = _final_text(completion) or ""
    return final if _CHOICE.search(final) else ""


def _restates(row: ScoredRow) -> bool:
    asked, said = _WORD.findall(row.prompt), _WORD.findall(row.completion)
    if len(asked) < 5 or not said:
        return False
    shared = sum((Counter(asked) & Counter(said)).values())
    return shared >= RESTATED_SHARE * len(said) and shared >= RESTATED_SHARE * len(asked)
