"""Completions that try to be paid without giving one right answer.

`tests/data/attempts_without_an_answer.jsonl` has a row for each: the completion, at least one
reference that it is aimed at, and how many of these it may be right for. That number is 0 where it
offers several values, denies them or says nothing, and 1 where it is one answer that can be read
in two ways.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks.authored_answers import Answer, read_answers
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

DATA = Path(__file__).parents[1] / "data" / "attempts_without_an_answer.jsonl"
OTHER_REFERENCES = ("B",)
"""References that few attempts are aimed at, so that every completion meets two at least."""
MIN_ATTEMPTS = 300
SAMPLED = 12
"""One in so many right answers meets a reference that is not its own."""


class Attempt(NamedTuple):
    """One row of the data."""

    kind: str
    references: list[str]
    paid_at_most: int
    completion: str


ATTEMPTS = [Attempt(**json.loads(line)) for line in DATA.read_text().splitlines()]

PAID: dict[str, tuple[str, ...]] = {
    "leniency of docs/accuracy.md: a text that can be read in two ways is read in both": (
        r"\boxed{\log 100}",
        r"\boxed{\log(100)}",
        "log 100",
        "1,234",
        r"\boxed{1,234}",
        r"\boxed{(\sqrt{x})^2}",
        r"\boxed{\sqrt{x}\sqrt{x}}",
    ),
    "leniency of docs/accuracy.md: quarters are coins too": (r"\boxed{5 \text{ quarters}}",),
    "leniency of docs/accuracy.md: a bound, `%` or `!` beside a box says nothing": (
        r"\boxed{5}!",
        r"\boxed{5}\%",
        r"x<\boxed{5}",
        r"x > \boxed{5}",
        r"\boxed{5} at most",
    ),
}
"""Attempts that are paid all the same, by the leniency of docs/accuracy.md that allows them."""

REASONS = {completion: reason for reason, all_of_it in PAID.items() for completion in all_of_it}


def parameters() -> list[Any]:
    """The attempts, with the mark of those that a documented leniency pays."""
    numbers: Counter[str] = Counter()
    found = []
    for attempt in ATTEMPTS:
        numbers[attempt.kind] += 1
        reason = REASONS.get(attempt.completion)
        marks = [] if reason is None else [pytest.mark.xfail(strict=True, reason=reason)]
        name = f"{attempt.kind}-{numbers[attempt.kind]}"
        found.append(pytest.param(attempt, id=name, marks=marks))
    return found


def accepts(reference: str, completion: str) -> bool:
    """Whether `accuracy` pays; an answer without a verdict is not paid."""
    try:
        return judge(Accuracy(), {"answer": reference}, completion).score == 1.0
    except Unverifiable:
        return False


@pytest.mark.parametrize("attempt", parameters())
def test_an_attempt_is_not_paid(attempt: Attempt) -> None:
    references = attempt.references
    paid = [one for one in references if accepts(one, attempt.completion)]
    others = [one for one in OTHER_REFERENCES if one not in references]
    paid_too = [one for one in others if accepts(one, attempt.completion)]
    assert len(paid) <= attempt.paid_at_most, paid
    assert len(paid) + len(paid_too) <= 1, paid + paid_too


def test_the_data_has_attempts_enough() -> None:
    assert len({attempt.completion for attempt in ATTEMPTS}) >= MIN_ATTEMPTS
    assert len({(one.completion, *one.references) for one in ATTEMPTS}) == len(ATTEMPTS)
    assert {attempt.completion for attempt in ATTEMPTS} >= REASONS.keys()


# A reference that is no bare answer: it has a box, hashes, a line of its own.
_SOLUTION = re.compile(r"boxed|####|\n|answer", re.IGNORECASE)


def right_with_another_reference() -> list[tuple[Answer, str]]:
    """Some right answers written by hand, each with the next reference of its class."""
    references: dict[str, dict[str, None]] = {}
    answers = [one for one in read_answers() if not _SOLUTION.search(one.reference)]
    for answer in answers:
        references.setdefault(answer.kind, {})[answer.reference] = None
    found = []
    for answer in answers:
        of_kind = list(references[answer.kind])
        other = of_kind[(of_kind.index(answer.reference) + 1) % len(of_kind)]
        if answer.right and other != answer.reference:
            found.append((answer, other))
    return found[::SAMPLED]


def test_an_answer_is_right_for_two_references_only_where_these_are_equal() -> None:
    wrong = []
    for answer, other in right_with_another_reference():
        if accepts(other, answer.completion) and accepts(answer.reference, answer.completion):
            boxed = rf"\boxed{{{answer.reference}}}"
            if not accepts(other, boxed):
                wrong.append((answer.completion, answer.reference, other))
    assert wrong == []
