"""Answers that a later sentence denies, or replaces with another value.

Each refused text has an honest twin.
"""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.withdrawn_answers import (
    is_denied_later,
    value_instead,
)
from verifier_service.verifiers.accuracy import Accuracy

WRONG = [
    "So $x = 7$.\n\n*Verification:* 3(7) + 2 = 24, which fails, so x = 7 is not the answer.",
    r"So \boxed{7}." + "\n\nCheck: 3(7) + 2 = 24, so 7 is not the answer.",
    "So $x = 7$.\n\nCheck: $x = 7$ does not work.",
    "The answer is x = 7.\n\nNote that x = 7 isn't a solution.",
    r"I was told \boxed{7} but I calculate 9.",
    r"They said \boxed{7}, but the correct value is 9.",
    "#### 7\n7 is not the answer.",
    r"\boxed{7 dollars}. Of course, 7 is not the answer.",
]
RIGHT = [
    "So $x = 7$.\n\n*Verification:* 3(7) + 2 = 23, so x = 8 is not the answer.",
    "So $x = 7$.\n\nCheck: x = -7 does not work.",
    r"There are \boxed{7} integers." + "\n\nNote that n = 7 is not a solution, but n = 9 is.",
    "So $x = 7$.\n\nCheck: x = 7 is not the answer if y > 0. But y < 0, so it is 7.",
    r"The book says 9, but I found \boxed{7}.",
    r"One expects 9, but it is \boxed{7}, but I get 7 as well.",
    r"\boxed{7}. Twice 7 is not the answer, since we count pairs once.",
    r"\boxed{7}. If 7 is not the answer in the book, tell me.",
    r"\boxed{7}. 5.7 is not the answer.",
    r"\boxed{x = 7}. Every value except x = 7 fails.",
    r"\boxed{7}, but we get 7.2 before rounding.",
]


@pytest.mark.parametrize("text", WRONG)
def test_an_answer_that_is_denied_later_is_none(text: str) -> None:
    assert judge(Accuracy(), {"answer": "7"}, text).reason == "no_answer"


@pytest.mark.parametrize("text", RIGHT)
def test_a_denial_of_another_value_says_nothing(text: str) -> None:
    assert judge(Accuracy(), {"answer": "7"}, text).score == 1.0


def test_a_denial_of_a_part_of_an_answer_says_nothing() -> None:
    denied = r"\boxed{\sqrt{2}}. Note that 2 is not the answer."
    assert judge(Accuracy(), {"answer": r"\sqrt{2}"}, denied).score == 1.0
    denied = r"\boxed{x = 3k}. Note that x = 3 is not a solution."
    assert judge(Accuracy(), {"answer": "x = 3k"}, denied).score == 1.0


@pytest.mark.parametrize(
    "thought", ["On second thought, it is", "Wait, it is", "Actually, it's", "Correction: it is"]
)
def test_the_value_that_replaces_an_announced_one_counts(thought: str) -> None:
    text = f"The answer is 7. {thought} 9."
    assert judge(Accuracy(), {"answer": "9"}, text).score == 1.0
    assert judge(Accuracy(), {"answer": "7"}, text).score == 0.0
    assert judge(Accuracy(), {"answer": "9"}, f"{text} Or 8.").score == 0.0


@pytest.mark.parametrize(
    "piece", ["x = 7 ", "7 is not ", "$7$ fails ", "is not the answer ", "so 7 is "]
)
def test_denials_take_linear_time(piece: str) -> None:
    assert_linear(lambda text: is_denied_later(text, 0, "8"), piece)
    assert_linear(lambda text: value_instead(text, 0), piece)
