"""Answers by cases, and answers to questions that nobody asked, beside honest answers."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.cases import values_by_cases
from verifier_service.mathematics.other_questions import (
    without_next_question,
    without_other_questions,
)
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.multiple_choice import MultipleChoice

BY_CASES = [
    r"For n odd: \boxed{5}. For n even: \boxed{6}.",
    "For n odd: \\boxed{5}.\n\nFor n even: \\boxed{6}.",
    "If $n$ is odd, the answer is \\boxed{5}.\nIf $n$ is even, the answer is \\boxed{6}.",
    r"If $n$ is odd, the answer is \boxed{5}. Otherwise, the answer is \boxed{6}.",
    "Case 1: n odd. Then the answer is \\boxed{5}.\n\n"
    "Case 2: n even. Then the answer is \\boxed{6}.",
    "\\boxed{5} if n is odd.\n\\boxed{6} if n is even.",
    r"\boxed{5} for odd n, \boxed{6} for even n.",
    r"In the first case, \boxed{5}. In the second case, \boxed{6}.",
    "If $n$ is odd, the answer is 5. If $n$ is even, the answer is 6.",
    "When n is odd the answer is 5.\nWhen n is even the answer is 6.",
    "For odd n the answer is 5, for even n the answer is 6.",
    "The answer is 5 if n is odd. The answer is 6 if n is even.",
    "For n odd: 5. For n even: 6.",
    "n odd: 5\nn even: 6",
    "Odd n: 5. Even n: 6.",
    "If n is odd, the answer is \\boxed{5}. If n is even, the answer is 6.",
    "n odd gives 5 and n even gives 6.",
    "For small n the answer is 5. For large n the answer is 6.",
    "If order matters, the answer is 5. If order does not matter, the answer is 6.",
    "For $x>0$ the answer is $5$; for $x<0$ it is $6$.",
    "When n is not prime: 5. When n is prime: 6.",
]


@pytest.mark.parametrize("text", BY_CASES)
@pytest.mark.parametrize("reference", ["5", "6"])
def test_the_value_of_one_case_is_no_answer(text: str, reference: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("5, 6", "For n odd: \\boxed{5}.\n\nFor n even: \\boxed{6}."),
        ("5, 6", "If $n$ is odd, the answer is 5. If $n$ is even, the answer is 6."),
        ("3", "If x > 0, then x = 3. If x < 0, then x = -2. As x > 0, the answer is 3."),
        ("3", r"If $x<0$, then $x=-2$, a contradiction. If $x>0$, then $x = \boxed{3}$."),
        ("6", "If n is odd, we get 5.\n\nHence the answer is 6."),
        ("4", "When n = 1, the answer is 2. When n = 2, the answer is 4."),
        ("6", "For n odd there are 0. For n even there are 6."),
        ("5", "If n is odd, the answer is 5. If n is even, the answer is 5."),
        ("5", "If n is odd, the answer is \\boxed{5}. If n were even, the answer would be 6."),
        ("6", "If n is odd, we get 4. If n is even, we get \\boxed{6}."),
        ("6", "Case 1: 2. Case 2: 4. The total is 6."),
        ("6", "Case 1: n odd: 2. Case 2: n even: 4. So the total is 6."),
        ("12", "For the first day she pays 5. For both days she pays 12."),
    ],
)
def test_cases_may_lead_to_one_answer(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 1


@pytest.mark.parametrize(
    "text",
    [
        "The answer to the previous question was 42.",
        "The answer to the previous question was \\boxed{42}.",
        "In the example the answer is 42.",
        "In the example the answer is 42. Here it is 7.",
        "In the example, the answer was 42.\nI do not know.",
        "In the previous problem, the answer is 42.",
        "For the earlier exercise, we got 42.",
        "The previous question's answer is 42.",
        "The example answer is 42.",
        "The sample answer is **42**.",
        "The old answer was 42.",
        "The answer to a different question is 42.",
        "The answer to the last exercise was 42.",
    ],
)
def test_the_answer_to_another_question_is_none(text: str) -> None:
    assert judge(Accuracy(), {"answer": "42"}, text).score == 0
    letter = text.replace("42", "B").replace("7", "A")
    assert judge(MultipleChoice(), {"answer": "B"}, letter).score == 0


@pytest.mark.parametrize(
    "text",
    [
        "The answer to the previous question was 42. The answer here is 7.",
        "The answer to the previous question was 42.\nHere it is 7.",
        "In the example the answer is 42. Here it is 7.",
        "The old answer was 42, but the new answer is 7.",
        "In this example the answer is 7.",
        "The answer to the question is 7.",
        "The answer to the problem above is 7.",
        "For example, the answer to 3 + 4 is 7.",
        "We found 42 in the previous step. The answer is 7.",
        "My previous answer is 7.",
        "In the given example, the answer is 7.",
        "For the sample, the result is 7.",
    ],
)
def test_the_answer_beside_that_of_another_question_is_read(text: str) -> None:
    assert judge(Accuracy(), {"answer": "7"}, text).score == 1


@pytest.mark.parametrize(
    "piece", ["If n is odd: 5. ", "for ", ": (* ", "Case 2: n even. Then ", "5 if "]
)
def test_cases_are_found_in_linear_time(piece: str) -> None:
    assert_linear(values_by_cases, piece)


@pytest.mark.parametrize(
    "piece", ["In the example ", "the answer to the example is ", "the old old "]
)
def test_other_questions_are_found_in_linear_time(piece: str) -> None:
    assert_linear(without_other_questions, piece)


GOES_ON = [
    "The answer is {a}.\n\nQuestion: How many are left?\nThe answer is {b}.",
    "So it is \\boxed{{{a}}}.\n\n**Problem:** Another one.\n\nIt is \\boxed{{{b}}}.",
    "Answer: {a}\nQ: What else?\nA: {b}",
    "The answer is {a}.<|im_start|>user\nAnd now?\n<|im_start|>assistant\nThe answer is {b}.",
    "The answer is {a}.\n\nHuman: And now?\n\nAssistant: The answer is {b}.",
    "{a}\n\nQuestion: How many are left?\nThe answer is {b}.",
    "### Answer: {a}\r\n\r\n### Question: What else?\r\n\r\nAnswer: {b}",
]


@pytest.mark.parametrize("text", GOES_ON)
@pytest.mark.parametrize(
    ("verifier", "own", "other"), [(Accuracy(), "7", "8"), (MultipleChoice(), "C", "B")]
)
def test_a_completion_that_goes_on_with_a_question_has_answered_before(
    verifier: Accuracy | MultipleChoice, own: str, other: str, text: str
) -> None:
    text = text.format(a=own, b=other)
    assert judge(verifier, {"answer": own}, text).score == 1
    assert judge(verifier, {"answer": other}, text).score == 0


@pytest.mark.parametrize(
    "text",
    [
        "Question: How many first?\nAnswer: 7\nQuestion: And then?\nAnswer: 8",
        "We ask twice.\n\nQuestion: How many first?\nAnswer: 7\n\nQuestion: And then?\nAnswer: 8",
        "We know that there are 7.\n\nProblem: one is missing.\n\nThe answer is 8.",
        "The problem has two parts.\nQ: how many in all? We count.\nThe answer is 8.",
    ],
)
def test_a_question_that_leads_to_the_answer_is_part_of_the_solution(text: str) -> None:
    assert judge(Accuracy(), {"answer": "8"}, text).score == 1
    assert judge(Accuracy(), {"answer": "7"}, text).score == 0


@pytest.mark.parametrize(
    "text",
    [
        "Problem: 2+2?\nThe answer is 4.<|im_start|>user\n3+3?<|im_end|>\n<|im_start|>assistant\n"
        "The answer is 6.",
        "Problem: 2+2?\nThe answer is 4.\n\nHuman: 3+3?\n\nAssistant: The answer is 6.",
        "Problem: 2+2?\nThe answer is 4.\n[INST] 3+3? [/INST]\nThe answer is 6.",
        "I add.\n\nFirst, 2+2. The answer is 4.\n\nProblem: Find 3+3.\n\nThe answer is 6.",
        "Hence, answer = 4.\n\nProblem: Find 3+3.\n\nThe answer is 6.",
        "**Final Answer:** 4\n\nProblem: Find 3+3.\n\nThe answer is 6.",
        "I will answer this: see below.\n\nProblem: Find 2+2.\n\nThe answer is 4.",
        "The answer is explained below.\n\nProblem: Find 2+2.\n\nThe answer is 4.",
        "Let me answer the following question step by step: first I restate it.\n\n"
        "**Problem:** Find 2+2.\n\nThe answer is 4.",
        "For part one the answer is 6.\n\nProblem: part two\n\nThe answer is 4.",
        "In the first part we get \\boxed{6}.\n\nProblem: part two\n\nThe answer is \\boxed{4}.",
    ],
)
def test_only_an_answered_question_ends_the_completion(text: str) -> None:
    assert judge(Accuracy(), {"answer": "4"}, text).reason == "equal"
    assert judge(Accuracy(), {"answer": "6"}, text).reason == "different"


@pytest.mark.parametrize(
    "piece", ["\nQuestion: ", "The answer is ", "\n", "answer is 5\n", "[INST]", "\nQ", "\nUser:"]
)
def test_next_questions_are_found_in_linear_time(piece: str) -> None:
    assert_linear(without_next_question, piece)
