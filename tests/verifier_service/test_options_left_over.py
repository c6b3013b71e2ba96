"""Options that are left when the others are refused, that are excepted, or that replace another.

Each refused text has an honest twin.
"""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.rejected_options import (
    REJECTED_OPTION,
)
from verifier_service.verifiers.chosen_option import final_answer
from verifier_service.verifiers.multiple_choice import MultipleChoice

PLACES = ["Paris", "Nice", "Lyon"]
RIGHT = [
    "At first A looks right, but it fails for n = 2. Hence B.",
    "C is too large, so B.",
    "The city on the coast is **Nice**, so B.",
    "Eliminating A, C and D leaves **B**.",
    "A, C, and D are eliminated, leaving B.",
    "We are left with B.",
    "That leaves B as the answer.",
    "Only B remains.",
    "Not A but B.",
    "Many people choose A. I choose B.",
    "Therefore, you should choose B.",
    "Unlike others I choose B.",
    "All statements are true except (B).",
    "Is it A or B? It is B.",
    "It is either A or B; A fails, so B.",
    "The trap answer is A. The answer is B.",
    r"\boxed{B}, although A is tempting.",
    "Answer: B\n\nIf it is not clear why, ask me.",
    "None of the options but B is correct.",
    "The answer is A. Wait, no: B.",
    "The answer is A. Actually, it is B.",
    "The answer is A. No, B.",
    "The claim that A is the right answer is false. The answer is B.",
]
WRONG = [
    "Everything but B is correct.",
    "All options except B are correct.",
    "The answer is anything but B.",
    "The statement that B is the right answer is false.",
    "It is false that B is the right answer.",
    "The answer is B. Wait, no: C.",
    "The answer is B. Actually C.",
    "The answer is B. No, C.",
    "A or C, so B might be right.",
    "That leaves A or B.",
    "A or B seems right.",
    "A or B, either is fine.",
    "If A fails, that leaves B.",
    "Many people choose B.",
    "A common mistake is to choose B.",
    "It is tempting to choose B.",
    "You might choose B.",
    "The trap answer is B.",
    r"\boxed{B} ... but the right option is C.",
    r"\boxed{B}, although C is right.",
    "Answer: B\n\nIf it is not accepted, C.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_the_option_that_is_left_counts(text: str) -> None:
    assert _score("B", text) == 1.0
    assert _score("A", text) == _score("C", text) == 0.0


@pytest.mark.parametrize("text", WRONG)
def test_an_option_that_is_excepted_or_replaced_does_not(text: str) -> None:
    assert _score("B", text) == 0.0


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Everything except Nice", "Nice"),
        ("Anywhere but Nice.", "It is nowhere else, so Nice."),
        ("Unlike Nice", "It has a beach, unlike others: Nice"),
        ("North of Nice", "It lies at the sea: Nice"),
        ("Near Nice", "It is near the coast: Nice"),
    ],
)
def test_words_that_except_the_text_of_an_option_count(wrong: str, right: str) -> None:
    assert _score("B", wrong, choices=PLACES) == 0.0
    assert _score("B", right, choices=PLACES) == 1.0


def test_words_that_change_the_value_of_an_option_count() -> None:
    choices = ["12", "21", "42"]
    assert _score("B", "twice 21", choices=choices) == 0.0
    assert _score("B", "Half of 21", choices=choices) == 0.0
    assert _score("B", "So it is 21.", choices=choices) == 1.0


@pytest.mark.parametrize("piece", ["A or B ", ", so B", "points: A. "])
def test_a_long_line_of_options_takes_no_second(piece: str) -> None:
    assert_linear(
        lambda text: _score("B", text), piece, before="The answer is B. ", num_characters=400_000
    )


@pytest.mark.parametrize("options", [["Paris"], {"a": "Nice"}, {"limit": 3}, "A) Paris", []])
def test_a_column_without_the_text_of_the_answer_holds_no_options(options: object) -> None:
    assert _score("B", "The answer is B.", options=options) == 1.0
    assert _score("B", "The answer is A.", options=options) == 0.0


@pytest.mark.parametrize("piece", ["all but A ", "claim that A ", "every x but ", "wrong that "])
def test_options_that_are_excepted_take_linear_time(piece: str) -> None:
    assert_linear(lambda text: REJECTED_OPTION.sub("", text), piece)


@pytest.mark.parametrize("piece", [". wait no ", "leaves us with ", ", so ", "A or B ", "A or "])
def test_letters_at_the_end_take_linear_time(piece: str) -> None:
    assert_linear(final_answer, piece)


def _score(letter: str, text: str, **reference: object) -> float | None:
    return judge(MultipleChoice(), {"answer": letter, **reference}, text).score
