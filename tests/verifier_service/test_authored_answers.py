"""The answers written by hand that `benchmarks/authored_answers.py` judges.

Judging them takes minutes with math-verify beside, so the suite only looks at the data itself.
"""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.authored_answers import HALVES, Answer, read_answers, wrong_verdicts

MIN_OF_A_LABEL = 200
"""Right answers, and wrong ones, in each half."""


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    return read_answers()


def test_each_half_has_right_and_wrong_answers_enough(answers: list[Answer]) -> None:
    counts = Counter((answer.half, answer.right) for answer in answers)
    assert all(counts[half, right] >= MIN_OF_A_LABEL for half in HALVES for right in (True, False))


def test_every_class_has_right_and_wrong_answers(answers: list[Answer]) -> None:
    labels = {(answer.kind, answer.right) for answer in answers}
    kinds = {kind for kind, _ in labels}
    assert labels == {(kind, right) for kind in kinds for right in (True, False)}


def test_no_completion_is_labelled_twice(answers: list[Answer]) -> None:
    counts = Counter((answer.reference, answer.completion) for answer in answers)
    assert [pair for pair, count in counts.items() if count > 1] == []


def test_every_answer_has_a_reason(answers: list[Answer]) -> None:
    assert [answer for answer in answers if not answer.why.strip()] == []


def test_a_right_answer_without_a_verdict_counts_as_refused() -> None:
    right, wrong = (Answer("1", "1", label, "numbers", "an example") for label in (True, False))
    found = [(right, None), (right, False), (right, True), (wrong, None), (wrong, True)]
    assert wrong_verdicts(found) == (2, 1, 1)
