"""Phrases that announce an answer, as prompts and models write them around it."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy

PHRASES = [
    # A remark in brackets about the form, which the usual second prompt of zero-shot reasoning has.
    ("no", "It is tails. \nTherefore, the answer (Yes or No) is No.", "yes"),
    ("yes", "Therefore, the answer (Yes or No) is: Yes, it is.", "no"),
    ("yes", "The answer (Yes or No) is Yes, an elephant could easily win.", "no"),
    ("no", "The answer is: No, you need no salt, and it takes 3 days.", "yes"),
    ("5", "2 + 3\nTherefore, the answer (arabic numerals) is 5.", "3"),
    ("B", "So the answer (A through E) is B.", "E"),
    ("1/4", "The answer (as a percentage) is 25%. The answer (as a fraction) is 1/4.", "1"),
    # A sentence is announced.
    ("10", "The answer is that 10 goldfish remained.", "0"),
    ("2", "So the answer is that there are 2 more books than action figures.", "1"),
    ("5", "The answer is that $x = 5$.", "x"),
    ("18", "The answer (arabic numerals) is: \n\nDana can travel 18 miles in six hours.", "6"),
    # A name with a point in it.
    ("Mrs. Wong", "The answer is Mrs. Wong.", "Mrs"),
    # A courtesy behind a line of blanks.
    ("2", "Therefore, the answer (arabic numerals) is 2. \n \nI hope this helps!", "helps"),
]
DENIED = [
    ("B", "The answer (B) is wrong."),
    ("5", "The answer is that it is not 5."),
    ("yes", "The answer is Yes, but it is not possible."),
    ("no", "The answer is no solution."),
    ("6", "The answer is that 5 or 6 fit."),
]


@pytest.mark.parametrize(("right", "text", "wrong"), PHRASES)
def test_a_phrase_announces_the_answer(right: str, text: str, wrong: str) -> None:
    assert judge(Accuracy(), {"answer": right}, text).reason == "equal"
    assert judge(Accuracy(), {"answer": wrong}, text).score == 0


@pytest.mark.parametrize(("reference", "text"), DENIED)
def test_a_phrase_that_denies_or_offers_several_pays_none(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0
