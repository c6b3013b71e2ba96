"""Words with which texts end: parts, chances, verdicts, points, bounds of letters, signs of logic.

Each right text has a twin that must not be paid.
"""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_remarks import without_remarks
from verifier_service.mathematics.last_line import last_expression
from verifier_service.mathematics.plain_text import text_key
from verifier_service.verifiers.accuracy import Accuracy

RIGHT = [
    # Parts and chances
    ("1/6", "The probability is one sixth."),
    ("5/7", "five sevenths"),
    ("1/6", "The chance is 1 out of 6."),
    ("1/6", "There is a 1 out of 6 chance."),
    # Ordinals and set phrases
    ("7th", "the seventh"),
    ("infinitely many", "There are infinite solutions."),
    ("infinitely many solutions", "infinite"),
    # Verdicts
    ("Yes", "Yes, it is possible."),
    ("No", "No, it is not possible."),
    # Points and bounds
    ("(2, -1), (3, 4)", "The points are (2, -1) and (3, 4)."),
    ("(2, -1), (3, 4)", "They meet at (3, 4), (2, -1)."),
    ("x > 3", "So x is greater than 3."),
    ("x \\le 3", "Therefore, x must be at most 3."),
    ("4", "So n must be at least 4."),
    ("1/6", "If a die is rolled, the chance is 1 out of 6."),
    ("(2, -1), (3, 4)", "If x is real, the points are (2, -1) and (3, 4)."),
    ("(2, -1), (3, 4)", "The other points are (2, -1) and (3, 4)."),
    # Remarks
    ("16", "In total: 8 + 8 = 16 (8 from each half)."),
    ("16", "There are 16 ways (8 for each colour)."),
    ("x = 1", r"\boxed{x = 1 \text{ (double root)}}"),
    ("1", r"\boxed{1 \text{ (with multiplicity 2)}}"),
    # Signs of logic
    (r"p \land \neg q", r"$p \wedge \lnot q$"),
    (r"p \to q", "p → q"),
]
WRONG = [
    ("1/6", "The probability is five sixths."),
    ("5/7", "seven fifths"),
    ("1/6", "The chance is 1 out of 60."),
    ("1/6", "There is no 1 out of 6 chance here, but 1/7."),
    ("7th", "the seventeenth"),
    ("7th", "the seventh or eighth"),
    ("no solution", "There are infinite solutions."),
    ("Yes", "Yes, it is possibly so."),
    ("No", "No, it is possible."),
    ("No", "Yes, it is not possible."),
    ("Yes", "Yes, it is possible, I guess."),
    ("(3, 4)", "The points are (2, -1) and (3, 4)."),
    ("(2, -1), (3, 4)", "The points are (2, -1), (3, 4) and (0, 0)."),
    ("(2, -1), (3, 4)", "The points are (2, -1) or (3, 4)."),
    ("(2, -1), (3, 4)", "If the points are (2, -1) and (3, 4)."),
    ("(2, -1), (3, 4)", "We reject the points (2, -1) and (3, 4)."),
    ("(2, -1), (3, 4)", "I doubt the points are (2, -1) and (3, 4)."),
    ("1/6", "It is false that the chance is 1 out of 6."),
    ("1/6", "If the coin were fair, the chance is 1 in 6."),
    ("3", "So x is greater than 3."),
    ("x > 3", "So x is at least 3."),
    ("8", "In total: 8 + 8 = 16 (8 from each half)."),
    ("1", r"\boxed{1 \text{ (double the radius)}}"),
    ("2", r"\boxed{1 \text{ (with multiplicity 2)}}"),
    (r"p \land \neg q", r"$p \vee \lnot q$"),
    (r"p \to q", "q → p"),
]


@pytest.mark.parametrize(("reference", "text"), RIGHT)
def test_a_closing_text_gives_its_answer(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 1.0


@pytest.mark.parametrize(("reference", "text"), WRONG)
def test_a_closing_text_gives_no_other_answer(reference: str, text: str) -> None:
    if reference.startswith("p"):  # nothing but the same text is known to be equal
        assert text_key(reference) != text_key(text)
    else:
        assert judge(Accuracy(), {"answer": reference}, text).score == 0.0


@pytest.mark.parametrize(
    "piece", ["(1, 2), ", "are (1, 2) and ", "1 out of ", "is possible ", " ("]
)
def test_closing_texts_take_linear_time(piece: str) -> None:
    assert_linear(last_expression, piece)
    assert_linear(without_remarks, piece)


@pytest.mark.parametrize("piece", ["\\lnot", "1 (double root) ", "→"])
def test_keys_take_linear_time(piece: str) -> None:
    assert_linear(text_key, piece)
