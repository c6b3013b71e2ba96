"""Answers that are near a reference and not equal to it, each beside an honest one that is."""

from __future__ import annotations

import re
from pathlib import Path

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
        ("101_2", "5", "101"),
        ("5", "9_2", "101_2"),
        ("27", "27_8", "33_8"),
        ("1000", "1000_3", "1000"),
        ("7", "8=7", "9-2=7"),
        ("2", "x=y=3=2", "x=y=2"),
        ("255", "255_{16}", "377_8"),
        # A power of a power is not the power of the product where all are letters.
        ("a^{bc}", "(a^b)^c", "a^{cb}"),
        ("x^{mn}", "(x^m)^n", r"x^{n \cdot m}"),
        ("(p^q)^r", "p^{qr}", "(p^{q})^{r}"),
        ("a^{bc}+1", "(a^b)^c+1", "1+a^{bc}"),
        ("k x^{mn}", "k (x^n)^m", "x^{mn} k"),
        ("x^{2n}", "x^{n+2}", "(x^n)^2"),
        ("2^{mn}", "2^{m+n}", "(2^m)^n"),
        # Equations have the same solutions among the reals.
        ("x=y", r"\sqrt x=\sqrt y", "y=x"),
        ("x=y", r"\ln x=\ln y", "2x=2y"),
        ("y=2x", r"\sqrt y=\sqrt{2x}", "2x-y=0"),
        ("x=y+1", r"\log x=\log(y+1)", "x-y=1"),
        ("x+y=3", r"\sqrt x+\sqrt y=\sqrt 3", "y=3-x"),
        ("xy=1", r"\ln x+\ln y=0", "y=1/x"),
        ("y=x", r"y\ne x", "x=y"),
        ("y=x", "y<x", "x=y"),
        ("y=2x", r"2x\ne y", "2x=y"),
        (r"x\ne3", "x=3", "3!=x"),
        ("a=b+c", r"a\neq b+c", "a-b=c"),
        # Products of points, options and matrices have an order.
        ("AB", "BA", r"A \cdot B"),
        ("BA", "AB", "BA"),
        ("x=AB", "x=BA", "x=AB"),
        ("P^{-1}AP", "A", "P^{-1}AP"),
        ("A^{-1}B", "BA^{-1}", r"A^{-1} \cdot B"),
        ("B^{-1}A^{-1}", "A^{-1}B^{-1}", "B^{-1} A^{-1}"),
        (r"A \cdot B \cdot A", "A^2B", r"A B \cdot A"),
        ("A^2B", r"A \cdot B \cdot A", r"A \cdot A \cdot B"),
        ("AC, AD", "CA, DA", "AD, AC"),
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
        ("7", "Possible values are $5$, $6$, $7$", "different"),
        ("5, 6, 7", "The values are $5$, $6$, $7$", "equal"),
        ("3", "With $x=1$, $y=2$, $z=3$", "equal"),
        ("12", "Answer 1: 11\nAnswer 2: 12", "ambiguous_answer"),
        ("11, 12", "Answer 1: 11\nAnswer 2: 12", "equal"),
        ("12", "Answer 1: 12\nAnswer 2: 12", "equal"),
        ("12", "**Answer 1:** $11$\n\n**Answer 2:** $12$", "ambiguous_answer"),
        ("12", "Option 1: 11\nOption 2: 12", "ambiguous_answer"),
        ("12", "Candidate 1: 10. Candidate 2: 11. Candidate 3: 12", "ambiguous_answer"),
        ("12", "Solution #1. 11\nSolution #2. 12", "ambiguous_answer"),
        ("12", "Guess (1): 11, guess (2): 12", "ambiguous_answer"),
        ("12", "Answer 2: 12", "equal"),
        ("5", "at least 5", "different"),
        ("5", "At most 5.", "different"),
        ("5", "fewer than 5", "different"),
        ("5", "up to 5", "different"),
        ("5", "greater than 5.", "different"),
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


DOCUMENT = Path(__file__).parents[2] / "docs" / "accuracy.md"
_CELL = re.compile(r"(?<!\\)\|")


def _documented() -> list[tuple[str, str, str]]:
    """Reference, wrong and right answer of each row under `What is refused`."""
    section = DOCUMENT.read_text().partition("## What is refused")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in _CELL.split(line)[1:-1]] for line in section.splitlines()]
    return [
        (row[1].strip("`"), row[2].strip("`"), row[3].strip("`"))
        for row in rows
        if len(row) == 4 and row[1].startswith("`")
    ]


def test_the_documented_classes_are_found() -> None:
    assert len(_documented()) > 15


@pytest.mark.parametrize(("reference", "wrong", "right"), _documented())
def test_a_documented_class_holds(reference: str, wrong: str, right: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, wrong).score == 0.0
    assert judge(Accuracy(), {"answer": reference}, right).score == 1.0
