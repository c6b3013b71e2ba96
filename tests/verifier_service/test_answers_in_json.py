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
