"""Texts that go through the options of a question and choose one of them at their end."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.announcements import announcements
from verifier_service.verifiers.multiple_choice import MultipleChoice

LIST = "\n\n* **A. lead:** It is too heavy.\n* **B. tin:** It fits.\n* **C. zinc:** Too light."
RIGHT = [
    f"Let's analyze each option:{LIST}\n\nThe metal is **B. tin**.",
    f"**Analyzing the Options:**{LIST}\n\nThe answer is B.",
    f"The correct answer is **B. tin**.\n\nLet's look at the other options:{LIST}\n\nSo tin fits.",
    f"The options for this metal:{LIST}\n\n**Conclusion:**\n\nThe metal is **Option B: tin**.",
    "Let's evaluate the options:\n- **Option A: lead** - heavy.\n- **Option B: tin** - fits.\n\n"
    "Therefore, the most likely metal is **B. tin**.",
    "The correct answer is **B. tin**.\n\nThe other options are less likely:\n\n"
    "* **A. lead:** heavy.\n* **C. zinc:** It is light, and not the answer.",
    "The options are:\nA. lead\n\nB. tin\n\nC. zinc\n\nSo the answer is B.",
    "The correct option:\nB. tin\n\nA. lead is too heavy.",
    "B) None of the above options",
    "The answer is (B): none of these options.",
    "**B** - none of the other answers make sense.",
    "None of the options except B is correct, so B.",
    "Correct option:\n\n**B. tin**\n\n**A. lead** is too heavy.",
    "**B. tin**\n\nExplanation: the metal is light, so A is wrong.",
]
NOT_CHOSEN = [
    f"Let's analyze each option:{LIST}\n\nI cannot decide.",
    f"Let's analyze each option:{LIST}\n\nThe metal is not **A. lead**.",
    f"Let's analyze each option:{LIST}\n\nThe metal might be **A. lead**.",
    "None of the provided options (A, B, C) are correct.",
    *(
        f"Lead, tin or zinc?\nThe {words} is **A. lead**."
        for words in ("wrong answer", "incorrect one", "least likely", "trap", "false statement")
    ),
    "The answer is A. The other options are B and C.",
    "The answer is A. Other options are: B",
    "The answer is A. Other options: B",
    "Therefore, none of these options (A) is correct.",
    "**A. lead**\n\nActually, B is lighter.",
    "**A. lead** is wrong.\n\nExplanation: the metal is light.",
    "**A. lead**\n\nThis one is incorrect.",
    "**A. lead**\n\nExplanation: it is incorrect.",
    "**A. lead**\n\nOn second thought, B.",
    "**A. Analysis**\n\nThe metal fits best with tin.",
    "A. lead\nB. tin\n\nExplanation: the metal is light.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_the_option_that_is_chosen_counts(text: str) -> None:
    assert _score("B", text) == 1.0
    assert _score("A", text) == _score("C", text) == 0.0


@pytest.mark.parametrize("text", NOT_CHOSEN)
def test_the_first_option_that_is_looked_at_is_no_answer(text: str) -> None:
    assert _score("A", text) == 0.0


def test_an_option_is_the_answer_where_the_text_is_an_option_of_the_question() -> None:
    choices = {"A": "6", "B": "None of the other options"}
    completion = "The answer is: None of the other options"
    judgement = judge(MultipleChoice(), {"answer": "B", "choices": choices}, completion)
    assert judgement.score == 1.0


@pytest.mark.parametrize("piece", ["options:\n* A. x ", "the options:\n\nA. ", "options:\n*"])
def test_headings_of_options_take_linear_time(piece: str) -> None:
    assert_linear(lambda text: list(announcements(text, 0, len(text))), piece)


def _score(letter: str, text: str) -> float | None:
    return judge(MultipleChoice(), {"answer": letter}, text).score
