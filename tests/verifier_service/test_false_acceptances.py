"""Answers that are near a reference and not equal to it, each beside an honest one that is."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy


def boxed(answer: str) -> str:
    return f"So \\boxed{{{answer}}}."


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        # An exact number is met exactly.
        ("38", "38.0000021", "38.0"),
        ("123456789", "123456700.0", "123456789.0"),
        ("1000000", "1000000.9", "1000000.0000001"),
        ("1000000", "999999.9999", "10^6"),
        ("100!", r"9.3326215\times10^{157}", "100!"),
        (r"3 \times 10^8", r"2.9999999 \times 10^8", "300000000.0"),
        (r"\frac{1000}{3}", "333.33340", "333.33333"),
        ("1/3", "0.3333", "0.333333"),
        ("-7", "-7.0000071", "-7.00"),
        # Sides of a chain must not contradict each other.
        ("5", "3=4=5", "2+3=5"),
        ("5", "x=4=5", "x=2+3=5"),
        ("5", "x=\\frac{9}{2}=5", "x=\\frac{10}{2}=5"),
        ("100", "n=99.5=100", "n=99.96=100.0"),
        ("12", "S = 3 \\cdot 5 = 12", "S = 3 \\cdot 4 = 12"),
        # A base counts, on one side too.
        ("101", "101_2", "101_{10}"),
        ("101_2", "101", "101_2"),
        ("5", "9_2", "101_2"),
        ("27", "27_8", "33_8"),
        ("1000", "1000_3", "1000"),
        # Deviations and bounds are no values.
        ("5", "5^{+1}_{-1}", "5^{1}"),
        ("5", r"\text{at least }5", "5"),
    ],
)
def test_a_near_answer_is_wrong_and_a_right_one_is_right(
    reference: str, wrong: str, right: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, boxed(wrong)).score == 0.0
    assert judge(Accuracy(), {"answer": reference}, boxed(right)).score == 1.0


@pytest.mark.parametrize(
    ("reference", "text", "reason"),
    [
        ("7", "Possible values: 5, 6, 7", "ambiguous_answer"),
        ("7", "The candidates are 5, 6, and 7.", "ambiguous_answer"),
        ("5, 6, 7", "The numbers are 5, 6, and 7.", "equal"),
        ("5", "at least 5", "different"),
        ("5", "More than 5.", "different"),
        ("5", "You need at least 5 coins.", "equal"),
        ("2020", "It was on July 4, 2020.", "equal"),
        ("1234", "It costs 1,234", "equal"),
    ],
)
def test_the_last_line_gives_one_value(reference: str, text: str, reason: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).reason == reason


def test_a_tolerance_that_is_asked_for_holds_for_integers_too() -> None:
    for answer, score in (("38.5", 1.0), ("41", 0.0), ("42.5", 0.0)):
        found = judge(Accuracy(tolerance=0.05), {"answer": "38"}, boxed(answer))
        assert (answer, found.score) == (answer, score)
