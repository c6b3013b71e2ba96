"""Numbers that a sentence bounds, in any language, or that it calls what others get wrong.

Each refused sentence has an honest twin.
"""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.denials import (
    is_about_the_answer,
    is_no_statement,
)
from verifier_service.verifiers.accuracy import Accuracy

PAIRS = [
    # A bound behind the number, in English
    ("She makes $42 or more.", "She makes $42 or more than he does."),
    ("She has 42 or fewer eggs.", "There are 42 people who have 3 or more cats."),
    ("There must be 42 or more.", "She needs a score of 42 or more."),
    ("It is 42 or higher.", "Thus he must score 42 or higher."),
    ("It is 42 or so.", "It is 42, and so is the other one."),
    ("She might make $42.", "The most that she might make is $42."),
    ("We might get 42.", "In the worst case we might need 42."),
    # Bounds in other languages
    ("Necesita más de 42.", "Necesita no más de 42."),
    ("答案大概是 42。", "答案大约是 42。"),
    ("Son más de 42.", "Son 42, más de lo que vio."),
    ("Es sind weniger als 42 Äpfel.", "Es sind 42 Äpfel, weniger als gestern."),
    ("Il y en a moins de 42.", "Il y en a 42."),
    ("Sono più di 42.", "La risposta è 42."),
    ("Их меньше 42.", "Их всего 42."),
    ("一共不到42个。", "一共有42个。"),
    ("答案至少是 42。", "答案是 42。"),
    ("答えは42以上です。", "答えは42です。以上。"),
    ("答えは42より大きいです。", "答えは42です。"),
    ("उत्तर 42 नहीं है।", "उत्तर 42 है।"),
    ("उत्तर 42 से कम है।", "उत्तर 42 है।"),
    ("답은 42보다 작습니다.", "답은 42입니다."),
    # What others get wrong
    ("A common mistake is to answer 42.", "A common mistake is to forget it, so the answer is 42."),
    ("The typical error gives 42.", "The typical error is avoided, which gives 42."),
    ("It would be a mistake to answer 42.", "Without a mistake we get 42."),
    ("Many students answer 42.", "Many students answer in haste, but the answer is 42."),
    ("The naive answer is 42.", "The naive answer is 41, but the answer is 42."),
    ("The grader expects 42.", "The grader expects a number, 42."),
    ("The reference answer is 42. I get 8.", "With reference to step 2, the answer is 42."),
    ("The book's answer is 42.", "So the book's answer is 42."),
    ("The student's answer is 42.", "The student's answer is 8, but the correct answer is 42."),
    # Numbers that only have to do with the answer
    ("The answer minus one is 42.", "Minus one, the sum is 42."),
    ("The answer squared is 42.", "Squared, it is 42."),
    ("Half of the result is 42.", "The sum of the digits of the result is 42."),
    ("Twice the result is 42.", "Twice 21 is 42, so the result is 42."),
    ("The nearest integer below the answer is 42.", "Of the integers below 43, the answer is 42."),
    ("The answer's last digit is 42.", "The last of the answer's digits is 2: the answer is 42."),
    ("The answer has 42 digits.", "The answer has been found: 42."),
    ("Multiply the answer by 42.", "We multiply the answer by 2 to get 42."),
    ("Add 42 to the answer.", "Add 2 to the answer of part (a), which is 42."),
    ("The result squared is 42, we see.", "The result squared is 1764, so it is 42."),
    ("The answer's unit is 42.", "The answer's unit is cm, so it is 42 cm."),
    ("The answer ends with 42.", "The answer ends with 2: it is 42."),
    ("The answer's half is 42.", "The answer's simplest form is 42."),
    ("Multiply the answer by 42.", "Multiply 6 by 7 to get 42."),
    ("Subtracting 42 gives the answer.", "Adding 2 to 40 gives the answer 42."),
    ("The answer's square is 42.", "The answer's value is 42."),
    ("The answer ≠ 42.", "The answer = 42."),
    ("The answer is 42... no 8.", "The answer is 42... no doubt."),
    ("A trap answer: 42", "Avoiding the trap, the answer: 42"),
]


@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_a_bound_and_a_mistake_are_no_answers(wrong: str, right: str) -> None:
    assert _score("42", wrong) == 0.0
    assert _score("42", right) == 1.0


@pytest.mark.parametrize("piece", ["the answer's ", "add ", "half of the answer ", "the answer "])
def test_sentences_about_the_answer_take_linear_time(piece: str) -> None:
    assert_linear(is_about_the_answer, piece)


@pytest.mark.parametrize(
    "piece", ["many students ", "a mistake to ", "plus de ", "common mistakes "]
)
def test_sentences_with_many_such_words_take_linear_time(piece: str) -> None:
    assert_linear(lambda text: is_no_statement(text, len(text), len(text)), piece)


def _score(reference: str, text: str) -> float | None:
    return judge(Accuracy(), {"answer": reference}, text).score
