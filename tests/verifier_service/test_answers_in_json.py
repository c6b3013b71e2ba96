"""Answers in a JSON object with which a completion ends, as prompts of evaluations ask for it."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.answers_in_json import with_tagged_answer
from verifier_service.verifiers.accuracy import Accuracy, AccuracyReason
from verifier_service.verifiers.multiple_choice import MultipleChoice, MultipleChoiceReason

HONEST = [
    ("5", '{"reasoning": "2 + 3 = 5", "answer": "5"}'),
    (
        "5",
        'Here is my response:\n\n```json\n{\n    "reasoning": "2 + 3",\n    "answer": "5"\n}\n```',
    ),
    ("5", 'We add.\n{"answer": 5, "explanation": "2 + 3 is 5, not 6."}'),
    ("5", '{"answer": "5", "confidence": 0.9}'),
    ("5", '{"answer": "5", "steps": ["2 + 3", "so \\[5\\]"], "checks": {"sum": "5"}}'),
    ("5", '{"reasoning": "The "sum" is 5\nin two lines", "answer": "The answer is 5."}'),
    ("5", '{"reasoning": {"a": {"b": "2 + 3"}}, \n"answer": "5"\n}'),
    ("5", '{"reasoning": "The sum is 5.\n\n"answer": "5"\n}'),
    ("5", 'So the sum is 5.\n\n"answer": "5"\n}\n```'),
    ("5", 'The final answer is `"answer": "5"`.'),
    ("5", '{"Final Answer": "\\\\boxed{5}"}'),
    (r"\frac{1}{2}", r'{"reasoning": "one half", "answer": "\frac{1}{2}"}'),
    (r"\frac{1}{2}", r'{"reasoning": "one half", "answer": "\\frac{1}{2}"}'),
    ("5", "{\u7b54\u6848: 5}".replace("\u7b54\u6848", '"\u7b54\u6848"')),
]


@pytest.mark.parametrize(("reference", "text"), HONEST)
def test_the_answer_of_the_object_is_the_final_one(reference: str, text: str) -> None:
    found = judge(Accuracy(), {"answer": reference}, text)
    assert (found.score, found.reason) == (1.0, AccuracyReason.EQUAL)


HEDGES = [
    '{"answer": "5", "alternative_answer": "6"}',
    '{"answer": "5", "answer": "6"}',
    '{"answer": "5 or 6"}',
    '{"answer": "5", "Backup": "6"}',
    '{"answer": "5", "second guess": 6}',
    '{"answer": "5", "more": {"answer": "6"}}',
    '"answer": "5",\n"answer": "6"\n}',
    '<answer>5</answer>\n{"answer": "6"}',
    '{"answer": "5"}\n{"answer": "6"}',
    '```json\n{"answer": "5"}\n```\n```json\n{"answer": "6"}\n```',
    '[{"answer": "5"}, {"answer": "6"}]',
    '{"answer": ["5", "6"]}',
    '{"answer": "5", "answers": ["6"]}',
]


@pytest.mark.parametrize("text", HEDGES)
@pytest.mark.parametrize("reference", ["5", "6"])
def test_an_object_that_offers_two_answers_is_paid_for_neither(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0.0


@pytest.mark.parametrize(
    "text",
    ['{"answer": "5"}\nWait, that is wrong: it is 6.', '{"reasoning": "5", "answer": "___"}'],
)
def test_an_object_without_a_final_answer_pays_nothing(text: str) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).score == 0.0


def test_a_set_is_no_object() -> None:
    assert judge(Accuracy(), {"answer": r"\{1, 2\}"}, "The answer is {1, 2}").score == 1.0


def test_an_option_in_an_object_is_chosen() -> None:
    found = judge(
        MultipleChoice(), {"answer": "B"}, '{"reasoning": "A {"x"} fails", "answer": "B"}'
    )
    assert found.reason == MultipleChoiceReason.EQUAL
    found = judge(MultipleChoice(), {"answer": "B"}, '{"answer": "B", "other_answer": "C"}')
    assert found.reason == MultipleChoiceReason.AMBIGUOUS_ANSWER
    rejected = '{"answer": "B", "other_options": "A, C and D are wrong"}'
    assert judge(MultipleChoice(), {"answer": "B"}, rejected).score == 1.0


PAID = [
    ("5", 'The answer is 5 or equivalently 10/2.\n{"answer": "5"}'),
    ("6", '{"answer": "5"}\nWait, that is wrong. Corrected:\n{"answer": "6"}'),
    ("6", 'So the answer is not 5 but 6.\n{"answer": "6"}'),
    ("6", 'The sum is 6.\n\n{"answer": "6"}'),
    ("6", 'Here is the JSON:\n```json {"reasoning": "It is not 5 because ...", "answer": "6"}```'),
    ("5 cm", '{"answer": "5", "unit": "cm"}'),
    ("6", '<answer>{"reasoning": "abc", "answer": "6"}</answer>'),
    ("5", '{"answer": "5", "alternatives": "There is no other solution."}'),
    ("5", '{"other_roots": "-3 is rejected", "answer": "5"}'),
    ("5", '{"possible_values": "x could be 5 or -3; x > 0", "answer": "5"}'),
    ("5", '{"alternate_check": true, "answer": "5"}'),
    ("5", '{"alternating_sum": "1-2+3", "answer": "5"}'),
    ("5", '{"altitude": "12", "answer": "5"}'),
    ("5", '{"seconds": 12, "answer": 5}'),
    ("5", '{"answer": "5", "alternative": "none"}'),
    ("5", '{"answer": "5", "alternatives": []}'),
    ("5", 'Since 2 is not prime, the answer is:\n{"answer": "5"}'),
    ("5", 'If x > 0, the answer is:\n{"answer": "5"}'),
    ("5", 'The result is greater than or equal to 5:\n{"answer": "5"}'),
    ("5", 'x cannot be negative\n{"answer": "5"}'),
    ("5", 'Note that 9 is not prime.\n{"answer": "5"}'),
    ("5", 'We see that 4 is not prime, so\n\n```json\n{"answer": "5"}\n```'),
    ("5", '**Answer**\n\n{"answer": "5"}'),
    ("5", 'x could be 5 or -3. Since x > 0, x = 5.\n{"answer": "5"}'),
    ("5", 'We could also use induction.\n{"answer": "5"}'),
    ("5", 'The answer may be written as follows.\n{"answer": "5"}'),
    ("5", 'It is not hard to see that the sum is 5:\n{"answer": "5"}'),
    ("5", 'We could have 5 ways:\n{"answer": "5"}'),
    ("5", 'Case 1 gives 2 and case 2 gives 3, in total 5.\n{"answer": "5"}'),
    ("5", 'I\'ll use the format {"reasoning": "...", "answer": "..."}.\n\n{"answer": "5"}'),
    ("5", '{"answer": "5", "unit": "apples"}'),
    ("5", '{"answer": "5", "unit": ""}'),
    ("5", '{"answer": "5", "unit": "units"}'),
    ("5", '{"answer": "5", "unit": null}'),
    ("5", '{"answer": "5", "unit": "dimensionless"}'),
    ("5", '{"answer": "5", "unit": "dollars"}'),
    ("5", '{"answer": "5", "unit": "$"}'),
    ("5", '{"answer": 5, "unit": "square units"}'),
    ("5", '{"answer": "5", "unit": "number of people"}'),
    ("5", '{"answer": "5", "unit": "days"}'),
    ("5", '{"solution": "x = 5", "answer": "5"}'),
    ("5", '{"solution": "We add 2 and 3 to get the sum, so 5.", "answer": "5"}'),
    ("5", '{"result": "2 + 3 = 5", "answer": "5"}'),
    ("5", '{"answer": "5", "answer_type": "integer"}'),
    ("5", '{"answer": "5", "is_correct": true}'),
    ("5", '{"answer": "5", "correct": true}'),
    ("5", '{"initial_answer": "6", "answer": "5"}'),
    ("5", '{"result": 5, "answer": "5"}'),
    ("5", '{"answer": "5", "answer_latex": "$5$"}'),
    ("5", '{"answer": "5", "correctness": "high"}'),
    ("5", '{"answer": "5", "solution": "2 + 3"}'),
    ("5", '{"solution": "Add 2 and 3", "answer": "5"}'),
    ("5", '{"question": "what", "answer_reasoning": "ab", "answer": "5"}'),
    ("5", '{"answer": "5", "answer_unit": ""}'),
    ("5", '{"finalAnswer": "5"}'),
    ("5", '{"answer": "5"}\n\n{"answer": "5"}'),
    ("5", '<answer>\n```json\n{"answer": "5"}\n```\n</answer>'),
    ("5", '{"reasoning": "I am not sure, maybe 6", "answer": "5"}'),
    ("5", 'I first thought 6. {"answer": "6"}\nActually, I made a mistake.\n{"answer": "5"}'),
    ("5%", '{"answer": "5", "unit": "%"}'),
    ("5 m^2", '{"answer": "5 m^2", "unit": "m^2"}'),
    ("5 m^2", '{"answer": "5", "unit": "m^2"}'),
    ("$5", '{"answer": "5", "unit": "$"}'),
    ("5, 6", '{"answer": "5"}\n{"answer": "6"}'),
    ("\\frac{1}{2} m", '{"answer": "\\frac{1}{2}", "unit": "m"}'),
    ("30^\\circ", '{"answer": "30", "unit": "degrees"}'),
    ("5 m", '{"answer": "5 m", "unit": "m"}'),
    ("5 m", '{"answer": "5 m", "unit": "cm"}'),
    ("1/2", '{"answer": "1/2", "units": "none"}'),
]


@pytest.mark.parametrize(("reference", "text"), PAID)
def test_an_object_with_one_answer_is_paid(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 1.0


REFUSED = [
    ("6", '{"answer": "5"}' + '{"x": 1} ' * 9 + '{"answer": "6"}'),
    ("6", '{"answer": "5"}, {"answer": "6"}'),
    ("6", '{"answer": "5"}; {"answer": "6"}'),
    ("6", '{"answer": "5"} / {"answer": "6"}'),
    ("6", '{"answer": "5"} or {"answer": "6"}'),
    ("6", 'Case 1: {"answer": "5"}\nCase 2: {"answer": "6"}'),
    ("6", '{"answer": "5"}\nAlternatively:\n{"answer": "6"}'),
    ("5", 'It is not {"answer": "5"}'),
    ("5", 'Do not answer {"answer": "5"}'),
    ("6", 'The answer is not\n```json\n{"answer": "6"}\n```'),
    ("6", 'The JSON would be wrong: {"answer": "6"}'),
    ("6", 'I am not sure, it may be 5, 6 or 7. {"answer": "6"}'),
    ("6", 'The answer is 5 or 6. {"answer": "6"}'),
    ("5 m", '{"answer": "5", "unit": "cm"}'),
    ("5 minutes", '{"answer": "5", "unit": "hours"}'),
    ("5 m", '{"answer": 5, "units": "km"}'),
    ("6", '{"answer":"6","revised_answer":"5"}'),
    ("5", '{"answer": "5", "answer_2": "6"}'),
    ("5", '{"answer": "5", "answer2": "6"}'),
    ("5", '{"answer": "5", "answer_b": "6"}'),
    ("5", '{"answer": "5", "my_answer": "6"}'),
    ("5", '{"answer": "5", "best_answer": "6"}'),
    ("5", '{"answer": "5", "corrected_answer": "6"}'),
    ("5", '{"answer": "5", "correction": "6"}'),
    ("5", '{"answer": "5", "answer_if_wrong": "6"}'),
    ("5", '{"answer": "5", "solution": "6"}'),
    ("5", '{"answer": "5", "result": "6"}'),
    ("5", '{"answer": "5", "or": "6"}'),
    ("5", '{"answer": "5", "maybe": "6"}'),
    ("5", 'I think it is not 5. {"answer": "5"}'),
    ("5", 'The answer is 6 or {"answer": "5"}'),
    ("5", 'The answer is 5 or 6:\n{"answer": "5"}'),
    ("5", 'Either {"answer": "5"}'),
    ("5", 'If that is wrong: {"answer": "6"}\n{"answer": "5"}'),
    ("5", '{"answer": "6"}\nIf that is wrong:\n{"answer": "5"}'),
    ("5", '{"answer": "6"}\nAnother correct answer:\n{"answer": "5"}'),
    ("5 m", '{"answer": "x = 5", "unit": "cm"}'),
    ("5 m", '{"answer": "The answer is 5.", "unit": "cm"}'),
    ("5 m", '{"answer": "\\\\boxed{5}", "unit": "cm"}'),
    ("5", 'Maybe {"answer": "5"}'),
    ("5", '<answer>{"answer": "6"}, {"answer": "5"}</answer>'),
    ("5", '<answer>6</answer> <answer>{"answer": "5"}</answer>'),
    ("5", '{"answer": "5", "alternatives": ["6"]}'),
    ("5", '{"answer": "5", "alternativeAnswer": "6"}'),
    ("5", 'Wrong: {"answer": "5"}'),
    ("5", 'This isn\'t the answer: {"answer": "5"}'),
    (
        "6",
        '{"answer": "5"}\nAlternatively, one may get, by a longer way:\n\n{"answer": "6"}',
    ),
    ("5", 'I am not sure, it may be 5, 6 or 7.\n\n```json\n{"answer": "5"}\n```'),
    ("5", 'It is not the case that this is right: {"answer": "5"}'),
]


@pytest.mark.parametrize(("reference", "text"), REFUSED)
def test_an_object_denied_or_beside_another_answer_pays_nothing(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0.0


@pytest.mark.parametrize(
    "piece",
    ['{"a": ', '{"a": "', '"answer": "5", ', '{"a": [', '"x", ', '{"answer":', '\\"', '"\n', '} "'],
)
@pytest.mark.parametrize("before", ['{"answer": "', '{"a": [', '{"a": {"b": ["c", '])
def test_objects_are_read_in_linear_time(piece: str, before: str) -> None:
    def read(text: str) -> str:
        return with_tagged_answer(text, "answer")

    assert_linear(read, piece, before=before, after='"answer": "5"}')
    assert_linear(read, piece, before=before, after="}")


@pytest.mark.parametrize(
    "piece", ['{"answer": "5"} ', '{"answer": "5"} or ', "not ", "answer is ", "or: ", "<answer>"]
)
def test_words_around_objects_are_read_in_linear_time(piece: str) -> None:
    def read(text: str) -> str:
        return with_tagged_answer(text, "answer")

    assert_linear(read, piece, after='{"answer": "5"}')
    assert_linear(read, piece, before='<answer>{"a": "', after='", "answer": "5"}</answer>')
