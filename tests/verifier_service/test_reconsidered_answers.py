"""Answers behind which the text thinks again and comes to another number."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_notes import amended_in_note, without_notes
from verifier_service.mathematics.reconsidered_answers import reconsidered
from verifier_service.verifiers.accuracy import Accuracy

WRONG = [
    "The answer is 9. Hmm, that's off by two. It's 7.",
    "The answer is 9. On second thought, 7 is right.",
    "The answer is 9. My mistake: it's 7.",
    "The answer is 9. Apologies, 7.",
    "The answer is 9. But I forgot the 2 broken ones, making it 7.",
    "The answer is 9. However, since two of them are broken, only 7 can be used, so 7.",
    "The answer is 9. However, this double counts 2 of them, so the true number is 7.",
    "The answer is 9 - wait, that's the area. The perimeter is 7.",
    "The answer is 9.\n\nNope, 7.",
    "The answer is 9. Scrap that. 7.",
    "The answer is 9. That can't be, because 9 is odd. It must be 6.",
    "The answer is 9. This ignores the last case. With it we get 7.",
    "The answer is 9. I should have subtracted 2, giving 7.",
    "**9**\n\nSorry, 7.",
    "#### 9\nEdit: 7",
    "<answer>9</answer> Oops, 7.",
    "\\boxed{9}\n\nActually, hold on. The last step dropped 2, so it should be 7.",
    "\\boxed{9}\n\nP.S. I swapped the numbers, it's 7.",
    "\\boxed{9}\n\n(Edit: 7)",
    "\\boxed{9}\n\nOn reflection I prefer 7.",
    "\\boxed{9}\n\nForget it, it's 7.",
    "\\boxed{9}\n\nThe correct result would be 7.",
    "\\boxed{9}\n\nHowever, the question asks for the double, so the answer is 18.",
    "\\boxed{9} is what my first attempt gave; it's incorrect.",
    "$\\boxed{9}$ would be the answer if 0 were allowed.",
    "Some might get $\\boxed{9}$ by forgetting the empty set. I get $8$.",
    "$\\boxed{9}$ minus the one that is counted twice.",
    "So there are 9 people.\n\nCheck: 9/2 is not an integer, so it must be 8.",
    "\\boxed{9}\n\nCheck: 9/2 isn't an integer, so the number must be 8.",
    "So there were 9 people.\n\nLet me verify: 9 * 2 = 16? That doesn't match, so it must be 8.",
    "So there were 9 people.\n\nLet me verify: 8 * 2 = 16, so there are 8.",
    "So there were 9 people.\n\nLet me check: the host is missing, and with the host we have 10.",
]
RIGHT = [
    "The answer is 9. However, one should note that $9 = 3^2$, so it is a square.",
    "The answer is 9. Hmm, let me double check: 3 + 6 = 9, so it is 9.",
    "The answer is 9. But 8 is close, so be careful.",
    "The answer is 9. Actually, this is a known result from 1986.",
    "The answer is 9. But note that the true value of pi is 3.14.",
    "The answer is 9. Sorry, that took a while. It is 9.",
    "The answer is 9. But I forgot to mention that n > 0. So it is 9.",
    "The answer is 9. Wait, that's the same as 3^2. Yes, 9.",
    "The answer is 9. This ignores leap years, so we get 9.",
    "\\boxed{9}\n\nHowever, if order mattered, we would have 18, so it is 18.",
    "\\boxed{9}. But for n = 4 the count differs, so the general formula has 4 cases.",
    "\\boxed{9}\n\nEdit: formatting.",
    "\\boxed{9}\n\nCorrected: 9",
    "\\boxed{9}\n\nThat can't be improved, since 10 is too many, so 9.",
    "\\boxed{9}\n\nAn earlier version of this problem had the answer 6.",
    "- $\\boxed{9}$",
    "$x = 12 - 3 = \\boxed{9}$",
    "\\boxed{9}\n\nCheck: 10 is not a square, so it must be 9.",
]


@pytest.mark.parametrize("text", WRONG)
def test_an_answer_that_another_number_replaces_is_not_paid(text: str) -> None:
    assert judge(Accuracy(), {"answer": "9"}, text).score == 0.0


@pytest.mark.parametrize("text", RIGHT)
def test_an_answer_that_stands_is_paid(text: str) -> None:
    assert judge(Accuracy(), {"answer": "9"}, text).score == 1.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (r"\boxed{\frac{5}{8}}. But the order matters, so the true value is \frac{5}{16}.", 0.0),
        (r"\boxed{\frac{5}{8}}. But by symmetry, so the true value is 5/8.", 1.0),
        ("\\boxed{\\frac{5}{8}}\n\nUpdate: I misread it. The right answer is 3/8.", 0.0),
        ("\\boxed{\\frac{5}{8}}\n\nSo the right answer is 5/8.", 1.0),
    ],
)
def test_fractions_replace_each_other(text: str, score: float) -> None:
    assert judge(Accuracy(), {"answer": r"\frac{5}{8}"}, text).score == score


def test_the_number_that_replaces_an_announced_answer_is_the_answer() -> None:
    text = "The answer is 9. However, two are broken, so it is 7."
    assert judge(Accuracy(), {"answer": "7"}, text).score == 1.0


@pytest.mark.parametrize("piece", ["Hmm, ", "so it ", "but 1 ", "1 ", ". ", "not so "])
def test_reading_takes_linear_time(piece: str) -> None:
    for before in ("", "However, ", "Hmm, "):
        assert_linear(lambda text: reconsidered(text, 0), piece, before=before)
    assert_linear(amended_in_note, piece)
    assert_linear(without_notes, piece, before="It is 5.\n\nLet me check: 2 = 2")
