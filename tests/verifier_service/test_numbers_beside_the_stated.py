"""Closing sentences whose last number only says of what or for what the stated one is."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_numbers import (
    NUMBER,
    closing_result,
    without_numbers_of_others,
)
from verifier_service.mathematics.closing_remarks import without_remarks
from verifier_service.verifiers.accuracy import Accuracy

STATED = [
    ("14", "6", "Lena ends up with 14 marbles, 6 fewer than at the start."),
    ("6", "14", "She has 6 marbles now (she had 14 before)."),
    ("12", "15", "The price is 12 dollars (down from 15)."),
    ("42", "6", "So it is 42 (6 * 7 = 42)."),
    ("21", "30", "The shirt costs $21 after the discount, down from $30."),
    ("36", "18", "She spent $36, twice the $18 planned."),
    ("36", "12", "All in all, she spent $36 on 3 books at $12 apiece."),
    ("15", "6", "In total, 15 handshakes take place among the 6 people."),
    ("3", "5", "So 5 of the 12 are red, and 3 are blue."),
    ("7", "5", "After removing 5 of the 12, 7 remain."),
    ("6", "8", "Lena has 14 marbles and Tim 8, so Lena has 6 more than Tim."),
    ("30", "40", "We conclude there were **30 adults**, as 40 of the 70 people were children."),
]
COMPUTED = [
    ("1900", "After removing his fare, he will have $2000-$100 = $1900 left"),
    ("27", "Peter can save $135-$108 = $27 by buying from another bookshop"),
    ("36", "So it will take him $180/$5=36 days to pay for itself"),
    (
        "1900",
        "5% of $2000 is (5/100)*$2000 = $<<5/100*2000=100>>100\nHe has $2000-$100 = $1900 left",
    ),
    ("7", "x=<<7=7>>7"),
    ("54", "6+3+45=<<6+3+45=54>>54 books"),
    ("40", "So he sneezed 120/3=40 times"),
    ("4", "Thus, Rose had 60 - 56 = 4 incorrect answers."),
    ("5", "The root is $x=$ $5$"),
    ("2", "There are 48-46 = 2 students who cannot find a partner."),
]
NOT_COMPUTED = [
    ("5", "$5$ and $6$"),
    ("40", "So he sneezed 40 times 3 times"),
    ("4", "60 - 56 = 4 is incorrect."),
    ("4", "60 - 56 = 4 is the wrong answer."),
    ("2", "We cannot say that 48-46 = 2."),
    ("12", "x=<<12=12>>13"),
    ("9", "The bag has 3 times"),
]
NEITHER = [
    ("1", "She eats 1/4 of the 20 marbles."),
    ("4", "She eats 1/4 of the 20 marbles."),
    ("6", "There are 5 (6 if you count zero)."),
    ("6", "There are 6 (no, 5)."),
    ("6", "There are 6 (actually 5)."),
    ("14", "Lena lost 14 of the 20 marbles, so 6 are left."),
    ("14", "Lena's share is not 14 of the 20."),
    ("3", "She bought 3 books at $12 apiece on 5 days."),
    ("14", "Lena keeps 6 of the 20 marbles, 14 fewer than before."),
    ("70", "The party had 23 guests (23 * 70 = 1610)."),
]


@pytest.mark.parametrize(("stated", "other", "text"), STATED)
def test_the_stated_number_is_paid_alone(stated: str, other: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": stated}, text).score == 1.0
    assert judge(Accuracy(), {"answer": other}, text).score == 0.0


@pytest.mark.parametrize(("value", "text"), COMPUTED)
def test_a_computed_number_is_paid(value: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": value}, text).score == 1.0


@pytest.mark.parametrize(("other", "text"), [*NEITHER, *NOT_COMPUTED])
def test_another_number_is_not_paid(other: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": other}, text).score == 0.0


@pytest.mark.parametrize("piece", ["5 of the ", "5 a ", "(5 * 5 ", ", 5 fewer ", "must read 5 a "])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(without_remarks, piece, after=" (5 * 5 = 25)")
    assert_linear(closing_result, piece, num_characters=8_000)
    assert_linear(
        lambda line: without_numbers_of_others(line, [*NUMBER.finditer(line)][-3:]),
        piece,
        num_characters=8_000,
    )
