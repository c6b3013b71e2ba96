"""The part of a completion that verifiers read, without the tokens that end it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.answer_text import answer_part, without_announcement, without_end_tokens
from verifier_service.verifier import TextVerifier
from verifier_service.verifiers.exact_match import ExactMatch
from verifier_service.verifiers.instruction_following import InstructionFollowing
from verifier_service.verifiers.json_schema import JsonSchema
from verifier_service.verifiers.puzzle import Puzzle
from verifier_service.verifiers.regex import Regex
from verifier_service.verifiers.sql import Sql
from verifier_service.verifiers.string_similarity import StringSimilarity
from verifier_service.verifiers.structured_output import StructuredOutput
from verifier_service.verifiers.tool_calls import ToolCalls

END_TOKENS = ["<|im_end|>", "</s>\n", "<|eot_id|><|endoftext|>", "<end_of_turn>"]
DATABASE = "CREATE TABLE t (a); INSERT INTO t VALUES (1)"
ENDS_WITH = {"instruction_id_list": ["startend:end_checker"], "kwargs": [{"end_phrase": "Bye."}]}


@pytest.mark.parametrize("token", END_TOKENS)
@pytest.mark.parametrize(
    ("verifier", "reference", "text"),
    [
        (ExactMatch(), {"answer": "Paris"}, "Paris"),
        (Regex(), {"pattern": "^Paris$"}, "Paris"),
        (StringSimilarity(metric="edit", threshold=1), {"answer": "Paris"}, "Paris"),
        (JsonSchema(), {"schema": {"type": "object"}}, '{"a": 1}'),
        (StructuredOutput(format="yaml"), {"value": {"a": 1}}, "a: 1"),
        (Sql(), {"database": DATABASE, "rows": [[1]]}, "SELECT a FROM t"),
        (Puzzle(), {"puzzle": "countdown", "numbers": [3, 5], "target": 8}, "3 + 5"),
        (InstructionFollowing(), ENDS_WITH, "See you then. Bye."),
    ],
)
def test_tokens_that_end_a_completion_are_no_part_of_its_answer(
    verifier: TextVerifier, reference: dict[str, Any], text: str, token: str
) -> None:
    assert judge(verifier, reference, text + token).score == 1
    assert judge(verifier, reference, f"{text}{token} no{token}").score == 0


@pytest.mark.parametrize("token", ["", *END_TOKENS])
def test_a_completion_of_end_tokens_alone_says_nothing(token: str) -> None:
    assert judge(ToolCalls(), {"tool_calls": []}, token).reason == "no_answer"
    assert judge(ExactMatch(), {"answer": token or "a"}, token).reason == "no_answer"


def test_the_whole_completion_keeps_its_end_tokens() -> None:
    assert answer_part("Paris<|im_end|>", "completion") == "Paris<|im_end|>"


def test_an_element_is_no_end_token() -> None:
    assert without_end_tokens("<s>old</s>") == "<s>old</s>"


@pytest.mark.parametrize("piece", ["<|a|>", "</s>", " </s>\n", "<", "<s></s>"])
def test_many_end_tokens_take_linear_time(piece: str) -> None:
    assert_linear(without_end_tokens, piece, after=">", num_characters=400_000)
    assert_linear(without_end_tokens, piece, num_characters=400_000)


@pytest.mark.parametrize("piece", ["\n", " ", "#", "# a", "a:\n", "\t"])
def test_a_line_that_announces_takes_linear_time(piece: str) -> None:
    assert_linear(without_announcement, piece)
    assert_linear(without_announcement, piece, before="Here:\n")
    assert_linear(without_announcement, piece, before="# Here")
