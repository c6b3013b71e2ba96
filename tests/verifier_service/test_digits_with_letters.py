"""Digits in a base above ten, which have letters and are no products."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy


def reason(right: str, answer: str) -> str:
    return str(judge(Accuracy(), {"answer": right}, f"<answer>{answer}</answer>").reason)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        *(("2c7b7", "2b7c7"), ("9gf0", "9hf0"), ("a0f", "b0c"), ("9gf0", "0"), ("b1c2", "c2b1")),
        *(("0x10", "0x20"), ("0x10", "0x0"), ("a1a2", "a2a1"), ("3x4", "4x3")),
    ],
)
def test_other_digits_are_another_number(right: str, wrong: str) -> None:
    assert reason(right, right) == "equal"
    assert reason(right, rf"\text{{{right}}}") == "equal"
    assert reason(right, wrong) == "different"
    assert reason(wrong, right) == "different"


@pytest.mark.parametrize(
    ("right", "answer"),
    [
        *(("1e5", "100000"), ("3x2y", "6xy"), ("1h30", "90 min")),
        *(("C6H12O6", r"\text{C6H12O6}"), ("0", "0x0"), ("0x0", "0x00"), ("0", "0b0")),
        *(("m1m2", "m2m1"), ("R1R2", "R2R1"), ("sin30cos60", "cos60sin30")),
        *(("2x3x5", "5x3x2"), ("2x3x5", "2 x 3 x 5")),
    ],
)
def test_times_powers_of_ten_and_products_stay_what_they_are(right: str, answer: str) -> None:
    assert reason(right, answer) == "equal"


def test_long_words_of_digits_and_letters_take_linear_time() -> None:
    assert_linear(lambda text: reason(text, text + "1"), "a1", num_characters=8_000)
